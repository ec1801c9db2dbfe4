"""The next batch: which ideas are worth the places on the bench.

One rule for all: take the idea with the highest mean + κ·sd, hold it at its predicted mean, and take the next. What is
on the bench already is held likewise. Before anything was measured the batch is spread over the ideas. One place in
eight goes to repeating the leaders, because nothing is verified until it was measured twice, but only once they are
likely to stay the leaders; and one in a batch goes to what the models doubt most, with twice the κ, because a campaign
that only follows what they expect can settle on a lesser peak and stay there.

What several goals, costs and failures do to that is in `trade`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from tamis.lab import gp
from tamis.lab.features import Features
from tamis.lab.gp import Floats, Ints
from tamis.lab.surrogate import Believer, Guess, Model
from tamis.lab.trade import Bench, Trade

KAPPA = 2.0
"""How many sds of doubt an idea is given as credit where nothing is on the bench. What is on it explores already, so
the credit falls by the share of it: with three batches out, a fourth at the same κ would look at doubts only."""

DOUBT_KAPPA = 4.0
"""How many sds are credited at the place that goes to doubt. It is not lowered by what is on the bench."""

DOUBT_EVERY = 5
"""One place in so many goes to doubt, but only one in a batch of up to eight."""

SHORTLIST = 4_000
"""Only so many ideas, the best by mean + κ·sd, compete place by place. Holding an idea never raises another's value,
so those left out could come in only after thousands of picks."""

ALL_AT_ONCE = 50_000
"""Of more ideas, each model first takes a rough look at all, and a full one at the best of them."""

CHUNK = 100_000
"""Ideas whose distances are worked out together; all of a million at once would need several copies of the features."""

LEADERS = 3
"""So many of the best are worth a second measurement."""

REPEAT_EVERY = 8

BEATS = 1.0
"""While some idea left would beat the leader if it were so many sds better than expected, the leader is likely to be
beaten. Repeating it then verifies what will be forgotten."""


Why = Literal["spread", "explore", "doubt", "repeat"]


@dataclass(frozen=True)
class Pick:
    """One place of a batch. `guesses` holds, for each goal, what was expected of it (mean and sd of the true value,
    (1,) each) by all together and by each member; empty where nothing was learned yet."""

    row: int
    why: Why
    guesses: tuple[tuple[Guess, dict[str, Guess]], ...] = ()


def spread(features: Features, taken: Ints, free: Ints, want: int, *, rng: np.random.Generator) -> list[Pick]:
    """Ideas far from each other and from those taken: each is the farthest from all before it."""
    x = features.main.x
    near = np.full(len(free), np.inf)

    def take(row: int) -> None:
        for at in range(0, len(free), CHUNK):
            part = slice(at, at + CHUNK)
            near[part] = np.minimum(near[part], ((x[free[part]] - x[row]) ** 2).sum(axis=1))

    for row in taken:
        take(row)
    chosen: list[int] = []
    while len(chosen) < min(want, len(free)):
        place = int(np.argmax(near)) if len(taken) or chosen else int(rng.integers(len(free)))
        chosen.append(int(free[place]))
        take(chosen[-1])
        near[place] = -1.0
    return [Pick(row, "spread") for row in chosen]


def next_batch(
    bench: Bench,
    models: Sequence[Model],
    want: int,
    *,
    repeats: int,
    doubts: int = 0,
    kappa: float = KAPPA,
    ending: bool = False,
) -> list[Pick]:
    """`want` picks (fewer where ideas run out): up to `repeats` of the leaders, the last `doubts` of the others for
    what is doubted most, the rest for what promises most. Where the campaign is `ending`, leaders are repeated also
    while they are likely to be beaten."""
    trades = {
        "explore": Trade(bench, models, kappa * want / (want + bench.out)),
        "doubt": Trade(bench, models, DOUBT_KAPPA),
    }
    free = shortlist(bench, models, list(trades.values()))
    again: list[int] = []
    if repeats and (ending or not likely_beaten(bench, models, free)):
        again = leaders_to_repeat(bench, models)[: min(repeats, want)]
    rows = np.concatenate([free, bench.pending])
    guesses = [model.guess(rows) for model in models]
    believers = [Believer(model, rows) for model in models]

    def hold(place: int) -> None:
        for trade in trades.values():
            trade.hold(guesses, place)
        for believer in believers:
            believer.hold(place)

    for place in range(len(free), len(rows)):
        hold(place)
    open_ = np.arange(len(rows)) < len(free)
    runs = _runs(bench, rows)
    chosen: list[int] = []
    whys = _whys(min(want - len(again), len(free)), doubts)
    for why in whys:
        left = [Guess(g.mean, g.sd * one.left) for g, one in zip(guesses, believers, strict=True)]
        allowed = open_ & runs if why == "doubt" and (open_ & runs).any() else open_
        place = int(np.argmax(np.where(allowed, trades[why].value(left, rows), -np.inf)))
        chosen.append(place)
        open_[place] = False
        hold(place)
    return picked(models, again, ["repeat"] * len(again)) + picked(models, free[chosen].tolist(), whys)


def _whys(places: int, doubts: int) -> list[Why]:
    return ["explore" if k < places - doubts else "doubt" for k in range(places)]


def _runs(bench: Bench, rows: Ints) -> npt.NDArray[np.bool_]:
    """Which ideas are of no kind that keeps failing, and have no failed run for their nearest. Where runs fail nothing
    is known and all is doubted, but trying there does not end that."""
    good = np.ones(len(rows), dtype=bool) if bench.chances is None else np.asarray(bench.chances[rows] >= 1.0)
    if len(bench.failed):
        x = bench.features.main.x
        failed, seen = (gp.squared_distances(x[rows], x[at]).min(axis=1) for at in (bench.failed, bench.seen[0].rows))
        good &= failed > seen
    return good


def shortlist(bench: Bench, models: Sequence[Model], trades: Sequence[Trade]) -> Ints:
    """The free ideas that may be chosen, the most promising of them in either trade where there are many."""
    free = bench.free
    if len(free) > ALL_AT_ONCE:
        rough = [model.rough_guess(free) for model in models]
        free = _best(free, [trade.value(rough, free) for trade in trades], ALL_AT_ONCE // 2)
    if len(free) > SHORTLIST:
        guesses = [model.guess(free) for model in models]
        free = _best(free, [trade.value(guesses, free) for trade in trades], SHORTLIST)
    return free


def picked(models: Sequence[Model], rows: Sequence[int], whys: Sequence[Why]) -> list[Pick]:
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

    return [Pick(int(row), why, one(k)) for k, (row, why) in enumerate(zip(rows, whys, strict=True))]


def likely_beaten(bench: Bench, models: Sequence[Model], rivals: Ints) -> bool:
    """Whether one of the ideas `rivals` would beat the leader if it were BEATS sds better than expected. (In each of
    several goals by so much less that all of them together are as rare.)"""
    if not len(rivals):
        return False
    credit = BEATS / len(models) ** 0.5
    found = [model.guess(bench.seen[0].rows) for model in models]
    hopes = [Guess(g.mean + credit * g.sd, g.sd) for g in (model.guess(rivals) for model in models)]
    return bool(_worth(bench, hopes).max() > _worth(bench, found).max())


def _worth(bench: Bench, guesses: Sequence[Guess]) -> Floats:
    """What ideas are worth at the means guessed; better than good enough is no better."""
    if len(guesses) > 1:
        return bench.space.balance(np.column_stack([g.mean for g in guesses]))
    return guesses[0].mean if bench.caps[0] is None else np.minimum(guesses[0].mean, bench.caps[0])


def leaders_to_repeat(bench: Bench, models: Sequence[Model]) -> list[int]:
    """The leaders measured once only and not on the bench that may well be the best one, best first."""
    rows, counts = bench.seen[0].rows, bench.seen[0].counts
    if not len(rows):
        return []
    guesses = [model.guess(rows) for model in models]
    if len(models) == 1:
        utility, doubt = guesses[0].mean, guesses[0].sd
    else:
        utility = bench.space.balance(np.column_stack([g.mean for g in guesses]))
        doubt = np.sqrt(np.mean([(g.sd / e) ** 2 for g, e in zip(guesses, bench.space.extent, strict=True)], axis=0))
    order = np.argsort(-utility)[:LEADERS]
    busy = set(bench.pending.tolist())
    behind = (utility[order[0]] - utility[order]) / np.maximum(np.hypot(doubt[order[0]], doubt[order]), 1e-12)
    return [
        int(rows[k])
        for k, z in zip(order, behind, strict=True)
        if counts[k] < 2 and int(rows[k]) not in busy and z < 1.0
    ]


def _best(rows: Ints, values: Sequence[Floats], most: int) -> Ints:
    """The rows among the `most` best by any of the values, an equal number by each."""
    if len(rows) <= most:
        return rows
    share = most // len(values)
    best = np.concatenate([np.argpartition(-value, share)[:share] for value in values])
    return np.asarray(rows[np.unique(best)])
