"""Time. One clock for the whole run, and the spans that say where its time went.

A span is opened around every stretch of work, from the first line of a run on. What is measured is recorded when the
span closes, also when it closes by an exception, so an interrupted run still accounts for what it did.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from tamis.records import Span, Stage


class Clock:
    """Wall time in seconds since 1970 that never goes back within a process, and the CPU seconds of this process
    with all the children it has waited for."""

    def __init__(self) -> None:
        self._wall = time.time()
        self._mark = time.monotonic()

    def now(self) -> float:
        return self._wall + (time.monotonic() - self._mark)

    def cpu_seconds(self) -> float:
        t = os.times()
        return t.user + t.system + t.children_user + t.children_system


class OpenSpan:
    """A span that is still running. Work adds to it what it learns on the way."""

    def __init__(self, span_id: str) -> None:
        self.id = span_id
        self.waited = 0.0
        self.waited_on: str | None = None
        self.tokens_in = 0
        self.tokens_out = 0
        self.cpu_seconds = 0.0
        """CPU seconds of processes that this process does not wait for itself, for instance a sandbox's."""
        self.first_token_at: float | None = None

    def wait(self, seconds: float, on: str) -> None:
        self.waited += seconds
        self.waited_on = on


_current: ContextVar[str | None] = ContextVar("tamis_span", default=None)


class Spans:
    """Opens spans and hands each finished one to `record`. The parent is the span open around it."""

    def __init__(self, clock: Clock, record: Callable[[Span], None]) -> None:
        self.clock = clock
        self._record = record
        self._run = os.urandom(8).hex()

    @contextmanager
    def span(
        self,
        stage: Stage,
        name: str,
        *,
        after: tuple[str, ...] | None = None,
        resource: str | None = None,
        cpu: Callable[[], float] | None = None,
    ) -> Iterator[OpenSpan]:
        """A span around the work in the `with`. `after` and `resource` are as in `records.Span`. `cpu` measures its CPU
        seconds where other spans work at the same time: a thread's own clock, say. Else all of the process counts."""
        cpu_seconds = cpu or self.clock.cpu_seconds
        parent = _current.get()
        running = OpenSpan(os.urandom(16).hex())
        token = _current.set(running.id)
        started, cpu_before = self.clock.now(), cpu_seconds()
        try:
            yield running
        finally:
            _current.reset(token)
            self._record(
                Span(
                    id=running.id,
                    parent=parent,
                    stage=stage,
                    name=name,
                    started=started,
                    ended=self.clock.now(),
                    waited=running.waited,
                    waited_on=running.waited_on,
                    cpu_seconds=cpu_seconds() - cpu_before + running.cpu_seconds,
                    tokens_in=running.tokens_in,
                    tokens_out=running.tokens_out,
                    after=after,
                    resource=resource,
                    first_token_at=running.first_token_at,
                    run=self._run,
                )
            )

    def past(
        self,
        stage: Stage,
        name: str,
        *,
        started: float,
        ended: float,
        cpu_seconds: float,
        tokens_in: int = 0,
        tokens_out: int = 0,
        after: tuple[str, ...] | None = None,
        resource: str | None = None,
    ) -> str:
        """Records a span that was measured where it ran, below the span that is open here. Returns its id."""
        span = Span(
            id=os.urandom(16).hex(),
            parent=_current.get(),
            stage=stage,
            name=name,
            started=started,
            ended=ended,
            cpu_seconds=cpu_seconds,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            after=after,
            resource=resource,
            run=self._run,
        )
        self._record(span)
        return span.id
