"""What the campaign says: which are best, how sure, whether something better is left, and when to stop.

The ladder: idea < valid < distinct < predicted < measured once < replicated. Only the last may be called verified.
An interval is as wide as experience in this campaign says that it must be. With several goals the best are those of the
front, and of these the one leads that is best where it is worst: a trade-off that nobody has settled.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from tamis.lab.belief import belief, drawn
from tamis.lab.campaign import Campaign, Event
from tamis.lab.front import Truths, on_front
from tamis.lab.gp import Floats, Ints
from tamis.lab.ideas import Ideas
from tamis.lab.left import Left, left
from tamis.lab.plan import Learned
from tamis.lab.settings import Goal, LabSection
from tamis.lab.surrogate import Guess
from tamis.lab.track import Past, coverage, width

Rung = Literal["idea", "valid", "distinct", "predicted", "measured once", "replicated"]
RUNGS: tuple[Rung, ...] = ("idea", "valid", "distinct", "predicted", "measured once", "replicated")

LEVEL = 0.9
DISAGREE = 3.0
"""Replicates disagree that lie farther apart than so many sds of measuring (times √2), as the other ideas' replicates
and the models tell it, or farther than one sd of all results: then an idea differs from itself as from others."""


@dataclass(frozen=True)
class Value:
    """An idea in one goal: `measured` is the mean of its results, `expected` what is believed of its true value,
    between `low` and `high` at 90 % (stretched to hold `measured`)."""

    measured: float
    expected: float
    low: float
    high: float


@dataclass(frozen=True)
class Best:
    """An idea near the top, with its `values` by goal. `front` says whether no other beats it in every goal.
    `disagree` is a sentence where its replicates do, `distance` that to the nearest entry of the lists named."""

    draft: str
    name: str
    values: dict[str, Value]
    front: bool
    rung: Rung
    measurements: int
    synthesis: tuple[str, ...] = ()
    lab_batches: tuple[str, ...] = ()
    disagree: str = ""
    distance: float | None = None

    @property
    def first(self) -> Value:
        """Its value in the first goal."""
        return next(iter(self.values.values()))


@dataclass(frozen=True)
class Outlook:
    """`left` is what may be left to find, None while nothing was learned. `noises` are the sds of measuring by goal,
    `covered` maps a level to the share of results that lay in intervals of that level."""

    best: tuple[Best, ...]
    left: Left | None
    noises: dict[str, float | None]
    covered: dict[str, float | None]
    stop: str
    disagreeing: tuple[Best, ...] = field(default=())
    """All ideas whose replicates disagree, those among `best` too."""
    leads: dict[str, float] = field(default_factory=dict)
    """Draft → the probability that it is the best of all ideas, for those of `best` that were drawn."""


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
    covered = {f"{level:.0%}".rstrip("%"): _covered(learned.pasts, level) for level in (0.5, 0.9)}
    noises = [noise_of(campaign, goal, _model_noise(learned, k)) for k, goal in enumerate(goals)]
    by_name = {goal.name: noise for goal, noise in zip(goals, noises, strict=True)}
    believed = belief(learned, noises) if len(learned.bench.seen[0].rows) else []
    best = _best(campaign, ideas, learned, goals, believed, known=known)
    disagreeing = tuple(one for one in best if one.disagree)
    if not learned.models or not best:
        said = learned.why_not or _too_little(campaign)
        return Outlook(tuple(best[:most]), None, by_name, covered, said, disagreeing)
    draws = drawn(learned, believed)
    places = {ideas.ideas[row].draft: place for place, row in enumerate(draws.rows.tolist())}
    # the leader is among those drawn, but for an odd case in which fifty others may be better still
    rest = left(learned, goals, lab, draws, places.get(best[0].draft, 0))
    leads = {one.draft: float(rest.leads[places[one.draft]]) for one in best if one.draft in places}
    return Outlook(tuple(best[:most]), rest, by_name, covered, _stop(best[0], rest, goals), disagreeing, leads)


def _covered(pasts: Sequence[Sequence[Past]], level: float) -> float | None:
    """Over all goals alike."""
    said = [one for one in (coverage(past, level) for past in pasts) if one is not None]
    return float(np.mean(said)) if said else None


def _model_noise(learned: Learned, goal: int) -> float | None:
    return learned.models[goal].noise_sd if learned.models else None


def _best(
    campaign: Campaign,
    ideas: Ideas,
    learned: Learned,
    goals: Sequence[Goal],
    believed: Sequence[Guess],
    *,
    known: Floats | None,
) -> list[Best]:
    """The measured ideas, best first by what is believed of them."""
    if not believed:
        return []
    rows, measured = learned.bench.seen[0].rows, campaign.measured()
    order, front = _order(learned, believed)
    found = []
    for k in order.tolist():
        idea = ideas.ideas[int(rows[k])]
        events = measured[idea.draft]
        found.append(
            Best(
                draft=idea.draft,
                name=idea.name,
                values={
                    goal.name: _value(goal, past, float(one.mean[k]), float(one.sd[k]), events)
                    for goal, past, one in zip(goals, learned.pasts, believed, strict=True)
                },
                front=bool(front[k]),
                rung="replicated" if len(events) > 1 else "measured once",
                measurements=len(events),
                synthesis=tuple(sorted({event.synthesis for event in events if event.synthesis})),
                lab_batches=tuple(sorted({event.lab_batch for event in events if event.lab_batch})),
                disagree=_disagreement(campaign, learned, goals, idea.draft, events),
                distance=None if known is None else float(known[int(rows[k])]),
            )
        )
    return found


def _order(learned: Learned, believed: Sequence[Guess]) -> tuple[Ints, Truths]:
    """The measured ideas' places, best first, and which are on the front."""
    means = np.column_stack([one.mean for one in believed])
    if len(believed) == 1:
        order = np.argsort(-means[:, 0], kind="stable")
        return order, np.arange(len(means)) == order[0]
    space = learned.bench.space
    front = on_front(np.minimum(means, space.caps))
    return np.lexsort((-space.balance(means), ~front)), front


def _value(goal: Goal, past: Sequence[Past], mean: float, sd: float, events: Sequence[Event]) -> Value:
    reach = width(past, LEVEL) * sd
    ends = sorted((goal.sign * (mean - reach), goal.sign * (mean + reach)))
    value = float(np.mean([event.values[goal.name] for event in events]))
    return Value(value, goal.sign * mean, min(ends[0], value), max(ends[1], value))


def _disagreement(
    campaign: Campaign, learned: Learned, goals: Sequence[Goal], draft: str, events: Sequence[Event]
) -> str:
    if len(events) < 2:
        return ""
    said = []
    for k, goal in enumerate(goals):
        others = noise_of(campaign, goal, _model_noise(learned, k), without=draft)
        said.append(_disagree(events, goal, others, float(np.std(learned.bench.seen[k].values))))
    return "; ".join(one for one in said if one)


def _disagree(events: Sequence[Event], goal: Goal, others_noise: float | None, spread: float) -> str:
    values = [event.values[goal.name] for event in events]
    most = spread if others_noise is None else min(spread, DISAGREE * np.sqrt(2.0) * others_noise)
    if np.ptp(values) <= most:
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


def amount(value: float, rest: Left) -> str:
    """A gain in the goal's unit; of several goals in percent of the front's hypervolume."""
    if rest.unit.startswith("of the front"):
        return f"{100 * value:.2g}% {rest.unit}"
    return f"{value:.2g} {rest.unit}".rstrip()


def _too_little(campaign: Campaign) -> str:
    rows = list(campaign.rows())
    done = [row for row in rows if not row.waits]
    if done and all(row.failed and not row.results for row in done):
        return f"all {len(done)} runs have failed: nothing was learned but that something is wrong with the runs"
    return "go on: too little was measured to say anything"


def _stop(best: Best, rest: Left, goals: Sequence[Goal]) -> str:
    verified = best.rung == "replicated" and not best.disagree
    if rest.meets is not None and rest.meets >= 0.95 and verified:
        asked = " and ".join(goal.words for goal in goals if goal.threshold is not None)
        return (
            f"stop: {best.name} is {asked} with a probability of {told(rest.meets)}, measured {best.measurements} times"
        )
    better = "better" if len(goals) == 1 else "wider"
    expected, worth = amount(rest.regret, rest), amount(rest.worth, rest)
    if rest.regret > rest.worth:
        what = "the best that is left is expected to be" if len(goals) == 1 else "the front is expected to become"
        return f"go on: {what} {expected} {better}, and {worth} are worth a batch"
    if not verified:
        return f"repeat {best.name} before stopping: {best.disagree or 'it was measured once only'}"
    what = "the best that is left is expected to be" if len(goals) == 1 else "the front is expected to become"
    return (
        f"stop: {what} {expected} {better}, less than the {worth} that are worth a batch "
        f"(something better is left with a probability of {told(rest.better)})"
    )
