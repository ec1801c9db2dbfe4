"""Channels: how drafts go from one stage to the next, a few at a time.

A channel holds so many items and bytes at most; who puts more waits until the next stage has taken some. Taking gives
all that is there, up to a bound, so that a fast stream costs little a draft and a slow one is never kept waiting.
"""

import threading
import time
from collections import deque
from collections.abc import Iterator
from typing import Generic, TypeVar

T = TypeVar("T")
MOST_ITEMS = 1_024
MOST_BYTES = 32_000_000
BATCH_ITEMS = 128
BATCH_BYTES = 1_000_000


class Stopped(Exception):
    """The pipeline was stopped: whoever waits at a channel leaves."""


class Channel(Generic[T]):
    """From one thread, or the event loop, to another. `most_items` and `most_bytes` bound what waits in it; one item
    larger than that goes through alone. `waited_to_put` and `waited_to_take` are the seconds that each side waited.
    """

    def __init__(self, name: str, *, most_items: float = MOST_ITEMS, most_bytes: float = MOST_BYTES) -> None:
        self.name = name
        self.waited_to_put = 0.0
        self.waited_to_take = 0.0
        self._most_items = most_items
        self._most_bytes = most_bytes
        self._held: deque[tuple[T, int]] = deque()
        self._bytes = 0
        self._closed = False
        self._stopped = False
        self._changed = threading.Condition()

    @property
    def waiting(self) -> int:
        """How many items wait in it."""
        return len(self._held)

    def put_now(self, item: T, size_bytes: int = 0) -> bool:
        """Puts the item if there is room, and says whether there was. Raises Stopped."""
        with self._changed:
            return self._put_if_room(item, size_bytes)

    def put(self, item: T, size_bytes: int = 0) -> None:
        """Puts the item, once there is room. Raises Stopped."""
        with self._changed:
            if self._put_if_room(item, size_bytes):
                return
            since = time.monotonic()
            while not self._put_if_room(item, size_bytes):
                self._changed.wait()
            self.waited_to_put += time.monotonic() - since

    def take(self, *, linger_seconds: float = 0.0) -> list[T]:
        """What is there, as soon as anything is; nothing once the channel is closed and empty. With `linger_seconds`,
        what comes within so long of the first is taken along. Raises Stopped."""
        with self._changed:
            if not self._held and not self._closed and not self._stopped:
                since = time.monotonic()
                while not self._held and not self._closed and not self._stopped:
                    self._changed.wait()
                self.waited_to_take += time.monotonic() - since
        if linger_seconds and self._held and not self._closed:
            time.sleep(linger_seconds)
        with self._changed:
            if self._stopped:
                raise Stopped
            batch: list[T] = []
            taken = 0
            while self._held and len(batch) < BATCH_ITEMS and taken < BATCH_BYTES:
                item, size = self._held.popleft()
                batch.append(item)
                taken += size
            self._bytes -= taken
            self._changed.notify_all()
            return batch

    def each(self) -> Iterator[T]:
        """Every item as it comes, until the channel is closed and empty. Raises Stopped."""
        while batch := self.take():
            yield from batch

    def close(self) -> None:
        """Nothing more will be put."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def stop(self) -> None:
        """Whoever waits here, or comes later, leaves with Stopped."""
        with self._changed:
            self._stopped = True
            self._held.clear()
            self._changed.notify_all()

    def _put_if_room(self, item: T, size_bytes: int) -> bool:
        if self._stopped:
            raise Stopped
        room = len(self._held) < self._most_items and self._bytes + size_bytes <= self._most_bytes
        if self._held and not room:
            return False
        self._held.append((item, size_bytes))
        self._bytes += size_bytes
        self._changed.notify_all()
        return True
