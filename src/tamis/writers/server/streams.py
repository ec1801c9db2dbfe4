"""How many requests are out at once: as many as the server bears, found out by asking.

It begins with a few, doubles while all goes well, and halves when the server says that it is overloaded; from then on
it grows by one for each full round (additive increase, multiplicative decrease: Chiu & Jain 1989). One overload that
hits many requests at once halves once. Where the server says how long to wait, nothing is sent before that.
"""

import asyncio
from collections.abc import Awaitable, Callable

import msgspec

FIRST = 4

Sleep = Callable[[float], Awaitable[None]]
Now = Callable[[], float]


class Place(msgspec.Struct, frozen=True):
    """The right to have one request out. `round` is how often the limit had been halved when it was given."""

    round: int


class Streams:
    """At most `most` at once. `now` is in seconds; `sleep` waits."""

    def __init__(self, most: int, *, now: Now, sleep: Sleep = asyncio.sleep) -> None:
        self._most = most
        self._now, self._sleep = now, sleep
        self.limit = float(min(FIRST, most))
        self.out = 0
        self._round = 0
        self._steady = False
        self._closed_until = 0.0
        self._changed = asyncio.Event()

    async def take(self) -> Place:
        """Waits for a place."""
        while True:
            until = self._closed_until
            if until > self._now():
                await self._sleep(until - self._now())
                self._closed_until = 0.0 if self._closed_until == until else self._closed_until
            elif self.out < int(self.limit):
                self.out += 1
                return Place(self._round)
            else:
                self._changed.clear()
                await self._changed.wait()

    def give(self, place: Place, *, well: bool = False, overloaded: bool = False) -> None:
        """The request is over: it went `well`, the server was `overloaded`, or neither says anything."""
        self.out -= 1
        if overloaded and place.round == self._round:
            self._round += 1
            self._steady = True
            self.limit = max(1.0, self.limit / 2)
        elif well:
            self.limit = min(float(self._most), self.limit + (1 / self.limit if self._steady else 1.0))
        self._changed.set()

    def close_for(self, seconds: float) -> None:
        """The server wants nothing for so long."""
        self._closed_until = max(self._closed_until, self._now() + seconds)
