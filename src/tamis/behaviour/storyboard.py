"""Storyboard. One reading confirms what questions would take ten screens for.

It shows what the chosen draft does, line by line, in the fewest lines that go over most of the places where the truth
could still depart from it: every way in which some draft of the pool parts from it, every mutant of it that the given
tests and the answers let through, and situations that are new to the reader though all drafts agree there. Several of
those fit into one sequence of calls, so they are covered together.
"""

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from tamis.behaviour.ground import NEVER, Departures, Flags, Floats, Ground, Ints
from tamis.behaviour.words import names_of, outcome_said, without_the_obvious
from tamis.records import Record

LINE_CHARACTERS = 100
CALLS_A_LINE = 2
OTHER_METHOD = 0.5
"""How much of a way is thought covered by one that parts the same drafts, but in another method."""


class Line(Record, frozen=True, kw_only=True):
    """One line to read: calls `first` to `last` of the program at `place` in the ground, with their outcomes."""

    place: int
    first: int
    last: int
    text: str


class Scene(Record, frozen=True, kw_only=True):
    """One sequence of calls, from its beginning to the last line that is shown. `worth` is the share of all places to
    depart that it goes over."""

    place: int
    lines: tuple[Line, ...]
    worth: float


@dataclass
class Cover:
    """What is still uncovered under one base. `ways` and `mutants` hold, for each, the share of it that is left, in
    [0, 1]; `alike[i, j]` says how much of way i is gone over with way j. `first[p]` is where each mutant first differs
    from the base in program p; `situations[p]` has, call by call, the situations that it shows, by number, and `new`
    what is left of each. `shares` says how much of all places to depart ways, mutants and situations stand for."""

    departures: Departures
    ways: Floats
    weights: Floats
    alike: Floats
    mutants: Floats
    first: Mapping[int, Ints]
    situations: Mapping[int, tuple[tuple[int, ...], ...]]
    new: Floats
    shares: tuple[float, float, float]

    def exposed(self) -> float:
        """The share of all places to depart that was gone over, in [0, 1]."""
        return 1.0 - sum(share * left for share, left in zip(self.shares, self.left(), strict=True))

    def left(self) -> tuple[float, float, float]:
        """The shares of the ways, mutants and situations that nothing went over; 1 where no mutant was run."""
        new = float(self.new.mean()) if len(self.new) else 0.0
        return self._left_of_ways(), self._left_of_mutants(), new

    def _left_of_ways(self) -> float:
        whole = float(self.weights.sum())
        return float((self.ways * self.weights).sum()) / whole if whole else 0.0

    def _left_of_mutants(self) -> float:
        return float(self.mutants.mean()) if len(self.mutants) else 1.0

    def gain(self, p: int, stop: int) -> float:
        """How much more would be exposed by reading program p up to call `stop`."""
        value = 0.0
        ways = [w for step, w in self.departures.at.get(p, ()) if step <= stop]
        whole = float(self.weights.sum())
        if ways and whole:
            less = np.maximum(0.0, self.ways - (1.0 - self.alike[:, ways].max(axis=1)))
            value += self.shares[0] * float((less * self.weights).sum()) / whole
        if p in self.first and len(self.mutants):
            killed = self.first[p] <= stop
            value += self.shares[1] * float(self.mutants[killed].sum()) / len(self.mutants)
        shown = self._shown(p, stop)
        if shown:
            value += self.shares[2] * float(self.new[shown].sum()) / len(self.new)
        return value

    def read(self, p: int, stop: int) -> None:
        """Takes what reading program p up to call `stop` goes over as covered."""
        ways = [w for step, w in self.departures.at.get(p, ()) if step <= stop]
        if ways:
            self.ways = np.minimum(self.ways, 1.0 - self.alike[:, ways].max(axis=1))
        if p in self.first:
            self.mutants = np.where(self.first[p] <= stop, 0.0, self.mutants)
        self.new = self.new.copy()
        self.new[self._shown(p, stop)] = 0.0

    def _shown(self, p: int, stop: int) -> list[int]:
        return list({s for step in self.situations.get(p, ())[: stop + 1] for s in step})

    def asked(self, against: Flags, method: str) -> None:
        """Takes a way of parting that was asked about as covered: `against` (drafts,) went another way there."""
        if against.any() and self.departures.ways:
            self.ways = np.minimum(self.ways, 1.0 - likeness(self.departures, against, method))


def cover_of(
    ground: Ground, base: int, first: Mapping[int, Ints], mutants: int, shares: tuple[float, float, float]
) -> Cover:
    """Nothing covered yet."""
    situations, new = ground.situations(base)
    departures = ground.departures(base)
    return Cover(
        departures=departures,
        ways=np.ones(departures.ways),
        weights=departures.away.sum(axis=1).astype(np.float64),
        alike=_alike(departures),
        mutants=np.ones(mutants),
        first=first,
        situations=situations,
        new=np.ones(new),
        shares=shares,
    )


def likeness(departures: Departures, against: Flags, method: str) -> Floats:
    """(ways,): how much of each way is gone over by asking where the drafts `against` part, in that method."""
    table = departures.away.astype(np.float64)
    inter = table @ against.astype(np.float64)
    union = table.sum(axis=1) + against.sum() - inter
    same = np.array([1.0 if m == method else OTHER_METHOD for m in departures.methods])
    return np.asarray(inter / np.maximum(union, 1.0) * same, dtype=np.float64)


def _alike(departures: Departures) -> Floats:
    """(ways, ways): `likeness` for every pair."""
    table = departures.away.astype(np.float64)
    inter = table @ table.T
    sizes = table.sum(axis=1)
    union = sizes[:, None] + sizes[None, :] - inter
    methods = np.array(departures.methods)
    same = np.where(methods[:, None] == methods[None, :], 1.0, OTHER_METHOD) if len(methods) else np.ones((0, 0))
    return np.asarray(inter / np.maximum(union, 1.0) * same, dtype=np.float64)


@dataclass
class Shown:
    """How the base's programs read: the text of each call with its outcome, made once."""

    ground: Ground
    outcomes: Mapping[int, bytes]
    base: int
    _outcomes: dict[int, str] = field(default_factory=dict)

    def texts(self, p: int) -> list[str]:
        """Each call with its outcome, without what stands in the heading anyway: the one object and the one year."""
        numbers = self.ground.steps[p][self.base].tolist()
        texts = [f"{call} → {self._outcome(n)}" for call, n in zip(self.ground.texts(p), numbers, strict=True)]
        return without_the_obvious(texts, names_of(self.ground.programs[p]))

    def _outcome(self, number: int) -> str:
        if number not in self._outcomes:
            self._outcomes[number] = outcome_said(self.outcomes[number])
        return self._outcomes[number]

    def ends(self, p: int) -> list[int]:
        """For each call of p, on which line it stands, from 1; 0 for those that only prepare. Two short calls share
        a line."""
        found, line, on_line, width = [0] * self.ground.setup[p], 0, CALLS_A_LINE, 0
        for text in self.texts(p)[self.ground.setup[p] :]:
            if on_line == CALLS_A_LINE or width + 2 + len(text) > LINE_CHARACTERS:
                line, on_line, width = line + 1, 0, -2
            on_line, width = on_line + 1, width + 2 + len(text)
            found.append(line)
        return found

    def lines(self, p: int, stop: int) -> list[Line]:
        """The calls of p after its preparation, up to `stop`, as lines."""
        texts, ends = self.texts(p), self.ends(p)
        by_line: dict[int, list[int]] = {}
        for i in range(self.ground.setup[p], stop + 1):
            by_line.setdefault(ends[i], []).append(i)
        return [
            Line(place=p, first=calls[0], last=calls[-1], text="; ".join(texts[i] for i in calls))
            for calls in by_line.values()
        ]


def plan(cover: Cover, shown: Shown, *, lines: int, least: float = 0.002) -> list[Scene]:
    """At most `lines` lines: scene by scene the one that goes over most for each line that it takes, until nothing
    brings at least `least` a line. `cover` is what reading them all leaves. The likeliest to be wrong come first."""
    queue = [(-1e9, p, stop, -1) for p, stop in _candidates(cover)]
    heapq.heapify(queue)
    ends = {p: shown.ends(p) for p in {p for _, p, _, _ in queue}}
    scenes: list[Scene] = []
    left, rounds = lines, 0
    while queue:
        _, p, stop, when = heapq.heappop(queue)
        cost = max(1, ends[p][stop])
        if cost > left:
            continue
        if when < rounds:  # its worth was reckoned before the last scene was taken, and can only have fallen
            worth = cover.gain(p, stop)
            if worth / cost >= least:
                heapq.heappush(queue, (-worth / (cost + 0.5), p, stop, rounds))
            continue
        worth = cover.gain(p, stop)
        cover.read(p, stop)
        scenes.append(Scene(place=p, lines=tuple(shown.lines(p, stop)), worth=worth))
        left -= cost
        rounds += 1
    return scenes


def _candidates(cover: Cover) -> list[tuple[int, int]]:
    """Every program with each call at which something shows."""
    found: set[tuple[int, int]] = set()
    for p, ways in cover.departures.at.items():
        found |= {(p, step) for step, _ in ways}
    for p, first in cover.first.items():
        found |= {(p, step) for step in np.unique(first[first < NEVER]).tolist()}
    found |= {(p, len(steps) - 1) for p, steps in cover.situations.items() if p not in cover.departures.at}
    return sorted(found)


def candidates_for_mutants(ground: Ground, most: int) -> list[int]:
    """The programs in which mutants are run, at most so many: those that part drafts in most ways for their length
    first, short and long ones alike, the order fixed."""
    ranked: list[tuple[float, int]] = []
    for p, program in enumerate(ground.programs):
        shown = max(1, len(program) - ground.setup[p])
        ways = sum(len(np.unique(ground.steps[p][:, i])) - 1 for i in range(ground.setup[p], len(program)))
        ranked.append((ways / (shown + 2), p))
    ranked.sort(key=lambda r: (-r[0], r[1]))
    return [p for _, p in ranked[:most]]
