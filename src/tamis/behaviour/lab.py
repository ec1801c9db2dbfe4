"""Lab. Runs mutants of a draft beside it, and says where each first behaves otherwise.

A mutant that fails a given test is known to be wrong and is left out; one that behaves as its original in every program
shows nothing. Those between are what a storyboard is for.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tamis.behaviour.ground import NEVER, Ints, first_difference, numbered
from tamis.behaviour.matrix import Keys
from tamis.behaviour.mutants import Mutant, mutants
from tamis.sandbox import Program

RunSources = Callable[[Mapping[str, bytes], Sequence[Program]], Mapping[str, tuple[bytes, ...]]]
FIRST_PROGRAMS = 60

Passing = Callable[[Mapping[str, bytes]], frozenset[str]]
"""Which of these sources, by key, pass the given tests."""


@dataclass
class Lab:
    """Runs mutants, each draft's once. `first(draft, programs)` gives the mutants that pass the given tests and, for
    each program, at which call each first differs from its original. The programs come the most telling first: all
    mutants run in the first FIRST_PROGRAMS, and those that nothing showed there in the others too."""

    sources: Mapping[str, bytes]
    run: RunSources
    passing: Passing
    seed: int = 0
    _kept: dict[str, tuple[tuple[Mutant, ...], int]] = field(default_factory=dict)

    def survivors(self, draft: str, limit: int) -> tuple[tuple[Mutant, ...], int]:
        """The mutants that pass the given tests, and the number of all that were made."""
        if draft not in self._kept:
            try:
                made = mutants(self.sources[draft], limit=limit, rng=random.Random(self.seed))
            except SyntaxError:
                made = ()
            alive = self.passing({m.id: m.source for m in made}) if made else frozenset()
            self._kept[draft] = tuple(m for m in made if m.id in alive), len(made)
        return self._kept[draft]

    def first(self, draft: str, programs: Sequence[Program], limit: int) -> tuple[tuple[Mutant, ...], list[Ints]]:
        alive, _ = self.survivors(draft, limit)
        if not alive or not programs:
            return (), [np.zeros(0, dtype=np.int32) for _ in programs]
        found = self.differ(draft, alive, programs[:FIRST_PROGRAMS])
        hidden = np.flatnonzero(np.all([steps == NEVER for steps in found], axis=0))
        more = programs[FIRST_PROGRAMS:]
        if not more or not len(hidden):
            return alive, found + [np.full(len(alive), NEVER, dtype=np.int32) for _ in more]
        for steps in self.differ(draft, [alive[i] for i in hidden], more):
            found.append(np.full(len(alive), NEVER, dtype=np.int32))
            found[-1][hidden] = steps
        return alive, found

    def differ(self, draft: str, mutants: Sequence[Mutant], programs: Sequence[Program]) -> list[Ints]:
        """For each program, at which call each of these mutants of the draft first differs from it."""
        ran = self.run({"": self.sources[draft], **{m.id: m.source for m in mutants}}, programs)
        rows = ("", *(m.id for m in mutants))
        return [_differs([ran[row][i] for row in rows], len(p)) for i, p in enumerate(programs)]


def _differs(rans: Sequence[bytes], calls: int) -> Ints:
    """(rans − 1,): where each first differs from the first one."""
    steps = numbered(rans, Keys(), calls)
    return first_difference(steps[1:], steps[0])
