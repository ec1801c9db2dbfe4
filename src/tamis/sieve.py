"""The story, top to bottom: from the drafts as written to one chosen, or none.

Every chapter starts from what the ledger already knows and records as it goes, so a run that was killed goes on where
it was. Reading, parsing, folding and testing run while drafts still arrive. What settles it depends on the desk:
behaviour for software, taste for prose, the lab for physical evidence.
"""

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from tamis.brief import LoadedBrief
from tamis.checks.parser_pool import ParserPool, cores
from tamis.clock import Clock
from tamis.desks import Desk
from tamis.ledger import Ledger
from tamis.pipeline.sifting import Sifting
from tamis.progress import Progress
from tamis.reading import Pool
from tamis.records import Choice, Draft
from tamis.run import Run
from tamis.writers.base import Writer


class Sieve:
    """One brief on its way. Use it as a context: leaving it ends every process that it started."""

    def __init__(
        self,
        loaded: LoadedBrief,
        ledger: Ledger,
        writer: Writer,
        desk: Callable[[Run], Desk],
        *,
        clock: Clock | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._run = Run(loaded, ledger, clock=clock, progress=progress)
        self._writer = writer
        self.desk = desk(self._run)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.desk.close()

    async def run(self) -> Choice:
        """The whole path."""
        with self._run.spans.span("whole", "run"):
            pool, parsed = await self._sift()
            return self.desk.settle(pool, self.desk.test(pool, parsed))

    async def check(self) -> Sequence[Draft]:
        """The checks alone; returns the drafts that nothing speaks against."""
        with self._run.spans.span("whole", "check"):
            pool, parsed = await self._sift()
            return self.desk.test(pool, parsed)

    async def _sift(self) -> tuple[Pool, list[Draft]]:
        """All drafts, and those that are whole, the same ones folded; the desk has begun with them by then."""
        # for other desks it measures texts, on one core fewer than there are: the rest of the pipeline needs one
        software = self._run.loaded.brief.desk == "software"
        with ParserPool(processes=None if software else max(1, min(4, cores() - 1))) as parsers:
            return await Sifting(self._run, self._writer, self.desk, parsers).sift()
