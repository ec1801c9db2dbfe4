"""A person at a terminal: a real one, since what stands between her and the question can only be seen there."""

import os
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here")

SECONDS = 120


def brief(folder: Path) -> Path:
    (folder / "drafts").mkdir(parents=True)
    (folder / "BRIEF.md").write_text("# Fees\n\n```python\ndef fee(days: int) -> int: ...\n```\n")
    for number, body in enumerate(("max(0, days - 7) * 10", "max(0, days - 8) * 10", "days * 10")):
        (folder / "drafts" / f"draft_{number}.py").write_text(f"def fee(days: int) -> int:\n    return {body}\n")
    (folder / "tamis.toml").write_text("[behaviour]\ncalls = 300\n")
    return folder


class Terminal:
    """tamis in a terminal of its own."""

    def __init__(self, *arguments: str) -> None:
        self._ours, theirs = os.openpty()
        self.process = subprocess.Popen(
            [Path(sys.executable).with_name("tamis"), *arguments], stdin=theirs, stdout=theirs, stderr=theirs,
            start_new_session=True, env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
        )  # fmt: skip
        os.close(theirs)
        self.seen = ""

    def until(self, text: str) -> None:
        """Reads on until the text has come."""
        end = time.monotonic() + SECONDS
        while text not in self.seen:
            assert self.more(end - time.monotonic()), f"{text!r} never came:\n{self.seen[-2000:]}"

    def more(self, seconds: float) -> str:
        """What comes within so long; empty where nothing does."""
        if not select.select([self._ours], [], [], max(0.0, seconds))[0]:
            return ""
        try:
            came = os.read(self._ours, 65_536).decode("utf-8", "replace")
        except OSError:  # the other end is gone
            return ""
        self.seen += came
        return came

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def ended(self) -> int:
        while self.process.poll() is None:
            self.more(0.2)
        while self.more(0.5):
            pass
        return self.process.returncode


@pytest.fixture
def terminal(tmp_path: Path):  # type: ignore[no-untyped-def]
    one = Terminal("run", str(brief(tmp_path / "fees")), "--owner", "terminal")
    yield one
    if one.process.poll() is None:
        one.process.kill()
        one.process.wait()


def test_nothing_draws_over_a_question_and_one_ctrl_c_ends_it(terminal: Terminal) -> None:
    terminal.until("quit")
    terminal.until("> ")
    assert not terminal.more(1.0), "a bar is drawn while she thinks"
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.ended() == 130
    assert "everything recorded is kept" in terminal.seen


def test_a_page_names_the_draft_and_is_not_put_twice_where_she_cannot_say(terminal: Terminal) -> None:
    for _ in range(60):
        terminal.until("> ")
        asked, terminal.seen = terminal.seen, ""
        if "Is each line as you mean it?" in asked:
            break
        terminal.type("?\n")
    else:
        raise AssertionError("no page came")
    assert re.search(r"What draft_\d\.py does", asked)
    lines = re.findall(r"fee\(.*?→ \S+", asked)
    terminal.type("?\n")
    terminal.ended()
    assert not set(lines) & set(re.findall(r"fee\(.*?→ \S+", terminal.seen.partition("chosen")[0]))
