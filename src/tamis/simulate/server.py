"""The simulated writer's server: takes a request, decides what becomes of it, and lets it be written at its pace.

Everything runs in one loop on one core. It promises to keep the rates that it was told as long as that core can, and to
say when it could not, and whose fault it was.
"""

import asyncio
import contextlib
import resource
from collections.abc import AsyncIterator, Callable
from itertools import count

from tamis.errors import TamisError
from tamis.simulate import openai
from tamis.simulate.account import Account, StreamReport
from tamis.simulate.admission import Admission
from tamis.simulate.asked import Asked, Refused
from tamis.simulate.batching import Engine
from tamis.simulate.compose import ASKED, CREATED, Composer, asked_of, script_of, used_by, wire_of
from tamis.simulate.failures import Mishap, fate_of
from tamis.simulate.http import Connection, Request
from tamis.simulate.prompts import PrefixCache
from tamis.simulate.replay import read_texts, tokens_of
from tamis.simulate.script import Script
from tamis.simulate.settings import Simulated
from tamis.simulate.speculative import pass_length, tokens_per_pass
from tamis.simulate.stream import Reply
from tamis.simulate.text import generated
from tamis.simulate.wire import Used, error_body
from tamis.tokens import encode

CHARS_READ_AT_ONCE = 20_000
"""Longer prompts are counted in a thread, so that they hold up no stream."""
BACKLOG = 16_384

Report = Callable[[StreamReport], None]


class SimulatedWriter:
    """The server without its socket. `report` is told of each streamed answer when it ends."""

    def __init__(self, settings: Simulated, *, report: Report | None = None) -> None:
        self.settings = settings
        self.account = Account()
        self._report = report
        self._admission = Admission(settings.streams, settings.queue)
        self._cache = PrefixCache()
        self._numbers = count()
        self._writing = 0
        self._reading_until = 0.0
        self._texts = [tokens_of(text) for text in read_texts(settings.replay)] if settings.replay else []
        self._engine = _engine(settings)
        self._composer = Composer(settings, self._engine)
        encode("")  # the tokenizer is loaded now and not while a first reader waits
        next(generated(0))

    async def handle(self, connection: Connection, request: Request) -> None:
        """Answer one request."""
        match request.method, request.path:
            case "POST", path if path in ASKED:
                await self._write_or_refuse(connection, request)
            case "GET", "/v1/models":
                context = self.settings.context if self.settings.announce else None
                connection.respond(200, openai.models(self.settings.model, CREATED, context))
            case "GET", "/health" | "/":
                connection.respond(200, {"status": "ok", "model": self.settings.model})
            case "GET", "/simulated/account":
                connection.respond(200, self.account.told())
            case _:
                refused = Refused(404, f"Unknown request URL: {request.method} {request.path}.", code="unknown_url")
                connection.respond(404, error_body(refused, anthropic=False))

    async def _write_or_refuse(self, connection: Connection, request: Request) -> None:
        self.account.requests += 1
        try:
            await self._write(connection, request, next(self._numbers))
        except Refused as refused:
            self.account.refused += 1
            after = refused.retry_after_seconds
            headers = {} if after is None else {"retry-after": f"{after:g}"}
            body = error_body(refused, anthropic=request.path == "/v1/messages")
            connection.respond(refused.status, body, headers)

    async def _write(self, connection: Connection, request: Request, number: int) -> None:
        asked = asked_of(request.path, request.body)
        fate = fate_of(self.settings.failures, self.settings.seed, number)
        if isinstance(fate, Refused):
            raise fate
        ids = asked.ids or await _tokenized(asked.prompt)
        scripts = [self._script(asked, len(ids), number, index) for index in range(asked.n)]
        admitted = await self._admission.take(asked.n, since=request.arrived)
        self._writing += 1
        try:
            used = Used(prompt=len(ids), cached=self._cache.read(ids))
            first = self._first_token_at(admitted.at, used)
            if asked.streamed:
                await self._stream(connection, asked, scripts, first=first, used=used, number=number, mishap=fate)
            else:
                await self._whole(connection, asked, scripts, first=first, used=used, number=number)
        finally:
            self._writing -= 1
            self._admission.give(admitted)

    def _script(self, asked: Asked, prompt_tokens: int, number: int, index: int) -> Script:
        lot = number * asked.n + index
        text = self._texts[lot % len(self._texts)] if self._texts else None
        return script_of(self.settings, asked, prompt_tokens, lot=index if asked.seed is not None else lot, text=text)

    def _first_token_at(self, start: float, used: Used) -> float:
        """When the prefill ends. With batching one prompt is read after the other, else all at once."""
        reads = (used.prompt - used.cached) / self.settings.input_speed if self.settings.input_speed else 0.0
        if self._engine is not None:
            start = max(start, self._reading_until)
            self._reading_until = start + reads
        return start + reads + self.settings.first_token_ms / 1000

    async def _stream(
        self, connection: Connection, asked: Asked, scripts: list[Script], *, first: float, used: Used, number: int,
        mishap: Mishap | None,
    ) -> None:  # fmt: skip
        connection.start()
        await _sleep_until(first)
        wire = wire_of(self.settings, asked, number)
        streams = self._composer.streams(scripts, asked, wire, first, used.prompt)
        tells = self.settings.usage == "always" or (self.settings.usage == "asked" and asked.wants_usage)
        used = used_by(streams, used)
        reply = Reply(streams, connection, wire, used, tells_usage=tells, gap_seconds=self._gap_seconds, mishap=mishap)
        connection.on_resume, connection.on_lost = reply.resume, reply.stop
        reply.begin()
        try:
            self._tell(await reply.done)
        except asyncio.CancelledError:  # the reader hung up; what was written until then was written
            if reply.done.done() and not reply.done.cancelled():
                self._tell(reply.done.result())
            raise

    def _tell(self, report: StreamReport) -> None:
        self.account.add(report)
        if self._report is not None:
            self._report(report)

    async def _whole(
        self, connection: Connection, asked: Asked, scripts: list[Script], *, first: float, used: Used, number: int
    ) -> None:
        await _sleep_until(first)
        wire = wire_of(self.settings, asked, number)
        streams = self._composer.streams(scripts, asked, wire, first, used.prompt)
        for stream in streams:
            while stream.pace.done(asyncio.get_running_loop().time()) < stream.events.passes:
                await _sleep_until(stream.pace.when(stream.events.passes))
        told = used_by(streams, used) if self.settings.usage != "never" else None
        connection.respond(200, wire.whole([stream.whole() for stream in streams], told))

    def _gap_seconds(self) -> float:
        """The least time between two writes of one stream, so that all of them together stay writable."""
        return self._writing / self.settings.writes_per_second


def _engine(settings: Simulated) -> Engine | None:
    spec = settings.speculation
    if settings.batching is None:
        return None
    if spec is None:
        return Engine(settings.batching)
    return Engine(settings.batching, tokens_per_step=tokens_per_pass(spec), step_factor=pass_length(spec))


async def _tokenized(prompt: str) -> list[int]:
    if len(prompt) <= CHARS_READ_AT_ONCE:
        return encode(prompt)
    return await asyncio.to_thread(encode, prompt)


async def _sleep_until(when: float) -> None:
    seconds = when - asyncio.get_running_loop().time()
    if seconds > 0:
        await asyncio.sleep(seconds)


@contextlib.asynccontextmanager
async def serving(settings: Simulated, *, report: Report | None = None) -> AsyncIterator[str]:
    """A server that runs in this loop as long as the context does; gives its address, such as http://127.0.0.1:8000.
    Raises TamisError where the port is taken."""
    writer = SimulatedWriter(settings, report=report)
    loop = asyncio.get_running_loop()
    allow_many_files()
    try:
        server = await loop.create_server(
            lambda: Connection(writer.handle), settings.host, settings.port, backlog=BACKLOG
        )
    except OSError as error:
        raise TamisError(
            f"the simulated writer can't listen on {settings.host}:{settings.port}: {error.strerror or error}",
            hint="take another --port; 0 takes any that is free",
        ) from error
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield f"http://{settings.host}:{port}"


def allow_many_files() -> int:
    """Raise the limit of open files to what this account may have; each stream needs one. Returns the limit."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
