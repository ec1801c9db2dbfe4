"""The stages of a pipeline at work: threads that begin and end together, whatever happens.

The event loop brings the drafts in, each stage has a thread. Where one fails, or the run is stopped, all are stopped:
the first error is the one told, and no thread outlives the flow.
"""

import asyncio
import contextlib
import contextvars
import sys
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from typing import TypeVar

from tamis.pipeline.channel import Channel, Stopped
from tamis.progress import Progress

T = TypeVar("T")
U = TypeVar("U")
LOOK_SECONDS = 0.25
"""How often it is looked what holds the others up."""
SWITCH_SECONDS = 0.0005
"""How long a thread may keep the interpreter from the others. Array arithmetic lets go of it at each step and gets it
back only then: at Python's own 5 ms, a step of microseconds would wait so long."""


class Flow:
    """Stages in the order in which drafts go through them. `on_stop` ends what a stage may be waiting for, a draft in
    its box; it is called at most once, and only where the flow is cut short."""

    def __init__(self, *, on_stop: Callable[[], None] = lambda: None) -> None:
        self._on_stop = on_stop
        self._lock = threading.Lock()
        self._channels: list[tuple[str, Channel[object]]] = []
        self._threads: list[threading.Thread] = []
        self._working = 0
        self._failure: BaseException | None = None
        self._stopped = False
        self._woken: Callable[[], None] = lambda: None

    def stage(
        self,
        name: str,
        work: Callable[[], None],
        *,
        source: Channel[T],
        to: Channel[U] | None = None,
        context: contextvars.Context | None = None,
    ) -> None:
        """Starts a stage: `work` takes from `source` until that ends. What it puts into is closed when it returns."""

        def live() -> None:
            try:
                work()
            except Stopped:
                pass
            except BaseException as error:  # whatever it is, it ends the run, and the run tells it
                self._fail(error)
            finally:
                if to is not None:
                    to.close()
                self._left()

        self._channels.append((name, source))  # type: ignore[arg-type]  # only looked at, never put into
        thread = threading.Thread(
            target=(context or contextvars.copy_context()).run, args=(live,), name=f"tamis-{name}", daemon=True
        )
        self._threads.append(thread)
        self._working += 1
        thread.start()

    async def run(
        self, feed: Coroutine[object, object, None], *, progress: Progress, context: contextvars.Context | None = None
    ) -> None:
        """Until the feed, in its `context`, and every stage have ended. Raises what the first to fail raised."""
        loop = asyncio.get_running_loop()
        woken = asyncio.Event()

        def wake() -> None:
            loop.call_soon_threadsafe(woken.set)

        self._woken = wake
        feeding = loop.create_task(feed, context=context)
        feeding.add_done_callback(lambda _: woken.set())
        watching = asyncio.ensure_future(self._watch(progress))
        switching = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_SECONDS)
        try:
            while not (feeding.done() and (self._working == 0 or feeding.exception())) and self._failure is None:
                await woken.wait()
                woken.clear()
            if self._failure is None:
                feeding.result()
        except BaseException:
            self.stop()
            raise
        finally:
            if self._failure is not None:
                self.stop()
            feeding.cancel()
            watching.cancel()
            await asyncio.wait({feeding, watching})  # which raises nothing of theirs: what went wrong is told already
            for thread in self._threads:
                thread.join()
            sys.setswitchinterval(switching)
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        """Whoever waits at a channel leaves it."""
        with self._lock:
            first, self._stopped = not self._stopped, True
        for _, channel in self._channels:
            channel.stop()
        if first:
            self._on_stop()

    def bottleneck(self) -> str | None:
        """The stage that the others wait for now: the last one before which drafts queue. None is the writer."""
        return next((name for name, channel in reversed(self._channels) if channel.waiting), None)

    def _fail(self, error: BaseException) -> None:
        with self._lock:
            self._failure = self._failure or error
        for _, channel in self._channels:
            channel.stop()
        self._woken()

    def _left(self) -> None:
        with self._lock:
            self._working -= 1
        self._woken()

    async def _watch(self, progress: Progress) -> None:
        """Tells what holds the others up, now and then."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            progress.waiting_for(self.bottleneck() or "the writer")


async def pour(
    drafts: AsyncIterator[T], into: Channel[T], *, size: Callable[[T], int], enough: Callable[[], bool]
) -> None:
    """All the drafts as they come, until there are enough of them. Where there is no room, the writer waits."""
    pouring = asyncio.ensure_future(_pour(drafts, into, size, enough))
    try:
        while not pouring.done():
            await asyncio.wait({pouring}, timeout=LOOK_SECONDS)
            if enough():  # also while the writer is silent
                break
    finally:
        ended = pouring.done()
        pouring.cancel()
        if not ended:
            with contextlib.suppress(asyncio.CancelledError):
                await pouring
    if ended:
        pouring.result()
    into.close()


async def _pour(
    drafts: AsyncIterator[T], into: Channel[T], size: Callable[[T], int], enough: Callable[[], bool]
) -> None:
    try:
        async for draft in drafts:
            if not into.put_now(draft, size(draft)):
                await asyncio.to_thread(into.put, draft, size(draft))
            if enough():
                return
    finally:
        if isinstance(drafts, AsyncGenerator):  # it may hold requests open, and ends them now, not when it is collected
            await drafts.aclose()
