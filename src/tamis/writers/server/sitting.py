"""One sitting of a server writer: asks for the drafts that are missing until they are there, the budget is spent, or
the server will not.

What passes is tried again; what can't be mended ends the sitting, with the server's words. Whoever takes the answers
slowly slows the asking: an answer that nobody has taken yet keeps its place.
"""

import asyncio
import random
from collections import deque
from collections.abc import AsyncGenerator, Coroutine, Iterable

import msgspec

from tamis.clock import Spans
from tamis.config import WriterSection
from tamis.writers.server.budget import Budget, Held
from tamis.writers.server.calling import TurnedAway
from tamis.writers.server.exchange import Came, Exchange, Failure, cost_of
from tamis.writers.server.retrying import LONGEST_WAIT_SECONDS, pause
from tamis.writers.server.streams import FIRST, Place, Sleep, Streams


class Try(msgspec.Struct, frozen=True):
    """Drafts to be asked for by one request, after `tries` that failed; `since` counts the answers that there were at
    the first of them."""

    drafts: tuple[int, ...]
    tries: int = 0
    since: int = 0


class Tally(msgspec.Struct):
    """What this sitting did so far. Tokens are those told, or estimated for `estimated` requests. `perhaps` requests
    broke off, so that nobody knows what they cost. `given_up` are drafts that will not be, with the reason; `stopped`
    why no more are asked for, by the server's fault where `refused`."""

    answers: int = 0
    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    estimated: int = 0
    perhaps: int = 0
    failures: int = 0
    last_failure: str | None = None
    given_up: dict[int, str] = {}
    stopped: str | None = None
    refused: bool = False


class Sitting:
    """`answers` does the work; `tally` and `streams` say how it goes meanwhile."""

    def __init__(
        self,
        exchange: Exchange,
        settings: WriterSection,
        budget: Budget,
        *,
        spans: Spans,
        rng: random.Random,
        sleep: Sleep,
    ) -> None:
        self._exchange, self._settings, self._budget = exchange, settings, budget
        self._spans, self._rng, self._sleep = spans, rng, sleep
        self.streams = Streams(settings.streams, now=spans.clock.now, sleep=sleep)
        self.tally = Tally()
        self._waiting: deque[Try] = deque()
        self._out: set[asyncio.Task[None]] = set()
        """Requests that are out."""
        self._later: set[asyncio.Task[None]] = set()
        """Drafts that wait for their next try."""
        self._handing: set[asyncio.Task[None]] = set()
        """Those of them whose answer is here and waits to be taken."""
        self._sending: asyncio.Task[None] | None = None
        self._broken: BaseException | None = None
        self._in_a_row = 0
        """Failures since the last answer."""
        self._changed = asyncio.Event()
        self._came: asyncio.Queue[Came | None] = asyncio.Queue(maxsize=max(2, settings.streams))

    async def answers(self, numbers: list[int]) -> AsyncGenerator[Came, None]:
        """The answers for the drafts of these numbers, each as soon as it is there; fewer where the sitting stopped,
        which `tally` tells. Leaving early gives up what is out."""
        self._queue(numbers, self._settings.per_request)
        asking = asyncio.create_task(self._ask())
        deadline = asyncio.create_task(self._until_out_of_time())
        try:
            while (came := await self._came.get()) is not None:
                yield came
        finally:
            await _cancelled((asking, deadline))
            await _cancelled(self._out | self._later)
        if self._broken is not None:
            raise self._broken

    # sending

    def _queue(self, numbers: list[int], together: int) -> None:
        self._waiting += [Try(tuple(numbers[at : at + together])) for at in range(0, len(numbers), together)]
        self._changed.set()

    async def _ask(self) -> None:
        """Works, and says when it is over, however that went."""
        try:
            await self._work()
        except Exception as error:  # whoever takes the answers is told
            self._broken = self._broken or error
        await self._came.put(None)

    async def _work(self) -> None:
        """Sends all that waits, and hears all that is out."""
        began = self._spans.clock.now()
        # no CPU seconds: what this process uses meanwhile is not the writing's
        with self._spans.span("writing", "write", cpu=lambda: 0.0) as span:
            self._sending = asyncio.create_task(self._send_all())
            try:
                await asyncio.wait({self._sending})
                if not self._sending.cancelled() and (error := self._sending.exception()) is not None:
                    raise error
                while self._out or self._later:
                    await asyncio.wait(self._out | self._later)
            finally:
                await _cancelled((self._sending,))
                span.wait(self._spans.clock.now() - began, "the server")  # in all but its requests

    async def _send_all(self) -> None:
        while (self._waiting or self._out or self._later) and self.tally.stopped is None:
            if self._waiting:
                await self._send()
            else:
                self._changed.clear()
                await self._changed.wait()

    async def _send(self) -> None:
        """Sends one request, once there is a place and it fits the budget."""
        place = await self.streams.take()
        one = self._waiting.popleft()
        most = self._exchange.most_in, self._exchange.most_out(one.drafts)
        held = await self._budget.hold(*most)
        if isinstance(held, str):
            self.streams.give(place)
            self._stop(f"the budget of {held} is spent")
        else:
            self._begin(self._request(one, place, held), self._out)

    def _begin(self, work: Coroutine[object, object, None], among: set[asyncio.Task[None]]) -> None:
        task = asyncio.create_task(work)
        among.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._out.discard(task)
        self._later.discard(task)
        self._changed.set()
        if not task.cancelled() and (error := task.exception()) is not None:
            self._broken = self._broken or error  # ours, or the ledger's: nothing more is sent
            self._stop("it failed")

    def _stop(self, why: str, *, refused: bool = False) -> None:
        """Nothing more is asked for. What is out is still heard."""
        if self.tally.stopped is None:
            self.tally.stopped, self.tally.refused = why, refused
            if self._sending is not None and self._sending is not asyncio.current_task():
                self._sending.cancel()
            for task in self._later:
                task.cancel()

    async def _until_out_of_time(self) -> None:
        """When the budget of seconds is spent, what is out is given up too."""
        left = self._budget.left_seconds()
        if left == float("inf"):
            return
        await self._sleep(max(0.0, left))
        self._stop("the budget of seconds is spent")
        for task in self._out - self._handing:
            task.cancel()

    # one request

    async def _request(self, one: Try, place: Place, held: Held) -> None:
        self.tally.requests += 1
        well = overloaded = False
        try:
            came = await self._exchange.ask(one.drafts)
            cost = cost_of(came)
            if cost is not None:
                self._budget.release(held, *cost)
            if isinstance(came, Failure):
                overloaded = came.trouble.overloaded
                self._failed(one, came)
            else:
                well = True
                await self._hand_over(one, came)
        finally:
            self._budget.release_in_full(held)  # where that was not done already: nobody knows what it cost
            self.streams.give(place, well=well, overloaded=overloaded)

    async def _hand_over(self, one: Try, came: list[Came]) -> None:
        usage, tally = came[0].usage, self.tally
        assert usage is not None
        self._in_a_row = 0
        tally.answers += len(came)
        tally.tokens_in += usage.tokens_in
        tally.tokens_out += usage.tokens_out
        tally.estimated += usage.counted_by != "usage"
        self._budget.knows_prompt(self._exchange.most_in)
        missing = one.drafts[len(came) :]
        if missing:  # it gives fewer answers a request than it was asked for
            self._queue(list(missing), len(came))
        task = asyncio.current_task()
        assert task is not None
        self._handing.add(task)
        try:
            for answer in came:
                await self._came.put(answer)
        finally:
            self._handing.discard(task)

    def _failed(self, one: Try, failure: Failure) -> None:
        self.tally.perhaps += not failure.trouble.free
        if failure.otherwise:
            together = len(one.drafts) if self._exchange.habits.many else 1
            self._queue(list(one.drafts), together)
            return
        self._in_a_row += 1
        self.tally.failures += 1
        self.tally.last_failure = failure.why
        if isinstance(failure.trouble, TurnedAway) and not failure.trouble.passing:
            self._stop(f"the server refused: {failure.why}", refused=True)
        else:
            self._try_again(one, failure)

    def _try_again(self, one: Try, failure: Failure) -> None:
        """Later, unless it was tried often enough. A server that turns some away while it answers others is busy and
        not broken: that costs no try."""
        trouble, answers = failure.trouble, self.tally.answers
        wait_seconds = trouble.wait_seconds if isinstance(trouble, TurnedAway) else None
        busy = trouble.free and trouble.overloaded and answers > one.since
        tries = one.tries if busy else one.tries + 1
        if wait_seconds is not None and wait_seconds > LONGEST_WAIT_SECONDS:
            hours = f"{wait_seconds / 3600:,.1f} hours"
            self._stop(f"the server asks to wait for {hours} ({failure.why})", refused=True)
        elif self._in_a_row >= self._settings.tries * FIRST:
            self._stop(f"{self._in_a_row} tries in a row failed, the last: {failure.why}", refused=True)
        elif tries >= self._settings.tries:
            self._give_up(one, failure.why)
        elif self.tally.stopped is None:
            if trouble.overloaded and wait_seconds is not None:
                self.streams.close_for(wait_seconds)
            elif self._in_a_row >= FIRST:  # it may be down: others are not sent into the same failure
                self.streams.close_for(pause(min(self._in_a_row // FIRST, self._settings.tries), self._rng))
            since = one.since if one.tries and not busy else answers
            seconds = pause(max(1, tries), self._rng, told=wait_seconds)
            self._begin(self._wait_for(Try(one.drafts, tries, since), seconds), self._later)

    def _give_up(self, one: Try, why: str) -> None:
        """These drafts will not be. Where nothing else was answered meanwhile either, nothing will."""
        self.tally.given_up |= dict.fromkeys(one.drafts, why)
        if self.tally.answers <= one.since:
            self._stop(f"{self._settings.tries} tries in a row failed, the last: {why}", refused=True)

    async def _wait_for(self, one: Try, seconds: float) -> None:
        await self._sleep(seconds)
        self._waiting.appendleft(one)


async def _cancelled(tasks: Iterable[asyncio.Task[None]]) -> None:
    """All of them have ended, whatever they ended with."""
    tasks = list(tasks)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
