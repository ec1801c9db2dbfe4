"""Drafts on their way to their desk: what comes of them does not depend on when they come, and whatever goes wrong
ends the run with its error and leaves nothing behind."""

import asyncio
import random
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tamis import reading
from tamis.brief import LoadedBrief, load_brief
from tamis.checks import measuring
from tamis.checks.parser_pool import ParserPool
from tamis.errors import DraftsError
from tamis.ledger import Ledger
from tamis.pipeline.sifting import Sifting
from tamis.reading import Pool, read
from tamis.records import Draft, Evidence, Span, Spec
from tamis.run import Run
from tamis.sieve import Sieve
from tamis.software import SoftwareDesk
from tamis.writers.base import Written

TEXT = " ".join(f"word{number}" for number in range(60))
DRAFTS = [
    Written(name="a.txt", content=TEXT.encode()),
    Written(name="b.txt", content=TEXT.replace("word7", "seven").encode()),
    Written(name="c.txt", content=b"another text that nobody else has written"),
    Written(name="d.txt", content=TEXT.encode()),
    Written(name="e.txt", content=b"cut off in the mid", finish="length"),
    Written(name="f.txt", content=b"", problem="is empty"),
    *(Written(name=f"g{number}.txt", content=f"{number} {number + 1} {number + 2}".encode()) for number in range(8)),
]
MODULE = "def double(x):\n    return x + x\n"
MODULES = [
    Written(name="a.py", content=MODULE.encode()),
    Written(name="b.py", content=MODULE.replace("    return", "\n    # twice\n    return").encode()),
    Written(name="c.py", content=b"def double(x):\n    return 3 * x\n"),
    Written(name="d.py", content=b"def double(x:\n"),
    Written(name="e.py", content=b"def double(x):\n    return 2 * x\n"),
]


class Handing:
    """A writer that hands over these drafts, with a turn of the event loop between them. `then` comes at the end."""

    spec = Spec(kind="writer", name="handing", version="1")

    def __init__(self, drafts: Sequence[Written], then: Callable[[], None] = lambda: None) -> None:
        self._drafts = drafts
        self._then = then
        self.handed = 0
        self.closed = False

    async def write(self, brief: LoadedBrief) -> AsyncIterator[Written]:
        try:
            for draft in self._drafts:
                await asyncio.sleep(0)
                self.handed += 1
                yield draft
            self._then()
        finally:
            self.closed = True


class Desk:
    """A desk that takes what comes and says what it is told to."""

    def __init__(self, takes: Callable[[Draft], None] = lambda _: None, wanted: int | None = None) -> None:
        self.taken: list[str] = []
        self._takes = takes
        self._wanted = wanted

    def take(self, pool: Pool, drafts: Iterator[Draft]) -> None:
        for draft in drafts:
            self._takes(draft)
            self.taken.append(draft.name)

    def enough(self) -> bool:
        return self._wanted is not None and len(self.taken) >= self._wanted

    def close(self) -> None:
        pass


@pytest.fixture
def prose(tmp_path: Path) -> Path:
    (tmp_path / "BRIEF.md").write_text("# Endings\n\nWrite one.\n")
    (tmp_path / "tamis.toml").write_text('[brief]\ndesk = "prose"\n')
    (tmp_path / "drafts").mkdir()
    return tmp_path


@pytest.fixture
def software(tmp_path: Path) -> Path:
    (tmp_path / "BRIEF.md").write_text("# Double\n\nWrite `double.py`.\n")
    (tmp_path / "tests").mkdir()
    test = "from double import double\n\ndef test_two():\n    assert double(2) == 4\n"
    (tmp_path / "tests" / "test_double.py").write_text(test)
    (tmp_path / "drafts").mkdir()
    return tmp_path


def sift(folder: Path, writer: Handing, desk: Desk) -> tuple[Pool, list[str]]:
    loaded = load_brief(folder)
    with Ledger(folder) as ledger, ParserPool(processes=1) as parsers:
        pool, whole = asyncio.run(Sifting(Run(loaded, ledger), writer, desk, parsers).sift())
        return pool, [draft.name for draft in whole]


def outcome(folder: Path, drafts: Sequence[Written]) -> dict[str, object]:
    """Which drafts there are, which are whole, who stands for whom, and what the ledger says of each last."""
    pool, whole = sift(folder, Handing(drafts), Desk())
    names = {draft.id: draft.name for draft in pool.drafts}
    with Ledger(folder, read_only=True) as ledger:
        found = [one for one in ledger.all(Evidence) if one.check.name in {"parses", "duplicates", "reads"}]
    said = {(names[one.drafts[0]], one.check.name): (one.answer, dict(one.how)) for one in found}
    folded = {names[draft]: names[keeper] for draft, keeper in pool.folded.items()}
    return {"drafts": list(names.values()), "whole": whole, "folded": folded, "said": said}


def test_drafts_are_read_parsed_and_folded_and_the_desk_gets_the_whole_and_distinct_ones(prose: Path) -> None:
    desk = Desk()
    pool, whole = sift(prose, Handing(DRAFTS), desk)
    assert [draft.name for draft in pool.drafts] == [draft.name for draft in DRAFTS]
    assert set(desk.taken) == {"a.txt", "c.txt", *(f"g{number}.txt" for number in range(8))}
    assert whole == [draft.name for draft in DRAFTS if draft.name not in {"e.txt", "f.txt"}]


@pytest.mark.parametrize("seed", range(6))
def test_the_order_in_which_drafts_come_changes_nothing(tmp_path: Path, prose: Path, seed: int) -> None:
    mixed = random.Random(seed).sample(DRAFTS, len(DRAFTS))
    other = tmp_path / "other"
    other.mkdir()
    for name in ("BRIEF.md", "tamis.toml"):
        (other / name).write_text((prose / name).read_text())
    (other / "drafts").mkdir()
    assert outcome(prose, DRAFTS) == outcome(other, mixed)


def test_drafts_of_one_syntax_tree_share_a_verdict_whichever_came_first(tmp_path: Path, software: Path) -> None:
    def passed(drafts: Sequence[Written], place: str) -> tuple[list[str], dict[str, str]]:
        folder = tmp_path / place
        folder.mkdir()
        for name in ("BRIEF.md", "tests/test_double.py"):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text((software / name).read_text())
        (folder / "drafts").mkdir()
        loaded = load_brief(folder)
        with Ledger(folder) as ledger, Sieve(loaded, ledger, Handing(drafts), SoftwareDesk) as sieve:
            passing = [draft.name for draft in asyncio.run(sieve.check())]
            named = {draft.id: draft.name for draft in ledger.all(Draft)}
            tests = [one for one in ledger.all(Evidence) if one.check.name == "tests"]
        return passing, {named[one.drafts[0]]: type(one.answer).__name__ for one in tests}

    straight = passed(MODULES, "straight")
    assert straight == passed(MODULES[::-1], "backward")
    assert straight[0] == ["a.py", "b.py", "e.py"]
    assert straight[1] == {"a.py": "Held", "b.py": "Held", "c.py": "Broke", "e.py": "Held"}


def test_a_whole_draft_does_not_fall_with_one_of_the_same_text_that_was_cut_off(prose: Path) -> None:
    drafts = [
        Written(name="a.txt", content=TEXT.encode(), finish="length"),
        Written(name="b.txt", content=TEXT.encode()),
        Written(name="c.txt", content=TEXT.encode()),
    ]
    pool, whole = sift(prose, Handing(drafts), Desk())
    names = {draft.id: draft.name for draft in pool.drafts}
    assert whole == ["b.txt", "c.txt"]
    assert {names[draft]: names[keeper] for draft, keeper in pool.folded.items()} == {"c.txt": "b.txt"}


def test_each_tested_draft_has_a_span_of_its_own(software: Path) -> None:
    loaded = load_brief(software)
    with Ledger(software) as ledger, Sieve(loaded, ledger, Handing(MODULES), SoftwareDesk) as sieve:
        asyncio.run(sieve.check())
        spans = list(ledger.all(Span))
    own = [span for span in spans if span.resource == "core"]
    assert sorted(span.name for span in own) == ["a.py", "c.py", "e.py"], "b.py is the same as a.py"
    assert all(span.stage == "tests" and span.after == () for span in own)
    (parent,) = {span.parent for span in own}
    assert [span.name for span in spans if span.id == parent] == ["tests"]


def test_a_failing_desk_ends_the_run_with_its_error_and_no_thread_left(prose: Path) -> None:
    def fails(draft: Draft) -> None:
        raise ValueError(f"can't stand {draft.name}")

    before = threading.active_count()
    writer = Handing(DRAFTS * 50)
    with pytest.raises(ValueError, match=r"can't stand a\.txt"):
        sift(prose, writer, Desk(takes=fails))
    assert threading.active_count() <= before + 1, "asyncio's own thread for waiting may idle"
    assert writer.closed, "the writer was not left hanging"


def test_a_failing_writer_ends_the_run_with_its_error(prose: Path) -> None:
    def fails() -> None:
        raise DraftsError("the server is gone")

    with pytest.raises(DraftsError, match="the server is gone"):
        sift(prose, Handing(DRAFTS, then=fails), Desk())


def test_the_writer_stops_when_there_are_enough(prose: Path) -> None:
    many = [Written(name=f"t{n:04}.txt", content=f"{n} {n + 1} {n + 2} {n + 3}".encode()) for n in range(5_000)]
    writer, desk = Handing(many), Desk(wanted=20)
    pool, _ = sift(prose, writer, desk)
    assert 20 <= len(pool.drafts) == writer.handed < 5_000
    assert writer.closed
    again = Handing(many)
    sift(prose, again, Desk(wanted=20))
    assert again.handed >= len(pool.drafts), "what was written before is read again, all of it"


def test_nothing_at_all_is_an_error(prose: Path) -> None:
    with pytest.raises(DraftsError, match="no drafts"):
        sift(prose, Handing([]), Desk())


def test_a_run_stopped_anywhere_goes_on_to_the_same_outcome(tmp_path: Path, prose: Path) -> None:
    class Killed(BaseException):
        pass

    straight = outcome(prose, DRAFTS)
    for stop_at in range(0, len(DRAFTS), 3):
        folder = tmp_path / f"stopped{stop_at}"
        folder.mkdir()
        for name in ("BRIEF.md", "tamis.toml"):
            (folder / name).write_text((prose / name).read_text())
        (folder / "drafts").mkdir()

        def killed() -> None:
            raise Killed

        with pytest.raises(Killed):
            sift(folder, Handing(DRAFTS[:stop_at], then=killed), Desk())
        assert outcome(folder, DRAFTS) == straight


def test_reading_alone_gives_the_same_pool(prose: Path) -> None:
    with Ledger(prose) as ledger:
        pool = asyncio.run(read(Run(load_brief(prose), ledger), Handing(DRAFTS[::-1])))
    assert [draft.name for draft in pool.drafts] == [draft.name for draft in DRAFTS]


def test_contents_beyond_what_memory_is_given_come_from_the_ledger(
    prose: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "KEPT_IN_MEMORY_BYTES", 200)
    loaded = load_brief(prose)
    drafts = [Written(name=f"{number}.txt", content=bytes([65 + number]) * 90) for number in range(6)]
    with Ledger(prose) as ledger:
        run = Run(loaded, ledger)
        pool = asyncio.run(read(run, Handing(drafts)))
        held = pool.contents._held
        assert [held[draft.blob] for draft in pool.drafts[-2:]] == [one.content for one in drafts[-2:]]  # the newest
        assert len(held) == 2
        assert [pool.contents[draft.id] for draft in pool.drafts] == [one.content for one in drafts]
        pool.contents.settle()
        assert not pool.contents._held
        assert [pool.contents[draft.id] for draft in pool.drafts] == [one.content for one in drafts]


def test_contents_that_all_find_room_in_memory_stay_there(prose: Path) -> None:
    with Ledger(prose) as ledger:
        pool = asyncio.run(read(Run(load_brief(prose), ledger), Handing(DRAFTS)))
        pool.contents.settle()
        assert set(pool.contents._held) == {draft.blob for draft in pool.drafts}


def test_drafts_measured_elsewhere_are_sifted_alike(
    prose: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = outcome(prose, DRAFTS)
    monkeypatch.setattr(measuring, "WORTH_BYTES", 0)
    monkeypatch.setattr(measuring, "BATCH_BYTES", 0)
    other = tmp_path / "other"
    other.mkdir()
    for name in ("BRIEF.md", "tamis.toml"):
        (other / name).write_text((prose / name).read_text())
    (other / "drafts").mkdir()
    assert outcome(other, DRAFTS) == here
