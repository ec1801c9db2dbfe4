"""The desks. Each settles in its own way which draft it is: software by behaviour and the owner's answers, prose by a
reader's taste, the lab by what a bench measured. The sieve knows no more of them than this."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import Protocol

from tamis.brief import LoadedBrief
from tamis.errors import BriefError
from tamis.lab.desk import Standing
from tamis.lab.desk import settle as settle_by_lab
from tamis.lab.ideas import Coming, Listed
from tamis.lab.owner import StandIn
from tamis.lab.settings import goals_of
from tamis.plugins import make_writer
from tamis.reading import Pool
from tamis.records import Choice, Draft
from tamis.run import Run
from tamis.taste.desk import ProseDesk
from tamis.taste.judging import Seated, judge_named
from tamis.taste.readers import ChoicesFile, Reader
from tamis.taste.scores import Scores
from tamis.writers.base import Writer


class Desk(Protocol):
    """`open` says, after `settle`, whether something is left that nobody answered or measured."""

    open: bool

    def take(self, pool: Pool, drafts: Iterator[Draft]) -> None:
        """Begins with what can be done on each draft alone, as they come: those that are whole and no other's
        duplicate. Called in a thread of its own; returns when they have all come."""

    def enough(self) -> bool:
        """Whether there are as many drafts as were asked for, so that the writer may stop. Any thread may ask."""

    def test(self, pool: Pool, parsed: Sequence[Draft]) -> Sequence[Draft]:
        """The drafts that pass what came with the brief, of those that are whole."""

    def settle(self, pool: Pool, passed: Sequence[Draft]) -> Choice:
        """One of them, or none, recorded."""

    def close(self) -> None:
        """Ends what the desk started."""


class Distinct:
    """How many distinct, whole drafts have come, against how many the settings ask for."""

    def __init__(self, run: Run) -> None:
        self._wanted = run.loaded.settings.drafts.enough
        self._count = 0

    def counted(self, drafts: Iterator[Draft]) -> Iterator[Draft]:
        for draft in drafts:
            self._count += 1
            yield draft

    def enough(self) -> bool:
        return self._wanted is not None and self._count >= self._wanted


class TasteDesk:
    """Prose: a reader compares, until her shortlist is settled or she has had enough."""

    def __init__(self, run: Run, reader: Reader | ChoicesFile | None, *, say: Callable[[str], None]) -> None:
        settings = run.loaded.settings
        self._distinct = Distinct(run)
        self.open = False
        self._desk = ProseDesk(
            run,
            reader,
            settings=settings.taste,
            top=settings.choose.top,
            similarity=settings.duplicates.similarity,
            judge=_judge_of(run.loaded),
            say=say,
        )

    def take(self, pool: Pool, drafts: Iterator[Draft]) -> None:
        self._desk.take(pool, self._distinct.counted(drafts))

    def enough(self) -> bool:
        return self._distinct.enough()

    def test(self, pool: Pool, parsed: Sequence[Draft]) -> Sequence[Draft]:  # noqa: ARG002 - no tests come with it
        return parsed

    def settle(self, pool: Pool, passed: Sequence[Draft]) -> Choice:
        choice = self._desk.settle(pool, passed)
        self.open = choice.draft is None
        return choice

    def close(self) -> None:
        pass


def _judge_of(loaded: LoadedBrief) -> Seated | Scores | None:
    """The judge that `[taste] judge` names, asked by a writer where it is one's name."""
    taste = loaded.settings.taste
    if taste.judge is None:
        return None

    def writer(question: LoadedBrief) -> Writer:
        return make_writer(str(taste.judge), question, relative_to=loaded.folder)

    return judge_named(taste.judge, loaded, writer, rubric=taste.rubric)


class BenchDesk:
    """The lab: a batch goes out, and days later its results come back. `standing` is where the campaign is then."""

    def __init__(self, run: Run, owner: StandIn | None, *, batches: int | None = None) -> None:
        self._run = run
        self._owner = owner
        self._batches = batches
        self._distinct = Distinct(run)
        self.lab = run.loaded.settings.lab
        self._coming: Coming | None = None
        self.open = True
        self.standing: Standing | None = None

    def take(self, pool: Pool, drafts: Iterator[Draft]) -> None:
        """Reads what each idea says while others still arrive."""
        arriving = self._distinct.counted(drafts)
        with suppress(BriefError):  # what the owner has to mend is told when it is settled
            goals_of(self.lab)  # which reads the table of units, for a third of a second: best before there is a draft
            if (first := next(arriving, None)) is not None:
                self._read(pool, chain((first,), arriving))
        for _ in arriving:
            pass

    def _read(self, pool: Pool, drafts: Iterator[Draft]) -> None:
        with self._run.spans.span("reading", "ideas", cpu=time.thread_time) as span:
            coming = Coming(self.lab)
            since = self._run.clock.now()
            for draft in drafts:
                span.wait(self._run.clock.now() - since, on="folding")
                coming.add(draft.id, pool.contents[draft.id])
                since = self._run.clock.now()
            self._coming = coming

    def enough(self) -> bool:
        return self._distinct.enough()

    def test(self, pool: Pool, parsed: Sequence[Draft]) -> Sequence[Draft]:  # noqa: ARG002 - no tests come with it
        return parsed

    def settle(self, pool: Pool, passed: Sequence[Draft]) -> Choice:
        ideas = Listed(((draft.id, draft.name) for draft in passed), pool.contents.__getitem__)
        coming, self._coming = self._coming, None  # once the ideas are known, nobody holds what they were made of
        self.standing = settle_by_lab(
            self._run, self.lab, ideas, coming=coming, owner=self._owner, batches=self._batches
        )
        self.open = self.standing.choice.draft is None
        return self.standing.choice

    def close(self) -> None:
        pass
