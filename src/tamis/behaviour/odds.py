"""Odds. What the answers so far say about which draft is right, and how much of that can be believed.

The latent truth is the owner's answer everywhere, asked or not. It is thought of as one draft (its base) from which it
departs in a number of places that is drawn at random: in none, and then that draft is right; in some, and then none is,
however well a draft has answered what was asked. What has been shown to the owner and agreed to uses up places where
the truth could still depart; what nobody asked about stays. An answer that goes against a draft is either a place where
the truth departs from it or a slip of the owner, so answers weigh down and never delete.

Where it stops: the numbers in `Fit` come from runs in which the truth was known (`benchmarks/choosing.py` makes them);
for a brief unlike all of those they are only the best that is known, which is why the basis is named with the odds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb, exp, lgamma

import numpy as np
import numpy.typing as npt

from tamis.records import Odds, Record

Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


class Fit(Record, frozen=True, kw_only=True):
    """The numbers of the model. `exact` is the prior probability that some draft of the pool is right. A truth that
    departs does so in Poisson many places, with a mean drawn from a gamma distribution of mean `departures` and shape
    `spread`. `seen` is the share of those places that a complete reading could show, `by_drafts` the part of it that
    drafts show, `by_mutants` mutants, the rest only situations. `size_power` is the power of a camp's size in its prior
    weight. `slips`/`slips_of` is the Beta prior of an owner's errors: as if she had erred so often in so many answers.
    `here` is how much of all departing falls on one decision, `same` how likely a slip hits one given other answer.
    `basis` names the record that these come from."""

    exact: float
    departures: float
    spread: float
    seen: float
    by_drafts: float
    by_mutants: float
    size_power: float
    slips: float
    slips_of: float
    here: float
    same: float
    basis: str

    @property
    def shares(self) -> tuple[float, float, float]:
        """How much of what can be seen ways of parting, mutants and situations stand for; 1 together."""
        return self.by_drafts, self.by_mutants, max(0.0, 1 - self.by_drafts - self.by_mutants)


FITTED = Fit(
    exact=0.5,
    departures=2.0,
    spread=0.55,
    seen=0.995,
    by_drafts=0.4,
    by_mutants=0.4,
    size_power=0.5,
    slips=1.0,
    slips_of=40.0,
    here=0.105,
    same=0.5,
    basis="246 runs over four briefs with known truth (benchmarks/choosing.py)",
)


@dataclass(frozen=True)
class Clue:
    """One answer, as it bears on the drafts. `agrees` (drafts,) says who behaved as the owner said, `there` (drafts,)
    about whom the answer tells anything at all. `group` is shared by answers on the same decision: a truth that
    departs there does so in all of them, while a slip happens once."""

    group: str
    method: str
    agrees: Flags
    there: Flags

    @property
    def against(self) -> Flags:
        return self.there & ~self.agrees


@dataclass(frozen=True)
class Posterior:
    """`base` (drafts,): the probability that the truth is nearest to each draft; `right` (drafts,): that it is exactly
    that draft. What `right` lacks to one is the probability that none of them is right."""

    base: Floats
    right: Floats

    @property
    def none(self) -> float:
        return max(0.0, 1.0 - float(self.right.sum()))


def prior_weights(camps: Sequence[Sequence[int]], drafts: int, power: float) -> Floats:
    """(drafts,), summing to 1: each camp's weight is its size to the `power`, shared by its drafts."""
    weights = np.zeros(drafts)
    for camp in camps:
        weights[list(camp)] = len(camp) ** power / len(camp)
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def posterior(clues: Sequence[Clue], weights: Floats, exposed: Floats, fit: Fit) -> Posterior:
    """The posterior given all answers. `weights` (drafts,) are the prior's; `exposed` (drafts,) is, for each draft as
    base, the share in [0, 1] of all places to depart that the answers have gone over."""
    drafts = len(weights)
    means, chances = _departing(fit)
    groups, alone = _counts(clues, drafts)
    right = np.zeros(drafts)
    departed = np.zeros(drafts)
    answers = len(clues)
    for d in range(drafts):
        wrong = groups[d]
        slips = alone[d]
        right[d] = weights[d] * fit.exact * exp(_slip_likelihood(slips, answers, fit))
        total = 0.0
        for mean, chance in zip(means, chances, strict=True):
            total += chance * _departed_likelihood(wrong, answers, mean, float(exposed[d]), fit)
        departed[d] = weights[d] * (1 - fit.exact) * total
    whole = right.sum() + departed.sum()
    return Posterior(base=(right + departed) / whole, right=right / whole)


@lru_cache(maxsize=64)
def _departing(fit: Fit) -> tuple[list[float], list[float]]:
    """A few values that stand for the gamma distribution of the mean number of departures, and their chances."""
    quantiles = (np.arange(8) + 0.5) / 8
    draws = np.quantile(np.random.default_rng(7).gamma(fit.spread, fit.departures / fit.spread, 4000), quantiles)
    return draws.tolist(), [1 / 8] * 8


def _counts(clues: Sequence[Clue], drafts: int) -> tuple[list[list[tuple[int, int]]], list[int]]:
    """For each draft: by group, how many answers went (against, with) it where any went against it; and how many went
    against it in all."""
    by_group: dict[str, list[Clue]] = {}
    for clue in clues:
        by_group.setdefault(clue.group, []).append(clue)
    groups: list[list[tuple[int, int]]] = [[] for _ in range(drafts)]
    alone = [0] * drafts
    for members in by_group.values():
        against = np.sum([c.against for c in members], axis=0)
        agree = np.sum([c.there & c.agrees for c in members], axis=0)
        for d in np.flatnonzero(against).tolist():
            groups[d].append((int(against[d]), int(agree[d])))
            alone[d] += int(against[d])
    return groups, alone


@lru_cache(maxsize=4096)
def _slip_likelihood(slips: int, answers: int, fit: Fit) -> float:
    """The log-probability of exactly these `slips` among `answers`, under the Beta prior, each hitting a given other
    answer with probability `same`."""
    a, b = fit.slips, fit.slips_of - fit.slips
    log = lgamma(a + slips) + lgamma(b + answers - slips) - lgamma(a + b + answers)
    return log - (lgamma(a) + lgamma(b) - lgamma(a + b)) + slips * float(np.log(fit.same))


def _departed_likelihood(
    wrong: Sequence[tuple[int, int]], answers: int, mean: float, exposed: float, fit: Fit
) -> float:
    """The probability of the answers when the truth departs from a draft in Poisson(`mean`) places, at least one.

    Each decision that went against the draft is a departure (its agreeing answers are then slips) or slips."""
    quiet = exp(-mean * exposed)
    if not wrong:
        return (quiet - exp(-mean)) * exp(_slip_likelihood(0, answers, fit))
    many = min(len(wrong), 12)
    total = 0.0
    for departing in range(many + 1):
        slips = sum(n for n, _ in sorted(wrong)[: len(wrong) - departing])
        slips += sum(m for _, m in sorted(wrong)[len(wrong) - departing :])
        ways = comb(many, departing) if len({n for n, _ in wrong}) == 1 else 1
        at_least_one = 1.0 if departing else (1 - exp(-mean * (1 - exposed)))
        rate = (mean * fit.here * fit.same) ** departing
        total += ways * rate * at_least_one * exp(_slip_likelihood(slips, answers, fit))
    return quiet * total


def stated(p: float, answers: int, fit: Fit) -> Odds:
    """The odds as they are told: with an interval that is wide where the model's own numbers are, and their basis.
    Without a basis there is no number."""
    if fit.basis == "uncalibrated":
        return Odds(p=None)
    low, high = interval(p, answers)
    return Odds(p=p, low=low, high=high, level=0.9, basis=fit.basis)


def interval(p: float, answers: int) -> tuple[float, float]:
    """A 90 % interval around `p` as wide as that of a share seen in 40 runs of record with as many answers."""
    runs = 40.0 + answers
    a, b = p * runs + 0.5, (1 - p) * runs + 0.5
    draws = np.random.default_rng(11).beta(a, b, 4000)
    low, high = np.quantile(draws, [0.05, 0.95])
    return min(float(low), p), max(float(high), p)
