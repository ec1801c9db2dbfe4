"""Writer `files`: drafts that somebody has already written. One draft a file, or many in a file of JSON lines, a table
or another of the shapes of docs/reference/draft-files.md, or JSON lines on standard input while they are still coming.

Contents are read one after another and never held together; a file over the size limit is not read at all. Reading
happens beside the event loop, a batch at a time, so that checks run meanwhile.
"""

import asyncio
import itertools
import sys
from collections.abc import AsyncIterator, Iterator

from tamis.brief import LoadedBrief
from tamis.errors import DraftsError
from tamis.records import Spec
from tamis.writers.base import Written
from tamis.writers.lines import lines_of_stdin
from tamis.writers.reader import Reader
from tamis.writers.sources import Source, find_sources

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
        sources = find_sources(brief.folder, self._sources, brief.brief.desk, narrowed=reader.tasks.folder)
        for from_stdin, group in itertools.groupby(sources, key=_is_stdin):
            if from_stdin:
                descriptor = sys.stdin.fileno() if self._stdin is None else self._stdin
                async for line in lines_of_stdin(descriptor, max_bytes=reader.max_line_bytes):
                    for draft in reader.samples("stdin", (line,)):
                        yield draft
            else:
                async for draft in _beside_the_loop(reader.drafts(group)):
                    yield draft


def _is_stdin(source: Source) -> bool:
    return source.is_stdin


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
