"""Writer `files`: drafts that somebody has already written. One draft a file, or many in a file of JSON lines or a
table, or JSON lines on standard input while they are still coming.

Contents are read one after another and never held together; a file over the size limit is not read at all. Reading
happens beside the event loop, a batch at a time, so that checks run meanwhile.
"""

import asyncio
import itertools
import stat
import sys
from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import Path

import msgspec

from tamis.brief import LoadedBrief
from tamis.errors import DraftsError
from tamis.records import Fault, Spec
from tamis.writers.base import Written, flaw, too_large
from tamis.writers.humaneval import Tasks
from tamis.writers.jsonl import BadLine, read_sample, written
from tamis.writers.lines import Line, lines_of_file, lines_of_stdin
from tamis.writers.sources import Source, find_sources, free_name
from tamis.writers.table import rows

BATCH_DRAFTS = 64
BATCH_BYTES = 1_000_000


class FilesWriter:
    """Reads the drafts from where the brief's settings say, or from `sources` instead. `stdin` is the descriptor
    that "-" stands for."""

    def __init__(self, brief: LoadedBrief, *, sources: tuple[str, ...] = (), stdin: int | None = None) -> None:
        self._sources = sources or brief.drafts_from
        self._stdin = stdin

    @property
    def spec(self) -> Spec:
        return Spec(kind="writer", name="files", version="1", args={"from": ", ".join(self._sources)})

    async def write(self, brief: LoadedBrief) -> AsyncIterator[Written]:
        """Each draft once it is read. Raises DraftsError where a source leads nowhere or can't be read on."""
        if not self._sources:
            raise DraftsError(
                f"{brief.folder} has no drafts", hint="put them into drafts/, or say where they are: [drafts] from"
            )
        reader = Reader(brief)
        sources = find_sources(brief.folder, self._sources, brief.brief.desk)
        for from_stdin, group in itertools.groupby(sources, key=lambda source: source.path is None):
            if from_stdin:
                descriptor = sys.stdin.fileno() if self._stdin is None else self._stdin
                async for line in lines_of_stdin(descriptor, max_bytes=reader.max_line_bytes):
                    for draft in reader.samples("stdin", (line,)):
                        yield draft
            else:
                async for draft in _beside_the_loop(reader.drafts(group)):
                    yield draft


class Reader:
    """Turns files into drafts, and knows the names that it has given."""

    def __init__(self, brief: LoadedBrief) -> None:
        self._max_bytes = int(brief.settings.drafts.max_mb * 1e6)
        self._tasks = Tasks(brief)
        self._taken: set[str] = set()
        self.max_line_bytes = 2 * self._max_bytes + 65_536
        """Room for a draft of full size with its quotes and line ends escaped, and for fields beside it."""

    def drafts(self, sources: Iterable[Source]) -> Iterator[Written]:
        for source in sources:
            if source.path is None:
                continue
            problem, fault = _no_file(source.path)
            if problem:
                yield self._bad(source.name, problem, fault)
            elif not source.holds_many:
                yield self._whole_file(source.name, source.path)
            elif source.path.suffix.lower() == ".csv":
                yield from self._table(source.name, source.path)
            else:
                yield from self.samples(source.name, lines_of_file(source.path, max_bytes=self.max_line_bytes))

    def samples(self, label: str, lines: Iterable[Line]) -> Iterator[Written]:
        """The drafts in JSON lines; blank lines and samples of other tasks are passed over."""
        for line in lines:
            if line.content is not None and not line.content.strip():
                continue
            place = f"{label}:{line.number}"
            try:
                sample = read_sample(line, max_bytes=self.max_line_bytes)
                if not self._tasks.takes(sample):
                    continue
                draft = written(sample, name=place, max_bytes=self._max_bytes, prompt=self._tasks.prompt(sample))
                yield self._handed_over(draft, sample.name, sample=line.number - 1)
            except BadLine as bad:
                yield self._bad(place, bad.problem, bad.fault, sample=line.number - 1)

    def _table(self, label: str, path: Path) -> Iterator[Written]:
        for row in rows(path, max_bytes=self.max_line_bytes):
            place = f"{label}:{row.line}"
            if row.problem:
                yield self._bad(place, row.problem, "person", sample=row.line - 1)
            else:
                yield self._handed_over(Written(name=place, content=row.content), row.name, sample=row.line - 1)

    def _whole_file(self, name: str, path: Path) -> Written:
        """A file as one draft. Its size is asked first, so that a large one costs nothing."""
        try:
            size = path.stat().st_size
            if size > self._max_bytes:
                return self._bad(name, too_large(size, self._max_bytes), "budget")
            content = path.read_bytes()
        except OSError as error:
            return self._bad(name, f"can't be read: {error.strerror or error}", "person")
        return self._handed_over(Written(name=name, content=content))

    def _bad(self, name: str, problem: str, fault: Fault, *, sample: int = 0) -> Written:
        return self._handed_over(Written(name=name, content=b"", problem=problem, fault=fault), sample=sample)

    def _handed_over(self, draft: Written, wanted: str | None = None, *, sample: int = 0) -> Written:
        """The draft with a name of its own, the one wanted if that will do, and what is wrong with it. `sample` is its
        place in its file: a file more or less elsewhere must not make it another draft."""
        name = free_name((wanted if wanted and _is_plain(wanted) else draft.name,), self._taken)
        return msgspec.structs.replace(draft, name=name, sample=sample, problem=draft.problem or flaw(draft.content))


def _is_plain(name: str) -> bool:
    """Whether a name from a file can be shown and be part of a path as it is."""
    return name.isprintable() and len(name) <= 200 and not name.startswith("/") and ".." not in name.split("/")


def _no_file(path: Path) -> tuple[str | None, Fault]:
    """Why nothing can be read from this path, None where something can."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        dangling = path.is_symlink() and not path.exists()
        problem = (
            f"is a link to {path.readlink()}, which is not there" if dangling else f"can't be read: {error.strerror}"
        )
        return problem, "person"
    if stat.S_ISDIR(mode):
        return "is a folder, and a draft is a file", "person"
    return (None, "person") if stat.S_ISREG(mode) else ("is no regular file", "person")


async def _beside_the_loop(drafts: Iterator[Written]) -> AsyncIterator[Written]:
    """The drafts, taken from a thread in batches: one at a time would cost more than the reading."""
    while batch := await asyncio.to_thread(_batch, drafts):
        for draft in batch:
            yield draft


def _batch(drafts: Iterator[Written]) -> list[Written]:
    batch: list[Written] = []
    size = 0
    for draft in drafts:
        batch.append(draft)
        size += len(draft.content)
        if len(batch) >= BATCH_DRAFTS or size >= BATCH_BYTES:
            break
    return batch
