"""Continuous batching: all running streams advance together, a token a step, and a step gets longer with each of them.

So throughput and stream speed trade off, and no batch size makes one chain faster. Steps are counted in closed form
between the moments when a stream joins or leaves, so steps of a microsecond cost no more to simulate than long ones.
"""

import heapq
import math
from itertools import count

from tamis.simulate.settings import Batching


class Engine:
    """The step clock that all streams share. Times are seconds of one monotonic clock; `tokens_per_step` is what one
    stream writes in a step (above 1 with speculation)."""

    def __init__(self, batching: Batching, *, tokens_per_step: float = 1.0, step_factor: float = 1.0) -> None:
        self.batching = batching
        self.steps = 0
        self._at = 0.0
        self._streams = 0
        self._context = 0.0
        self._tokens_per_step = tokens_per_step
        self._step_factor = step_factor
        self._leaving: list[tuple[int, int, float]] = []
        self._gone: set[int] = set()
        self._ids = count()

    def join(self, now: float, context_tokens: int, steps: int) -> "Seat":
        """A stream joins, holding `context_tokens`, for `steps` steps; the first is the next one to start."""
        self.advance(now)
        if self._streams == 0:
            self._at = now
        base = self.steps + (1 if self._at < now else 0)
        seat = next(self._ids)
        holds = context_tokens + (base + steps - self.steps) * self._tokens_per_step
        self._streams += 1
        self._context += context_tokens
        heapq.heappush(self._leaving, (base + steps, seat, holds))
        return Seat(self, seat, base, base + steps, holds)

    def leave(self, seat: "Seat") -> None:
        """A stream that ends before its last step, for instance because its reader hung up."""
        if seat.end > self.steps and seat.id not in self._gone:
            self._gone.add(seat.id)
            self._drop(seat.holds - (seat.end - self.steps) * self._tokens_per_step)

    def advance(self, now: float) -> None:
        """Count the steps that ended by `now`."""
        while self._streams and self._at < now:
            self._forget()
            to_next_end = self._leaving[0][0] - self.steps
            done = min(self._steps_within(now - self._at), to_next_end)
            if done <= 0 < to_next_end:
                return
            self._at += self._length_of(done)
            self.steps += done
            self._context += done * self._streams * self._tokens_per_step
            if done == to_next_end:
                _, _, holds = heapq.heappop(self._leaving)
                self._drop(holds)

    def when(self, steps: int) -> float:
        """When step number `steps` will have ended, if nobody joins or leaves before."""
        return self._at + self._length_of(max(0, steps - self.steps))

    def _forget(self) -> None:
        while self._leaving and self._leaving[0][1] in self._gone:
            self._gone.discard(heapq.heappop(self._leaving)[1])

    def _drop(self, holds: float) -> None:
        self._streams -= 1
        self._context = max(0.0, self._context - holds) if self._streams else 0.0

    def _next_and_growth(self) -> tuple[float, float]:
        b, f = self.batching, self._step_factor
        growth = b.seconds_per_context_token * self._streams * self._tokens_per_step
        return f * b.step_seconds(self._streams, self._context), f * growth

    def _length_of(self, steps: int) -> float:
        first, growth = self._next_and_growth()
        return steps * first + growth * steps * (steps - 1) / 2

    def _steps_within(self, seconds: float) -> int:
        """The largest n with n·first + growth·n(n−1)/2 ≤ seconds."""
        first, growth = self._next_and_growth()
        if growth <= first * 1e-12:
            return int(seconds / first + 1e-9)
        p = first - growth / 2
        n = int((math.sqrt(p * p + 2 * growth * seconds) - p) / growth + 1e-9)
        while n > 0 and self._length_of(n) > seconds * (1 + 1e-12):
            n -= 1
        return n


class Seat:
    """One stream's place in the batch."""

    def __init__(self, engine: Engine, seat: int, base: int, end: int, holds: float) -> None:
        self.engine, self.id, self.base, self.end, self.holds = engine, seat, base, end, holds

    def done(self, now: float) -> int:
        """How many of this stream's steps have ended by `now`."""
        self.engine.advance(now)
        return max(0, min(self.engine.steps, self.end) - self.base)

    def when(self, steps: int) -> float:
        return self.engine.when(self.base + steps)
