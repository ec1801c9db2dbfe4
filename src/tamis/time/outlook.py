"""What a plan comes to: percentiles from end to end, who is on the critical path, where the curve over writing speeds
goes flat, and where halving would help most."""

from collections.abc import Mapping, Sequence
from typing import Literal

from tamis.records import Record
from tamis.time.plan import Plan
from tamis.time.playing import MOST_SINGLE_STEPS, Playable, Runs, Variant

SWEEP = tuple(10.0**k for k in range(1, 8))
"""Writing speeds of the sweep, in tokens per second."""

FLAT = 1.05
"""The curve is flat where the whole takes at most this many times what it takes with an infinitely fast writer."""

Way = Literal["any", "more streams"]
"""How the speed comes about: any stream may have all of it, or more streams run at the plan's stream speed."""


class Help(Record, frozen=True, kw_only=True):
    """What one change saves of the mean, in seconds from end to end: a part takes half, or a resource has twice the
    places."""

    what: str
    change: Literal["half the time", "twice the places"]
    saves_seconds: float


class Outlook(Record, frozen=True, kw_only=True):
    """`runs` as planned and `floor` with an infinitely fast writer; the medians of the `sweep` in seconds by speed;
    `flat_from` is the first speed of the sweep from which a faster writer changes less than a twentieth, None where
    none is; `helps` with the largest saving first. `sweep_runs` says how many runs the medians and savings rest on."""

    runs: Runs
    floor: Runs
    sweep: Mapping[Way, Mapping[float, float]]
    sweep_runs: int
    flat_from: float | None
    helps: tuple[Help, ...]


def outlook(
    plan: Plan, *, runs: int | None = None, seed: int = 0, speeds: Sequence[float] = SWEEP, writes: bool = True
) -> Outlook:
    """Plays the plan and its variants. Without `runs`, as many as take some seconds, at most 1,000."""
    playable = Playable(plan)
    affordable = max(50, MOST_SINGLE_STEPS // (2 * playable.single_steps))
    runs = runs or min(1_000, affordable)
    fewer = max(1, min(runs, max(50, affordable // 20), 200))
    floor = playable.play(fewer, seed=seed, variant=Variant(infinitely_fast=True))
    sweep = {way: medians for way in ways(plan) if writes for medians in [_sweep(playable, way, speeds, fewer, seed)]}
    return Outlook(
        runs=playable.play(runs, seed=seed),
        floor=floor,
        sweep=sweep,
        sweep_runs=fewer,
        flat_from=_flat_from(sweep.get("any", {}), floor.percentile(0.5)),
        helps=_helps(playable, fewer, seed),
    )


def ways(plan: Plan) -> tuple[Way, ...]:
    """In which ways a writer's speed can change in this plan: none where nothing is written."""
    if not any(part.tokens for step in plan.steps for part in step.parts):
        return ()
    return ("any", "more streams") if plan.writer.stream_speed is not None else ("any",)


def _sweep(playable: Playable, way: Way, speeds: Sequence[float], runs: int, seed: int) -> dict[float, float]:
    medians = {}
    for speed in speeds:
        alone = speed if way == "any" else None
        variant = Variant(stream_speed=alone, throughput=speed)
        medians[speed] = playable.play(runs, seed=seed, variant=variant).percentile(0.5)
    return medians


def _flat_from(medians: Mapping[float, float], floor_seconds: float) -> float | None:
    flat = [speed for speed in sorted(medians) if medians[speed] <= FLAT * floor_seconds]
    return flat[0] if flat else None


def _helps(playable: Playable, runs: int, seed: int) -> tuple[Help, ...]:
    plan, before = playable.plan, playable.play(runs, seed=seed).mean
    helps = []
    for label in (step.label(part) for step in plan.steps for part in step.parts):
        after = playable.play(runs, seed=seed, variant=Variant(factors={label: 0.5})).mean
        helps.append(Help(what=label, change="half the time", saves_seconds=before - after))
    for name, resource in plan.resources.items():
        variant = Variant(places={name: 2 * resource.places})
        after = playable.play(runs, seed=seed, variant=variant).mean
        helps.append(Help(what=name, change="twice the places", saves_seconds=before - after))
    return tuple(sorted(helps, key=lambda h: -h.saves_seconds))
