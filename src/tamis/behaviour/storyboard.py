"""Storyboard. One reading confirms what questions would take ten screens for.

It shows what the chosen draft does, line by line, in the fewest lines that go over most of the places where the truth
could still depart from it: every way in which some draft of the pool parts from it, every mutant of it that the given
tests and the answers let through, and situations that are new to the reader though all drafts agree there. Several of
those fit into one sequence of calls, so they are covered together.
"""

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tamis.behaviour.ground import NEVER, UNTOLD, Departures, Doing, Flags, Floats, Ground, Ints, Situations
from tamis.behaviour.situations import Situation
from tamis.behaviour.words import names_of, outcome_said, without_the_obvious
from tamis.records import Record

LINE_CHARACTERS = 100
CALLS_A_LINE = 2
ELSEWHERE = 0.5
"""How much of a way is thought covered by one that parts the same drafts where the base does something else."""


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
    """What is still uncovered under one base. `ways` holds, for each draft in each way of parting, the share of it that
    is left, in [0, 1]; `alike[i, j]` says how much of the i-th of them is gone over with way j. `mutants` has what is
    left of each mutant, `first[p]` where each first differs from the base in program p; `new` has what is left of each
    of the `situations`. `shares` says how much of all places
    to depart ways, mutants and situations stand for."""

    departures: Departures
    ways: Floats
    alike: Floats
    mutants: Floats
    first: Mapping[int, Ints]
    situations: Situations
    new: Floats
    shares: tuple[float, float, float]

    def exposed(self) -> float:
        """The share of all places to depart that was gone over, in [0, 1]."""
        return 1.0 - sum(share * left for share, left in zip(self.shares, self.left(), strict=True))

    def left(self) -> tuple[float, float, float]:
        """The shares of the ways, mutants and situations that nothing went over; 1 where no mutant was run."""
        new = float(self.new @ self.situations.weights)
        return self._left_of_ways(), self._left_of_mutants(), new

    def _left_of_ways(self) -> float:
        return float(self.ways.mean()) if len(self.ways) else 0.0

    def _left_of_mutants(self) -> float:
        return float(self.mutants.mean()) if len(self.mutants) else 1.0

    def gain(self, p: int, stop: int) -> float:
        """How much more would be exposed by reading program p up to call `stop`."""
        value = 0.0
        ways = [w for step, w in self.departures.at.get(p, ()) if step <= stop]
        if ways:
            less = np.maximum(0.0, self.ways - (1.0 - self.alike[:, ways].max(axis=1)))
            value += self.shares[0] * float(less.sum()) / len(self.ways)
        if p in self.first and len(self.mutants):
            killed = self.first[p] <= stop
            value += self.shares[1] * float(self.mutants[killed].sum()) / len(self.mutants)
        shown = self._shown(p, stop)
        if shown:
            value += self.shares[2] * float(self.new[shown] @ self.situations.weights[shown])
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
        return list({s for step in self.situations.at.get(p, ())[: stop + 1] for s in step})

    def copy(self) -> "Cover":
        """One that can be read in without changing this."""
        return replace(self)

    def worth(self, against: Flags, does: Doing, situations: Sequence[Situation]) -> float:
        """How much more `asked` would expose."""
        trial = self.copy()
        trial.asked(against, does, situations)
        return trial.exposed() - self.exposed()

    def asked(self, against: Flags, does: Doing, situations: Sequence[Situation] = ()) -> None:
        """Takes one call as covered, in which `against` (drafts,) go another way where the base does what `does` says,
        and which shows these situations."""
        if against.any() and self.departures.ways:
            like = likeness(self.departures, against[None, :], (does,))
            self.ways = np.minimum(self.ways, 1.0 - like[:, 0])
        shown = [self.situations.numbers[s] for s in situations if s in self.situations.numbers]
        if shown:
            self.new = self.new.copy()
            self.new[shown] = 0.0


def cover_of(
    ground: Ground, base: int, first: Mapping[int, Ints], mutants: int, shares: tuple[float, float, float]
) -> Cover:
    """Nothing covered yet."""
    situations = ground.situations(base)
    departures = ground.departures(base)
    return Cover(
        departures=departures,
        ways=np.ones(int(departures.away.sum())),
        alike=likeness(departures, departures.away, departures.does),
        mutants=np.ones(mutants),
        first=first,
        situations=situations,
        new=np.ones(len(situations.numbers)),
        shares=shares,
    )


def likeness(departures: Departures, others: Flags, does: Sequence[Doing]) -> Floats:
    """(drafts in ways, others): how much of a draft's parting in one way is gone over with another way, in which the
    drafts `others` (others × drafts) part where the base does what `does` says. Who parts in both is likely to have
    the same reason as far as most who part in the other part here too: so a way is gone over piece by piece, with
    ways of fewer drafts."""
    table = departures.away.astype(np.float64)
    within = (table @ others.T) / np.maximum(others.sum(axis=1), 1)
    same = np.array([[1.0 if a == b else ELSEWHERE for b in does] for a in departures.does]).reshape(within.shape)
    ways, drafts = np.nonzero(departures.away)
    return np.asarray((within * same)[ways] * others.T[drafts], dtype=np.float64)


@dataclass
class Shown:
    """How the base's programs read: the text of each call with its outcome, made once."""

    ground: Ground
    outcomes: Mapping[int, bytes]
    base: int
    _outcomes: dict[int, str] = field(default_factory=dict)

    def texts(self, p: int) -> list[str]:
        """Each call with its outcome, as far as these can be told, without what stands in the heading anyway: the one
        object and the one year."""
        numbers = self.ground.steps[p][self.base, : self.ground.told(p, self.base)].tolist()
        texts = [f"{call} → {self._outcome(n)}" for call, n in zip(self.ground.texts(p), numbers, strict=False)]
        return without_the_obvious(texts, names_of(self.ground.programs[p]))

    def _outcome(self, number: int) -> str:
        if number not in self._outcomes:
            self._outcomes[number] = outcome_said(self.outcomes[number])
        return self._outcomes[number]

    def ends(self, p: int) -> list[int]:
        """For each call of p, on which line it ends, from 1; 0 for those that only prepare. Two short calls share a
        line; one that is wider than a line takes as many as it fills."""
        found, line, on_line, width = [0] * self.ground.setup[p], 0, CALLS_A_LINE, 0
        for text in self.texts(p)[self.ground.setup[p] :]:
            if on_line == CALLS_A_LINE or width + 2 + len(text) > LINE_CHARACTERS:
                line, on_line, width = line + 1 + (len(text) - 1) // LINE_CHARACTERS, 0, -2
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


GoesOn = Callable[[int, int, int, float], int]
"""Where the scene of a program, up to a call, can go on: the place of a longer program, or of the same. Told how many
lines there are for all of it, and what a line more must bring."""


def plan(cover: Cover, shown: Shown, *, lines: int, least: float = 0.002, goes_on: GoesOn | None = None) -> list[Scene]:
    """At most `lines` lines: scene by scene the one that goes over most for each line that it takes, until nothing
    brings at least `least` a line. `cover` is what reading them all leaves. The likeliest to be wrong come first."""
    queue = _Queue(cover, shown, least)
    scenes: list[Scene] = []
    left = lines
    while (best := queue.best(left)) is not None:
        _, p, stop = best
        before = cover.exposed()
        queue.take()
        cover.read(p, stop)
        if goes_on is not None:
            following = queue.best(left - queue.cost(p, stop))
            longer = goes_on(p, stop, left, following[0] if following is not None else least)
            if longer != p:
                for step in range(stop + 1, len(shown.ground.programs[longer])):
                    cover.asked(*shown.ground.showing(longer, shown.base, step))
                p, stop = longer, len(shown.ground.programs[longer]) - 1
                queue.changed()
        text = tuple(shown.lines(p, stop))
        scenes.append(Scene(place=p, lines=text, worth=cover.exposed() - before))
        left -= max(1, shown.ends(p)[stop])
    return scenes


class _Queue:
    """The scenes that could be shown, the one that brings most for its lines first. What a scene brings can only fall
    while others are read, so it is reckoned anew only where it stands first."""

    def __init__(self, cover: Cover, shown: Shown, least: float) -> None:
        self._cover, self._least = cover, least
        scenes = _candidates(cover)
        self._ends = {p: shown.ends(p) for p in {p for p, _ in scenes}}
        self._heap = [(-1e9, p, stop, -1) for p, stop in scenes]
        self._round = 0
        heapq.heapify(self._heap)

    def cost(self, p: int, stop: int) -> int:
        return max(1, self._ends[p][stop])

    def best(self, lines: int) -> tuple[float, int, int] | None:
        """What a line of it brings, its program, and the call up to which it is shown; it must fit into `lines`."""
        while self._heap:
            rate, p, stop, when = self._heap[0]
            cost = self.cost(p, stop)
            if cost <= lines and when == self._round:
                return -rate, p, stop
            heapq.heappop(self._heap)
            if cost <= lines:
                worth = self._cover.gain(p, stop)
                if worth / cost >= self._least:
                    heapq.heappush(self._heap, (-worth / (cost + 0.5), p, stop, self._round))
        return None

    def take(self) -> None:
        """Takes the best one out, which is then read."""
        heapq.heappop(self._heap)
        self.changed()

    def changed(self) -> None:
        """More was read."""
        self._round += 1


def _candidates(cover: Cover) -> list[tuple[int, int]]:
    """Every program with each call at which something shows."""
    found: set[tuple[int, int]] = set()
    for p, ways in cover.departures.at.items():
        found |= {(p, step) for step, _ in ways}
    for p, first in cover.first.items():
        found |= {(p, step) for step in np.unique(first[first < NEVER]).tolist()}
    found |= {(p, len(steps) - 1) for p, steps in cover.situations.at.items() if p not in cover.departures.at}
    return sorted(found)


def candidates_for_mutants(ground: Ground, base: int, most: int) -> list[int]:
    """The programs in which mutants of a base are run, at most so many: those that part drafts in most ways for their
    length first, short and long ones alike, the order fixed."""
    ranked: list[tuple[float, int]] = []
    for p in range(len(ground.programs)):
        first, told = ground.setup[p], ground.told(p, base)
        if ground.stands_aside(p) or told <= first:
            continue
        ways = sum(len(set(ground.steps[p][:, i].tolist()) - {UNTOLD}) - 1 for i in range(first, told))
        ranked.append((ways / (told - first + 2), p))
    ranked.sort(key=lambda r: (-r[0], r[1]))
    return [p for _, p in ranked[:most]]
