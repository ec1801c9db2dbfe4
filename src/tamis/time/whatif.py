"""What a faster writer would change: the graph of a run that happened, replayed with other durations.

What waited for what stays, and so do the places (two cores, one owner, three benches). More streams and faster streams
are told apart: `stream_speed` changes how fast each stream runs, `throughput` how much all of them may write together.
A fan-out gains from either, a chain only from the first. What the run did not record can't be replayed: `notes`.
"""

import math
from collections.abc import Mapping, Sequence

import msgspec

from tamis.errors import UsageError
from tamis.records import Record, Span, Stage
from tamis.time.critical import Piece, Share, pieces, shares
from tamis.time.graph import Graph, Step, graph
from tamis.time.intervals import length, union
from tamis.time.network import Player, Resource, Stuck, Work
from tamis.time.tree import tree

SPEEDS = (1e2, 1e3, 1e4, 1e5, 1e6)
"""The writing speeds shown side by side, in tokens per second."""


CLOSE = 0.01
"""A replay of the run as it was that is off by more than this share of it is told."""


class Changes(Record, frozen=True, kw_only=True):
    """What to change. Speeds are in tokens per second, None as recorded. `writer_speed` is a writer that writes so much
    in all, any one stream of which may have all of it; `writer_times` makes every stream so many times faster.
    `stages` multiplies what a stage takes (0.1: a tenth); `places` sets how many a resource serves at once."""

    writer_speed: float | None = None
    writer_times: float | None = None
    stream_speed: float | None = None
    throughput: float | None = None
    stages: Mapping[Stage, float] = {}
    places: Mapping[str, int] = {}

    def __post_init__(self) -> None:
        super().__post_init__()
        ways = [self.writer_speed, self.writer_times, self.stream_speed or self.throughput]
        if sum(way is not None for way in ways) > 1:
            raise UsageError(
                "a writer's speed was given twice over", hint="give the whole writer's, or stream's and throughput"
            )
        for speed in (self.writer_speed, self.writer_times, self.stream_speed, self.throughput):
            if speed is not None and speed <= 0:
                raise UsageError(f"a speed of {speed:g} tokens per second writes nothing")
        for stage, factor in self.stages.items():
            if factor < 0:
                raise UsageError(f"{stage} can't take {factor:g} times as long")
        for name, places in self.places.items():
            if places < 1:
                raise UsageError(f"with {places} places of {name!r} nothing would ever be done")


class Replay(Record, frozen=True, kw_only=True):
    """A run replayed: end to end, and its critical path."""

    seconds: float
    path: tuple[Piece, ...]

    def shares(self) -> dict[Share, float]:
        return shares(self.path)


class WhatIf(Record, frozen=True, kw_only=True):
    """`as_run`, `changed`, and the `floor` that a writer can't get below, infinitely fast, with the other changes made.
    `next_stage` takes most of the floor's path. `times_faster` is the writing's own speed-up, None where unknown."""

    as_run: Replay
    changed: Replay
    floor: Replay
    times_faster: float | None
    next_stage: Share | None
    notes: tuple[str, ...]

    @property
    def speed_up(self) -> float:
        """How many times faster the whole is; infinite where nothing is left."""
        if self.changed.seconds > 0:
            return self.as_run.seconds / self.changed.seconds
        return math.inf if self.as_run.seconds > 0 else 1.0

    def sentence(self) -> str:
        """The figure that ends an argument."""
        if self.times_faster is None:
            return f"with these changes the whole is {_times(self.speed_up)}"
        return f"writing {_times(self.times_faster)} makes the whole {_times(self.speed_up)}"


def what_if(spans: Sequence[Span], changes: Changes) -> WhatIf:
    """What the changes would have changed in this run."""
    return what_if_of(graph(tree(spans)), changes)


def what_if_of(made: Graph, changes: Changes) -> WhatIf:
    others = Changes(stages=changes.stages, places=changes.places)
    floor = replay(made, others, infinitely_fast=True)
    as_run = replay(made, Changes())
    return WhatIf(
        as_run=as_run,
        changed=replay(made, changes),
        floor=floor,
        times_faster=_times_faster(made, changes),
        next_stage=next(iter(floor.shares()), None),
        notes=(*made.notes, *_untrue(made, as_run), *_without_effect(made, changes)),
    )


def at_speeds(made: Graph, speeds: Sequence[float] = SPEEDS) -> dict[float, Replay]:
    """The run at each of these writer speeds."""
    return {speed: replay(made, Changes(writer_speed=speed)) for speed in speeds}


def drafts_written(spans: Sequence[Span], tokens: Sequence[int]) -> list[Span]:
    """The spans of a run whose drafts were written before it, with the writing put before everything else: one stream
    per draft, no time as run. A run whose writing was measured is returned as it is."""
    if not spans or any(span.stage == "writing" and span.tokens_out for span in spans):
        return list(spans)
    at = min(span.started for span in spans)
    whole = Span(id="written", parent=None, stage="whole", name="drafts written before", started=at, ended=at)
    drafts = [
        Span(
            id=f"written {number}",
            parent=whole.id,
            stage="writing",
            name=f"draft {number}",
            started=at,
            ended=at,
            tokens_out=n,
            after=(),
        )
        for number, n in enumerate(tokens, 1)
    ]
    return [whole, *drafts, *spans]


def replay(made: Graph, changes: Changes, *, infinitely_fast: bool = False) -> Replay:
    """The run with these changes; with `infinitely_fast` tokens take no time, only the wait for the first of them.
    Raises UsageError where its steps then wait for each other forever."""
    network = msgspec.structs.replace(made.network, resources=_resources(made, changes))
    try:
        played = Player(network).play(_work(made, changes, infinitely_fast))
    except Stuck as stuck:
        held = ", ".join(sorted(network.resources))
        raise UsageError(
            f"with so few places the run can't end: {len(stuck.steps)} steps wait for one that is never freed",
            hint=f"what holds a place waits for something that needs one too; the resources are {held}",
        ) from stuck
    return Replay(seconds=played.seconds, path=pieces(msgspec.structs.replace(made, network=network), played))


def _work(made: Graph, changes: Changes, infinitely_fast: bool) -> Work:
    work = made.work()
    work.throughput = changes.writer_speed or changes.throughput
    for number, step in enumerate(made.steps):
        factor = changes.stages.get(step.stage, 1.0)
        work.seconds[number] *= factor
        if step.streamed > 0:
            streaming, speed = _stream(step, changes)
            work.streaming[number] = 0.0 if infinitely_fast else streaming * factor
            work.speed[number] = speed / factor if factor > 0 else 0.0
    return work


def _stream(step: Step, changes: Changes) -> tuple[float, float]:
    """The seconds that the step's tokens stream for when alone, and its tokens per second."""
    alone = changes.writer_speed or changes.stream_speed
    if alone is None and step.speed == 0:  # written in no time as recorded: only a limit can make it take some
        alone = changes.throughput
    if alone is not None:
        return step.streamed / alone, alone
    times = changes.writer_times or 1.0
    return step.streaming / times, step.speed * times


def _resources(made: Graph, changes: Changes) -> dict[str, Resource]:
    """The places as recorded or as changed. A throughput says how many streams the writer runs at once."""
    resources = dict(made.network.resources)
    if changes.throughput is not None:
        stream_speed = changes.stream_speed or _recorded_speed(made)
        for step, name in made.network.resource.items():
            if made.spans[made.steps[step].span].stage == "writing" and stream_speed:
                resources[name] = Resource(places=max(1, math.ceil(changes.throughput / stream_speed)))
    return resources | {name: Resource(places=n) for name, n in changes.places.items() if name in resources}


def _recorded_speed(made: Graph) -> float | None:
    """Tokens per second of a stream, over all that were recorded."""
    streaming = sum(step.streaming for step in made.steps)
    return sum(step.streamed for step in made.steps if step.streaming) / streaming if streaming else None


def _recorded_throughput(made: Graph) -> float | None:
    """Tokens per second of all streams together, while any was being written."""
    writing = [span for span in made.spans.values() if span.stage == "writing" and span.tokens_out]
    seconds = length(union((span.started, span.ended) for span in writing))
    return sum(span.tokens_out for span in writing) / seconds if seconds else None


def _times_faster(made: Graph, changes: Changes) -> float | None:
    if changes.stages or changes.places:
        return None
    if changes.writer_times is not None:
        return changes.writer_times
    if changes.stream_speed is not None and changes.throughput is None:
        recorded, wanted = _recorded_speed(made), changes.stream_speed
    else:
        recorded, wanted = _recorded_throughput(made), changes.writer_speed or changes.throughput or 0.0
    return wanted / recorded if recorded and wanted else None


def _untrue(made: Graph, as_run: Replay) -> list[str]:
    """Whether a replay of the run as it was is right: where it isn't, what it says of changes is no better."""
    off = as_run.seconds - made.recorded_seconds
    if abs(off) <= CLOSE * made.recorded_seconds:
        return []
    took, was = f"{as_run.seconds:.3g}", f"{made.recorded_seconds:.3g}"
    return [f"replayed as it was, the run takes {took} s instead of the {was} s recorded: something waited unseen"]


def _without_effect(made: Graph, changes: Changes) -> list[str]:
    resources, stages = made.network.resources, {step.stage for step in made.steps}
    known = ", ".join(sorted(resources)) or "none was recorded"
    notes = [
        f"nothing in this run queued for {name!r}: its places change nothing (resources: {known})"
        for name in changes.places
        if name not in resources
    ]
    notes += [
        f"nothing in this run was {stage}: its factor changes nothing"
        for stage in changes.stages
        if stage not in stages
    ]
    speeds = (changes.writer_speed, changes.writer_times, changes.stream_speed, changes.throughput)
    if any(speed is not None for speed in speeds) and not any(step.tokens for step in made.steps):
        notes.append("no writing with tokens was recorded: a writer's speed changes nothing")
    return notes


def _times(factor: float) -> str:
    if math.isinf(factor):
        return "infinitely many times faster"
    how, shown = ("faster", factor) if factor >= 1 else ("slower", 1 / factor)
    digits = 0 if shown >= 100 else 1 if shown >= 10 else 2
    return f"{shown:,.{digits}f} times {how}"
