"""Boxes and the threads that use them.

A box is kept warm for the next draft of the same setup; one that broke is thrown away. A thread has a box and answers
for one draft at a time, until there is none left. Our own fault is tried once more, in a new box; then it is told.
"""

import contextlib
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from tamis.errors import SandboxFault
from tamis.sandbox.supervisor import Box, Setup

T = TypeVar("T")
_TRIES = 2


class Pool:
    """The boxes of one sandbox."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._idle: list[Box] = []
        self._all: set[Box] = set()
        self._lock = threading.Lock()
        self._closed = False

    def close(self) -> None:
        """Ends every process of every box. Any thread may call it, also twice."""
        with self._lock:
            self._closed = True
            boxes, self._all, self._idle = list(self._all), set(), []
        for box in boxes:
            box.kill()
        for box in boxes:
            box.close()

    def pids(self) -> list[int]:
        with self._lock:
            return [pid for box in self._all for pid in box.pids()]

    @contextlib.contextmanager
    def box(self, setup: Setup) -> Iterator[Box]:
        """A box of this setup, warm from before where there is one. A box that broke is not used again."""
        with self._lock:
            found = next((box for box in self._idle if box.setup == setup), None)
            if found is not None:
                self._idle.remove(found)
        box = found or self._new_box(setup)
        try:
            yield box
        except BaseException:
            box.dead = True
            raise
        finally:
            self._put_back(box)

    def _new_box(self, setup: Setup) -> Box:
        if self._closed:
            raise SandboxFault("the sandbox is closed")
        box = Box(setup)
        with self._lock:
            if not self._closed:
                self._all.add(box)
                return box
        box.close()  # the sandbox was closed while this one started, so that nobody else would end it
        raise SandboxFault("the sandbox is closed")

    def _put_back(self, box: Box) -> None:
        with self._lock:
            spare = [b for b in self._idle if b.setup != box.setup][: max(0, len(self._idle) + 1 - 2 * self.workers)]
            keep = not box.dead and not self._closed
            gone = [*spare, *([] if keep else [box])]
            for one in gone:
                self._all.discard(one)
                if one in self._idle:
                    self._idle.remove(one)
            if keep:
                self._idle.append(box)
        for one in gone:
            one.close()


def _nothing(_: Box) -> None:
    """For boxes whose children are told all they need."""


@dataclass(frozen=True)
class Task(Generic[T]):
    """What is done with each draft: `one` in a box, `failed` where that failed twice. `ready` prepares a box once."""

    one: Callable[[Box, str], T]
    failed: Callable[[SandboxFault], T]
    setup: Setup
    ready: Callable[[Box], None] = _nothing


class Crew(Generic[T]):
    """The threads of one iteration. They draw the keys as they need them, so that the drafts may still be arriving."""

    def __init__(self, pool: Pool, keys: Iterable[str], task: Task[T]) -> None:
        self._pool = pool
        self._task = task
        self._keys = iter(keys)
        self._drawing = threading.Lock()
        self._done: queue.SimpleQueue[tuple[str, T] | BaseException | None] = queue.SimpleQueue()
        """What was found, what went wrong, and None from each thread that has nothing left to do."""
        self._at_work = 0
        self._stopped = False
        self._boxes: dict[int, Box] = {}
        self._contexts: dict[int, contextlib.AbstractContextManager[Box]] = {}
        self._threads: list[threading.Thread] = []

    def start(self, threads: int) -> None:
        self._at_work = threads
        for number in range(threads):
            thread = threading.Thread(target=self._work, args=(number,), name=f"tamis-box-{number}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def results(self) -> Iterator[tuple[str, T]]:
        while self._at_work:
            got = self._done.get()
            if isinstance(got, BaseException):
                raise got
            if got is None:
                self._at_work -= 1
            else:
                yield got

    def stop(self) -> None:
        """Threads end on their own where all is done; else their boxes are killed under them."""
        if self._at_work:
            self._stopped = True
            for box in list(self._boxes.values()):
                box.kill()
        for thread in self._threads:
            thread.join()

    def _work(self, number: int) -> None:
        try:
            while not self._stopped and (key := self._next_key()) is not None:
                self._done.put((key, self._answer(number, key)))
        except BaseException as error:
            self._done.put(error)
        finally:
            self._leave(number)
            self._done.put(None)

    def _next_key(self) -> str | None:
        with self._drawing:
            return next(self._keys, None)

    def _answer(self, number: int, key: str) -> T:
        """Our own fault is tried once more, in a new box; then it is told."""
        for tries_left in reversed(range(_TRIES)):
            try:
                return self._task.one(self._warm(number), key)
            except SandboxFault as fault:
                self._leave(number, broken=True)
                if not tries_left or self._stopped:
                    return self._task.failed(fault)
        raise AssertionError("unreachable")

    def _warm(self, number: int) -> Box:
        """This thread's box, taken once and kept while the thread works."""
        if number not in self._boxes:
            context = self._pool.box(self._task.setup)
            box = context.__enter__()
            self._boxes[number] = box
            self._contexts[number] = context
            if self._stopped:
                raise SandboxFault("the run was stopped")
            self._task.ready(box)
        return self._boxes[number]

    def _leave(self, number: int, *, broken: bool = False) -> None:
        box = self._boxes.pop(number, None)
        if box is not None:
            box.dead = box.dead or broken
            self._contexts.pop(number).__exit__(None, None, None)
