"""One answer on its way: which of its events are due, rendered when they are."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from tamis.simulate.account import StreamReport
from tamis.simulate.failures import Mishap
from tamis.simulate.pace import Batched, Pace
from tamis.simulate.script import Events, Script
from tamis.simulate.text import as_text
from tamis.simulate.wire import Text, Used, Wire

EVENTS_PER_WRITE = 4096
"""So that one fast stream hands the loop back after about a millisecond of work."""


class Stream:
    """One of the answers of a request."""

    def __init__(
        self, script: Script, events: Events, pace: Pace, wire: Wire, *, index: int, reasoning: int, shown: bool
    ) -> None:
        self.script, self.events, self.pace, self._wire, self._index = script, events, pace, wire, index
        self._thinking, self.reasoning_tokens = events.holding(min(reasoning, script.count))
        self.shown = shown
        self._sent = 0
        self._opened = self._closed = False
        self._frame = wire.frame(index, reasoning=self._thinking > 0 and shown)

    @property
    def finished(self) -> bool:
        return self._closed

    def next_at(self) -> float:
        """When the next event is due."""
        return self.pace.when(self.events.pass_of(self._sent)) if self._sent < self.events.total else 0.0

    def due(self, now: float, used: Used, *, until: int) -> list[bytes]:
        """The events that are due, at most EVENTS_PER_WRITE and none from event `until` on, with what opens and
        closes the stream around them, in parts."""
        done = min(self.events.after(self.pace.done(now)), self._sent + EVENTS_PER_WRITE, until)
        parts: list[bytes] = []
        if done > self._sent and not self._opened:
            self._opened = True
            parts.append(self._wire.opening(self._index, used, reasoning=self._thinking > 0 and self.shown))
        if self._sent < min(done, self._thinking):
            parts += self._run(min(done, self._thinking), shown=self.shown)
            if self._sent == self._thinking:
                parts.append(self._turn())
        if done > self._sent:
            parts += self._run(done, shown=True)
        if self._sent >= self.events.total and not self._closed:
            self._closed = True
            parts.append(self._wire.closing(self._index, self.script.ending, self.script.stopped_by, used))
        return parts

    def whole(self) -> Text:
        """The whole answer at once, in place of its events."""
        tokens = self.script.take(self.script.count)
        return Text(
            content=as_text(tokens[self.reasoning_tokens :]),
            reasoning=as_text(tokens[: self.reasoning_tokens]) if self.shown else "",
            ending=self.script.ending,
            stopped_by=self.script.stopped_by,
        )

    @property
    def sent(self) -> int:
        return self._sent

    def _run(self, end: int, *, shown: bool) -> Sequence[bytes]:
        tokens = self.events.grouped(self.script, self._sent, end)
        self._sent = end
        return self._frame.parts(tokens) if shown else ()

    def _turn(self) -> bytes:
        if not self.shown:
            return b""
        turned = self._wire.turn(self._index)
        self._frame = self._wire.frame(self._index, reasoning=False)
        return turned


class Outlet(Protocol):
    """Where a reply writes: the connection."""

    paused: bool

    def write(self, parts: Sequence[bytes], *, last: bool = False) -> None:
        """All of them in one write; the last one ends the answer."""
        ...

    def abort(self) -> None: ...


class Reply:
    """All streams of one request, written when due. `done` is set when the last event was written or none will be."""

    def __init__(
        self, streams: list[Stream], outlet: Outlet, wire: Wire, used: Used, *,
        tells_usage: bool, gap_seconds: Callable[[], float], mishap: Mishap | None,
    ) -> None:  # fmt: skip
        self._streams, self._outlet, self._wire, self._used = streams, outlet, wire, used
        self._tells_usage, self._gap_seconds, self._mishap = tells_usage, gap_seconds, mishap
        self._mishap_at = int(mishap.share * streams[0].events.total) if mishap else 0
        self._loop = asyncio.get_running_loop()
        self._in_a_batch = any(isinstance(stream.pace, Batched) for stream in streams)
        self._timer: asyncio.Handle | None = None
        self._paused_at: float | None = None
        self._paused_seconds = 0.0
        self._writes = 0
        self._began = self._should_end = self._loop.time()
        self.done: asyncio.Future[StreamReport] = self._loop.create_future()

    def begin(self) -> None:
        self._began = min(stream.pace.when(1) for stream in self._streams)
        self._should_end = self._expected_end()
        self._tick()

    def resume(self) -> None:
        """The reader's side has room again."""
        if self._paused_at is not None:
            self._paused_seconds += self._loop.time() - self._paused_at
            self._paused_at = None
            self._tick()

    def stop(self) -> None:
        """The reader hung up, or the connection was cut."""
        if self._timer:
            self._timer.cancel()
        for stream in self._streams:
            if isinstance(stream.pace, Batched):
                stream.pace.leave()
        self._end(cut=True)

    def _tick(self) -> None:
        self._timer = None
        if self.done.done():
            return
        now = self._loop.time()
        if self._outlet.paused:
            self._paused_at = now
            return
        if self._write(now):
            self._end(cut=False)
        elif not self._happens():
            if self._in_a_batch:  # others join and leave, so the end moves
                self._should_end = self._expected_end()
            due = min([stream.next_at() for stream in self._streams if not stream.finished])
            if due <= now:  # a write holds only so much and more is due already: a timer would wait a millisecond
                self._timer = self._loop.call_soon(self._tick)
            else:
                # the last tokens are written when they are due: waiting for the gap would make the stream look slower
                gap_ends = min(now + self._gap_seconds(), self._should_end)
                self._timer = self._loop.call_at(max(due, gap_ends), self._tick)

    def _write(self, now: float) -> bool:
        """Write what is due; True when that was the last of it."""
        until = self._mishap_at if self._mishap else 1 << 62
        parts: list[bytes] = []
        for stream in self._streams:
            if not stream.finished:
                parts += stream.due(now, self._used, until=until)
        ended = all([stream.finished for stream in self._streams])
        if ended:
            parts.append(self._wire.end(self._used if self._tells_usage else None))
        if parts:
            self._writes += 1
            self._outlet.write(parts, last=ended)
        return ended

    def _happens(self) -> bool:
        """Let the mishap happen when its event is reached; True when the reply is over."""
        mishap = self._mishap
        if mishap is None or self._streams[0].sent < self._mishap_at:
            return False
        self._mishap = None
        if mishap.stall_seconds is None:
            self._outlet.abort()
            return True
        for stream in self._streams:
            stream.pace.shift(mishap.stall_seconds)
        self._should_end = self._expected_end()
        return False

    def _end(self, *, cut: bool) -> None:
        if self.done.done():
            return
        now = self._loop.time()
        rated = not cut and all(stream.pace.rated for stream in self._streams)
        late_seconds = now - self._should_end if rated else 0.0
        events = sum(stream.sent for stream in self._streams)
        # an event carries as many tokens as any other, but for the last
        share = events / sum(stream.events.total for stream in self._streams) if cut and events else float(not cut)
        report = StreamReport(
            tokens=round(self._used.completion * share),
            events=events,
            writes=self._writes,
            lasted_seconds=now - self._began,
            late_seconds=max(0.0, late_seconds),
            paused_seconds=self._paused_seconds,
            cut=cut,
        )
        self.done.set_result(report)

    def _expected_end(self) -> float:
        return max(stream.pace.when(stream.events.passes) for stream in self._streams)
