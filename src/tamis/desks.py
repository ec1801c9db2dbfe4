"""The desks. Each settles in its own way which draft it is: software by behaviour and the owner's answers, prose by a
reader's taste, the lab by what a bench measured. The sieve knows no more of them than this."""

from collections.abc import Callable, Sequence
from typing import Protocol

from tamis.lab.desk import Standing
from tamis.lab.desk import settle as settle_by_lab
from tamis.lab.owner import StandIn
from tamis.reading import Pool
from tamis.records import Choice, Draft
from tamis.run import Run
from tamis.taste.desk import ProseDesk
from tamis.taste.readers import ChoicesFile, Reader


class Desk(Protocol):
    """`open` says, after `settle`, whether something is left that nobody answered or measured."""

    open: bool

    def test(self, pool: Pool, parsed: Sequence[Draft]) -> Sequence[Draft]:
        """The drafts that pass what came with the brief, of those that are whole."""

    def settle(self, pool: Pool, passed: Sequence[Draft]) -> Choice:
        """One of them, or none, recorded."""

    def close(self) -> None:
        """Ends what the desk started."""


class TasteDesk:
    """Prose: a reader compares, until her shortlist is settled or she has had enough."""

    def __init__(self, run: Run, reader: Reader | ChoicesFile | None, *, say: Callable[[str], None]) -> None:
        settings = run.loaded.settings
        self.open = False
        self._desk = ProseDesk(
            run,
            reader,
            settings=settings.taste,
            top=settings.choose.top,
            similarity=settings.duplicates.similarity,
            say=say,
        )

    def test(self, pool: Pool, parsed: Sequence[Draft]) -> Sequence[Draft]:  # noqa: ARG002 - no tests come with it
        return parsed

    def settle(self, pool: Pool, passed: Sequence[Draft]) -> Choice:
        choice = self._desk.settle(pool, passed)
        self.open = choice.draft is None
        return choice

    def close(self) -> None:
        pass


class BenchDesk:
    """The lab: a batch goes out, and days later its results come back. `standing` is where the campaign is then."""

    def __init__(self, run: Run, owner: StandIn | None, *, batches: int | None = None) -> None:
        self._run = run
        self._owner = owner
        self._batches = batches
        self.lab = run.loaded.settings.lab
        self.open = True
        self.standing: Standing | None = None

    def test(self, pool: Pool, parsed: Sequence[Draft]) -> Sequence[Draft]:  # noqa: ARG002 - no tests come with it
        return parsed

    def settle(self, pool: Pool, passed: Sequence[Draft]) -> Choice:
        ideas = ((draft.id, draft.name, pool.contents[draft.id]) for draft in passed)
        self.standing = settle_by_lab(self._run, self.lab, ideas, owner=self._owner, batches=self._batches)
        self.open = self.standing.choice.draft is None
        return self.standing.choice

    def close(self) -> None:
        pass
