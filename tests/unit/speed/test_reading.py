import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.errors import UsageError
from tamis.simulate.compose import WIRES
from tamis.simulate.wire import Used
from tamis.speed.dialect import Ask, Habits, body_of, headers_of
from tamis.speed.heard import Heard, heard_from
from tamis.speed.http import Dechunker, address, head_of, request
from tamis.speed.reader import Reading

USED = Used(prompt=7, cached=2, completion=9, reasoning=0)
WORDS = [b"one", b" two", b" \\u00e9t\\u00e9", b" four", b"\\n\\n", b" six", b" seven", b" eight", b"."]


def _cut(data: bytes, at: list[int]) -> list[bytes]:
    edges = [0, *sorted({n % (len(data) + 1) for n in at}), len(data)]
    return [data[a:b] for a, b in pairwise(edges)]


def _chunked(parts: list[bytes]) -> bytes:
    return b"".join(b"%x\r\n%b\r\n" % (len(p), p) for p in parts if p) + b"0\r\n\r\n"


@given(
    st.binary(max_size=400), st.lists(st.integers(0, 10**6), max_size=6), st.lists(st.integers(0, 10**6), max_size=12)
)
def test_a_body_is_the_same_however_it_is_chunked_and_read(body: bytes, chunks: list[int], reads: list[int]) -> None:
    dechunker = Dechunker()
    wire = _chunked(_cut(body, chunks))
    assert b"".join(dechunker.feed(piece) for piece in _cut(wire, reads)) == body


def _stream(protocol: str, per_event: int = 1) -> bytes:
    wire = WIRES[protocol](request_id="x", model="m", created=1)  # type: ignore[index]
    events = [b"".join(WORDS[n : n + per_event]) for n in range(0, len(WORDS), per_event)]
    return (
        wire.opening(0, USED, reasoning=False)
        + wire.frame(0, reasoning=False).around(events)
        + wire.closing(0, "length", None, USED)
        + wire.end(USED)
    )


def _reading(body: bytes, reads: list[int], *, head: bytes | None = None, crlf: bool = False) -> Reading:
    if crlf:
        body = body.replace(b"\n", b"\r\n")
    head = head or b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    data = head + (_chunked([body]) if b"chunked" in head else body)
    reading = Reading(sent_at=0.5)
    for n, piece in enumerate(_cut(data, reads), 1):
        reading.data += piece
        reading.stamps.append(float(n))
        reading.ends.append(len(reading.data))
    return reading


@pytest.mark.parametrize("crlf", [False, True])
@pytest.mark.parametrize("protocol", list(WIRES))
@settings(max_examples=25)
@given(reads=st.lists(st.integers(0, 10**6), max_size=30), per_event=st.integers(1, 4))
def test_what_is_heard_does_not_depend_on_where_reads_were_cut(
    protocol: str, crlf: bool, reads: list[int], per_event: int
) -> None:
    heard = heard_from(_reading(_stream(protocol, per_event), reads, crlf=crlf))
    assert heard.text == json.loads(b'"' + b"".join(WORDS) + b'"')
    assert (heard.events_seen, heard.usage_tokens, heard.failed) == (-(-len(WORDS) // per_event), 9, None)
    assert heard.chars[-1] == len(heard.text)
    assert heard.times == sorted(heard.times)
    assert (heard.prompt_tokens, heard.cached_tokens) == (7, 2)


def test_an_event_belongs_to_the_read_that_completed_it() -> None:
    body = _stream("chat")
    third = body.index(b" \\u00e9t") + 3
    whole = _reading(body, [])
    start = whole.data.index(b"data:")
    heard = heard_from(_reading(body, [start + third]))
    assert heard.events == [2, 9]
    assert heard.first_token_seconds == heard.times[0] - 0.5


def test_the_empty_role_event_is_no_token() -> None:
    wire = WIRES["chat"](request_id="x", model="m", created=1)
    heard = heard_from(_reading(wire.opening(0, USED, reasoning=False), []))
    assert (heard.events_seen, heard.times) == (0, [])


@pytest.mark.parametrize(
    ("head", "body", "said"),
    [
        (b"HTTP/1.1 400 Bad\r\n\r\n", b'{"error": {"message": "too long"}}', "too long"),
        (b"HTTP/1.1 422 No\r\n\r\n", b'{"detail": "missing"}', "missing"),
        (b"HTTP/1.1 502 Bad Gateway\r\n\r\n", b"<h1>nginx</h1>", "nginx"),
        (b"HTTP/1.1 500 Oops\r\n\r\n", b"", "Oops"),
        (b"SSH-2.0-OpenSSH\r\n\r\n", b"", "no HTTP"),
        (b"HTTP/1.1 200 OK\r\n\r\n", b'data: {"error": {"message": "died"}}\n\n', "died"),
    ],
)
def test_what_went_wrong_is_told_in_the_servers_words(head: bytes, body: bytes, said: str) -> None:
    assert said in (heard_from(_reading(body, [], head=head)).failed or "")


def test_a_stream_that_ends_before_its_end_is_said_to_be_cut() -> None:
    whole = _reading(_stream("chat"), [])
    cut = Reading(sent_at=0.0, stamps=[1.0], ends=[len(whole.data) - 400], data=whole.data[:-400])
    heard = heard_from(cut)
    assert heard.failed == "the stream was cut in its middle"
    assert heard.events_seen > 0


def test_nonsense_among_events_is_counted_and_passed_over() -> None:
    body = b'data: {nonsense\n\ndata: {"choices": 3}\n\n: a comment\n\n' + _stream("completions")
    heard = heard_from(_reading(body, []))
    assert (heard.unread_events, heard.events_seen) == (2, 9)


def test_llama_cpp_tells_its_acceptance_with_the_last_event() -> None:
    body = b'data: {"choices": [{"text": "a"}], "timings": {"draft_n": 10, "draft_n_accepted": 7}}\n\n'
    heard = heard_from(_reading(body, []))
    assert (heard.accepted, heard.rejected) == (7, 3)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("http://host:1/v1/", "http://host:1"),
        ("https://api.example.com/v1/chat/completions", "https://api.example.com:443"),
        ("https://example.com/openai/v1", "https://example.com:443/openai"),
    ],
)
def test_an_address_is_understood_with_and_without_its_path(url: str, shown: str) -> None:
    assert address(url).shown == shown


@pytest.mark.parametrize("url", ["ftp://x", "http://", "http://x:notaport"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(UsageError):
        address(url)


def test_a_request_is_http_that_a_parser_takes() -> None:
    h11 = pytest.importorskip("h11")
    raw = request(address("http://h:9/x/v1"), "POST", "/v1/chat/completions", {"authorization": "Bearer k"}, b"{}")
    parser = h11.Connection(h11.SERVER)
    parser.receive_data(raw)
    found = parser.next_event()
    assert (found.method, found.target) == (b"POST", b"/x/v1/chat/completions")
    assert bytes(parser.next_event().data) == b"{}"


def test_a_head_that_is_not_whole_is_no_head() -> None:
    assert head_of(b"HTTP/1.1 200 OK\r\nA: b\r\n") is None
    found = head_of(b"HTTP/1.1 200\r\nA: b\r\n\r\nrest")
    assert found is not None and (found.status, found.headers["a"], found.length) == (200, "b", 22)


def test_habits_are_learnt_from_refusals_once() -> None:
    habits = Habits()
    assert habits.learn("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
    assert b"max_completion_tokens" in body_of("chat", "m", Ask("x", 3), habits)
    assert not habits.learn("Use 'max_completion_tokens' instead.")
    assert habits.learn("unknown field stream_options")
    assert b"stream_options" not in body_of("chat", "m", Ask("x", 3), habits)


def test_each_api_gets_its_key_where_it_looks_for_it() -> None:
    assert headers_of("chat", "k") == {"authorization": "Bearer k"}
    assert headers_of("messages", "k")["x-api-key"] == "k"
    assert headers_of("completions", None) == {}


def test_heard_has_no_rate_before_anything_came() -> None:
    heard = Heard(sent_at=1.0)
    assert (heard.first_token_seconds, heard.lasted_seconds, heard.events_seen) == (None, 0.0, 0)
