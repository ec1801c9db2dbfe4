"""When each pass of one stream is due, counted from its start, so that a late write is made up for by the next one.

A pass is one run of the model: one token, or a burst of several with speculation. Pass 1 is the one that gives the
first token; it ends with the prefill, at `first`.
"""

from typing import Protocol

from tamis.simulate.batching import Seat


class Pace(Protocol):
    rated: bool
    """whether there is a rate to keep"""

    def done(self, now: float) -> int:
        """How many passes have ended by `now`."""
        ...

    def when(self, passes: int) -> float:
        """When that many passes will have ended."""
        ...

    def shift(self, seconds: float) -> None:
        """Everything from now on comes later: the stream stalls."""
        ...


class Steady:
    """A pass every `seconds_per_pass`, whatever others do. 0 means as fast as it is read."""

    def __init__(self, first: float, seconds_per_pass: float) -> None:
        self._first = first
        self._seconds = seconds_per_pass
        self.rated = seconds_per_pass > 0

    def done(self, now: float) -> int:
        if now < self._first:
            return 0
        if self._seconds == 0:
            return 1 << 62
        return int((now - self._first) / self._seconds + 1e-9) + 1

    def when(self, passes: int) -> float:
        return self._first + (passes - 1) * self._seconds

    def shift(self, seconds: float) -> None:
        self._first += seconds


class Batched:
    """A pass with every step of the engine; the first with the prefill."""

    rated = True

    def __init__(self, first: float, seat: Seat) -> None:
        self._first = first
        self._seat = seat
        self._late = 0.0

    def done(self, now: float) -> int:
        if now < self._first:
            return 0
        return 1 + self._seat.done(now - self._late)

    def when(self, passes: int) -> float:
        return self._first if passes <= 1 else self._seat.when(passes - 1) + self._late

    def shift(self, seconds: float) -> None:
        self._late += seconds

    def leave(self) -> None:
        self._seat.engine.leave(self._seat)
