"""A plan, played many times: how long it takes from end to end, with the uncertainty that its figures have.

Each run draws every length anew and simulates the steps with their queues, hours and rework. Runs are numbered, and run
n begins with the same draws whatever else is changed: two variants of a plan differ by the change, not by luck.
"""

import math
import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import msgspec

from tamis.records import Record, Stage
from tamis.time.network import Gate, Network, Played, Player, Work
from tamis.time.plan import Part, Plan, PlanStep, Takes

MOST_SINGLE_STEPS = 800_000
"""Single steps played for one table, unless the number of runs is given: a few seconds of computing."""


class Variant(Record, frozen=True, kw_only=True):
    """A plan with something changed. Speeds in tokens per second replace the plan's; with `infinitely_fast` tokens take
    no time at all. `factors` multiply what a part takes, by its label; `places` replace a resource's."""

    stream_speed: float | None = None
    throughput: float | None = None
    infinitely_fast: bool = False
    factors: Mapping[str, float] = {}
    places: Mapping[str, int] = {}


class Runs(Record, frozen=True, kw_only=True):
    """What many runs of a plan came to. `seconds` are sorted. The rest are means over the runs, in seconds: what each
    part (by its label) and stage took of the critical path, what the path lost to `closed` hours, how long a part
    waited for its place, and how often a gate's step was done."""

    seconds: tuple[float, ...]
    by_part: Mapping[str, float]
    by_stage: Mapping[Stage, float]
    closed: float
    queued: Mapping[str, float]
    rounds: Mapping[str, float]

    def percentile(self, share: float) -> float:
        """The length that this share of the runs stays below or at (0.5: the median)."""
        return self.seconds[min(len(self.seconds) - 1, math.ceil(share * len(self.seconds)) - 1 if share > 0 else 0)]

    @property
    def mean(self) -> float:
        return math.fsum(self.seconds) / len(self.seconds)


class _Node(msgspec.Struct, frozen=True):
    """A single step of the network; `weight` identical ones side by side where nothing tells them apart, no part where
    it only joins lines."""

    step: int
    part: Part | None
    weight: int = 1


class Playable:
    """A plan laid out as a network, ready to be played."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._nodes: list[_Node] = []
        self._after: list[list[int]] = []
        self._of_step: dict[str, list[int]] = defaultdict(list)
        lines = {step.name: self._lay_out(number, step) for number, step in enumerate(plan.steps)}
        ends = {name: self._end(of_step) for name, of_step in lines.items()}
        for step in plan.steps:
            for line, (first, _) in enumerate(lines[step.name]):
                self._after[first] += [ends[name] for name in step.after]
                self._after[first] += [lines[step.each][line][1]] if step.each else []
        gates = {
            ends[name]: Gate(
                accept=plan.step(name).accept or 0.0,
                again=tuple(sorted(node for inside in again for node in self._of_step[inside])),
                at_most=plan.step(name).at_most,
            )
            for name, again in plan.again.items()
        }
        needs = {number: node.part.needs for number, node in enumerate(self._nodes) if node.part is not None}
        self.network = Network(
            after=tuple(tuple(after) for after in self._after),
            resource={number: name for number, name in needs.items() if name is not None},
            resources=plan.resources,
            gates=gates,
        )

    @property
    def single_steps(self) -> int:
        return len(self._nodes)

    def play(self, runs: int, *, seed: int = 0, variant: Variant | None = None) -> Runs:
        """So many runs. The same seed gives the same runs."""
        variant = variant or Variant()
        network = self.network
        for name, places in variant.places.items():
            changed = msgspec.structs.replace(network.resources[name], places=places)
            network = msgspec.structs.replace(network, resources={**network.resources, name: changed})
        player, draw = Player(network), _Draw(self.plan, self._nodes, variant)
        rng = random.Random()
        total = _Total(self.plan, self._nodes)
        for run in range(runs):
            rng.seed(seed * 1_000_003 + run)
            work = draw.work(rng)
            again = draw.again(rng, work)
            total.add(player.play(work, start=self.plan.starts, chance=rng.random, again=again))
        return total.runs()

    def _lay_out(self, number: int, step: PlanStep) -> list[tuple[int, int]]:
        """The step's lines: the first and last node of each."""
        alike = self._are_alike(step)
        lines = []
        for _ in range(1 if alike else step.count):
            first = last = -1
            for part in step.parts * step.repeat:
                last = self._add(number, part, [last] if last >= 0 else [], step.count if alike else 1)
                first = last if first < 0 else first
            lines.append((first, last))
        return lines

    def _are_alike(self, step: PlanStep) -> bool:
        """Whether the step's lines all take the same at the same time, so that one node can stand for all."""
        told_apart = step.each or any(other.each == step.name for other in self.plan.steps) or step.repeat > 1
        part = step.parts[0]
        varies = part.takes.sigma or (part.tokens is not None and part.tokens.sigma)
        return not (told_apart or len(step.parts) > 1 or part.needs or varies)

    def _end(self, lines: Sequence[tuple[int, int]]) -> int:
        """The node that has ended when all lines of a step have."""
        lasts = [last for _, last in lines]
        return lasts[0] if len(lasts) == 1 else self._add(self._nodes[lasts[0]].step, None, lasts, 1)

    def _add(self, number: int, part: Part | None, after: list[int], weight: int) -> int:
        self._nodes.append(_Node(number, part, weight))
        self._after.append(after)
        self._of_step[self.plan.steps[number].name].append(len(self._nodes) - 1)
        return len(self._nodes) - 1


class _Draw:
    """Draws what the nodes take. Fixed lengths are laid down once; the others are drawn node by node, in order."""

    def __init__(self, plan: Plan, nodes: Sequence[_Node], variant: Variant) -> None:
        throughput = variant.throughput if variant.throughput is not None else plan.writer.throughput
        self._alone = variant.stream_speed or plan.writer.stream_speed or throughput or 1.0
        self._a_token = 0.0 if variant.infinitely_fast else 1.0 / self._alone
        self._factor = [variant.factors.get(label, 1.0) for label in _labels(plan, nodes)]
        self._parts = [node.part for node in nodes]
        speeds = [node.weight * self._alone for node in nodes]
        self._fixed = Work([0.0] * len(nodes), [0.0] * len(nodes), speeds, throughput)
        self._varying: dict[int, None] = {}  # in the order of the nodes, which a set would not promise
        for number, part in enumerate(self._parts):
            if part is not None:
                self._lay(self._fixed, number, part, part.takes.median, part.tokens.median if part.tokens else 0.0)
                if part.takes.sigma or (part.tokens and part.tokens.sigma):
                    self._varying[number] = None

    def work(self, rng: random.Random) -> Work:
        fixed = self._fixed
        work = Work(list(fixed.seconds), list(fixed.streaming), fixed.speed, fixed.throughput)
        for number in self._varying:
            self._vary(rng, work, number)
        return work

    def again(self, rng: random.Random, work: Work) -> Callable[[int], None]:
        """Draws a node's work anew, when it is sent back."""

        def draw_anew(number: int) -> None:
            if number in self._varying:
                self._vary(rng, work, number)

        return draw_anew

    def _vary(self, rng: random.Random, work: Work, number: int) -> None:
        part = self._parts[number]
        assert part is not None, "only parts vary"
        tokens = _drawn(rng, part.tokens) if part.tokens is not None else 0.0
        self._lay(work, number, part, _drawn(rng, part.takes), tokens)

    def _lay(self, work: Work, number: int, part: Part, takes: float, tokens: float) -> None:
        work.seconds[number] = (part.first_seconds + takes) * self._factor[number]
        work.streaming[number] = tokens * self._a_token * self._factor[number]


def _drawn(rng: random.Random, takes: Takes) -> float:
    return takes.median * math.exp(takes.sigma * rng.gauss(0.0, 1.0)) if takes.sigma else takes.median


def _labels(plan: Plan, nodes: Sequence[_Node]) -> list[str]:
    return [plan.steps[node.step].label(node.part) if node.part is not None else "" for node in nodes]


def _by_size(item: tuple[Stage, float]) -> float:
    return -item[1]


class _Total:
    """Adds up what the runs came to."""

    def __init__(self, plan: Plan, nodes: Sequence[_Node]) -> None:
        self._labels = _labels(plan, nodes)
        self._steps = [plan.steps[node.step].name for node in nodes]
        self._nodes = nodes
        self._queues = bool(plan.resources)
        self._seconds: list[float] = []
        self._by_part: dict[str, float] = {step.label(part): 0.0 for step in plan.steps for part in step.parts}
        self._by_stage: dict[Stage, float] = defaultdict(float)
        self._queued: dict[str, float] = defaultdict(float)
        self._rounds: dict[str, int] = defaultdict(int)
        self._closed = 0.0

    def add(self, played: Played) -> None:
        self._seconds.append(played.seconds)
        for at in played.path():
            entry = played.entries[at]
            part = self._nodes[entry.step].part
            if part is not None:
                worked = played.ended[at] - entry.began - entry.closed
                self._by_part[self._labels[entry.step]] += worked
                self._by_stage[part.stage] += worked
                self._closed += entry.closed
        if self._queues:
            for entry in played.entries:
                if entry.began > entry.ready:
                    self._queued[self._labels[entry.step]] += entry.began - entry.ready
        for node, rounds in played.rounds.items():
            self._rounds[self._steps[node]] += rounds

    def runs(self) -> Runs:
        n = len(self._seconds)
        return Runs(
            seconds=tuple(sorted(self._seconds)),
            by_part={name: seconds / n for name, seconds in self._by_part.items()},
            by_stage={stage: seconds / n for stage, seconds in sorted(self._by_stage.items(), key=_by_size)},
            closed=self._closed / n,
            queued={name: seconds / n for name, seconds in self._queued.items()},
            rounds={name: rounds / n for name, rounds in self._rounds.items()},
        )
