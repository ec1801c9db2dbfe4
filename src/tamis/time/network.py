"""A network of steps, and what happens when it runs: a discrete-event simulation.

A step begins once all steps that it waits for have ended and a place of its resource is free; who waits for a place
gets one in the order of becoming ready. Tokens are written at the step's own stream speed as long as all streams
together stay below the throughput; beyond it, all slow down alike. A recorded run is replayed with this, and a planned
one played; randomness stays outside, in the numbers that are handed in.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from heapq import heappop, heappush
from typing import NamedTuple

import msgspec

from tamis.errors import TamisError
from tamis.records import Record
from tamis.time.hours import Hours

NEVER = float("inf")
_DONE, _JOIN, _READY = 0, 1, 2  # at one moment, places are freed before anyone takes one


class Resource(Record, frozen=True, kw_only=True):
    """What steps queue for. `hours` is None where it is always open; `runs_on` says that what was begun in the hours
    goes on when they close, as an oven does and a person doesn't."""

    places: int
    hours: Hours | None = None
    runs_on: bool = False


class Gate(Record, frozen=True, kw_only=True):
    """A step that may send the work back: accepted with probability `accept`, else every step of `again` (itself among
    them) is done once more, `at_most` times in all (None: until accepted)."""

    accept: float
    again: tuple[int, ...]
    at_most: int | None = None


class Network(Record, frozen=True, kw_only=True):
    """Steps by their number. `after[i]` are those that step i waits for; `resource[i]` what it holds one place of,
    until step `until[i]` has ended (itself, unless said otherwise)."""

    after: tuple[tuple[int, ...], ...]
    resource: Mapping[int, str] = {}
    until: Mapping[int, int] = {}
    resources: Mapping[str, Resource] = {}
    gates: Mapping[int, Gate] = {}


class Work(msgspec.Struct):
    """What the steps take in one run. Step i works `seconds[i]`, then streams tokens for `streaming[i]` seconds when
    alone, at `speed[i]` tokens per second, which is its share of the `throughput` (None: no limit)."""

    seconds: list[float]
    streaming: list[float]
    speed: list[float]
    throughput: float | None = None


class Entry(NamedTuple):
    """One doing of a step. `ready` is when nothing but a place was missing, `began` when it had one, `closed` the
    seconds from then on in which its resource was closed. `cause` is the entry that it began with, -1 for none."""

    step: int
    ready: float
    began: float
    closed: float
    cause: int


class Played(msgspec.Struct):
    """What happened: entries, each after what it waited for, and when each ended. With gates a step may have several
    entries; `rounds` says how often each gate was done."""

    start: float
    entries: list[Entry]
    ended: list[float]
    rounds: dict[int, int]

    @property
    def seconds(self) -> float:
        return max(self.ended, default=self.start) - self.start

    def path(self) -> list[int]:
        """The entries that the end waited for, first to last: each began when the one before it had ended."""
        at = max(range(len(self.ended)), key=lambda i: (self.ended[i], i), default=-1)
        path = []
        while at >= 0:
            path.append(at)
            at = self.entries[at].cause
        return path[::-1]


class Stuck(TamisError):
    """Steps that can never begin."""

    def __init__(self, steps: Sequence[int]) -> None:
        super().__init__(
            f"{len(steps)} steps can never begin: they wait for each other, or for a place that none frees"
        )
        self.steps = tuple(steps)


class Player:
    """Plays one network any number of times."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self._before = [len(after) for after in network.after]
        self._successors: list[list[int]] = [[] for _ in network.after]
        for step, after in enumerate(network.after):
            for earlier in after:
                self._successors[earlier].append(step)
        self._frees: dict[int, list[int]] = {}
        for step in network.resource:
            self._frees.setdefault(network.until.get(step, step), []).append(step)
        self._held_up = [
            i in network.resource or i in self._frees or i in network.gates for i in range(len(network.after))
        ]

    def play(
        self,
        work: Work,
        *,
        start: float = 0.0,
        chance: Callable[[], float] | None = None,
        again: Callable[[int], None] | None = None,
    ) -> Played:
        """Runs the network once from the moment `start` in seconds. `chance` draws from [0, 1) for the gates; `again`
        is called for each step that a gate sends back, to draw its work anew. Raises Stuck."""
        self._work, self._chance, self._again = work, chance, again
        self._events: list[tuple[float, int, int]] = []
        self._missing = list(self._before)
        self._ready = [start] * len(self._missing)
        self._cause = [-1] * len(self._missing)
        self._entry = [-1] * len(self._missing)
        self._in_a_row: dict[int, int] = {}
        self._free = {name: resource.places for name, resource in self.network.resources.items()}
        self._queues: dict[str, deque[int]] = {name: deque() for name in self._free}
        self._streams = _Streams(work.throughput) if work.throughput is not None else None
        self._played = Played(start, [], [], {})
        for step, missing in enumerate(self._missing):
            if not missing:
                heappush(self._events, (start, _READY, step))
        self._run()
        never = [step for step, entry in enumerate(self._entry) if entry < 0]
        if never:
            raise Stuck(never)
        return self._played

    def _run(self) -> None:
        events, streams = self._events, self._streams
        while True:
            if streams is not None and streams.next < NEVER and (not events or streams.next <= events[0][0]):
                now = streams.next
                self._done(streams.leave(), now)
            elif events:
                now, what, step = heappop(events)
                if what == _READY:
                    self._take_place(step, now)
                elif what == _DONE:
                    self._done(step, now)
                else:
                    self._stream(step, now)
            else:
                return

    def _take_place(self, step: int, now: float) -> None:
        name = self.network.resource.get(step)
        if name is None:
            self._begin(step, now, self._cause[step])
        elif self._free[name] > 0:
            self._free[name] -= 1
            self._begin(step, now, self._cause[step])
        else:
            self._queues[name].append(step)

    def _begin(self, step: int, now: float, cause: int) -> None:
        seconds = self._work.seconds[step]
        end = self._end(step, now, seconds)
        self._entry[step] = len(self._played.entries)
        self._played.entries.append(Entry(step, self._ready[step], now, end - now - seconds, cause))
        self._played.ended.append(end)
        heappush(self._events, (end, _JOIN if self._work.streaming[step] > 0 else _DONE, step))

    def _end(self, step: int, now: float, seconds: float) -> float:
        name = self.network.resource.get(step)
        resource = self.network.resources[name] if name is not None else None
        if resource is None or resource.hours is None:
            return now + seconds
        if resource.runs_on:
            return resource.hours.works(now, 0.0)[0] + seconds
        return resource.hours.works(now, seconds)[1]

    def _stream(self, step: int, now: float) -> None:
        seconds = self._work.streaming[step]
        if self._streams is None:
            heappush(self._events, (now + seconds, _DONE, step))
        else:
            self._streams.join(step, now, seconds, self._work.speed[step])

    def _done(self, step: int, now: float) -> None:
        entry = self._entry[step]
        self._played.ended[entry] = now
        for holder in self._frees.get(step, ()):
            name = self.network.resource[holder]
            if self._queues[name]:
                self._begin(self._queues[name].popleft(), now, entry)
            else:
                self._free[name] += 1
        gate = self.network.gates.get(step)
        if gate is None or self._accepts(step, gate):
            self._tell(step, now)
        else:
            self._send_back(gate, now, entry)

    def _tell(self, step: int, end: float) -> None:
        """Those that waited for the step are ready once all that they wait for has ended. A step that nothing can hold
        up is done here and now, without queueing as an event: most steps are of that kind."""
        missing, ready, cause, entry_of = self._missing, self._ready, self._cause, self._entry
        entries, ended = self._played.entries, self._played.ended
        seconds, streaming = self._work.seconds, self._work.streaming
        shared = self._streams is not None
        told = [(step, end)]
        while told:
            step, end = told.pop()
            entry = entry_of[step]
            for later in self._successors[step]:
                missing[later] -= 1
                if end >= ready[later]:
                    ready[later], cause[later] = end, entry
                if missing[later]:
                    continue
                began = ready[later]
                if self._held_up[later] or (shared and streaming[later] > 0):
                    heappush(self._events, (began, _READY, later))
                    continue
                entry_of[later] = len(entries)
                entries.append(Entry(later, began, began, 0.0, cause[later]))
                ended.append(began + seconds[later] + streaming[later])
                told.append((later, ended[-1]))

    def _accepts(self, step: int, gate: Gate) -> bool:
        self._played.rounds[step] = self._played.rounds.get(step, 0) + 1
        self._in_a_row[step] = self._in_a_row.get(step, 0) + 1
        last = gate.at_most is not None and self._in_a_row[step] >= gate.at_most
        accepted = last or self._chance is None or self._chance() < gate.accept
        if accepted:
            self._in_a_row[step] = 0  # an outer gate may send it all back, and then it counts from the start
        return accepted

    def _send_back(self, gate: Gate, now: float, entry: int) -> None:
        region = set(gate.again)
        for step in gate.again:
            if self._again is not None:
                self._again(step)
            self._missing[step] = sum(earlier in region for earlier in self.network.after[step])
            self._ready[step], self._cause[step] = now, entry
        for step in gate.again:
            if not self._missing[step]:
                heappush(self._events, (now, _READY, step))


class _Streams:
    """Streams that share a throughput. Each has the same fraction of its own speed at any moment, so one virtual clock
    that runs at that fraction serves all (processor sharing)."""

    def __init__(self, throughput: float) -> None:
        self._throughput = throughput
        self._virtual = self._now = self._speeds = 0.0
        self._ends: list[tuple[float, int, float]] = []
        self.next = NEVER

    def join(self, step: int, now: float, seconds: float, speed: float) -> None:
        """A stream that would take `seconds` alone."""
        self._virtual += (now - self._now) * self._fraction()
        self._now = now
        heappush(self._ends, (self._virtual + seconds, step, speed))
        self._change(speed)

    def leave(self) -> int:
        """The stream that ends at `next`."""
        self._now = self.next
        self._virtual, step, speed = heappop(self._ends)
        self._change(-speed)
        return step

    def _change(self, speed: float) -> None:
        # counted from zero whenever all have left, so that rounding does not add up over a long run
        self._speeds = self._speeds + speed if len(self._ends) > 1 else sum(speed for _, _, speed in self._ends)
        still = (self._ends[0][0] - self._virtual) / self._fraction() if self._ends else NEVER
        self.next = self._now + max(0.0, still)

    def _fraction(self) -> float:
        return min(1.0, self._throughput / self._speeds) if self._speeds > 0 else 1.0
