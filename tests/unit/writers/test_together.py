"""All drafts of a brief, from the ledger, from files and from a writer, each once."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tamis.brief import LoadedBrief, load_brief
from tamis.clock import Clock, Spans
from tamis.errors import DraftsError
from tamis.ledger import Ledger
from tamis.reading import Pool, Reading
from tamis.records import Draft, Spec
from tamis.run import Run
from tamis.writers.base import Resuming, Writer, Written
from tamis.writers.together import Together, closing, lay_out


class Pen:
    """Writes what it is told to."""

    def __init__(self, *drafts: Written, name: str = "pen") -> None:
        self.drafts = drafts
        self.spec = Spec(kind="writer", name=name, version="1")
        self.closed = False

    async def write(self, brief: LoadedBrief) -> AsyncIterator[Written]:
        try:
            for draft in self.drafts:
                yield draft
        finally:
            self.closed = True


def text(name: str, content: str, **fields: object) -> Written:
    return Written(name=name, content=content.encode(), **fields)  # type: ignore[arg-type]  # fields of a draft


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "BRIEF.md").write_text("# An ending\n")
    (tmp_path / "tamis.toml").write_text('[brief]\ndesk = "prose"\n')
    return tmp_path


def together(folder: Path, writer: Writer | None = None, *, record: bool = True) -> list[tuple[str, str, str]]:
    """Name, text and writer of every draft handed over; all are recorded, as a run does."""
    loaded = load_brief(folder)

    async def run(ledger: Ledger) -> list[Written]:
        drafts = Together(loaded, writer)
        assert isinstance(drafts, Resuming)
        drafts.keep_in(ledger, Spans(Clock(), lambda _: None))
        found = [one async for one in drafts.write(loaded)]
        reading = Reading(Run(loaded, ledger), Pool(ledger), drafts.spec, span="")
        for one in found:
            reading.take(one)
        return found

    with Ledger(folder) as ledger:
        return [
            (one.name, one.content.decode(), one.writer.name if one.writer else "files")
            for one in asyncio.run(run(ledger))
        ]


def test_files_alone_are_as_they_were(folder: Path) -> None:
    (folder / "drafts").mkdir()
    (folder / "drafts" / "a.txt").write_text("one")
    assert together(folder) == [("a.txt", "one", "files")]


def test_what_a_writer_wrote_is_laid_out_and_handed_over_once(folder: Path) -> None:
    pen = Pen(text("p1.txt", "one"), text("p2.txt", "two"))
    first = together(folder, pen)
    assert first == [("p1.txt", "one", "pen"), ("p2.txt", "two", "pen")]
    assert (folder / "drafts" / "p1.txt").read_text() == "one"
    assert together(folder, pen) == first
    assert together(folder) == first  # the writer is not asked, and what it wrote is there all the same


def test_files_and_what_was_written_are_all_there(folder: Path) -> None:
    (folder / "drafts").mkdir()
    (folder / "drafts" / "mine.txt").write_text("mine")
    together(folder, Pen(text("p1.txt", "one")))
    assert sorted(together(folder, Pen(text("q1.txt", "new"), name="quill"))) == [
        ("mine.txt", "mine", "files"),
        ("p1.txt", "one", "pen"),
        ("q1.txt", "new", "quill"),
    ]


def test_a_file_that_its_owner_changed_is_a_draft_of_her_own(folder: Path) -> None:
    together(folder, Pen(text("p1.txt", "one")))
    (folder / "drafts" / "p1.txt").write_text("one, and more")
    assert sorted(together(folder)) == [("changed-p1.txt", "one, and more", "files"), ("p1.txt", "one", "pen")]


def test_what_is_not_whole_is_laid_out_under_a_name_that_says_so(folder: Path) -> None:
    together(folder, Pen(text("p1.txt", "one", finish="length"), text("p2.txt", "no", finish="refused")))
    assert sorted(path.name for path in (folder / "drafts").iterdir()) == ["p1.txt.cut", "p2.txt.refused"]
    with Ledger(folder) as ledger:
        assert {draft.finish for draft in ledger.all(Draft)} == {"length", "refused"}
    assert [name for name, _, _ in together(folder)] == ["p1.txt", "p2.txt"]


def test_no_file_is_ever_overwritten(folder: Path) -> None:
    (folder / "drafts").mkdir()
    (folder / "drafts" / "p1.txt").write_text("hers")
    assert lay_out(folder, text("p1.txt", "one")) is None
    assert (folder / "drafts" / "p1.txt").read_text() == "hers"
    assert lay_out(folder, text("../../p2.txt", "two")) == folder / "drafts" / "..-..-p2.txt"


def test_without_any_draft_the_error_is_that_of_the_files(folder: Path) -> None:
    with pytest.raises(DraftsError, match="has no drafts"):
        together(folder)


def test_a_writer_that_is_left_early_is_closed_at_once(folder: Path) -> None:
    pen = Pen(text("p1.txt", "one"), text("p2.txt", "two"))

    async def leave() -> bool:
        loaded = load_brief(folder)
        async with closing(Together(loaded, pen).write(loaded)) as drafts:
            await anext(drafts)
        return pen.closed

    assert asyncio.run(leave())
