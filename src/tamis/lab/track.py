"""How well the models have guessed so far, and what follows: whose word weighs how much, and how wide an interval must
be to hold what it says.

Every guess here was recorded before its result was known; nothing is scored on what it has learned from. With few
results back, prior weights and the normal distribution speak; experience takes over as it grows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

PRIOR = {"gp": 0.85, "trees": 0.05, "average": 0.05, "gp plain": 0.05}
"""Before any result: what chose best over many made-up landscapes and the sets of the benchmark."""

HOT = 0.5
"""Results of a batch resemble each other, so each counts as half an independent one."""

WORST_SURPRISE = 8.0
"""A result's logarithmic score is at most so far below the best model's: one wild result must not settle it alone."""

IMAGINED = 20
"""So many guesses are imagined to have gone as the normal distribution says, before experience."""


@dataclass(frozen=True)
class Past:
    """One guess and what came of it: `mean` and `sd` of the result expected (noise and all), those of each member,
    and the result."""

    mean: float
    sd: float
    members: Mapping[str, tuple[float, float]]
    result: float
    batch: int = 0

    @property
    def surprise(self) -> float:
        """By how many sds the result lay above its guess."""
        return (self.result - self.mean) / self.sd


def weights(past: Sequence[Past], prior: Mapping[str, float] = PRIOR) -> dict[str, float]:
    """How much each member's word counts: by how probable each held the results that came, summing to 1. One that
    had not guessed yet, having joined later, counts there as the others do on the average."""
    score = dict.fromkeys(prior, 0.0)
    for one in past:
        said = {name: norm.logpdf(one.result, *one.members[name]) for name in prior if name in one.members}
        if not said:
            continue
        best = max(said.values())
        gained = {name: max(float(value) - best, -WORST_SURPRISE) for name, value in said.items()}
        usual = sum(gained.values()) / len(gained)
        for name in prior:
            score[name] += gained.get(name, usual)
    raw = {name: np.log(prior[name]) + HOT * score[name] for name in prior}
    top = max(raw.values())
    total = sum(np.exp(value - top) for value in raw.values())
    return {name: float(np.exp(value - top) / total) for name, value in raw.items()}


def width(past: Sequence[Past], level: float) -> float:
    """How many sds an interval must reach to either side to hold the result with the probability `level`: the
    quantile of the surprises so far, with some imagined normal ones among them."""
    imagined = norm.ppf(0.5 + (np.arange(IMAGINED) + 0.5) / (2 * IMAGINED))
    seen = np.abs([one.surprise for one in past])
    return float(np.quantile(np.concatenate([imagined, seen]), level))


def coverage(past: Sequence[Past], level: float) -> float | None:
    """The share of results that lay in the interval given before, each interval being as wide as was known to be
    needed then; None before any."""
    inside = [abs(one.surprise) <= width(_before(past, one), level) for one in past]
    return float(np.mean(inside)) if inside else None


def _before(past: Sequence[Past], one: Past) -> list[Past]:
    return [other for other in past if other.batch < one.batch]
