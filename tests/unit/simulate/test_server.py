"""The simulated writer over real sockets, read by the meter's own client and by a bare one."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from tamis.errors import TamisError
from tamis.simulate import Failures, Simulated, Speculation
from tamis.simulate.account import StreamReport
from tamis.simulate.server import serving
from tamis.speed import Budget
from tamis.speed.dialect import Api, Ask
from tamis.speed.heard import Heard
from tamis.speed.http import address
from tamis.speed.source import ServerSource
from tamis.tokens import count_tokens

QUICK = Simulated(stream_speed=20_000, first_token_ms=0)
T = TypeVar("T")


def _with(settings: Simulated, play: Callable[[str], Awaitable[T]]) -> T:
    async def run() -> T:
        async with serving(settings) as url:
            return await asyncio.wait_for(play(url), 30)

    return asyncio.run(run())


def _hear(
    settings: Simulated, *asks: Ask, api: Api = "chat", extra: dict[str, object] | None = None, times: int = 1
) -> list[list[Heard]]:
    async def play(url: str) -> list[list[Heard]]:
        source = ServerSource(address(url), model="m", api=api, extra=extra, sleep=lambda seconds: None)
        return [(await asyncio.to_thread(source.hear, asks, Budget(10**9, 30))).heard for _ in range(times)]

    return _with(settings, play)


async def _exchange(url: str, raw: bytes, *, until: bytes = b"\r\n0\r\n\r\n", hang_up_at: bytes | None = None) -> bytes:
    where = address(url).target
    reader, writer = await asyncio.open_connection(where.host, where.port)
    writer.write(raw)
    got = b""
    while not got.endswith(until) and (hang_up_at is None or hang_up_at not in got):
        piece = await reader.read(1 << 16)
        if not piece:
            break
        got += piece
    writer.close()
    return got


def _post(body: dict[str, object], path: str = "/v1/chat/completions", *, headers: str = "") -> bytes:
    raw = json.dumps(body).encode()
    return f"POST {path} HTTP/1.1\r\nhost: x\r\n{headers}content-length: {len(raw)}\r\n\r\n".encode() + raw


def _body_of(raw: bytes) -> dict[str, object]:
    return json.loads(raw.partition(b"\r\n\r\n")[2])


CHAT = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


@pytest.mark.parametrize("api", ["chat", "completions", "messages"])
def test_a_stream_has_as_many_events_as_tokens_and_tells_so(api: Api) -> None:
    ((heard,),) = _hear(QUICK, Ask("hello there", 300), api=api)
    assert (heard.events_seen, heard.usage_tokens, count_tokens(heard.text)) == (300, 300, 300)
    assert heard.finish in ("length", "max_tokens")
    assert heard.prompt_tokens == 2


def test_a_seed_gives_the_same_text_streamed_and_whole() -> None:
    ask = {**CHAT, "max_tokens": 60, "seed": 9}
    ((heard,),) = _hear(QUICK, Ask("hi", 60), extra={"seed": 9})
    whole = _with(QUICK, lambda url: _exchange(url, _post(ask, headers="connection: close\r\n"), until=b"never"))
    choice = _body_of(whole)["choices"][0]  # type: ignore[index]
    assert choice["message"]["content"] == heard.text
    assert choice["finish_reason"] == "length"


def test_several_answers_come_interleaved_and_differ() -> None:
    raw = _with(QUICK, lambda url: _exchange(url, _post({**CHAT, "max_tokens": 40, "n": 3, "stream": True})))
    texts = {0: "", 1: "", 2: ""}
    for event in raw.split(b"data: ")[1:]:
        if event.startswith(b"{"):
            for choice in json.loads(event.partition(b"\n\n")[0])["choices"]:
                texts[choice["index"]] += choice["delta"].get("content", "")
    assert len(set(texts.values())) == 3
    assert all(count_tokens(text) == 40 for text in texts.values())


@pytest.mark.parametrize(("per_event", "events"), [(7, 15), (100, 1), (1, 100)])
def test_events_carry_as_many_tokens_as_they_are_told_to(per_event: int, events: int) -> None:
    ((heard,),) = _hear(Simulated(stream_speed=20_000, first_token_ms=0, tokens_per_event=per_event), Ask("x", 100))
    assert (heard.events_seen, heard.usage_tokens) == (events, 100)


def test_speculation_tells_what_was_accepted_and_delivers_bursts() -> None:
    spec = Speculation(acceptance=0.8, draft_length=4)
    ((heard,),) = _hear(Simulated(stream_speed=5000, first_token_ms=0, speculation=spec), Ask("x", 500))
    assert heard.accepted is not None and heard.rejected is not None
    assert heard.accepted == 500 - heard.events_seen
    assert heard.accepted + heard.rejected == 4 * heard.events_seen


def test_usage_that_is_never_told_is_not_told_even_when_asked_for() -> None:
    ((heard,),) = _hear(Simulated(stream_speed=20_000, first_token_ms=0, usage="never"), Ask("x", 20))
    assert heard.usage_tokens is None
    assert heard.events_seen == 20


def test_reasoning_comes_first_and_is_counted_apart() -> None:
    shown = Simulated(stream_speed=20_000, first_token_ms=0, reasoning=30)
    ((heard,),) = _hear(shown, Ask("x", 100))
    assert heard.reasoning_tokens == 30
    assert 0 < heard.reasoning_chars < len(heard.text)
    ((hidden,),) = _hear(
        Simulated(stream_speed=20_000, first_token_ms=0, reasoning=30, reasoning_shown=False), Ask("x", 100)
    )
    assert (hidden.reasoning_chars, hidden.events_seen, hidden.usage_tokens) == (0, 70, 100)


def test_a_prompt_that_was_read_before_is_told_as_cached() -> None:
    prompt = " ".join(f"word{n}" for n in range(200))
    ((first,), (second,)) = _hear(QUICK, Ask(prompt, 2), times=2)
    assert first.cached_tokens == 0
    assert second.cached_tokens > 300


def test_a_folder_of_drafts_is_written_again_one_a_request_and_ends_by_itself(tmp_path) -> None:
    (tmp_path / "a.py").write_text("def f():\n    return 'héllo 🎉'\n")
    (tmp_path / "b.py").write_text("x = 1\n")
    settings = Simulated(stream_speed=20_000, first_token_ms=0, replay=str(tmp_path))
    got = [heard for (heard,) in _hear(settings, Ask("x", 500), times=3)]
    assert [heard.text for heard in got] == [
        "def f():\n    return 'héllo 🎉'\n",
        "x = 1\n",
        "def f():\n    return 'héllo 🎉'\n",
    ]
    assert {heard.finish for heard in got} == {"stop"}


def test_a_cut_stream_ends_in_its_middle_and_is_no_answer() -> None:
    failing = Simulated(stream_speed=20_000, first_token_ms=0, failures=Failures(cut=1.0))
    ((heard,),) = _hear(failing, Ask("x", 1000))
    assert 0 < heard.events_seen < 1000
    assert heard.finish is None


def test_a_stalled_stream_is_whole_in_the_end() -> None:
    failing = Simulated(stream_speed=20_000, first_token_ms=0, failures=Failures(stall=1.0, stall_seconds=0.05))
    ((heard,),) = _hear(failing, Ask("x", 100))
    assert heard.events_seen == 100


def test_too_many_requests_is_answered_with_when_to_come_again() -> None:
    failing = Simulated(failures=Failures(too_many=1.0, retry_after_seconds=7))
    ((heard,),) = _hear(failing, Ask("x", 10))
    assert (heard.status, heard.retry_after_seconds) == (429, 7.0)


def test_more_streams_than_write_at_once_are_all_written_in_the_end() -> None:
    settings = Simulated(stream_speed=20_000, first_token_ms=0, streams=3)
    (heard,) = _hear(settings, *[Ask(f"prompt {n}", 200) for n in range(10)])
    assert [one.events_seen for one in heard] == [200] * 10


def test_a_reader_that_hangs_up_frees_its_place() -> None:
    async def play(url: str) -> bytes:
        await _exchange(url, _post({**CHAT, "max_tokens": 30_000, "stream": True}), hang_up_at=b"content")
        return await _exchange(url, _post({**CHAT, "max_tokens": 5, "stream": True}))

    got = _with(Simulated(stream_speed=100, first_token_ms=0, streams=1), play)
    assert b"[DONE]" in got


def test_what_was_written_to_a_reader_that_hung_up_is_accounted_for() -> None:
    async def play(url: str) -> dict[str, int]:
        await _exchange(url, _post({**CHAT, "max_tokens": 30_000, "stream": True}), hang_up_at=b"content")
        await _exchange(url, _post({**CHAT, "max_tokens": 5, "stream": True}))
        told = await _exchange(url, b"GET /simulated/account HTTP/1.1\r\nhost: x\r\n\r\n", until=b"}")
        return dict(json.loads(told[told.index(b"{") :]))

    account = _with(Simulated(stream_speed=100, first_token_ms=0, streams=1), play)
    assert (account["streams"], account["cut"]) == (2, 1)
    assert 5 < account["tokens"] < 30_000


def test_a_connection_is_used_again_and_may_ask_before_it_sends() -> None:
    async def play(url: str) -> tuple[bytes, bytes]:
        ask = _post({**CHAT, "max_tokens": 3, "stream": True})
        twice = await _exchange(url, ask + ask, until=b"never", hang_up_at=b"[DONE]\n\n\r\n0\r\n\r\nHTTP/1.1 200")
        expect = _post({**CHAT, "max_tokens": 3, "stream": True}, headers="expect: 100-continue\r\n")
        return twice, await _exchange(url, expect)

    twice, expecting = _with(QUICK, play)
    assert twice.count(b"HTTP/1.1 200 OK") == 2
    assert expecting.startswith(b"HTTP/1.1 100")


@pytest.mark.parametrize(
    ("raw", "status", "said"),
    [
        (b"GET /v1/models HTTP/1.1\r\nhost: x\r\n\r\n", 200, "max_model_len"),
        (b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n", 200, "ok"),
        (b"GET /simulated/account HTTP/1.1\r\nhost: x\r\n\r\n", 200, "client_limited"),
        (b"GET /nowhere HTTP/1.1\r\nhost: x\r\n\r\n", 404, "Unknown request URL"),
        (b"nonsense\r\n\r\n", 400, "error"),
        (_post({"model": "m"}), 400, "messages"),
        (_post({**CHAT, "max_tokens": 10**9}), 400, "at most 32768 completion tokens"),
    ],
)
def test_every_request_gets_an_answer_in_words(raw: bytes, status: int, said: str) -> None:
    got = _with(QUICK, lambda url: _exchange(url, raw, until=b"}"))
    assert got.startswith(f"HTTP/1.1 {status}".encode())
    assert said.encode() in got


def test_limits_are_kept_to_oneself_when_told_so() -> None:
    quiet = Simulated(announce=False)
    got = _with(quiet, lambda url: _exchange(url, b"GET /v1/models HTTP/1.1\r\nhost: x\r\n\r\n", until=b"}"))
    assert b"max_model_len" not in got


def test_a_port_that_is_taken_is_said_in_words() -> None:
    async def play(url: str) -> None:
        taken = address(url).target.port
        with pytest.raises(TamisError, match="can't listen"):
            async with serving(Simulated(port=taken)):
                pass

    _with(QUICK, play)


def test_a_reader_that_does_not_read_makes_its_stream_wait_and_late() -> None:
    reports: list[StreamReport] = []

    async def run() -> None:
        fast = Simulated(stream_speed=2_000_000, first_token_ms=0, output_cap=10**7, context=10**8)
        async with serving(fast, report=reports.append) as url:
            where = address(url).target
            reader, writer = await asyncio.open_connection(where.host, where.port, limit=1 << 12)
            writer.write(_post({**CHAT, "max_tokens": 120_000, "stream": True}))
            await asyncio.sleep(0.4)
            while not (await reader.read(1 << 20)).endswith(b"\r\n0\r\n\r\n"):
                pass
            writer.close()

    asyncio.run(asyncio.wait_for(run(), 30))
    (report,) = reports
    assert report.tokens == 120_000
    assert report.is_late
    assert report.paused_seconds > 0  # by how much of it the machine was late itself is not this test's to say
