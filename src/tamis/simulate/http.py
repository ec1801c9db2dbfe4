"""HTTP/1.1 for the simulated writer: h11 reads requests; answers are few enough in kind to be written as bytes.

One request at a time a connection, kept alive, as real servers do. It is no general web server: no TLS, no routing.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from http import HTTPStatus

import h11
import msgspec

WRITE_BUFFER_BYTES = 1 << 20
"""How much may wait for the reader here before a stream counts as held up by it."""
LARGEST_BODY_BYTES = 256 << 20
STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\n"
    b"transfer-encoding: chunked\r\n"
)


class Request(msgspec.Struct, frozen=True):
    """A request as it came. `arrived` is when its first byte did, on the loop's clock."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    arrived: float


Handler = Callable[["Connection", Request], Coroutine[None, None, None]]


class Connection(asyncio.Protocol):
    """One reader. The handler answers with `respond`, or with `start` and any number of `write`."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._loop = asyncio.get_running_loop()
        self._parser: h11.Connection | None = None
        self._keep_alive = True
        self._head: h11.Request | None = None
        self._body = bytearray()
        self._arrived: float | None = None
        self._task: asyncio.Task[None] | None = None
        self.paused = False
        self.on_resume: Callable[[], None] = _nothing
        self.on_lost: Callable[[], None] = _nothing

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.set_write_buffer_limits(high=WRITE_BUFFER_BYTES)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 (asyncio names it)
        self.on_lost()
        if self._task:
            self._task.cancel()

    def pause_writing(self) -> None:
        self.paused = True

    def resume_writing(self) -> None:
        self.paused = False
        self.on_resume()

    def data_received(self, data: bytes) -> None:
        if self._arrived is None:
            self._arrived = self._loop.time()
        if self._parser is None:
            self._parser = _parser()
        self._parser.receive_data(data)
        self._read_on(self._parser)

    def respond(self, status: int, payload: object, headers: dict[str, str] | None = None) -> None:
        """A whole answer in JSON."""
        body = msgspec.json.encode(payload)
        fields = {"content-type": "application/json", "content-length": str(len(body)), **(headers or {})}
        lines = [f"HTTP/1.1 {status} {_phrase(status)}", *(f"{name}: {value}" for name, value in fields.items())]
        self._transport.write("\r\n".join(lines).encode() + b"\r\n" + self._ending() + body)

    def start(self) -> None:
        """The head of a stream of events."""
        self._transport.write(STREAM_HEAD + self._ending())

    def write(self, parts: Sequence[bytes], *, last: bool = False) -> None:
        """One chunk, of as many events as are due; after the last one the connection can be used again."""
        size = sum(map(len, parts))
        if size and not self._transport.is_closing():
            end = b"\r\n0\r\n\r\n" if last else b"\r\n"
            self._transport.write(b"".join((b"%x\r\n" % size, *parts, end)))

    def abort(self) -> None:
        """Drop the connection in the middle, as a broken proxy does."""
        self._transport.abort()

    def _ending(self) -> bytes:
        """The end of a head."""
        return b"\r\n" if self._keep_alive else b"connection: close\r\n\r\n"

    def _read_on(self, parser: h11.Connection) -> None:
        """Take what h11 has understood; a whole request starts its handler."""
        while self._task is None:
            try:
                event = parser.next_event()
            except h11.RemoteProtocolError as error:
                return self._refuse(error.error_status_hint or 400, str(error))
            match event:
                case h11.Request():
                    self._head, self._body = event, bytearray()
                    self._keep_alive = not _wants_close(event)
                    if parser.they_are_waiting_for_100_continue:
                        self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                case h11.Data():
                    self._body += event.data
                    if len(self._body) > LARGEST_BODY_BYTES:
                        return self._refuse(413, f"a body of more than {LARGEST_BODY_BYTES} bytes")
                case h11.EndOfMessage():
                    self._answer()
                case h11.ConnectionClosed():
                    return self._transport.close()
                case _:  # NEED_DATA, or PAUSED until the answer is out
                    return None
        return None

    def _answer(self) -> None:
        assert self._head is not None
        head = self._head
        request = Request(
            method=head.method.decode(),
            path=head.target.decode("ascii", "replace").partition("?")[0],
            headers={name.decode(): value.decode("latin-1") for name, value in head.headers},
            body=bytes(self._body),
            arrived=self._arrived or self._loop.time(),
        )
        self._arrived = None
        self._task = self._loop.create_task(self._handler(self, request))
        self._task.add_done_callback(self._answered)

    def _answered(self, task: asyncio.Task[None]) -> None:
        self._task, self.on_resume, self.on_lost = None, _nothing, _nothing
        if task.cancelled() or self._transport.is_closing():
            return
        task.result()
        if not self._keep_alive:
            self._transport.close()
            return
        more = self._parser.trailing_data[0] if self._parser else b""
        self._parser = None
        if more:
            self.data_received(more)

    def _refuse(self, status: int, why: str) -> None:
        self._keep_alive = False
        self.respond(status, {"error": {"message": why, "type": "invalid_request_error"}})
        self._transport.close()


def _parser() -> h11.Connection:
    """Takes one request; the next one gets another, so that it need not be told of every answer."""
    return h11.Connection(h11.SERVER, max_incomplete_event_size=1 << 20)


def _wants_close(request: h11.Request) -> bool:
    """Whether the reader wants the connection closed after the answer."""
    said = dict(request.headers).get(b"connection", b"").lower()
    return b"close" in said or (request.http_version == b"1.0" and b"keep-alive" not in said)


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:  # such as Anthropic's 529
        return "Error"


def _nothing() -> None:
    """Nobody waits."""
