"""Briefs for the server writer, a simulated server in a process of its own, and servers that say what they are told."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from hypothesis import settings

from tamis.brief import LoadedBrief, load_brief
from tamis.clock import Clock, Spans
from tamis.ledger import Ledger
from tamis.records import Reply, Span
from tamis.simulate import Failures, Simulated
from tamis.simulate.process import started
from tamis.writers.base import Written
from tamis.writers.server import ServerWriter

settings.register_profile("patient-writers", deadline=None, max_examples=50)  # a busy machine is no failure
settings.load_profile("patient-writers")

MakeBrief = Callable[..., LoadedBrief]


@pytest.fixture
def brief(tmp_path: Path) -> MakeBrief:
    """`brief(url=..., n=...)` is a brief whose [writer] says so."""

    def make(*, desk: str = "prose", text: str = "# An ending\n\nWrite the end.\n", **writer: object) -> LoadedBrief:
        folder = tmp_path / "brief"
        folder.mkdir(exist_ok=True)
        (folder / "BRIEF.md").write_text(text)
        lines = [f"{key} = {toml(value)}" for key, value in writer.items()]
        (folder / "tamis.toml").write_text("\n".join([f'[brief]\ndesk = "{desk}"', "[writer]", *lines]) + "\n")
        return load_brief(folder)

    return make


@pytest.fixture(scope="session")
def simulated() -> Iterator[str]:
    """A server that writes as fast as it is read; a text has 40 tokens."""
    with started(Simulated(stream_speed=None, first_token_ms=1, length=40)) as url:
        yield url


@pytest.fixture(scope="session")
def rough() -> Iterator[str]:
    """One that turns away, breaks, cuts and falls silent; a text has 40 tokens."""
    failures = Failures(too_many=0.1, broken=0.1, cut=0.15, stall=0.02, stall_seconds=30, retry_after_seconds=0)
    with started(Simulated(stream_speed=None, first_token_ms=1, length=40, failures=failures)) as url:
        yield url


@pytest.fixture(scope="session")
def steady() -> Iterator[str]:
    """One that takes its time: 1,000 tokens a second, as many as are asked for."""
    with started(Simulated(stream_speed=1000, first_token_ms=20)) as url:
        yield url


def toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(inner)}" for key, inner in value.items()) + "}"
    return msgspec.json.encode(value).decode()


class Sat(msgspec.Struct):
    """One sitting, over."""

    written: list[Written]
    spans: list[Span]
    writer: ServerWriter

    @property
    def replies(self) -> list[Reply]:
        return list(self.writer._log.replies.values())


def sit(brief: LoadedBrief, ledger: Ledger | None = None, **parts: object) -> Sat:
    """Lets the server writer write to its end. No waiting takes real time."""

    async def all_of() -> list[Written]:
        return [written async for written in writer.write(brief)]

    spans: list[Span] = []
    writer = ServerWriter(brief, rng=random.Random(0), **{"sleep": no_time, **parts})  # type: ignore[arg-type]
    if ledger is not None:
        writer.keep_in(ledger, Spans(Clock(), spans.append))
    else:
        writer._spans = Spans(Clock(), spans.append)
    return Sat(asyncio.run(all_of()), spans, writer)


async def no_time(seconds: float) -> None:
    """Waits in name only."""
    await asyncio.sleep(min(seconds, 0.001))


Answer = Callable[[int, bytes], bytes]
"""Gives all bytes of the answer to request number so, from 0, with that body; an empty answer hangs up at once."""


@asynccontextmanager
async def answering(
    answer: Answer, *, then: Callable[[asyncio.StreamWriter], object] | None = None
) -> AsyncIterator[str]:
    """A server that answers every request with bytes of the test's choice, and closes. `then` may go on writing."""
    count = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal count
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(
                (
                    int(line.split(b":")[1])
                    for line in head.lower().split(b"\r\n")
                    if line.startswith(b"content-length")
                ),
                0,
            )
            body = await reader.readexactly(length) if length else b""
            number, count = count, count + 1
            writer.write(answer(number, body))
            await writer.drain()
            if then is not None:
                await then(writer)  # type: ignore[misc]
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


def http(body: bytes | object, *, status: str = "200 OK", kind: str = "application/json", **headers: str) -> bytes:
    """A whole HTTP answer that closes its connection."""
    raw = body if isinstance(body, bytes) else msgspec.json.encode(body)
    lines = [f"HTTP/1.1 {status}", f"content-type: {kind}", "connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, f"content-length: {len(raw)}", "", ""]).encode() + raw


def stream(*events: object, done: bool = True) -> bytes:
    """A whole answer as a stream of events."""
    body = b"".join(b"data: " + msgspec.json.encode(event) + b"\n\n" for event in events)
    return http(body + (b"data: [DONE]\n\n" if done else b""), kind="text/event-stream")


def piece(text: str, *, index: int = 0, finish: str | None = None) -> dict[str, object]:
    return {"choices": [{"index": index, "delta": {"content": text}, "finish_reason": finish}]}


def whole(*texts: str, finish: str = "stop", usage: object = None) -> dict[str, object]:
    """A chat completion that is not streamed."""
    choices = [
        {"index": i, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
        for i, text in enumerate(texts)
    ]
    return {"choices": choices, **({} if usage is None else {"usage": usage})}
