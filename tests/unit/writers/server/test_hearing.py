"""What comes over the wire, however it is cut, and whatever a server says."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.records import Usage
from tamis.writers.server.asking import Asked
from tamis.writers.server.hearing import Counts, Hearing, Unheard
from tamis.writers.server.usage import usage_of

from .conftest import piece, whole


def sse(*events: object, line_end: str = "\n") -> bytes:
    return b"".join(f"data: {msgspec.json.encode(one).decode()}{line_end * 2}".encode() for one in events)


def heard(body: bytes, *, cuts: tuple[int, ...] = ()) -> Hearing:
    hearing = Hearing()
    for start, end in zip((0, *cuts), (*cuts, len(body)), strict=True):
        hearing.stream(body[start:end])
    hearing.close()
    return hearing


def heard_whole(body: bytes) -> Hearing:
    hearing = Hearing()
    hearing.whole(body)
    return hearing


def texts(hearing: Hearing) -> list[str]:
    return [told.text for told in hearing.answers(99)]


CHAT = (piece("Once "), piece("upon\n\ndata: a time"), piece("", finish="stop"))


@given(st.data())
def test_a_stream_says_the_same_wherever_it_is_cut(data: st.DataObject) -> None:
    body = sse(*CHAT, line_end=data.draw(st.sampled_from(["\n", "\r\n"]))) + b"data: [DONE]\n\n"
    cuts = tuple(sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=6))))
    assert texts(heard(body, cuts=cuts)) == ["Once upon\n\ndata: a time"]


def test_comments_and_other_fields_between_events_are_passed_over() -> None:
    body = b": keepalive\n\nid: 1\nevent: message\n" + sse(CHAT[0]) + b"retry: 10\n\n: ping\n\n" + sse(*CHAT[1:])
    assert texts(heard(body)) == ["Once upon\n\ndata: a time"]


def test_a_stream_without_its_last_empty_line_is_heard_to_the_end() -> None:
    assert texts(heard(sse(*CHAT).rstrip(b"\n"))) == ["Once upon\n\ndata: a time"]


def test_choices_that_come_interleaved_are_told_apart() -> None:
    body = sse(
        piece("a", index=1),
        piece("b"),
        piece("c", index=1),
        piece("", finish="stop"),
        piece("", index=1, finish="length"),
    )
    assert [(told.text, told.finish) for told in heard(body).answers(9)] == [("b", "stop"), ("ac", "length")]


def test_anthropic_s_messages_are_heard_with_thinking_apart() -> None:
    events = [
        {
            "type": "message_start",
            "message": {"usage": {"input_tokens": 7, "cache_read_input_tokens": 5, "output_tokens": 1}},
        },
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "The end."}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]
    hearing = heard(sse(*events))
    assert [(told.text, told.finish) for told in hearing.answers(1)] == [("The end.", "stop")]
    assert (hearing.counts.tokens_in, hearing.counts.tokens_out, hearing.counts.cached) == (12, 9, 5)


@pytest.mark.parametrize(
    ("said", "finish"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("content_filter", "refused"),
        ("refusal", "refused"),
        ("tool_calls", None),
    ],
)
def test_how_an_answer_ended_is_kept(said: str, finish: str | None) -> None:
    (told,) = heard(sse(piece("x", finish=said))).answers(1)
    assert (told.said, told.finish) == (said, finish)


def test_a_refusal_in_its_own_field_is_refused_whatever_it_ended_with() -> None:
    event = {"choices": [{"index": 0, "delta": {"refusal": "I can't."}, "finish_reason": "stop"}]}
    (told,) = heard(sse(event)).answers(1)
    assert (told.finish, told.text) == ("refused", "I can't.")


@pytest.mark.parametrize("body", [b"", sse({"choices": []}), sse(piece("cut o")), b": nothing\n\n"])
def test_what_broke_off_is_no_answer(body: bytes) -> None:
    with pytest.raises(Unheard):
        heard(body).answers(1)


@pytest.mark.parametrize(
    "body",
    [
        b"data: {not json\n\n",
        b'data: {"choices": "none"}\n\n',
        b"data: \xff\xfe\n\n",
        b"data: [1, 2]\n\n",
        b"data: " + b"[" * 100_000 + b"\n\n",
    ],
)
def test_what_is_no_event_is_said_to_be_none(body: bytes) -> None:
    with pytest.raises(Unheard, match="no answer of its protocol"):
        heard(body)


def test_an_error_in_the_stream_is_told_in_the_server_s_words() -> None:
    for error, overloaded in (
        ({"error": {"message": "the engine died"}}, False),
        ({"error": "the engine died"}, False),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "the engine died"}}, True),
    ):
        with pytest.raises(Unheard, match="the engine died") as raised:
            heard(sse(piece("x"), error))
        assert raised.value.overloaded is overloaded


@given(st.binary(max_size=300))
def test_any_bytes_are_heard_or_refused(body: bytes) -> None:
    for takes in (heard, heard_whole):
        try:
            said = texts(takes(body))
        except Unheard as refused:
            assert str(refused)  # in words
        else:
            assert said and all(type(text) is str for text in said)


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["prompt_tokens", "completion_tokens", "input_tokens", "completion_tokens_details", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@given(json)
def test_usage_of_any_shape_is_a_count_or_nobody_s_word(usage: object) -> None:
    hearing = Hearing()
    hearing.whole(msgspec.json.encode(whole("A few words.", usage=usage)))
    for name in hearing.counts.__struct_fields__:
        told = getattr(hearing.counts, name)
        assert told is None or told >= 0


ASKED = Asked(system="", user="Write the end of the story.")


def used(**counts: int) -> Usage:
    hearing = Hearing()
    hearing.whole(msgspec.json.encode(whole("word " * 200)))
    return usage_of(Counts(**counts), hearing.answers(1), asked=ASKED)


def test_usage_is_kept_as_told_with_all_its_details() -> None:
    told = used(tokens_in=9, tokens_out=260, cached=8, reasoning=60, accepted=30, rejected=5)
    assert (told.tokens_in, told.tokens_out, told.counted_by) == (9, 260, "usage")
    assert (told.cached, told.reasoning, told.accepted, told.rejected) == (8, 60, 30, 5)


@pytest.mark.parametrize(
    "counts",
    [{}, {"tokens_in": 9}, {"tokens_out": 250}, {"tokens_in": 9, "tokens_out": 0}, {"tokens_in": 9, "tokens_out": 3}],
)
def test_usage_that_is_missing_or_can_not_be_true_is_estimated_and_says_so(counts: dict[str, int]) -> None:
    told = used(**counts)
    assert told.counted_by.startswith("o200k_base")
    assert 190 <= told.tokens_out <= 210


def test_a_whole_answer_counts_its_choices_by_their_places() -> None:
    hearing = Hearing()
    choices = [{"index": 0, "message": {"content": text}, "finish_reason": "stop"} for text in ("a", "b")]
    hearing.whole(msgspec.json.encode({"choices": choices}))
    assert texts(hearing) == ["a", "b"]


def test_content_in_parts_is_put_together() -> None:
    message = {"content": [{"type": "text", "text": "The "}, {"type": "text", "text": "end."}]}
    hearing = Hearing()
    hearing.whole(msgspec.json.encode({"choices": [{"message": message, "finish_reason": "stop"}]}))
    assert texts(hearing) == ["The end."]
