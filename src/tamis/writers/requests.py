"""The log of requests that are paid for, over the ledger: what was sent before it goes out, what came back before it is
handed on.

A kill between the two leaves a request without its reply; it counts as paid in full. Waiting for the disk is shared:
however many requests are logged at once, they wait for one commit. Without a ledger the log lasts as long as its
writer does.
"""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar

import msgspec

from tamis.ledger import Ledger
from tamis.records import Beat, Reply, Request, digest

BEAT_SECONDS = 1.0
R = TypeVar("R", Request, Reply)


class Paid(msgspec.Struct, frozen=True):
    """What was spent on a brief before: tokens that are surely or perhaps paid, and those of them of which nobody
    knows; and how long was written."""

    tokens_in: int = 0
    tokens_out: int = 0
    perhaps_in: int = 0
    perhaps_out: int = 0
    seconds: float = 0.0


class Sums:
    """What many requests came to, taken in one by one."""

    def __init__(self) -> None:
        self._out: dict[str, Request] = {}
        """Those without a reply."""
        self._told_in = self._told_out = 0
        self._perhaps: dict[tuple[str, int], tuple[int, int]] = {}
        """What was asked and the most tokens that it can have → how many such requests nobody told the cost of, and
        the most tokens that came out of them."""
        self.most_in: dict[str, int] = {}
        self._signs: dict[str, tuple[float, float]] = {}
        """Sitting → its first sign and its last."""
        self._over: set[str] = set()

    def sent(self, request: Request) -> None:
        self._out[request.id] = request
        self._sign(request.sitting, request.at)

    def ended(self, reply: Reply) -> None:
        request = self._out.pop(reply.request, None)
        if request is None:  # a request has one reply at most
            return
        self._sign(request.sitting, reply.at)
        usage = reply.usage if reply.ended == "answered" else None
        if usage is not None and usage.counted_by == "usage":
            self._told_in += usage.tokens_in
            self._told_out += usage.tokens_out
            self.most_in[request.asked] = max(self.most_in.get(request.asked, 0), usage.tokens_in)
        elif reply.ended != "free":
            self._count(self._perhaps, request)

    def beat(self, beat: Beat) -> None:
        self._sign(beat.sitting, beat.at)
        if beat.last:
            self._over.add(beat.sitting)

    def paid(self) -> Paid:
        perhaps = dict(self._perhaps)
        for request in list(self._out.values()):
            self._count(perhaps, request)
        counted = perhaps.items()
        tokens_in = sum(n * min(most_in, self.most_in.get(asked, most_in)) for (asked, most_in), (n, _) in counted)
        tokens_out = sum(most_out for _, most_out in perhaps.values())
        return Paid(self._told_in + tokens_in, self._told_out + tokens_out, tokens_in, tokens_out, self._seconds())

    @staticmethod
    def _count(perhaps: dict[tuple[str, int], tuple[int, int]], request: Request) -> None:
        n, most_out = perhaps.get((request.asked, request.most_in), (0, 0))
        perhaps[request.asked, request.most_in] = n + 1, most_out + request.most_out

    def _sign(self, sitting: str, at: float) -> None:
        first, last = self._signs.get(sitting, (at, at))
        self._signs[sitting] = min(first, at), max(last, at)

    def _seconds(self) -> float:
        """How long all sittings wrote, each from its first sign to its last and, where it was killed, to the beat that
        did not come any more."""
        signs = list(self._signs.items())
        return sum(last - first + (0.0 if one in self._over else BEAT_SECONDS) for one, (first, last) in signs)


class Recorded(Generic[R]):
    """The records of one kind about a brief, by id, where they stand: in the ledger. There may be a million."""

    def __init__(self, ledger: Ledger, kind: type[R], brief: str) -> None:
        self._ledger = ledger
        self._kind: type[R] = kind
        self._brief = brief

    def __getitem__(self, name: str) -> R:
        found: R | None = self._ledger.find(self._kind, name)
        if found is None:
            raise KeyError(name)
        return found

    def values(self) -> Iterator[R]:
        """In the order in which they came, one after another."""
        return self._ledger.all(self._kind, about=self._brief)


class RequestLog:
    """The requests of one brief. What is held of them does not grow with their number: sums, and those that are out."""

    def __init__(self, brief: str, ledger: Ledger | None = None) -> None:
        self._ledger = ledger
        self._brief = brief
        self._blobs: dict[str, bytes] = {}
        self._requests, self._replies = dict[str, Request](), dict[str, Reply]()
        """By id, where there is no ledger."""
        self.requests: Recorded[Request] | dict[str, Request] = self._requests
        self.replies: Recorded[Reply] | dict[str, Reply] = self._replies
        self._sums = Sums()
        self._flushing: asyncio.Task[None] | None = None
        self._added = self._on_disk = 0
        if ledger is not None:
            self.requests, self.replies = Recorded(ledger, Request, brief), Recorded(ledger, Reply, brief)
            for request in self.requests.values():
                self._sums.sent(request)
            for reply in self.replies.values():
                self._sums.ended(reply)
            for beat in ledger.all(Beat, about=brief):
                self._sums.beat(beat)

    async def sent(self, request: Request) -> None:
        """On disk when it returns: only then may the request go out."""
        self._sums.sent(request)
        if self._ledger is None:
            self._requests[request.id] = request
        else:
            self._ledger.add(request)
            await self._flushed()

    async def ended(self, reply: Reply, contents: Mapping[str, bytes]) -> None:
        """On disk when it returns, with the answers' contents (by blob): only then may they be handed on."""
        self.note(reply, contents)
        if self._ledger is not None:
            await self._flushed()

    def note(self, reply: Reply, contents: Mapping[str, bytes]) -> None:
        """The same without waiting, for a writer that is being stopped."""
        self._sums.ended(reply)
        if self._ledger is None:
            self._blobs |= contents
            self._replies[reply.id] = reply
        else:
            for content in contents.values():
                self._ledger.add_blob(content)
            self._ledger.add(reply)

    @contextlib.contextmanager
    def beating(self, sitting: str, now: Callable[[], float]) -> Iterator[None]:
        """A beat every second as long as the context lasts, from a thread of its own: whatever holds up the event loop
        must not hold them up."""
        ledger, over = self._ledger, threading.Event()
        if ledger is None:
            yield
            return

        def beat() -> None:
            ended = False
            while True:
                one = Beat(id=digest(sitting, repr(now())), brief=self._brief, sitting=sitting, at=now(), last=ended)
                self._sums.beat(one)
                ledger.add(one)
                if ended:
                    return
                ended = over.wait(BEAT_SECONDS)

        thread = threading.Thread(target=beat, name="tamis-beat", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def content(self, blob: str) -> bytes:
        return self._blobs[blob] if self._ledger is None else self._ledger.blob(blob)

    def most_in(self) -> Mapping[str, int]:
        """The most tokens that a server counted for each prompt, by what names it; none where none was counted."""
        return self._sums.most_in

    def paid(self) -> Paid:
        """What all requests so far have cost, or may have."""
        return self._sums.paid()

    async def settled(self) -> None:
        """Waits for a commit that is under way, so that none is left behind."""
        if self._flushing is not None:
            await asyncio.wait({self._flushing})

    async def _flushed(self) -> None:
        """Everything added before is on disk. One commit serves all who wait; who comes while it runs waits for the
        next one."""
        self._added += 1
        mine = self._added
        while self._on_disk < mine:
            if self._flushing is None:
                self._flushing = asyncio.create_task(self._flush(self._added))
            await asyncio.shield(self._flushing)

    async def _flush(self, added: int) -> None:
        assert self._ledger is not None
        try:
            await asyncio.to_thread(self._ledger.flush)
            self._on_disk = added
        finally:
            self._flushing = None
