"""From the campaign to the next batch: what was seen, what is pending, what experience says of the models, and what to
measure next. All of it follows from the events and the seed, so a machine that restarts goes on as if it had not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from tamis.lab.batch import DOUBT_EVERY, REPEAT_EVERY, Pick, next_batch, spread
from tamis.lab.campaign import Campaign, Forecast, Proposed, Row
from tamis.lab.failures import Failing, chances, failing_kinds
from tamis.lab.features import Features
from tamis.lab.gp import Ints
from tamis.lab.ideas import Ideas
from tamis.lab.settings import Goal
from tamis.lab.surrogate import BASE, Bank, Model, Seen, learn
from tamis.lab.track import Past, weights
from tamis.lab.trade import Bench

LEARN_FROM = 4
"""Results of so many ideas are needed before a model says anything."""
TRIES = 2
"""An idea whose runs failed so many times is not tried again."""

ENDING = 2
"""In so many batches at the end leaders are repeated even if they are likely to be beaten: what is best then shall be
verified."""

ENOUGH_OUT = 2
"""So many batches on the bench explore enough."""


@dataclass(frozen=True)
class Learned:
    """What the models make of the campaign so far; one model, past and seen for each goal. `models` is empty while
    there is too little to learn from, and `why_not` then says why, where that is not plain."""

    bench: Bench
    models: tuple[Model, ...]
    pasts: tuple[tuple[Past, ...], ...]
    why_not: str = ""
    failing: tuple[Failing, ...] = ()


def study(
    campaign: Campaign,
    ideas: Ideas,
    features: Features,
    goals: Sequence[Goal],
    *,
    seed: int,
    bank: Bank = BASE,
) -> Learned:
    """Everything that can be learned now. Raises FitError where a model can't be fitted."""
    seen, pending, free, failed = _state(campaign, ideas, goals)
    caps = tuple(None if goal.threshold is None else goal.sign * goal.threshold for goal in goals)
    failing = tuple(failing_kinds(ideas.columns, *_runs(campaign, ideas)))
    likely = chances(failing, len(ideas.ideas))
    bench = Bench(features, free, pending, seen, caps, ideas.costs, likely, _out(campaign), failed)
    pasts = tuple(past_of(campaign, goal) for goal in goals)
    if len(seen[0].rows) < LEARN_FROM:
        return Learned(bench, (), pasts, "", failing)
    constant = [goal.name for goal, one in zip(goals, seen, strict=True) if one.constant]
    if constant:
        why = f"all {len(seen[0].rows)} ideas measured have the same {constant[0]}: there is nothing to learn from yet"
        return Learned(bench, (), pasts, why, failing)
    rng = np.random.default_rng([seed, len(campaign.events)])
    with threadpool_limits(1):
        models = tuple(
            learn(features, one, weights(past, bank.prior), rng=rng, bank=bank)
            for one, past in zip(seen, pasts, strict=True)
        )
    return Learned(bench, models, pasts, "", failing)


def choose(
    campaign: Campaign,
    learned: Learned,
    want: int,
    *,
    seed: int,
    repeat_every: int = REPEAT_EVERY,
    left: int | None = None,
) -> list[Pick]:
    """The next batch; empty where no idea is left. One place in `repeat_every` may go to repeating, none where it
    is 0. `left` is how many batches are planned after this one, None where nothing is planned."""
    rng = np.random.default_rng([seed, 1, len(campaign.batches)])
    bench = learned.bench
    if not learned.models:
        taken = np.concatenate([bench.seen[0].rows, bench.pending])
        return spread(bench.features, taken, _likely(bench, want), want, rng=rng)
    due = repeats_due(campaign, want, repeat_every)
    # a second thread brings little to matrices of this size, and on a busy machine costs tenfold
    with threadpool_limits(1):
        return next_batch(
            bench,
            learned.models,
            want,
            repeats=due,
            doubts=doubts_due(campaign, want),
            ending=left is not None and left < ENDING,
        )


def repeats_due(campaign: Campaign, want: int, repeat_every: int) -> int:
    """How many of the next `want` places may go to repeating. Counted by what came back: batches that went out before
    anything was known had no leader to repeat, and that is no debt which later batches would have to pay at once."""
    if not repeat_every:
        return 0
    rows = list(campaign.rows())
    back = sum(1 for row in rows if row.results)
    repeated = sum(1 for row in rows if row.proposed.why == "repeat")
    return min(max(0, (back + want) // repeat_every - repeated), max(1, want // repeat_every))


def doubts_due(campaign: Campaign, want: int) -> int:
    """How many of the next `want` places may go to what is doubted most: one place in DOUBT_EVERY since the models
    began to speak, but no more than one in a batch of up to eight. None while ENOUGH_OUT batches are out: what was sent
    without knowing the others' results has explored already."""
    if _out(campaign) >= ENOUGH_OUT * want:
        return 0
    whys = [row.proposed.why for row in campaign.rows()]
    chosen = sum(1 for why in whys if why != "spread")
    return min(max(0, (chosen + want) // DOUBT_EVERY - whys.count("doubt")), max(1, want // 8))


def _likely(bench: Bench, want: int) -> Ints:
    """The free ideas of no kind that keeps failing, where there are enough of them."""
    if bench.chances is None:
        return bench.free
    likely = bench.free[bench.chances[bench.free] >= 1.0]
    return likely if len(likely) >= want else bench.free


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
                hash=mark_of_idea(blob),
                why=pick.why,
                forecasts=forecasts,
            )
        )
    return rows


def mark_of_idea(digest: str) -> str:
    """What names an idea's content on a sheet; the letter keeps spreadsheets from reading a number."""
    return f"h{digest[:12]}"


def past_of(campaign: Campaign, goal: Goal) -> tuple[Past, ...]:
    """Every forecast of a new idea whose result has come, in the sense that more is better."""
    found = (past_in(row, goal) for row in campaign.rows())
    return tuple(one for one in found if one is not None)


def past_in(row: Row, goal: Goal) -> Past | None:
    """The row's forecast and what came of it; None where it was no new idea, had no forecast, or has no result."""
    if not row.results or row.proposed.why not in {"explore", "doubt"} or goal.name not in row.proposed.forecasts:
        return None
    return _past(row, goal, row.proposed.forecasts[goal.name])


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


def _out(campaign: Campaign) -> int:
    """How many places lie in batches of which nothing has come back yet."""
    return sum(len(batch) for batch in campaign.batches if all(row.waits for row in batch))


def _runs(campaign: Campaign, ideas: Ideas) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """The place of each run's idea, and whether the run failed."""
    places = ideas.places()
    runs = [
        (places[row.proposed.draft], failed)
        for row in campaign.rows()
        if row.proposed.draft in places
        for failed in [True] * len(row.failed) + [False] * len(row.results)
    ]
    return np.array([row for row, _ in runs], dtype=np.intp), np.array([failed for _, failed in runs], dtype=bool)


def _state(campaign: Campaign, ideas: Ideas, goals: Sequence[Goal]) -> tuple[tuple[Seen, ...], Ints, Ints, Ints]:
    """Seen for each goal, pending, free, and those that have failed only, as places of ideas."""
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
    failures = {places[draft]: times for draft, times in campaign.failures().items() if draft in places}
    given_up = [place for place, times in failures.items() if times >= TRIES]
    free = np.ones(len(ideas.ideas), dtype=bool)
    taken_back = [
        places[row.proposed.draft] for row in campaign.rows() if row.withdrawn and row.proposed.draft in places
    ]
    free[list(measured) + waiting + given_up + taken_back] = False
    failed = np.array(sorted(set(failures) - set(measured)), dtype=np.intp)
    return seen, np.array(waiting, dtype=np.intp), np.flatnonzero(free), failed
