"""What the campaign says: which are best, how sure, whether something better is left, and when to stop.

The ladder: idea < valid < distinct < predicted < measured once < replicated. Only the last may be called verified.
An interval is as wide as experience in this campaign says that it must be. Regret and the odds that something better
is left come from joint draws of the leading ideas' true values, so that alike ideas aren't counted twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_triangular

from tamis.lab import gp
from tamis.lab.campaign import Campaign, Event
from tamis.lab.gp import Floats, Ints
from tamis.lab.ideas import Ideas
from tamis.lab.plan import Learned
from tamis.lab.settings import Goal, LabSection
from tamis.lab.surrogate import GpFitted
from tamis.lab.track import IMAGINED, coverage, width

Rung = Literal["idea", "valid", "distinct", "predicted", "measured once", "replicated"]
RUNGS: tuple[Rung, ...] = ("idea", "valid", "distinct", "predicted", "measured once", "replicated")

DRAWS = 4_000
RIVALS = 250
"""So many ideas, the best by mean + 2 sd, are drawn together."""
LEVEL = 0.9
DISAGREE = 3.0
"""Replicates disagree that lie farther apart than so many sds of measuring (times √2), as the other ideas' replicates
and the models tell it, or farther than one sd of all results: then an idea differs from itself as from others."""


@dataclass(frozen=True)
class Best:
    """An idea near the top, for the first goal. `value` is the mean of its measurements, `expected` what is believed of
    its true value, between `low` and `high` at 90 % (stretched to hold `value`). `disagree` is a sentence where its
    replicates do, `distance` that to the nearest entry of the lists that are named."""

    draft: str
    name: str
    value: float
    expected: float
    low: float
    high: float
    rung: Rung
    measurements: int
    synthesis: tuple[str, ...] = ()
    lab_batches: tuple[str, ...] = ()
    disagree: str = ""
    distance: float | None = None


@dataclass(frozen=True)
class Outlook:
    """`regret` is how much better the best idea of all is expected to be than the leader, in the goal's unit, and
    `better_left` the probability that an idea not measured is better at all; None while nothing was learned.
    `covered` maps a level to the share of results that lay in intervals of that level."""

    best: tuple[Best, ...]
    regret: float | None
    better_left: float | None
    worth_more: float | None
    noise_sd: float | None
    covered: dict[str, float | None]
    stop: str
    meets: float | None = None
    disagreeing: tuple[Best, ...] = ()
    """All ideas whose replicates disagree, those among `best` too."""


def rung_of(draft: str, campaign: Campaign, ideas: Ideas, *, predicted: bool) -> Rung:
    """How far up the ladder a draft is. What is refused is an idea, what another stands for is valid."""
    if draft in ideas.refused:
        return "idea"
    if draft in ideas.folded:
        return "valid"
    runs = len(campaign.measured().get(draft, []))
    if runs:
        return "replicated" if runs > 1 else "measured once"
    return "predicted" if predicted else "distinct"


def noise_of(campaign: Campaign, goal: Goal, model_noise: float | None, *, without: str = "") -> float | None:
    """The sd of measuring, from replicates where there are some (but those of the draft `without`), with the model's
    own as two imagined pairs. None where neither says anything."""
    measured = campaign.measured()
    runs = [[e.values[goal.name] for e in events] for draft, events in measured.items() if draft != without]
    runs = [values for values in runs if len(values) > 1]
    freedom = sum(len(values) - 1 for values in runs)
    squares = sum(float(np.var(values)) * len(values) for values in runs)
    if model_noise is None:
        return float(np.sqrt(squares / freedom)) if freedom else None
    return float(np.sqrt((squares + 2.0 * model_noise**2) / (freedom + 2.0)))


def outlook(
    campaign: Campaign,
    ideas: Ideas,
    learned: Learned,
    goals: Sequence[Goal],
    lab: LabSection,
    *,
    known: Floats | None = None,
    most: int = 10,
) -> Outlook:
    """What can be said now. `known` is each idea's distance to the named lists, (ideas,)."""
    goal, past = goals[0], learned.pasts[0]
    covered = {f"{level:.0%}".rstrip("%"): coverage(past, level) for level in (0.5, 0.9)}
    model_noise = learned.models[0].noise_sd if learned.models else None
    noise = noise_of(campaign, goal, model_noise)
    best = _best(campaign, ideas, learned, goal, noise, known=known)
    disagreeing = tuple(one for one in best if one.disagree)
    if not learned.models or not best:
        said = learned.why_not or _too_little(campaign)
        return Outlook(tuple(best[:most]), None, None, None, noise, covered, said, None, disagreeing)
    draws, rows = _draws(learned, noise or 0.0)
    leader = _place(rows, ideas.places()[best[0].draft])
    seen = np.isin(rows, learned.bench.seen[0].rows)
    gap = draws.max(axis=1) - draws[:, leader]
    left = draws[:, ~seen]
    better = _share(left.max(axis=1) > draws[:, seen].max(axis=1)) if left.shape[1] else 0.0
    gain = np.maximum(0.0, left.max(axis=1) - draws[:, leader]) if left.shape[1] else np.zeros(1)
    worth = lab.worth or 0.01 * float(np.ptp(learned.bench.seen[0].values))
    meets = None
    if goal.threshold is not None:
        meets = _share(draws[:, leader] >= goal.sign * goal.threshold)
    regret = float(gap.mean())
    said = _stop(best[0], regret, worth, better, goal=goal, meets=meets)
    return Outlook(tuple(best[:most]), regret, better, float(gain.mean()), noise, covered, said, meets, disagreeing)


def _best(
    campaign: Campaign, ideas: Ideas, learned: Learned, goal: Goal, noise: float | None, *, known: Floats | None
) -> list[Best]:
    """The measured ideas, best first by what is believed of them."""
    seen = learned.bench.seen[0]
    if not len(seen.rows):
        return []
    model_noise = learned.models[0].noise_sd if learned.models else None
    mean, sd = _belief(learned, seen.rows, noise)
    reach = width(learned.pasts[0], LEVEL) * sd
    measured = campaign.measured()
    found = []
    for k in np.argsort(-mean, kind="stable"):
        idea = ideas.ideas[int(seen.rows[k])]
        events = measured[idea.draft]
        others = noise_of(campaign, goal, model_noise, without=idea.draft) if len(events) > 1 else None
        ends = sorted((goal.sign * (mean[k] - reach[k]), goal.sign * (mean[k] + reach[k])))
        value = float(np.mean([event.values[goal.name] for event in events]))
        found.append(
            Best(
                draft=idea.draft,
                name=idea.name,
                value=value,
                expected=float(goal.sign * mean[k]),
                low=min(float(ends[0]), value),
                high=max(float(ends[1]), value),
                rung="replicated" if len(events) > 1 else "measured once",
                measurements=len(events),
                synthesis=tuple(sorted({event.synthesis for event in events if event.synthesis})),
                lab_batches=tuple(sorted({event.lab_batch for event in events if event.lab_batch})),
                disagree=_disagree(events, goal, others, float(np.std(seen.values))),
                distance=None if known is None else float(known[int(seen.rows[k])]),
            )
        )
    return found


def _belief(learned: Learned, rows: Ints, noise: float | None) -> tuple[Floats, Floats]:
    """Mean and sd of the true values of measured ideas. What the models expect without the idea's own results is
    combined with these by their precisions."""
    seen = learned.bench.seen[0]
    own = seen.values
    if not learned.models:
        spread = noise if noise is not None else float(np.std(own)) or 1e-9
        return own, spread / np.sqrt(seen.counts)
    guess = learned.models[0].guess(rows)
    own_sd = max(noise or 0.0, 1e-9) / np.sqrt(seen.counts)
    # the guess has seen the results too; where measuring is sharper than the models assume, the results speak
    sharp = own_sd < guess.sd
    return np.where(sharp, own, guess.mean), np.where(sharp, own_sd, guess.sd)


def _draws(learned: Learned, noise: float) -> tuple[Floats, Ints]:
    """Joint draws (DRAWS, ideas) of the true values of the most promising ideas, and which those are."""
    model, bench = learned.models[0], learned.bench
    free = bench.free
    if len(free) > 50_000:
        rough = model.rough_guess(free)
        free = free[np.argsort(-(rough.mean + 2.0 * rough.sd))[:20_000]]
    guess = model.guess(free)
    keep = free[np.argsort(-(guess.mean + 2.0 * guess.sd))[:RIVALS]]
    measured_mean, measured_sd = _belief(learned, bench.seen[0].rows, noise)
    top = np.argsort(-(measured_mean + 2.0 * measured_sd))[:50]
    rows = np.concatenate([bench.seen[0].rows[top], keep])
    on_keep = model.guess(keep) if len(keep) else None
    mean = np.concatenate([measured_mean[top], on_keep.mean if on_keep else []])
    scale = width(learned.pasts[0], 0.683) if len(learned.pasts[0]) > IMAGINED else 1.0
    sd = np.concatenate([measured_sd[top], scale * on_keep.sd if on_keep else []])
    together = _correlation(learned, rows, len(top))
    normal = np.random.default_rng(0).standard_normal((DRAWS, len(rows)))
    return mean + sd * (normal @ np.linalg.cholesky(together).T), rows


def _correlation(learned: Learned, rows: Ints, measured: int) -> Floats:
    """How the doubts about these ideas hang together, by the main process; those of measured ones stand alone."""
    fitted = learned.models[0].members.get("gp")
    out = np.eye(len(rows))
    if isinstance(fitted, GpFitted):
        x = fitted.view.x[rows[measured:]]
        process = fitted.model
        half = solve_triangular(process.chol, process.cross(x).T, lower=True, check_finite=False)
        prior = gp.matern(gp.squared_distances(x * process.scale, x * process.scale), process.signal)
        cov = prior - half.T @ half
        size = np.sqrt(np.maximum(np.diag(cov), 1e-12))
        out[measured:, measured:] = 0.999 * cov / np.outer(size, size)
        out[np.diag_indices(len(rows))] = 1.0 + 1e-6
    return out


def _disagree(events: Sequence[Event], goal: Goal, others_noise: float | None, spread: float) -> str:
    values = [event.values[goal.name] for event in events]
    most = spread if others_noise is None else min(spread, DISAGREE * np.sqrt(2.0) * others_noise)
    if len(values) < 2 or np.ptp(values) <= most:
        return ""
    unit = f" {goal.unit}" if goal.unit else ""
    sources = {event.synthesis for event in events if event.synthesis}
    batches = {event.lab_batch for event in events if event.lab_batch}
    why = (
        "they come from different syntheses"
        if len(sources) > 1
        else "they were measured in different batches"
        if len(batches) > 1
        else ""
    )
    return f"its replicates disagree: {', '.join(f'{value:.4g}' for value in values)}{unit}" + (
        f" ({why})" if why else ""
    )


def told(probability: float) -> str:
    """A probability in words that don't claim certainty."""
    return "under 1%" if probability < 0.01 else "over 99%" if probability > 0.99 else f"{probability:.0%}"


def _share(held: npt.NDArray[np.bool_]) -> float:
    """The share of draws, drawn away from 0 and 1 as far as their number can't tell them apart."""
    return float((held.sum() + 1) / (len(held) + 2))


def _place(rows: Ints, row: int) -> int:
    return int(np.flatnonzero(rows == row)[0])


def _too_little(campaign: Campaign) -> str:
    rows = list(campaign.rows())
    done = [row for row in rows if not row.waits]
    if done and all(row.failed and not row.results for row in done):
        return f"all {len(done)} runs have failed: nothing was learned but that something is wrong with the runs"
    return "go on: too little was measured to say anything"


def _stop(best: Best, regret: float, worth: float, better: float, *, goal: Goal, meets: float | None) -> str:
    unit = f" {goal.unit}" if goal.unit else ""
    verified = best.rung == "replicated" and not best.disagree
    if meets is not None and meets >= 0.95 and verified:
        return (
            f"stop: {best.name} is {goal.words} with a probability of {told(meets)}, measured {best.measurements} times"
        )
    if regret > worth:
        return (
            f"go on: the best that is left is expected to be {regret:.2g}{unit} better, "
            f"and {worth:.2g}{unit} are worth a batch"
        )
    if not verified:
        return f"repeat {best.name} before stopping: {best.disagree or 'it was measured once only'}"
    return (
        f"stop: the best that is left is expected to be {regret:.2g}{unit} better, less than the {worth:.2g}{unit} "
        f"that are worth a batch (something better is left with a probability of {told(better)})"
    )


def odds_of_best(learned: Learned, ideas: Ideas, best: Best, noise: float | None) -> float | None:
    """The probability that the leader is the best of all ideas; None where nothing was learned."""
    if not learned.models:
        return None
    draws, rows = _draws(learned, noise or 0.0)
    return _share(draws.argmax(axis=1) == _place(rows, ideas.places()[best.draft]))
