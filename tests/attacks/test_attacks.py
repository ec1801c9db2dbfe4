"""Every way that we know for a wrong draft to be counted as right, or to harm what runs it. None may work.

The drafts lie in `drafts/`, each with a sentence on what it tries. The brief they pretend to fulfil: `answer(n)` is n
squared, and a TypeError for a word.
"""

import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tamis.sandbox import Call, Limits, Ran, Sandbox, Suite

HERE = Path(__file__).parent
LIMITS = Limits(cpu_seconds=0.3, total_cpu_seconds=2, idle_seconds=0.3, memory_mb=128, deaths=1)
HONEST = b"def answer(n):\n    return n ** 2\n"
ASKED = ((3,), (4, 5), ("three",))
PROGRAMS = [tuple(Call(name="answer", args=(n,)) for n in asked) for asked in ASKED]
RIGHT = [["=", 9], ["=", 16], ["=", 25], ["!", "TypeError", []]]
ATTACKS = sorted(path.stem for path in (HERE / "drafts").glob("*.py"))

# how the first call of a draft must end, where the attack is more than a wrong answer
ENDINGS = {
    "exit_at_import": "exited",
    "exit_in_a_call": "exited",
    "hard_exit_at_import": "exited",
    "hard_exit_in_a_call": "exited",
    "forged_through_stdout": "exited",
    "an_exception_that_exits": "exited",
    "the_network_to_loopback": "forbidden",
    "a_unix_socket": "forbidden",
    "an_orphan": "forbidden",
    "a_process_started": "forbidden",
    "a_program_in_its_place": "forbidden",
    "a_fork_bomb": "forbidden",
    "the_parent_killed": "forbidden",
    "the_parent_traced": "forbidden",
    "the_kernel_by_number": "forbidden",
    "signals_ignored": "timed out",
    "timers_disarmed": "timed out",
    "output_flooded": "timed out",
    "output_flooded_by_descriptor": "timed out",
    "the_clock_frozen": "timed out",
    "it_sleeps": "timed out",
    "it_stops_itself": "timed out",
    "memory_flooded": "out of memory",
    "a_segfault": "crashed",
}


class World:
    """What the attacks reach for: a file of the owner's, a folder of tests, a server on this machine."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "owner.txt"
        self.file.write_text("9")
        self.file.chmod(0o600)
        self.tests = folder / "tests"
        self.tests.mkdir()
        (self.tests / "test_answer.py").write_text((HERE / "given" / "answer.py").read_text())
        self.server = socket.create_server(("127.0.0.1", 0))
        self.heard: list[bytes] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self.server.accept()
            except OSError:
                return
            with connection:
                self.heard.append(connection.recv(100))
                connection.sendall(b"9")

    def source(self, attack: str) -> bytes:
        text = (HERE / "drafts" / f"{attack}.py").read_text()
        port = str(self.server.getsockname()[1])
        return (
            text.replace("@OWNERS_FILE@", str(self.file))
            .replace("@TESTS@", str(self.tests))
            .replace("@PORT@", port)
            .encode()
        )


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    made = World(tmp_path_factory.mktemp("owner"))
    yield made
    made.server.close()


@pytest.fixture(scope="module")
def ran(world: World) -> dict[str, Ran]:
    """All attacks and honest drafts among them, run on the same programs in one sandbox."""
    sources = {attack: world.source(attack) for attack in ATTACKS}
    sources["a_note_for_the_next_2"] = sources["a_note_for_the_next"]
    honest = {f"honest_{n}": HONEST for n in range(8)}
    with Sandbox(LIMITS, module="module") as sandbox:
        return dict(sandbox.run({**sources, **honest}, PROGRAMS))


@pytest.fixture(scope="module")
def judged(world: World) -> dict[str, Any]:
    sources = {"honest": HONEST, **{attack: world.source(attack) for attack in ATTACKS}}
    with Sandbox(LIMITS, module="module") as sandbox:
        suite = Suite(folder=str(world.tests), module="module", cpu_seconds=0.3)
        return dict(sandbox.judge(sources, suite))


def calls(ran: Ran) -> list[Any]:
    """The outcomes of all calls, without the messages of exceptions."""
    return [call[:3] for outcome in ran.outcomes for call in msgspec.json.decode(outcome)]


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_attack_is_counted_as_right(ran: dict[str, Ran], attack: str) -> None:
    assert ran[attack].fault is None
    assert calls(ran[attack]) != RIGHT


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_attack_passes_the_given_tests(judged: dict[str, Any], attack: str) -> None:
    verdict = judged[attack]
    assert verdict.fault is None and verdict.judged == "outside"
    assert len(verdict.results) == len(verdict.expected) == 4
    assert any(result.outcome != "passed" for result in verdict.results)


@pytest.mark.parametrize(("attack", "ending"), ENDINGS.items())
def test_what_was_tried_is_told_apart(ran: dict[str, Ran], attack: str, ending: str) -> None:
    assert calls(ran[attack])[0][:2] == ["#", ending]


def test_honest_drafts_among_the_attacks_are_right(ran: dict[str, Ran], judged: dict[str, Any]) -> None:
    assert [calls(ran[f"honest_{n}"]) for n in range(8)] == [RIGHT] * 8
    assert [result.outcome for result in judged["honest"].results] == ["passed"] * 4


def test_the_owners_files_are_as_they_were(world: World, ran: dict[str, Ran], judged: dict[str, Any]) -> None:
    assert world.file.read_text() == "9"
    assert world.file.stat().st_mode & 0o777 == 0o600
    assert sorted(p.name for p in world.tests.iterdir() if p.name != "__pycache__") == ["test_answer.py"]


def test_nobody_was_called_over_the_network(world: World, ran: dict[str, Ran], judged: dict[str, Any]) -> None:
    assert world.heard == []


def test_a_draft_that_looks_whether_it_is_watched_sees_the_same_in_tests_and_behaviour(
    ran: dict[str, Ran], judged: dict[str, Any]
) -> None:
    assert calls(ran["only_when_watched"])[:3] == [["=", -1]] * 3
    assert [r.outcome for r in judged["only_when_watched"].results][:3] == ["failed"] * 3


def test_nothing_is_left_running(ran: dict[str, Ran], judged: dict[str, Any]) -> None:
    mine = str(os.getpid())
    for _ in range(100):
        children = Path(f"/proc/{mine}/task/{mine}/children")
        if not children.exists() or not children.read_text().split():
            return
        time.sleep(0.02)
    assert children.read_text().split() == []


def test_one_draft_finds_nothing_of_another(ran: dict[str, Ran]) -> None:
    refused = ["!", "PermissionError", []]  # where the interpreter lies below /tmp, that folder is not the draft's
    for which in ("a_note_for_the_next", "a_note_for_the_next_2"):
        assert calls(ran[which])[0] in (["=", -1], refused)
