import json

import pytest

from tamis.simulate.anthropic import MessagesWire
from tamis.simulate.asked import Asked, Refused
from tamis.simulate.compose import WIRES, asked_of
from tamis.simulate.limits import allowed_tokens, natural_tokens
from tamis.simulate.openai import ChatWire
from tamis.simulate.settings import Simulated
from tamis.simulate.wire import Used, Wire, error_body

USED = Used(prompt=7, cached=2, completion=3)


def _wire(protocol: str) -> Wire:
    return WIRES[protocol](request_id="id-1", model='m"odel', created=1)  # type: ignore[index]


def _payloads(raw: bytes) -> list[dict[str, object]]:
    events = [event for event in raw.decode().split("\n\n") if event and not event.endswith("[DONE]")]
    return [json.loads(event[event.index("data:") + 5 :]) for event in events]


@pytest.mark.parametrize("protocol", list(WIRES))
def test_every_event_of_a_stream_is_json_of_its_own(protocol: str) -> None:
    wire = _wire(protocol)
    raw = wire.opening(0, USED, reasoning=False)
    raw += wire.frame(0, reasoning=False).around([b"one", b" \\n two", b" three"])
    raw += wire.closing(0, "length", None, USED) + wire.end(USED)
    assert raw.endswith(b"\n\n")
    text = json.dumps(_payloads(raw))
    assert all(word in text for word in ("one", "two", "three"))


@pytest.mark.parametrize("protocol", list(WIRES))
def test_tokens_joined_at_once_are_the_events_one_by_one(protocol: str) -> None:
    frame = _wire(protocol).frame(0, reasoning=False)
    assert frame.around([b"a", b"b"]) == frame.around([b"a"]) + frame.around([b"b"])


def test_a_chat_opens_with_a_role_and_ends_with_usage_only_when_asked() -> None:
    wire = ChatWire(request_id="x", model="m", created=1)
    (opening,) = _payloads(wire.opening(0, USED, reasoning=False))
    assert opening["choices"][0]["delta"]["role"] == "assistant"  # type: ignore[index]
    assert wire.end(None) == b"data: [DONE]\n\n"
    (usage,) = _payloads(wire.end(USED))
    assert usage["usage"]["completion_tokens"] == 3  # type: ignore[index]
    assert usage["choices"] == []


def test_thinking_is_a_block_of_its_own_before_the_text() -> None:
    wire = MessagesWire(request_id="x", model="m", created=1)
    raw = wire.opening(0, USED, reasoning=True) + wire.frame(0, reasoning=True).around([b"hm"]) + wire.turn(0)
    raw += wire.frame(0, reasoning=False).around([b"so"]) + wire.closing(0, "stop", None, USED)
    found = [(p["type"], p.get("index")) for p in _payloads(raw)]
    assert found == [
        ("message_start", None),
        ("content_block_start", 0),
        ("content_block_delta", 0),
        ("content_block_stop", 0),
        ("content_block_start", 1),
        ("content_block_delta", 1),
        ("content_block_stop", 1),
        ("message_delta", None),
    ]


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("/v1/chat/completions", b"{", "could not parse"),
        ("/v1/chat/completions", b"[]", "could not parse"),
        ("/v1/chat/completions", b"{}", "messages"),
        ("/v1/chat/completions", b'{"messages": [{"content": "x"}], "max_tokens": "9"}', "expected an integer"),
        ("/v1/chat/completions", b'{"messages": [{"content": "x"}], "max_tokens": 0}', "at least 1"),
        ("/v1/chat/completions", b'{"messages": [{"content": "x"}], "stop": [1]}', "stop"),
        ("/v1/completions", b'{"prompt": {"a": 1}}', "prompt"),
        ("/v1/messages", b'{"messages": [{"content": "x"}]}', "max_tokens: Field required"),
    ],
)
def test_a_request_that_is_none_is_refused_in_words(path: str, body: bytes, said: str) -> None:
    with pytest.raises(Refused, match=said) as caught:
        asked_of(path, body)
    assert caught.value.status == 400


def test_the_text_parts_of_a_message_are_read_and_the_system_prompt_too() -> None:
    body = {"system": "be", "max_tokens": 3, "messages": [{"content": [{"type": "text", "text": "kind"}]}]}
    assert asked_of("/v1/messages", json.dumps(body).encode()).prompt == "be\nkind"


def test_several_prompts_are_several_answers_and_token_numbers_are_a_prompt() -> None:
    assert asked_of("/v1/completions", b'{"prompt": ["a", "b"], "n": 3}').n == 6
    assert asked_of("/v1/completions", b'{"prompt": [5, 6, 7]}').ids == (5, 6, 7)


ASKED = Asked(protocol="chat", model="m", prompt="x", max_tokens=50)


@pytest.mark.parametrize("protocol", ["chat", "completions", "messages"])
@pytest.mark.parametrize(
    ("prompt", "wanted", "limit"), [(10, 51, "50"), (100, 10, "100"), (95, 10, "100"), (500, 60, "50")]
)
def test_context_and_output_cap_are_refused_with_errors_that_name_them(
    protocol: str, prompt: int, wanted: int, limit: str
) -> None:
    settings = Simulated(context=100, output_cap=50)
    asked = Asked(protocol=protocol, model="m", prompt="x", max_tokens=wanted)  # type: ignore[arg-type]
    with pytest.raises(Refused, match=limit) as caught:
        allowed_tokens(settings, asked, prompt)
    assert ("context" in caught.value.message or "prompt is too long" in caught.value.message) == (wanted <= 50)


def test_what_just_fits_is_taken() -> None:
    settings = Simulated(context=100, output_cap=50)
    assert allowed_tokens(settings, ASKED, 50) == 50
    assert allowed_tokens(settings, Asked(protocol="chat", model="m", prompt="x"), 60) == 40


def test_a_text_ends_by_itself_where_its_length_is_set_unless_the_end_is_to_be_ignored() -> None:
    settings = Simulated(length=30)
    assert natural_tokens(settings, ASKED, None) == 30
    assert (
        natural_tokens(settings, Asked(protocol="chat", model="m", prompt="", max_tokens=9, ignores_end=True), 5)
        is None
    )
    assert natural_tokens(settings, ASKED, 12) == 12


def test_an_error_has_the_shape_of_the_api_that_was_asked() -> None:
    refused = Refused(429, "slow down", kind="rate_limit_error", code="rate_limit_exceeded")
    assert error_body(refused, anthropic=True)["error"]["type"] == "rate_limit_error"  # type: ignore[index]
    assert error_body(refused, anthropic=False)["error"]["code"] == "rate_limit_exceeded"  # type: ignore[index]
