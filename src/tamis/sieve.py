"""The story, top to bottom: from the drafts as written to one chosen, or none.

Every chapter starts from what the ledger already knows and records as it goes, so a run that was killed goes on where
it was. What settles it depends on the desk: behaviour for software, taste for prose, the lab for physical evidence.
"""

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from tamis.brief import LoadedBrief
from tamis.checks.duplicates import Duplicates, underscored_names
from tamis.checks.parser_pool import ParserPool
from tamis.checks.parses import Parses
from tamis.clock import Clock
from tamis.desks import Desk
from tamis.ledger import Ledger
from tamis.progress import Progress
from tamis.reading import Pool, read
from tamis.records import Choice, Draft, Held
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
            pool, parsed = await self._read()
            return self.desk.settle(pool, self.desk.test(pool, parsed))

    async def check(self) -> Sequence[Draft]:
        """The checks alone; returns the drafts that nothing speaks against."""
        with self._run.spans.span("whole", "check"):
            pool, parsed = await self._read()
            return self.desk.test(pool, parsed)

    async def _read(self) -> tuple[Pool, list[Draft]]:
        """All drafts, and those that are whole, the same ones folded."""
        with self._run.spans.span("reading", "reading"):
            pool = await read(self._run, self._writer)
            with ParserPool() as parsers:
                parsed = self._parse(pool, parsers)
                self._fold(pool, parsers)
        return pool, parsed

    def _parse(self, pool: Pool, parsers: ParserPool) -> list[Draft]:
        """The drafts that their parser accepts."""
        run = self._run
        run.progress.start("parse", len(pool.usable))
        with run.spans.span("reading", "parse") as span:
            check = Parses(run.loaded.brief.desk, pool=parsers)
            answers = run.findings.gather(check, pool.usable, pool.contents, span=span.id, each=run.progress.advance)
            for draft in pool.usable:
                found = run.findings.about(check.spec, draft.id)
                if found is not None and "shape" in found.how:
                    pool.shapes[draft.id] = found.how["shape"]
        return [draft for draft in pool.usable if isinstance(answers.get(draft.id), Held)]

    def _fold(self, pool: Pool, parsers: ParserPool) -> None:
        """Finds which drafts are the same, or nearly. Folded is not dropped: all stay, one stands for the others."""
        run = self._run
        run.progress.start("fold", len(pool.usable))
        check = Duplicates(
            run.loaded.brief.desk,
            similarity=run.loaded.settings.duplicates.similarity,
            contents=pool.contents.__getitem__,
            shapes=pool.shapes,
            visible=underscored_names(run.loaded.test_files),
            pool=parsers,
        )
        with run.spans.span("reading", "fold") as span:
            for found in check.look((draft, pool.contents[draft.id]) for draft in pool.usable):
                if found.how["folded"] == "yes":
                    pool.folded[found.draft] = found.how["keeper"]
                # who is whose duplicate depends on all that came before, so it is found anew and recorded when new
                known = run.findings.about(check.spec, found.draft)
                if known is None or known.how != found.how:
                    run.findings.record(check.spec, (found.draft,), found.answer, how=found.how, span=span.id)
                run.progress.advance()
