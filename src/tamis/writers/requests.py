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

import msgspec

from tamis.ledger import Ledger
from tamis.records import Beat, Reply, Request, digest

BEAT_SECONDS = 1.0


class Paid(msgspec.Struct, frozen=True):
    """What was spent on a brief before: tokens that are surely or perhaps paid, and those of them of which nobody
    knows; and how long was written."""

    tokens_in: int = 0
    tokens_out: int = 0
    perhaps_in: int = 0
    perhaps_out: int = 0
    seconds: float = 0.0


class RequestLog:
    """The requests of one brief."""

    def __init__(self, brief: str, ledger: Ledger | None = None) -> None:
        self._ledger = ledger
        self._brief = brief
        self._blobs: dict[str, bytes] = {}
        self.requests: dict[str, Request] = {}
        self.replies: dict[str, Reply] = {}
        """Request id → its reply."""
        self._beats: list[Beat] = []
        self._flushing: asyncio.Task[None] | None = None
        self._added = self._on_disk = 0
        if ledger is not None:
            self.requests = {one.id: one for one in ledger.all(Request, about=brief)}
            self.replies = {one.request: one for one in ledger.all(Reply, about=brief)}
            self._beats = list(ledger.all(Beat, about=brief))

    async def sent(self, request: Request) -> None:
        """On disk when it returns: only then may the request go out."""
        self.requests[request.id] = request
        if self._ledger is not None:
            self._ledger.add(request)
            await self._flushed()

    async def ended(self, reply: Reply, contents: Mapping[str, bytes]) -> None:
        """On disk when it returns, with the answers' contents (by blob): only then may they be handed on."""
        self.note(reply, contents)
        if self._ledger is not None:
            await self._flushed()

    def note(self, reply: Reply, contents: Mapping[str, bytes]) -> None:
        """The same without waiting, for a writer that is being stopped."""
        if self._ledger is None:
            self._blobs |= contents
        else:
            for content in contents.values():
                self._ledger.add_blob(content)
            self._ledger.add(reply)
        self.replies[reply.request] = reply

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
                self._beats.append(one)
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

    def most_in(self) -> dict[str, int]:
        """The most tokens that a server counted for each prompt, by what names it; none where none was counted."""
        most: dict[str, int] = {}
        for reply in self.replies.values():
            if reply.usage is not None and reply.usage.counted_by == "usage":
                asked = self.requests[reply.request].asked
                most[asked] = max(most.get(asked, 0), reply.usage.tokens_in)
        return most

    def paid(self) -> Paid:
        """What all requests so far have cost, or may have."""
        known = self.most_in()
        tokens_in = tokens_out = perhaps_in = perhaps_out = 0
        for request in self.requests.values():
            reply = self.replies.get(request.id)
            if reply is not None and reply.ended == "free":
                continue
            usage = reply.usage if reply is not None and reply.ended == "answered" else None
            if usage is not None and usage.counted_by == "usage":
                tokens_in += usage.tokens_in
                tokens_out += usage.tokens_out
            else:
                perhaps_in += min(request.most_in, known.get(request.asked, request.most_in))
                perhaps_out += request.most_out
        return Paid(tokens_in + perhaps_in, tokens_out + perhaps_out, perhaps_in, perhaps_out, self._seconds())

    def _seconds(self) -> float:
        """How long all sittings wrote, each from its first sign to its last and, where it was killed, to the beat that
        did not come any more."""
        signs: dict[str, list[float]] = {}
        ended = {beat.sitting for beat in self._beats if beat.last}
        for beat in self._beats:
            signs.setdefault(beat.sitting, []).append(beat.at)
        for request in self.requests.values():
            reply = self.replies.get(request.id)
            signs.setdefault(request.sitting, []).extend([request.at, reply.at if reply is not None else request.at])
        return sum(
            max(times) - min(times) + (0.0 if sitting in ended else BEAT_SECONDS) for sitting, times in signs.items()
        )

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
