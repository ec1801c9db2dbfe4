"""What an idea is worth a place on the bench: many guesses and wishes become one number.

One goal: mean + κ·sd. Several: how much the hypervolume of the front would grow if the idea were as good as it may well
be, mean + κ·sd in each goal (as in SMS-EGO, Ponweiser et al. 2008), with what is on the bench and in the batch already
held at its predicted means. With costs, or kinds of ideas that keep failing, what counts is the gain hoped for, times
the chance to see it, per cost.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tamis.lab.features import Features
from tamis.lab.front import Space, space_of
from tamis.lab.gp import Floats, Ints
from tamis.lab.surrogate import Guess, Model, Seen

CHUNK = 20_000
HARDLY = 1e-3
"""Where no idea may well widen the front, those that come nearest are preferred: their balance counts so little."""


@dataclass(frozen=True)
class Bench:
    """What a batch is chosen from: `free` ideas, those `pending` on the bench, and what was `seen` for each goal (the
    same rows in each, more is better). `caps` holds each goal's threshold, beyond which better is no better. `chances`
    (ideas,) are those that a run succeeds, `costs` (ideas,) what it takes; None where all are alike. `out` is how many
    places lie in batches of which nothing has come back yet: a row that never comes back is pending, but not out.
    `failed` are the ideas of which runs have failed and none has a result."""

    features: Features
    free: Ints
    pending: Ints
    seen: tuple[Seen, ...]
    caps: tuple[float | None, ...]
    costs: Floats | None = None
    chances: Floats | None = None
    out: int = 0
    failed: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.intp))

    @cached_property
    def space(self) -> Space:
        """The space of trade-offs that the results span."""
        return space_of(np.column_stack([one.values for one in self.seen]), self.caps)


class Trade:
    """Turns guesses at each goal into one value, knowing what is held already."""

    def __init__(self, bench: Bench, models: Sequence[Model], kappa: float) -> None:
        self._bench, self._kappa = bench, kappa
        self._best, self._scale = float(bench.seen[0].values.max()), models[0].spread
        self._several = len(models) > 1
        if self._several:
            values = np.column_stack([one.values for one in bench.seen])
            self._reach = bench.space.reach(values).max(axis=0)

    def hold(self, guesses: Sequence[Guess], place: int) -> None:
        """The idea at `place` of the guesses is believed to turn out at its means."""
        if self._several:
            mean = np.array([[guess.mean[place] for guess in guesses]])
            self._reach = np.maximum(self._reach, self._bench.space.reach(mean)[0])

    def value(self, guesses: Sequence[Guess], rows: Ints) -> Floats:
        """What each of the ideas `rows` is worth, (rows,)."""
        hopes = [guess.mean + self._kappa * guess.sd for guess in guesses]
        costs, chances = self._bench.costs, self._bench.chances
        if self._several:
            gain = self._widening(np.column_stack(hopes))
        elif costs is None and chances is None:
            return hopes[0]
        else:  # above 0 also for ideas that hardly promise anything
            gain = np.logaddexp(0.0, 4.0 * (hopes[0] - self._best) / self._scale)
        if chances is not None:
            gain = gain * chances[rows]
        return gain if costs is None else np.asarray(gain / costs[rows])

    def _widening(self, hopes: Floats) -> Floats:
        """By how much each of (rows, goals) would widen the front."""
        space = self._bench.space
        parts = [
            np.maximum(space.reach(hopes[at : at + CHUNK]) - self._reach, 0.0).mean(axis=1)
            for at in range(0, len(hopes), CHUNK)
        ]
        wide = np.concatenate(parts) if parts else np.zeros(0)
        return np.asarray(wide + HARDLY * np.logaddexp(0.0, 4.0 * space.balance(hopes)))
