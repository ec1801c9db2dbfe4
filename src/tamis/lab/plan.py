"""From the campaign to the next batch: what was seen, what is pending, what experience says of the models, and what to
measure next. All of it follows from the events and the seed, so a machine that restarts goes on as if it had not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from tamis.lab.batch import REPEAT_EVERY, Bench, Pick, next_batch, spread
from tamis.lab.campaign import Campaign, Forecast, Proposed, Row
from tamis.lab.features import Features
from tamis.lab.gp import Ints
from tamis.lab.ideas import Ideas
from tamis.lab.settings import Goal
from tamis.lab.surrogate import BASE, Model, Seen, Surrogate, learn
from tamis.lab.track import Past, weights

LEARN_FROM = 4
"""Results of so many ideas are needed before a model says anything."""
TRIES = 2
"""An idea whose runs failed so many times is not tried again."""


@dataclass(frozen=True)
class Learned:
    """What the models make of the campaign so far; one model, past and seen for each goal. `models` is empty while
    there is too little to learn from, and `why_not` then says why, where that is not plain."""

    bench: Bench
    models: tuple[Model, ...]
    pasts: tuple[tuple[Past, ...], ...]
    why_not: str = ""


def study(
    campaign: Campaign,
    ideas: Ideas,
    features: Features,
    goals: Sequence[Goal],
    *,
    seed: int,
    bank: Sequence[Surrogate] = BASE,
) -> Learned:
    """Everything that can be learned now. Raises FitError where a model can't be fitted."""
    seen, pending, free = _state(campaign, ideas, goals)
    caps = tuple(None if goal.threshold is None else goal.sign * goal.threshold for goal in goals)
    bench = Bench(features, free, pending, seen, caps, ideas.costs)
    pasts = tuple(past_of(campaign, goal) for goal in goals)
    if len(seen[0].rows) < LEARN_FROM:
        return Learned(bench, (), pasts)
    constant = [goal.name for goal, one in zip(goals, seen, strict=True) if one.constant]
    if constant:
        why = f"all {len(seen[0].rows)} ideas measured have the same {constant[0]}: there is nothing to learn from yet"
        return Learned(bench, (), pasts, why)
    rng = np.random.default_rng([seed, len(campaign.events)])
    with threadpool_limits(1):
        models = tuple(
            learn(features, one, weights(past), rng=rng, bank=bank) for one, past in zip(seen, pasts, strict=True)
        )
    return Learned(bench, models, pasts)


def choose(
    campaign: Campaign, learned: Learned, want: int, *, seed: int, repeat_every: int = REPEAT_EVERY
) -> list[Pick]:
    """The next batch; empty where no idea is left. One place in `repeat_every` may go to repeating, none where it
    is 0."""
    rng = np.random.default_rng([seed, 1, len(campaign.batches)])
    bench = learned.bench
    if not learned.models:
        taken = np.concatenate([bench.seen[0].rows, bench.pending])
        return spread(bench.features, taken, bench.free, want, rng=rng)
    rows = list(campaign.rows())
    repeated = sum(1 for row in rows if row.proposed.why == "repeat")
    due = (len(rows) + want) // repeat_every - repeated if repeat_every else 0
    # a second thread brings little to matrices of this size, and on a busy machine costs tenfold
    with threadpool_limits(1):
        return next_batch(bench, learned.models, want, repeats=max(0, due), rng=rng)


def proposed(
    picks: Sequence[Pick],
    batch: int,
    ideas: Ideas,
    hashes: Mapping[str, str],
    goals: Sequence[Goal],
    *,
    models: Sequence[Model],
) -> list[Proposed]:
    """The rows of a batch as they are recorded; forecasts in the goals' own sense and units."""
    rows = []
    for k, pick in enumerate(picks, start=1):
        idea = ideas.ideas[pick.row]
        forecasts = {
            goal.name: _forecast(
                goal, guess.mean[0], guess.sd[0], model.noise_sd, {n: (g.mean[0], g.sd[0]) for n, g in by.items()}
            )
            for goal, model, (guess, by) in zip(goals, models, pick.guesses, strict=False)
        }
        blob = hashes[idea.draft]
        rows.append(
            Proposed(
                row=f"B{batch:02d}-{k:02d}-{blob[:4]}",
                draft=idea.draft,
                name=idea.name,
                hash=f"h{blob[:12]}",  # the letter keeps spreadsheets from reading a number
                why=pick.why,
                forecasts=forecasts,
            )
        )
    return rows


def past_of(campaign: Campaign, goal: Goal) -> tuple[Past, ...]:
    """Every forecast of a new idea whose result has come, in the sense that more is better."""
    return tuple(
        _past(row, goal, row.proposed.forecasts[goal.name])
        for row in campaign.rows()
        if row.results and row.proposed.why == "explore" and goal.name in row.proposed.forecasts
    )


def _past(row: Row, goal: Goal, forecast: Forecast) -> Past:
    def with_noise(sd: float) -> float:
        return float(np.hypot(sd, forecast.noise_sd))

    members = {name: (goal.sign * mean, with_noise(sd)) for name, (mean, sd) in forecast.members.items()}
    result = goal.sign * float(np.mean([event.values[goal.name] for event in row.results]))
    return Past(goal.sign * forecast.mean, with_noise(forecast.sd), members, result, row.batch)


def _forecast(
    goal: Goal, mean: float, sd: float, noise_sd: float, members: Mapping[str, tuple[float, float]]
) -> Forecast:
    return Forecast(
        mean=goal.sign * float(mean),
        sd=float(sd),
        noise_sd=float(noise_sd),
        members={name: (goal.sign * float(m), float(s)) for name, (m, s) in members.items()},
    )


def _state(campaign: Campaign, ideas: Ideas, goals: Sequence[Goal]) -> tuple[tuple[Seen, ...], Ints, Ints]:
    """Seen for each goal, pending and free, as places of ideas."""
    places = ideas.places()
    measured = {places[draft]: events for draft, events in campaign.measured().items() if draft in places}
    rows = np.array(sorted(measured), dtype=np.intp)
    counts = np.array([len(measured[row]) for row in rows.tolist()], dtype=float)
    seen = tuple(
        Seen(
            rows,
            np.array([goal.sign * np.mean([e.values[goal.name] for e in measured[row]]) for row in rows.tolist()]),
            counts,
        )
        for goal in goals
    )
    waiting = sorted(
        {places[row.proposed.draft] for row in campaign.rows() if row.waits and row.proposed.draft in places}
    )
    given_up = {places[draft] for draft, times in campaign.failures().items() if times >= TRIES and draft in places}
    free = np.ones(len(ideas.ideas), dtype=bool)
    free[list(measured) + waiting + list(given_up)] = False
    return seen, np.array(waiting, dtype=np.intp), np.flatnonzero(free)
