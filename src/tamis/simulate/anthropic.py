"""Anthropic's messages, streamed or whole. One answer a request; reasoning comes as a thinking block."""

# ruff: noqa: ARG002 (a wire is handed what any protocol may need)

from collections.abc import Mapping, Sequence

from tamis.simulate.asked import Asked, Body, Refused, messages_text, number, texts
from tamis.simulate.wire import MARK, Ending, Frame, Text, Used, event, split_event

REASON: Mapping[Ending, str] = {"stop": "end_turn", "sequence": "stop_sequence", "length": "max_tokens"}


def messages_asked(body: Body) -> Asked:
    """A messages request. Raises Refused."""
    max_tokens = number(body, "max_tokens")
    if max_tokens is None:
        raise Refused(400, "max_tokens: Field required")
    system = body.get("system")
    before = system if isinstance(system, str) else "".join(_block_text(b) for b in _blocks(system))
    return Asked(
        protocol="messages",
        model=str(body.get("model") or ""),
        prompt=before + "\n" * bool(before) + messages_text(body),
        streamed=body.get("stream") is True,
        max_tokens=max_tokens,
        stop=texts(body.get("stop_sequences"), "stop_sequences"),
        wants_usage=True,
    )


class MessagesWire:
    """Events of /v1/messages. A message opens with its prompt's usage and ends with its own."""

    def __init__(self, *, request_id: str, model: str, created: int) -> None:
        self._head = {"id": request_id, "type": "message", "role": "assistant", "model": model}
        self._block = 0

    def opening(self, index: int, used: Used, *, reasoning: bool) -> bytes:
        start: dict[str, object] = {
            **self._head,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": _usage(used, 1),
        }
        return event({"type": "message_start", "message": start}, name="message_start") + self._begin(reasoning)

    def frame(self, index: int, *, reasoning: bool) -> Frame:
        delta = {"type": "thinking_delta", "thinking": MARK} if reasoning else {"type": "text_delta", "text": MARK}
        payload = {"type": "content_block_delta", "index": self._block, "delta": delta}
        return split_event(payload, name="content_block_delta")

    def _begin(self, reasoning: bool) -> bytes:
        block = {"type": "thinking", "thinking": "", "signature": ""} if reasoning else {"type": "text", "text": ""}
        payload = {"type": "content_block_start", "index": self._block, "content_block": block}
        return event(payload, name="content_block_start")

    def turn(self, index: int) -> bytes:
        stop = event({"type": "content_block_stop", "index": self._block}, name="content_block_stop")
        self._block += 1
        return stop + self._begin(False)

    def closing(self, index: int, ending: Ending, stopped_by: str | None, used: Used) -> bytes:
        stop = event({"type": "content_block_stop", "index": self._block}, name="content_block_stop")
        delta = {"stop_reason": REASON[ending], "stop_sequence": stopped_by}
        tokens = {"output_tokens": used.completion}
        return stop + event({"type": "message_delta", "delta": delta, "usage": tokens}, name="message_delta")

    def end(self, used: Used | None) -> bytes:
        return event({"type": "message_stop"}, name="message_stop")

    def whole(self, texts: Sequence[Text], used: Used | None) -> object:
        text = texts[0]
        thought = [{"type": "thinking", "thinking": text.reasoning, "signature": ""}] if text.reasoning else []
        return {
            **self._head,
            "content": [*thought, {"type": "text", "text": text.content}],
            "stop_reason": REASON[text.ending],
            "stop_sequence": text.stopped_by,
            "usage": _usage(used, used.completion) if used else {"input_tokens": 0, "output_tokens": 0},
        }


def too_long(context: int, prompt: int, output: int | None) -> Refused:
    """The error for a prompt, or a prompt with its answer, that does not fit."""
    if output is None:
        return Refused(400, f"prompt is too long: {prompt} tokens > {context} maximum")
    return Refused(
        400,
        f"input length and `max_tokens` exceed context limit: {prompt} + {output} > {context}, "
        "decrease input length or `max_tokens` and try again",
    )


def too_much(cap: int, output: int, model: str) -> Refused:
    """The error for more output than the model writes."""
    return Refused(
        400, f"max_tokens: {output} > {cap}, which is the maximum allowed number of output tokens for {model}"
    )


def _usage(used: Used, output_tokens: int) -> dict[str, int]:
    return {
        "input_tokens": used.prompt - used.cached,
        "cache_read_input_tokens": used.cached,
        "cache_creation_input_tokens": 0,
        "output_tokens": output_tokens,
    }


def _blocks(system: object) -> list[object]:
    return system if isinstance(system, list) else []


def _block_text(block: object) -> str:
    return str(block.get("text", "")) if isinstance(block, dict) else ""
