"""The next batch: which ideas are worth the places on the bench.

One rule for all: take the idea with the highest mean + κ·sd, hold it at its predicted mean, and take the next. What
is on the bench already is held likewise. Before anything was measured the batch is spread over the ideas. One place
in eight goes to repeating the leaders, because nothing is verified until it was measured twice.

Several goals become one by weights that differ from place to place (a Chebyshev scalarisation, as in ParEGO, Knowles
2006), so that a batch looks at different trade-offs. With costs, what counts is the gain hoped for per cost.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tamis.lab.features import Features
from tamis.lab.gp import Floats, Ints
from tamis.lab.surrogate import Believer, Guess, Model, Seen

KAPPA = 2.0
SHORTLIST = 4_000
"""Only so many ideas, the best by mean + κ·sd, compete place by place. Holding an idea never raises another's value,
so those left out could come in only after thousands of picks."""

ALL_AT_ONCE = 50_000
"""Of more ideas, each model first takes a rough look at all, and a full one at the best of them."""

LEADERS = 3
"""So many of the best are worth a second measurement."""

REPEAT_EVERY = 8


@dataclass(frozen=True)
class Pick:
    """One place of a batch. `guesses` holds, for each goal, what was expected of it (mean and sd of the true value,
    (1,) each) by all together and by each member; empty where nothing was learned yet."""

    row: int
    why: Literal["spread", "explore", "repeat"]
    guesses: tuple[tuple[Guess, dict[str, Guess]], ...] = ()


@dataclass(frozen=True)
class Bench:
    """What a batch is chosen from: `free` ideas, those `pending` on the bench, and what was `seen` for each goal (the
    same rows in each, more is better). `caps` holds each goal's threshold, beyond which better is no better."""

    features: Features
    free: Ints
    pending: Ints
    seen: tuple[Seen, ...]
    caps: tuple[float | None, ...]
    costs: Floats | None = None


def spread(features: Features, taken: Ints, free: Ints, want: int, *, rng: np.random.Generator) -> list[Pick]:
    """Ideas far from each other and from those taken: each is the farthest from all before it."""
    x = features.main.x
    near = np.full(len(free), np.inf)
    for row in taken:
        near = np.minimum(near, ((x[free] - x[row]) ** 2).sum(axis=1))
    chosen: list[int] = []
    while len(chosen) < min(want, len(free)):
        place = int(np.argmax(near)) if len(taken) or chosen else int(rng.integers(len(free)))
        chosen.append(int(free[place]))
        near = np.minimum(near, ((x[free] - x[free[place]]) ** 2).sum(axis=1))
        near[place] = -1.0
    return [Pick(row, "spread") for row in chosen]


def next_batch(
    bench: Bench, models: Sequence[Model], want: int, *, repeats: int, rng: np.random.Generator, kappa: float = KAPPA
) -> list[Pick]:
    """`want` picks (fewer where ideas run out): up to `repeats` of the leaders, the rest from the free ideas."""
    again = leaders_to_repeat(bench, models)[: min(repeats, want)]
    trade = _Trade(bench, models, kappa, rng)
    free = shortlist(bench, models, trade)
    guesses = [model.guess(free) for model in models]
    believers = [Believer(model, np.concatenate([free, bench.pending])) for model in models]
    for place in range(len(free), len(free) + len(bench.pending)):
        _hold(believers, place)
    open_ = np.ones(len(free), dtype=bool)
    chosen: list[int] = []
    while len(chosen) < min(want - len(again), len(free)):
        left = [believer.left[: len(free)] for believer in believers]
        value = trade.value([Guess(g.mean, g.sd * f) for g, f in zip(guesses, left, strict=True)], free)
        place = int(np.argmax(np.where(open_, value, -np.inf)))
        chosen.append(place)
        open_[place] = False
        _hold(believers, place)
        trade.next_place()
    return picked(models, again, "repeat") + picked(models, free[chosen].tolist(), "explore")


def shortlist(bench: Bench, models: Sequence[Model], trade: "_Trade") -> Ints:
    """The free ideas that may be chosen, the most promising of them where there are many."""
    free = bench.free
    if len(free) > ALL_AT_ONCE:
        rough = [model.rough_guess(free) for model in models]
        free = _best(free, trade.value(rough, free), ALL_AT_ONCE // 2)
    if len(free) > SHORTLIST:
        free = _best(free, trade.value([model.guess(free) for model in models], free), SHORTLIST)
    return free


def picked(models: Sequence[Model], rows: Sequence[int], why: Literal["explore", "repeat"]) -> list[Pick]:
    """The picks with what is expected of each."""
    if not rows:
        return []
    at = np.asarray(rows, dtype=np.intp)
    said = [(model.guess(at), model.by_member(at)) for model in models]

    def one(k: int) -> tuple[tuple[Guess, dict[str, Guess]], ...]:
        cut = slice(k, k + 1)
        return tuple(
            (Guess(all_.mean[cut], all_.sd[cut]), {name: Guess(g.mean[cut], g.sd[cut]) for name, g in by.items()})
            for all_, by in said
        )

    return [Pick(int(row), why, one(k)) for k, row in enumerate(rows)]


def leaders_to_repeat(bench: Bench, models: Sequence[Model]) -> list[int]:
    """The leaders measured once only and not on the bench that may well be the best one, best first."""
    rows, counts = bench.seen[0].rows, bench.seen[0].counts
    if not len(rows):
        return []
    guesses = [model.guess(rows) for model in models]
    utility = np.sum([g.mean / model.spread for g, model in zip(guesses, models, strict=True)], axis=0)
    doubt = np.sqrt(np.sum([(g.sd / model.spread) ** 2 for g, model in zip(guesses, models, strict=True)], axis=0))
    order = np.argsort(-utility)[:LEADERS]
    busy = set(bench.pending.tolist())
    behind = (utility[order[0]] - utility[order]) / np.maximum(np.hypot(doubt[order[0]], doubt[order]), 1e-12)
    return [
        int(rows[k])
        for k, z in zip(order, behind, strict=True)
        if counts[k] < 2 and int(rows[k]) not in busy and z < 1.0
    ]


class _Trade:
    """Turns guesses at each goal into one value: for one goal, mean + κ·sd."""

    def __init__(self, bench: Bench, models: Sequence[Model], kappa: float, rng: np.random.Generator) -> None:
        self._models, self._caps, self._costs, self._kappa, self._rng = models, bench.caps, bench.costs, kappa, rng
        self._best = [float(seen.values.max()) for seen in bench.seen]
        self.next_place()

    def next_place(self) -> None:
        """Draws other weights for the goals."""
        self._weights = self._rng.dirichlet(np.ones(len(self._models))) if len(self._models) > 1 else np.ones(1)

    def value(self, guesses: Sequence[Guess], rows: Ints) -> Floats:
        """What each of the ideas `rows` is worth, (rows,)."""
        hopes = [guess.mean + self._kappa * guess.sd for guess in guesses]
        if len(hopes) == 1:
            worth, best, scale = hopes[0], self._best[0], self._models[0].spread
        else:
            worth, best, scale = self._chebyshev(hopes), self._chebyshev([np.array([b]) for b in self._best])[0], 1.0
        if self._costs is None:
            return worth
        gain = np.logaddexp(0.0, 4.0 * (worth - best) / scale)  # above 0 also for ideas that hardly promise anything
        return np.asarray(gain / self._costs[rows])

    def _chebyshev(self, hopes: Sequence[Floats]) -> Floats:
        scaled = []
        for hope, model, best, cap in zip(hopes, self._models, self._best, self._caps, strict=True):
            enough = hope if cap is None else np.minimum(hope, cap)
            scaled.append((enough - best) / model.spread)
        weighted = [w * one for w, one in zip(self._weights, scaled, strict=True)]
        return np.asarray(np.min(weighted, axis=0) + 0.05 * np.sum(weighted, axis=0))


def _best(rows: Ints, value: Floats, most: int) -> Ints:
    if len(rows) <= most:
        return rows
    return np.sort(rows[np.argpartition(-value, most)[:most]])


def _hold(believers: Sequence[Believer], place: int) -> None:
    for believer in believers:
        believer.hold(place)
