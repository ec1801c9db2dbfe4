"""From spans to a network of steps: what waited for what, in a run that happened.

Where a span says what it came after, that is taken at its word. Where nobody said, the times tell: within one parent, a
span waited for everything that had ended when it began. That may see a wait where there was none, never miss one, so a
replay promises rather too little than too much. What a parent does while none of its children runs is a step of its
own; what lies between the last thing waited for and the beginning stays as a lag of unknown cause.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from typing import Literal, NamedTuple

import msgspec

from tamis.records import Record, Span, Stage
from tamis.time.intervals import Interval, length, split, union
from tamis.time.network import Network, Player, Resource, Stuck, Work
from tamis.time.tree import Tree

Kind = Literal["work", "wait", "lag", "join"]
"""A step works, waits for something outside (a person's answer), lags for reasons nobody recorded, or only joins."""


class Step(Record, frozen=True, kw_only=True):
    """A stretch of one span: `seconds`, then `streaming` seconds in which `streamed` tokens come. `tokens` are all that
    are counted to it: the first token of a stream is there when its streaming begins. `on` is what a wait is for."""

    span: str
    stage: Stage
    kind: Kind
    seconds: float = 0.0
    streaming: float = 0.0
    streamed: float = 0.0
    tokens: float = 0.0
    on: str | None = None

    @property
    def speed(self) -> float:
        """Tokens per second of this stream alone, as recorded."""
        return self.streamed / self.streaming if self.streaming > 0 else 0.0


class Graph(Record, frozen=True, kw_only=True):
    """The steps of a run and how they hang together. `recorded_seconds` are what it took by the clock, the time between
    runs left out; `notes` tell what the spans left open."""

    steps: tuple[Step, ...]
    network: Network
    spans: Mapping[str, Span]
    recorded_seconds: float = 0.0
    notes: tuple[str, ...] = ()

    def work(self) -> Work:
        """What the steps took as recorded."""
        return Work(
            seconds=[step.seconds for step in self.steps],
            streaming=[step.streaming for step in self.steps],
            speed=[step.speed for step in self.steps],
        )


def graph(spans: Tree) -> Graph:
    """The graph of these spans. What a span says it came after is left aside, with a note, where it would close a
    circle."""
    made = _Maker(spans, trusting=True).make()
    try:
        Player(made.network).play(made.work())
    except Stuck:
        note = "spans say that they came after each other in a circle: their order is told by the times instead"
        made = _Maker(spans, trusting=False).make()
        made = msgspec.structs.replace(made, notes=(*made.notes, note))
    return made


def most_at_once(spans: Sequence[Span]) -> dict[str, int]:
    """How many held each resource at once: as many places as it has, or fewer where they were never all needed."""
    changes: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for span in spans:
        if span.resource is not None:
            waited = span.waited if span.waited_on == span.resource else 0.0
            changes[span.resource] += [(span.started + waited, 1), (span.ended, -1)]
    most: dict[str, int] = {}
    for name, of_resource in changes.items():
        held = most[name] = 0
        for _, change in sorted(of_resource):  # at one moment, places are freed first
            held += change
            most[name] = max(most[name], held)
    return {name: max(1, n) for name, n in most.items()}


def stretches(span: Span, own: Sequence[Interval]) -> list[tuple[Interval, Step]]:
    """Steps for the span's own stretches, in the order of time: its waiting, its work, its tokens. Waiting for a place
    of its own resource is left out, since a replay finds out for itself how long that takes."""
    waiting, working = split([i for i in own if i[1] > i[0]], span.waited)
    steps: list[tuple[Interval, Step]] = []
    if span.resource is None or span.waited_on != span.resource:
        wait = Step(span=span.id, stage=span.stage, kind="wait", on=span.waited_on or "unknown")
        steps += [(i, msgspec.structs.replace(wait, seconds=i[1] - i[0])) for i in waiting]
    before, streaming = _at_first_token(span, working)
    steps += [(i, Step(span=span.id, stage=span.stage, kind="work", seconds=i[1] - i[0])) for i in before]
    left = span.tokens_out - 1 if before else span.tokens_out
    for start, end in streaming:
        share = (end - start) / length(streaming)
        step = Step(
            span=span.id,
            stage="writing",
            kind="work",
            streaming=end - start,
            streamed=share * left,
            tokens=share * span.tokens_out,
        )
        steps.append(((start, end), step))
    if _writes(span) and not streaming:
        step = Step(span=span.id, stage="writing", kind="work", streamed=span.tokens_out, tokens=span.tokens_out)
        steps.append(((span.ended, span.ended), step))
    return steps


def _writes(span: Span) -> bool:
    return span.stage == "writing" and span.tokens_out > 0


def _at_first_token(span: Span, working: Sequence[Interval]) -> tuple[list[Interval], list[Interval]]:
    """The work before the first token, and the streaming after it. Where nobody recorded the first token, or where it
    came with the last, all is streaming; where there were no tokens, nothing is."""
    if not _writes(span):
        return list(working), []
    first = span.first_token_at
    after = [(max(start, first), end) for start, end in working if end > max(start, first)] if first is not None else []
    if first is None or not after:
        return [], list(working)
    return [(start, min(end, first)) for start, end in working if start < min(end, first)], after


class _Item(NamedTuple):
    """One thing within a parent, a child or a stretch of the parent's own, with the steps it begins and ends with."""

    start: float
    end: float
    entry: int
    exit: int
    child: Span | None


class _Maker:
    """Builds a graph: first the steps that each span begins and ends with, then what lies between them. `trusting`
    takes spans at their word about what they came after."""

    def __init__(self, spans: Tree, *, trusting: bool) -> None:
        self._tree = spans
        self._trusting = trusting
        self._extents = spans.extents()
        self._by_id = {span.id: span for span in spans.everything()}
        self._steps: list[Step] = []
        self._after: list[list[int]] = []
        self._ends: dict[str, tuple[int, int]] = {}
        self._notes: Counter[str] = Counter()

    def make(self) -> Graph:
        for span in self._by_id.values():
            self._ends[span.id] = self._make_ends(span)
        for span in self._by_id.values():
            if self._tree.below(span):
                self._join_within(span)
        self._join_roots()
        held = {span: span.resource for span in self._by_id.values() if span.resource is not None}
        return Graph(
            steps=tuple(self._steps),
            network=Network(
                after=tuple(tuple(after) for after in self._after),
                resource={self._ends[span.id][0]: name for span, name in held.items()},
                until={self._ends[span.id][0]: self._ends[span.id][1] for span in held},
                resources={name: Resource(places=n) for name, n in most_at_once(list(held)).items()},
            ),
            spans=self._by_id,
            recorded_seconds=length(union(self._extents[root.id] for root in self._tree.roots)),
            notes=(*_left_open(self._tree), *(f"{n} {what}" for what, n in self._notes.items())),
        )

    def _add(self, step: Step, after: Sequence[int]) -> int:
        self._steps.append(step)
        self._after.append(list(after))
        return len(self._steps) - 1

    def _make_ends(self, span: Span) -> tuple[int, int]:
        """The steps that the span begins and ends with. One without children is all made here, as a chain."""
        join = Step(span=span.id, stage=span.stage, kind="join")
        if self._tree.below(span):
            return self._add(join, ()), self._add(join, ())
        steps = [step for _, step in stretches(span, [(span.started, span.ended)])] or [join]
        first = last = self._add(steps[0], ())
        for step in steps[1:]:
            last = self._add(step, (last,))
        return first, last

    def _join_within(self, parent: Span) -> None:
        begin, end = self._ends[parent.id]
        own = [
            _Item(*interval, number, number, None)
            for interval, step in stretches(parent, self._tree.own(parent))
            for number in [self._add(step, ())]
        ]
        children = [_Item(*self._extents[c.id], *self._ends[c.id], c) for c in self._tree.below(parent)]
        prepared = self._prepared(begin, own, min(item.start for item in children))
        started, ended = self._extents[parent.id]
        last = self._sweep(own + children, begin, started, prepared)
        left = ended - max(item.end for item in children + own)
        if left > 0:  # a child that ended before its parent began, and nothing in between
            last = [self._add(Step(span=parent.id, stage="whole", kind="lag", seconds=left), last)]
        self._after[end] += last

    def _prepared(self, begin: int, own: Sequence[_Item], first_child: float) -> tuple[int, float]:
        """What a child that came after nothing waits for nevertheless: what its parent did before its first child."""
        before = [item for item in own if item.end <= first_child]
        return (before[-1].exit, before[-1].end) if before else (begin, self._extents[self._steps[begin].span][0])

    def _sweep(self, items: Sequence[_Item], begin: int, start: float, prepared: tuple[int, float]) -> list[int]:
        """Makes each item wait for what had ended when it began. Returns what the parent's end waits for."""
        past, joined_at = begin, start
        running: list[tuple[float, int]] = []
        for item in sorted(items, key=lambda i: (i.start, i.end, i.entry)):
            ended = []
            while running and running[0][0] <= item.start:
                joined_at, step = heappop(running)
                ended.append(step)
            if len(ended) == 1 and past == begin:
                past = ended[0]
            elif ended:
                past = self._add(self._steps[begin], [past, *ended])
            self._wait(item, self._told(item, prepared) or ([past], joined_at))
            heappush(running, (item.end, item.exit))
        return [past, *(step for _, step in running)]

    def _told(self, item: _Item, prepared: tuple[int, float]) -> tuple[list[int], float] | None:
        """The steps that the item says it came after, with when the last of them ended; None where it says nothing
        that can be true."""
        child = item.child
        if child is None or child.after is None or not self._trusting:
            return None
        above = self._above(child)
        possible = all(a in self._extents and a not in above and self._extents[a][1] <= item.start for a in child.after)
        if not possible:
            self._notes["came after a span that is not here or ended later: told by the times instead"] += 1
            return None
        ended = max([prepared[1], *(self._extents[a][1] for a in child.after)])
        return [prepared[0], *(self._ends[a][1] for a in child.after)], ended

    def _wait(self, item: _Item, told: tuple[list[int], float]) -> None:
        after, ended = told
        queues = item.child is not None and item.child.resource is not None
        if item.start > ended and not queues:
            lag = Step(span=self._steps[item.entry].span, stage="whole", kind="lag", seconds=item.start - ended)
            after = [self._add(lag, after)]
        self._after[item.entry] += after

    def _above(self, span: Span) -> set[str]:
        above = {span.id}
        while span.parent is not None:
            above.add(span.parent)
            span = self._by_id[span.parent]
        return above

    def _join_roots(self) -> None:
        """Runs follow each other; the time between them, when nothing was under way, is left out."""
        roots = sorted(self._tree.roots, key=lambda root: self._extents[root.id])
        if not roots:
            return
        begin = self._add(Step(span=roots[0].id, stage="whole", kind="join"), ())
        start = busy_until = self._extents[roots[0].id][0]
        items, shift = [], 0.0
        for root in roots:
            extent = self._extents[root.id]
            shift += max(0.0, extent[0] - busy_until)
            busy_until = max(busy_until, extent[1])
            items.append(_Item(extent[0] - shift, extent[1] - shift, *self._ends[root.id], root))
        self._sweep(items, begin, start, (begin, start))


def _left_open(spans: Tree) -> list[str]:
    writing = [span for span in spans.everything() if span.stage == "writing" and spans.own(span)]
    untold = sum(not span.tokens_out for span in writing)
    whole = sum(span.tokens_out > 0 and span.first_token_at is None for span in writing)
    notes = []
    if untold:
        notes.append(f"{untold} of {len(writing)} writing spans tell no tokens: they keep their time at other speeds")
    if whole:
        notes.append(f"{whole} of {len(writing)} writing spans tell no first token: all their time counts as streaming")
    return notes
