"""Writing as its user meets it: `tamis draft` against a server, killed in the middle and resumed, and `tamis run` that
writes what is missing."""

import json
import os
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tamis.ledger import Ledger
from tamis.records import Draft, Reply, Request
from tamis.simulate import Simulated
from tamis.simulate.process import started

from .conftest import TAMIS, Tamis

TOKENS = 60


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Each text has 60 tokens and takes a fifth of a second."""
    with started(Simulated(stream_speed=300, first_token_ms=20, length=TOKENS)) as url:
        yield url


@pytest.fixture
def ending(tmp_path: Path, server: str) -> Path:
    folder = tmp_path / "ending"
    folder.mkdir()
    (folder / "BRIEF.md").write_text("# An ending\n\nWrite the end.\n")
    (folder / "tamis.toml").write_text(
        f'[brief]\ndesk = "prose"\n[writer]\nurl = "{server}"\nmax_tokens = 100\nstreams = 4\n'
        'key_from = "TAMIS_TEST_KEY"\n'
    )
    return folder


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("TAMIS_TEST_KEY", "sk-nobody-may-see-this")
    return "sk-nobody-may-see-this"


def served(url: str) -> int:
    """How many tokens the server says that it wrote."""
    with urllib.request.urlopen(f"{url}/simulated/account") as told:
        return int(json.loads(told.read())["tokens"])


def test_a_draft_killed_in_the_middle_goes_on_and_pays_for_nothing_twice(
    tamis: Tamis, ending: Path, server: str, key: str
) -> None:
    before = served(server)
    process = subprocess.Popen(
        [TAMIS, "draft", ending, "--n", "24"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _until_some_came_back(ending, process)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    with Ledger(ending) as ledger:
        came_back = {answered.draft for reply in ledger.all(Reply) for answered in reply.answers}
        out = [one for one in ledger.all(Request) if one.id not in {reply.request for reply in ledger.all(Reply)}]
    assert 0 < len(came_back) < 24
    ran = tamis("draft", ending, "--n", "24", "--json", "out.json")
    assert ran.returncode == 0, ran.stderr
    with Ledger(ending) as ledger:
        replies = list(ledger.all(Reply))
        drafts = list(ledger.all(Draft))
    told = json.loads((ending.parent / "out.json").read_text())
    assert (told["drafts"], told["drafts_now"], told["whole"]) == (
        24,
        24 - len(came_back & _recorded(drafts, told)),
        24,
    )
    # every number was answered once: what had come back was not asked for again
    assert sorted(answered.draft for reply in replies for answered in reply.answers) == list(range(1, 25))
    # the server wrote no more than what was answered and what was out at the kill
    assert 24 * TOKENS <= served(server) - before <= (24 + len(out)) * TOKENS
    assert told["paid_tokens_out"] == 24 * TOKENS + 100 * len(out)
    assert len(list((ending / "drafts").iterdir())) == 24
    kept = b"".join(path.read_bytes() for path in ending.rglob("*") if path.is_file())
    assert key.encode() not in kept
    assert key not in ran.stdout + ran.stderr


def _recorded(drafts: list[Draft], told: dict[str, object]) -> set[int]:
    """The numbers of the drafts that were recorded before the second command began."""
    now = told["drafts_now"]
    assert isinstance(now, int)
    return {draft.sample + 1 for draft in drafts[: len(drafts) - now]}


def _until_some_came_back(folder: Path, process: "subprocess.Popen[bytes]") -> None:
    """Waits until a few drafts lie there; some more are out then."""
    until = time.monotonic() + 60
    while time.monotonic() < until and process.poll() is None:
        if (folder / "drafts").is_dir() and len(list((folder / "drafts").iterdir())) >= 5:
            return
        time.sleep(0.02)
    raise AssertionError(f"no drafts came; the process says {process.poll()}")


def test_a_second_draft_writes_nothing_and_says_so(tamis: Tamis, ending: Path, server: str) -> None:
    assert tamis("draft", ending, "--n", "3").returncode == 0
    before = served(server)
    ran = tamis("draft", ending, "--n", "3")
    assert ran.returncode == 0
    assert "An ending · 3 of 3 drafts by server" in ran.stdout
    assert "written now   0" in ran.stdout
    assert served(server) == before


def test_a_budget_that_ends_before_all_are_there_is_told_with_exit_code_3(tamis: Tamis, ending: Path) -> None:
    ran = tamis("draft", ending, "--n", "30", "--budget-tokens", "1500")
    assert ran.returncode == 3, ran.stderr
    assert "stopped" in ran.stdout
    assert "the budget of tokens is spent" in ran.stdout


def test_a_run_writes_what_is_missing_and_does_the_rest(tamis: Tamis, ending: Path, server: str) -> None:
    (ending / "drafts").mkdir()
    (ending / "drafts" / "mine.txt").write_text("She went home, and the lamp was still lit, and that was all. " * 8)
    ran = tamis("run", ending, "--n", "4", "--owner", "none", "--json", "out.json")
    assert ran.returncode == 3, ran.stderr
    drafts = json.loads((ending.parent / "out.json").read_text())["drafts"]
    assert drafts["written"] == 5
    assert {"mine.txt", "simulated_001.txt", "simulated_004.txt"} <= {one["name"] for one in drafts["list"]}
    before = served(server)
    again = tamis("run", ending, "--n", "4", "--owner", "none", "--json", "again.json")
    assert again.returncode == 3, again.stderr
    assert json.loads((ending.parent / "again.json").read_text())["drafts"] == drafts
    assert served(server) == before


def test_a_draft_that_was_cut_off_can_not_be_chosen(tamis: Tamis, ending: Path) -> None:
    assert tamis("draft", ending, "--n", "2", "--max-tokens", "20").returncode == 3
    assert {path.suffix for path in (ending / "drafts").iterdir()} == {".cut"}
    ran = tamis("run", ending, "--owner", "none", "--n", "2", "--writer", "files", "--json", "out.json")
    assert ran.returncode == 3, ran.stderr
    result = json.loads((ending.parent / "out.json").read_text())
    assert result["choice"]["draft"] is None
    assert {one["because"].split(":")[0] for one in result["drafts"]["list"]} == {"is cut off"}


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--writer", "none-such"), 2, "no writer called 'none-such'"),
        (("--url", "http://127.0.0.1:9", "--model", "m", "--api", "chat"), 1, "no connection"),
        (("--key-from", "NOT_SET_ANYWHERE"), 2, "NOT_SET_ANYWHERE is not set"),
        (("--n", "0"), 2, ""),
    ],
)
def test_what_can_not_be_done_is_told(
    tamis: Tamis, ending: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    (ending / "tamis.toml").write_text((ending / "tamis.toml").read_text() + "tries = 1\n")
    ran = tamis("draft", ending, *arguments)
    assert ran.returncode == code, ran.stdout + ran.stderr
    assert said in ran.stderr.replace("\n", " ")


def test_a_brief_that_does_not_say_what_its_drafts_are_is_not_written_for(tamis: Tamis, tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "BRIEF.md").write_text("# Something\n\nWrite it.\n")
    ran = tamis("draft", tmp_path / "bare", "--url", "http://127.0.0.1:9")
    assert ran.returncode == 1
    assert "doesn't say what its drafts are" in ran.stderr
