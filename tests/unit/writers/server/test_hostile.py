"""Servers that misbehave: what they cost is bounded, what they say is told, and the key never goes where it should
not."""

import asyncio
import itertools
from collections.abc import Callable
from contextlib import ExitStack

import msgspec
import pytest

from tamis.clock import Clock, Spans
from tamis.errors import DraftsError
from tamis.ledger import Ledger
from tamis.writers.base import Written
from tamis.writers.server import ServerWriter

from .conftest import Answer, MakeBrief, answering, http, no_time, piece, stream, whole

KEY = "sk-a-secret-that-nobody-may-see"
TEXT = "She closed the book and went home."


class Against:
    """What became of writing against a server that answers so."""

    def __init__(
        self,
        brief: MakeBrief,
        answer: Answer,
        then: Callable[..., object] | None = None,
        *,
        keep: bool = False,
        **writer: object,
    ) -> None:
        self.written: list[Written] = []
        self.error: DraftsError | None = None
        self.asked: list[bytes] = []

        async def against() -> None:
            async with answering(self._noted(answer), then=then) as url:
                settings = {
                    "url": url,
                    "model": "m",
                    "api": "chat",
                    "n": 1,
                    "max_tokens": 50,
                    "tries": 3,
                    "key_from": "KEY",
                }
                loaded = brief(**(settings | writer))
                self.writer = ServerWriter(loaded, environ={"KEY": KEY}, sleep=no_time)
                with ExitStack() as kept:
                    if keep:
                        ledger = kept.enter_context(Ledger(loaded.folder))
                        self.writer.keep_in(ledger, Spans(Clock(), ledger.add))
                    try:
                        async for one in self.writer.write(loaded):
                            self.written.append(one)
                    except DraftsError as error:
                        self.error = error
                    self.requests = list(self.writer._log.requests.values())
                    self.replies = list(self.writer._log.replies.values())
                if keep:
                    self.ledger = b"".join(path.read_bytes() for path in (loaded.folder / ".tamis").iterdir())

        asyncio.run(asyncio.wait_for(against(), 60))
        self.now = self.writer.now()

    def _noted(self, answer: Answer) -> Answer:
        def noted(number: int, body: bytes) -> bytes:
            self.asked.append(body)
            return answer(number, body)

        return noted


def first_then_good(*bad: bytes) -> Answer:
    good = stream(piece(TEXT), piece("", finish="stop"))
    answers = iter(bad)
    return lambda number, body: next(answers, good)


@pytest.mark.parametrize(
    "bad",
    [
        http(b"{not json"),
        http(b"data: {not json\n\n", kind="text/event-stream"),
        stream(),
        stream(piece("half a sen"), done=False),
        stream(piece("without a reason")),
        stream({"choices": []}),
        http({"choices": []}),
        b"",
        b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\ncontent-type: application/json\r\n\r\n{",
        b"no http at all\r\n\r\n",
        http({"error": {"message": "try later"}}, status="503 Busy", retry_after="1"),
        http(b"<html>bad gateway</html>", status="502 Bad Gateway", kind="text/html"),
        http(b"\x1f\x8b packed", kind="text/event-stream", content_encoding="gzip"),
        stream(piece("x"), {"error": {"message": "engine died"}}),
    ],
)
def test_what_passes_is_tried_again_and_a_draft_comes_of_it(brief: MakeBrief, bad: bytes) -> None:
    against = Against(brief, first_then_good(bad))
    assert [one.content for one in against.written] == [f"{TEXT}\n".encode()]
    assert (len(against.requests), len(against.replies)) == (2, 2)
    assert against.now.failures == 1


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (
            http({"error": {"message": f"Incorrect API key: {KEY}"}}, status="401 No"),
            "401: Incorrect API key: [the key]",
        ),
        (http({"detail": "model m not found"}, status="404 No"), "404: model m not found"),
        (http({"error": {"message": "quota", "code": "insufficient_quota"}}, status="429 No"), "429: quota"),
        (http(b"<html>login</html>", kind="text/html"), "answered with text/html"),
        (
            http(b"", status="307 Moved", location="http://elsewhere.example/v1"),
            "redirects to http://elsewhere.example/v1",
        ),
        (http({"error": {"message": "later"}}, status="429 No", retry_after="999999"), "asks to wait for 277.8 hours"),
    ],
)
def test_what_will_not_change_ends_it_at_once_in_the_server_s_words(brief: MakeBrief, bad: bytes, said: str) -> None:
    against = Against(brief, lambda number, body: bad, n=20)
    assert against.error is not None
    assert said in against.error.what
    assert len(against.requests) <= 4  # no more than were out by then
    assert not against.written


def test_the_key_is_in_no_error_no_record_and_no_repr(brief: MakeBrief) -> None:
    echo = http({"error": {"message": f"who is {KEY}? {KEY}!"}}, status="403 No")
    against = Against(brief, lambda number, body: echo, keep=True)
    kept = {name: value for name, value in vars(against.writer).items() if name != "_environ"}
    assert KEY not in f"{against.error} {against.error!r} {against.writer!r} {kept} {against.now}"
    assert KEY.encode() not in against.ledger
    assert KEY.encode() not in against.asked[0]
    assert "[the key]" in against.error.what  # type: ignore[union-attr]  # which is there


def test_a_server_that_never_works_is_given_up_after_so_many_tries(brief: MakeBrief) -> None:
    against = Against(brief, lambda number, body: http(b"{", status="500 Oops"), n=50)
    assert against.error is not None
    assert "tries in a row failed, the last: 500" in against.error.what
    assert len(against.requests) <= 3 * 4 + 4


async def _on_and_on(writer: asyncio.StreamWriter) -> None:
    line = b"data: " + msgspec.json.encode(piece("word " * 200)) + b"\n\n"
    for _ in itertools.count():
        writer.write(line)
        await writer.drain()


ENDLESS = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"


def test_a_stream_that_never_ends_is_given_up(brief: MakeBrief) -> None:
    against = Against(brief, lambda number, body: ENDLESS, _on_and_on, tries=1)
    assert against.error is not None
    assert "went on beyond" in against.error.what
    assert [reply.ended for reply in against.replies] == ["perhaps"]


async def _silence(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(30)


async def _drip(writer: asyncio.StreamWriter) -> None:
    for _ in itertools.count():
        writer.write(b": still here\n\n")
        await writer.drain()
        await asyncio.sleep(0.01)


def test_a_server_that_says_nothing_more_is_not_waited_for(brief: MakeBrief) -> None:
    against = Against(brief, lambda number, body: ENDLESS, _silence, tries=1, silence_seconds=0.1)
    assert "nothing came for 0.1 s" in against.error.what  # type: ignore[union-attr]  # which is there


def test_a_server_that_only_keeps_the_line_open_is_not_waited_for(brief: MakeBrief) -> None:
    against = Against(brief, lambda number, body: ENDLESS, _drip, tries=1, timeout_seconds=0.3)
    assert "no whole answer within 0.3 s" in against.error.what  # type: ignore[union-attr]  # which is there


def test_more_choices_than_were_asked_for_are_left(brief: MakeBrief) -> None:
    against = Against(brief, lambda number, body: http(whole("a b", "c d", "e f")))
    assert [one.content for one in against.written] == [b"a b\n"]


def test_fewer_choices_than_were_asked_for_are_asked_for_again(brief: MakeBrief) -> None:
    against = Against(brief, lambda number, body: http(whole(f"text {number}")), n=3, per_request=3)
    assert [one.content for one in against.written] == [b"text 0\n", b"text 1\n", b"text 2\n"]
    assert [request.drafts for request in against.requests] == [(1, 2, 3), (2,), (3,)]


def test_the_same_answer_every_time_is_as_many_drafts(brief: MakeBrief) -> None:
    against = Against(brief, lambda number, body: http(whole(TEXT)), n=3)
    assert len({one.name for one in against.written}) == 3


@pytest.mark.parametrize(
    ("finish", "kept"),
    [("length", "length"), ("content_filter", "refused"), ("tool_calls", "refused"), ("stop", "stop")],
)
def test_no_draft_that_is_not_whole_passes_as_whole(brief: MakeBrief, finish: str, kept: str) -> None:
    (written,) = Against(brief, lambda number, body: http(whole(TEXT, finish=finish))).written
    assert written.finish == kept
    assert (written.problem is None) == (kept in ("stop", "length"))  # a cut one is told by its finish


def test_an_empty_answer_is_a_draft_lost_and_told(brief: MakeBrief) -> None:
    (written,) = Against(brief, lambda number, body: http(whole(""))).written
    assert written.problem == "is empty"


def test_usage_beyond_all_bounds_ends_a_budget_and_is_told_as_it_is(brief: MakeBrief) -> None:
    usage = {"prompt_tokens": 20, "completion_tokens": 10**9}
    against = Against(brief, lambda number, body: http(whole(TEXT, usage=usage)), n=9, streams=1, budget_tokens=5000)
    assert len(against.written) == 1
    assert against.now.stopped == "the budget of tokens is spent"
    assert against.now.paid.tokens_out == 10**9


def test_what_the_server_wants_otherwise_is_asked_otherwise(brief: MakeBrief) -> None:
    def picky(number: int, body: bytes) -> bytes:
        sent = msgspec.json.decode(body)
        if "max_tokens" in sent:
            return http(
                {"error": {"message": "Unsupported: 'max_tokens'. Use 'max_completion_tokens'."}}, status="400 No"
            )
        if "stream_options" in sent:
            return http({"error": {"message": "stream_options: extra fields not permitted"}}, status="400 No")
        if any(message["role"] == "system" for message in sent["messages"]):
            return http({"error": {"message": "System role not supported"}}, status="400 No")
        return stream(piece(TEXT), piece("", finish="stop"))

    against = Against(brief, picky, n=5)
    assert len(against.written) == 5
    assert against.now.failures == 0
    assert len(against.now.notes) == 3
    assert all(reply.ended in ("answered", "free") for reply in against.replies)


def test_a_server_without_chat_is_found_out(brief: MakeBrief) -> None:
    def completes(number: int, body: bytes) -> bytes:
        if "messages" in msgspec.json.decode(body):
            return http({"detail": "Not Found"}, status="404 Not Found")
        return http({"choices": [{"index": 0, "text": TEXT, "finish_reason": "stop"}]})

    against = Against(brief, completes, api="auto", n=2)
    assert [one.content for one in against.written] == [f"{TEXT}\n".encode()] * 2
    assert against.writer.spec.args["api"] == "completions"
