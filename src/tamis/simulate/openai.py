"""OpenAI's protocol: chat completions and completions, streamed or whole."""

# ruff: noqa: ARG002 (a wire is handed what any protocol may need)

from collections.abc import Mapping, Sequence

from tamis.simulate.asked import Asked, Body, Protocol, Refused, messages_text, number, texts
from tamis.simulate.wire import MARK, Ending, Frame, Text, Used, event, split_event

FINISH: Mapping[Ending, str] = {"stop": "stop", "sequence": "stop", "length": "length"}


def chat_asked(body: Body) -> Asked:
    """A chat request. Raises Refused."""
    most = number(body, "max_completion_tokens") or number(body, "max_tokens")
    return _asked(body, "chat", messages_text(body), max_tokens=most)


def completions_asked(body: Body) -> Asked:
    """A completions request; its prompt is a text, texts, or token numbers. Raises Refused."""
    prompt = body.get("prompt", "")
    ids: tuple[int, ...] = ()
    many: tuple[str, ...] = ()
    if isinstance(prompt, list) and prompt and all(isinstance(one, int) for one in prompt):
        ids = tuple(prompt)
    else:
        many = texts(prompt, "prompt")
    most = number(body, "max_tokens")
    return _asked(body, "completions", "\n".join(many), max_tokens=most, ids=ids, prompts=max(1, len(many)))


def _asked(
    body: Body, protocol: Protocol, prompt: str, *, max_tokens: int | None, ids: tuple[int, ...] = (), prompts: int = 1
) -> Asked:
    options = body.get("stream_options")
    return Asked(
        protocol=protocol,
        model=str(body.get("model") or ""),
        prompt=prompt,
        ids=ids,
        max_tokens=max_tokens,
        streamed=body.get("stream") is True,
        n=prompts * (number(body, "n") or 1),
        seed=number(body, "seed", least=-(2**63)),
        stop=texts(body.get("stop"), "stop"),
        wants_usage=isinstance(options, dict) and options.get("include_usage") is True,
        ignores_end=body.get("ignore_eos") is True,
    )


class ChatWire:
    """Events of /v1/chat/completions."""

    kind = "chat.completion"

    def __init__(self, *, request_id: str, model: str, created: int) -> None:
        self._head = {"id": request_id, "object": f"{self.kind}.chunk", "created": created, "model": model}
        self._whole = {"id": request_id, "object": self.kind, "created": created, "model": model}

    def opening(self, index: int, used: Used, *, reasoning: bool) -> bytes:
        return self._chunk(index, {"role": "assistant", "content": ""})

    def frame(self, index: int, *, reasoning: bool) -> Frame:
        delta = {"reasoning_content" if reasoning else "content": MARK}
        return split_event({**self._head, "choices": [{"index": index, "delta": delta, "finish_reason": None}]})

    def turn(self, index: int) -> bytes:
        return b""

    def closing(self, index: int, ending: Ending, stopped_by: str | None, used: Used) -> bytes:
        return self._chunk(index, {}, FINISH[ending])

    def end(self, used: Used | None) -> bytes:
        last = event({**self._head, "choices": [], "usage": usage(used)}) if used else b""
        return last + b"data: [DONE]\n\n"

    def whole(self, texts: Sequence[Text], used: Used | None) -> object:
        choices = [{"index": i, "message": _message(t), "finish_reason": FINISH[t.ending]} for i, t in enumerate(texts)]
        return {**self._whole, "choices": choices, **({"usage": usage(used)} if used else {})}

    def _chunk(self, index: int, delta: Mapping[str, str], finish: str | None = None) -> bytes:
        return event({**self._head, "choices": [{"index": index, "delta": delta, "finish_reason": finish}]})


class CompletionWire:
    """Events of /v1/completions."""

    def __init__(self, *, request_id: str, model: str, created: int) -> None:
        self._head = {"id": request_id, "object": "text_completion", "created": created, "model": model}

    def opening(self, index: int, used: Used, *, reasoning: bool) -> bytes:
        return b""

    def frame(self, index: int, *, reasoning: bool) -> Frame:
        return split_event({**self._head, "choices": [_choice(index, MARK, None)]})

    def turn(self, index: int) -> bytes:
        return b""

    def closing(self, index: int, ending: Ending, stopped_by: str | None, used: Used) -> bytes:
        return event({**self._head, "choices": [_choice(index, "", FINISH[ending])]})

    def end(self, used: Used | None) -> bytes:
        last = event({**self._head, "choices": [], "usage": usage(used)}) if used else b""
        return last + b"data: [DONE]\n\n"

    def whole(self, texts: Sequence[Text], used: Used | None) -> object:
        choices = [_choice(i, text.content, FINISH[text.ending]) for i, text in enumerate(texts)]
        return {**self._head, "choices": choices, **({"usage": usage(used)} if used else {})}


def usage(used: Used) -> dict[str, object]:
    """The usage field, with the details that OpenAI's has."""
    details: dict[str, int] = {"reasoning_tokens": used.reasoning}
    if used.accepted is not None and used.rejected is not None:
        details |= {"accepted_prediction_tokens": used.accepted, "rejected_prediction_tokens": used.rejected}
    return {
        "prompt_tokens": used.prompt,
        "completion_tokens": used.completion,
        "total_tokens": used.prompt + used.completion,
        "prompt_tokens_details": {"cached_tokens": used.cached},
        "completion_tokens_details": details,
    }


def models(name: str, created: int, context: int | None) -> object:
    """The list of models; the context capacity stands where vLLM puts it."""
    model: dict[str, object] = {"id": name, "object": "model", "created": created, "owned_by": "tamis"}
    if context is not None:
        model["max_model_len"] = context
    return {"object": "list", "data": [model]}


def too_long(context: int, prompt: int, output: int | None, *, whose: str) -> Refused:
    """The error for a prompt, or a prompt with its answer, that does not fit."""
    asks = f"your {whose} resulted in {prompt} tokens" if output is None else (
        f"you requested {prompt + output} tokens ({prompt} in the {whose}, {output} in the completion)"
    )  # fmt: skip
    return Refused(
        400,
        f"This model's maximum context length is {context} tokens. However, {asks}. Please reduce the length.",
        param=whose,
        code="context_length_exceeded",
    )


def too_much(cap: int, output: int) -> Refused:
    """The error for more output than the model writes."""
    message = f"max_tokens is too large: {output}. This model supports at most {cap} completion tokens."
    return Refused(400, message, param="max_tokens", code="invalid_value")


def _message(text: Text) -> dict[str, str]:
    thought = {"reasoning_content": text.reasoning} if text.reasoning else {}
    return {"role": "assistant", "content": text.content, **thought}


def _choice(index: int, text: str, finish: str | None) -> dict[str, object]:
    return {"index": index, "text": text, "logprobs": None, "finish_reason": finish}
