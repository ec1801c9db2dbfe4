"""Looks for the numbers of the odds model on runs in which the truth was known. A run's conversation is kept as it was;
only what is made of it is reckoned anew, so hundreds of tries take seconds."""

import math
import random
from collections.abc import Sequence

from _runs import Result
from msgspec.structs import replace

from tamis.behaviour.odds import Fit

RANGES = {
    "departures": (1.5, 15.0),
    "spread": (0.3, 3.0),
    "seen": (0.7, 0.995),
    "by_drafts": (0.25, 0.6),
    "by_mutants": (0.1, 0.4),
    "size_power": (0.4, 1.0),
    "slips": (0.2, 2.0),
    "here": (0.01, 0.15),
}
"""What is fitted and between which bounds; `exact` stays at one half, since half of all runs are made to have a right
draft, and that says nothing about the world."""


def log_loss(pairs: Sequence[tuple[float, bool]]) -> float:
    """The mean of −log of the probability given to what came true, no probability below 0.001."""
    return -sum(math.log(max(1e-3, p if true else 1 - p)) for p, true in pairs) / len(pairs)


def fitted(results: Sequence[Result], start: Fit, *, tries: int = 150, seed: int = 0) -> Fit:
    """The best of `tries`: a third anywhere within the ranges, the others near the best so far."""
    rng = random.Random(seed)
    best, least = start, _loss(results, start)
    for i in range(tries):
        new = _anywhere(start, rng) if i < tries // 3 else _near(best, rng)
        loss = _loss(results, new)
        if loss < least:
            best, least = new, loss
    return best


def _loss(results: Sequence[Result], fit: Fit) -> float:
    """Log-loss, each brief with the same weight, however many owners it has."""
    by_brief: dict[str, list[tuple[float, bool]]] = {}
    for r in results:
        by_brief.setdefault(r.brief, []).append((r.final.p(fit), r.right))
    return sum(map(log_loss, by_brief.values())) / len(by_brief)


def _anywhere(fit: Fit, rng: random.Random) -> Fit:
    return replace(fit, **{name: math.exp(rng.uniform(math.log(a), math.log(b))) for name, (a, b) in RANGES.items()})


def _near(fit: Fit, rng: random.Random) -> Fit:
    name = rng.choice(list(RANGES))
    low, high = RANGES[name]
    return replace(fit, **{name: min(high, max(low, getattr(fit, name) * math.exp(rng.gauss(0, 0.3))))})


def cross_fitted(results: Sequence[Result], start: Fit) -> tuple[list[tuple[float, bool]], dict[str, float]]:
    """What each run would have been told by numbers fitted on the other briefs, and the log-loss brief by brief."""
    pairs: list[tuple[float, bool]] = []
    each: dict[str, float] = {}
    for brief in sorted({r.brief for r in results}):
        others = [r for r in results if r.brief != brief]
        fit = fitted(others, start) if others else start
        mine = [(r.final.p(fit), r.right) for r in results if r.brief == brief]
        each[brief] = log_loss(mine)
        pairs += mine
    return pairs, each
