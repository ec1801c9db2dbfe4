"""Who may write now: at most so many streams at once, others in a queue, and more than that are sent away."""

import asyncio
from collections import deque
from typing import NamedTuple

from tamis.simulate.asked import Refused


class Admitted(NamedTuple):
    """The right to write with `places` streams, since `at` on the loop's clock."""

    places: int
    at: float


class Admission:
    """`streams` at once and `queue` waiting; None for no limit. First come, first served."""

    def __init__(self, streams: int | None, queue: int | None) -> None:
        self._free = streams
        self._most = streams
        self._queue_limit = queue
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    async def take(self, wanted: int, *, since: float) -> Admitted:
        """Wait for places; a request for more than there are gets all. `since` is when it arrived, which is when it is
        admitted where it need not wait. Raises Refused (429)."""
        if self._free is None or self._most is None:
            return Admitted(0, since)
        wanted = min(wanted, self._most)
        if not self._waiting and self._free >= wanted:
            self._free -= wanted
            return Admitted(wanted, since)
        if self._queue_limit is not None and len(self._waiting) >= self._queue_limit:
            raise Refused(429, f"The queue is full: {len(self._waiting)} requests wait already.",
                          kind="rate_limit_error", code="rate_limit_exceeded", retry_after_seconds=1.0)  # fmt: skip
        loop = asyncio.get_running_loop()
        place: asyncio.Future[None] = loop.create_future()
        self._waiting.append((wanted, place))
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.give(Admitted(wanted, since))
            raise
        return Admitted(wanted, loop.time())

    def give(self, admitted: Admitted) -> None:
        """Its places are free again."""
        if self._free is None:
            return
        self._free += admitted.places
        while self._waiting:
            wanted, place = self._waiting[0]
            if place.done():
                self._waiting.popleft()
            elif wanted <= self._free:
                self._waiting.popleft()
                self._free -= wanted
                place.set_result(None)
            else:
                return
