"""Replaying a campaign on results that are known, through the planning that `tamis run` does, without a ledger."""

import csv
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np

from tamis.lab.campaign import Campaign, Event, Row, happened
from tamis.lab.features import Features, features_of
from tamis.lab.gp import Floats
from tamis.lab.ideas import Ideas, read_ideas
from tamis.lab.plan import choose, past_of, proposed, study
from tamis.lab.settings import LabSection, goals_of
from tamis.lab.track import Past, coverage

Policy = Callable[["Replay", Campaign, int, int], Sequence[int]]
"""Given the replay, the campaign, how many places and the seed: the rows to measure next."""


@dataclass(frozen=True)
class Trouble:
    """What goes wrong: noise (sd as a share of the range of results), failures, and results late by whole batches."""

    noise: float = 0.0
    failing: float = 0.0
    late: int = 0


@dataclass(frozen=True)
class Replay:
    """A set of ideas with known results. `worth` is such that more is better, in `unit`."""

    name: str
    lab: LabSection
    ideas: Ideas
    features: Features
    cells: Sequence[Mapping[str, str]]
    worth: Floats
    unit: str

    @property
    def top(self) -> set[int]:
        """The best 1 % of the ideas."""
        return set(np.argsort(-self.worth, kind="stable")[: len(self.worth) // 100].tolist())


@dataclass
class Played:
    """What a replay came to: the ideas measured in the order of results, each result once, the forecasts, and how many
    results were back after each batch."""

    order: list[int] = field(default_factory=list)
    past: tuple[Past, ...] = ()
    repeats: int = 0
    seconds: float = 0.0
    back: list[int] = field(default_factory=list)

    def regret(self, replay: Replay, after: int) -> float:
        return float(replay.worth.max() - replay.worth[self.order[:after]].max())

    def found(self, replay: Replay, after: int) -> float:
        """The share of the best 1 % among the first `after` measurements."""
        return len(replay.top & set(self.order[:after])) / len(replay.top)


def load(path: Path, lab: LabSection, *, result: str, scale: float, unit: str) -> Replay:
    """A CSV file of ideas with their results, as a replay. `scale` turns results into `unit`, with the sign that makes
    more better."""
    with path.open(encoding="utf-8", newline="") as file:
        cells = list(csv.DictReader(file))
    drafts = [
        (str(k), str(k), msgspec.json.encode({name: value for name, value in row.items() if name != result}))
        for k, row in enumerate(cells)
    ]
    ideas = read_ideas(drafts, lab)
    worth = np.array([scale * float(cells[int(idea.draft)][result]) for idea in ideas.ideas])
    own = [cells[int(idea.draft)] for idea in ideas.ideas]
    return Replay(path.stem, lab, ideas, features_of(ideas.columns), own, worth, unit)


def play(
    replay: Replay,
    *,
    batch: int,
    measurements: int,
    seed: int,
    trouble: Trouble | None = None,
    policy: Policy | None = None,
    first: int | None = None,
) -> Played:
    """A campaign until so many results are in. A repeat counts as a measurement like any other, and so it is in
    `order`; a failed run has no result and does not. `policy` chooses instead of tamis; `first` is the size of the
    first batch where it is another."""
    trouble = trouble or Trouble()
    rng = np.random.default_rng(seed)
    goals = goals_of(replay.lab)
    campaign, played = Campaign(id=replay.name), Played()
    hashes = {idea.draft: f"{int(idea.draft):032x}" for idea in replay.ideas.ideas}
    noise_sd = trouble.noise * float(np.ptp(replay.worth))
    started = time.perf_counter()
    while len(played.order) < measurements:
        want = batch if first is None or campaign.batches else first
        if policy is None:
            learned = study(campaign, replay.ideas, replay.features, goals, seed=seed)
            picks = choose(campaign, learned, want, seed=seed, repeat_every=replay.lab.repeat_every)
            rows = proposed(picks, len(campaign.batches) + 1, replay.ideas, hashes, goals, models=learned.models)
        else:
            rows = _as_rows(replay, campaign, policy(replay, campaign, want, seed))
        if not rows:
            break
        campaign.batches.append([Row(row, len(campaign.batches) + 1) for row in rows])
        if len(campaign.batches) > trouble.late:
            due = campaign.batches[-1 - trouble.late]
            events = [_measured(replay, row, rng, trouble.failing, noise_sd) for row in due]
            happened(campaign, events)
            places = replay.ideas.places()
            played.order += [
                places[row.proposed.draft] for row, e in zip(due, events, strict=True) if e.kind == "measured"
            ]
        played.back.append(len(played.order))
    played.seconds = time.perf_counter() - started
    played.past = past_of(campaign, goals[0])
    played.repeats = len(played.order) - len(set(played.order))
    return played


def covered(games: Sequence[Played], level: float) -> float:
    """The share of results in their intervals, over all campaigns."""
    return float(np.mean([coverage(game.past, level) or 0.0 for game in games]))


def _measured(replay: Replay, row: Row, rng: np.random.Generator, failing: float, noise_sd: float) -> Event:
    goal = goals_of(replay.lab)[0]
    if rng.random() < failing:
        return Event(row=row.proposed.row, kind="failed")
    place = replay.ideas.places()[row.proposed.draft]
    value = replay.worth[place] + noise_sd * rng.standard_normal()
    return Event(row=row.proposed.row, kind="measured", values={goal.name: float(goal.sign * value)})


def _as_rows(replay: Replay, campaign: Campaign, chosen: Sequence[int]) -> list:
    from tamis.lab.batch import Pick  # noqa: PLC0415

    hashes = {idea.draft: f"{int(idea.draft):032x}" for idea in replay.ideas.ideas}
    picks = [Pick(int(row), "explore") for row in chosen]
    return proposed(picks, len(campaign.batches) + 1, replay.ideas, hashes, goals_of(replay.lab), models=())
