"""The protocols that the meter speaks: what to send, and what one event carries."""

from typing import Literal

import msgspec

Api = Literal["chat", "completions", "messages"]
PATHS: dict[Api, str] = {"chat": "/v1/chat/completions", "completions": "/v1/completions", "messages": "/v1/messages"}
ANTHROPIC_VERSION = "2023-06-01"


class Ask(msgspec.Struct, frozen=True):
    """One stream to be written: the prompt, and how many tokens at most."""

    prompt: str
    max_tokens: int


class Details(msgspec.Struct):
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    accepted_prediction_tokens: int | None = None
    rejected_prediction_tokens: int | None = None


class Usage(msgspec.Struct):
    """Usage in OpenAI's words and in Anthropic's."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: Details | None = None
    completion_tokens_details: Details | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None


class Delta(msgspec.Struct):
    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    text: str | None = None
    thinking: str | None = None
    stop_reason: str | None = None


class Choice(msgspec.Struct):
    delta: Delta | None = None
    text: str | None = None
    finish_reason: str | None = None


class Message(msgspec.Struct):
    usage: Usage | None = None


class Timings(msgspec.Struct):
    """What llama.cpp tells with its last event."""

    draft_n: int | None = None
    draft_n_accepted: int | None = None


class Event(msgspec.Struct):
    """One event of any of the protocols; fields that are not needed here are passed over."""

    choices: list[Choice] = []
    usage: Usage | None = None
    delta: Delta | None = None
    message: Message | None = None
    timings: Timings | None = None
    error: dict[str, object] | str | None = None


class Habits(msgspec.Struct):
    """What a server has been found to want: learnt from its refusals."""

    cap_field: str = "max_tokens"
    asks_usage: bool = True
    extra: dict[str, object] = {}

    def learn(self, message: str) -> bool:
        """Change a habit that this refusal is about; False where it is about something else."""
        if "max_completion_tokens" in message and self.cap_field == "max_tokens":
            self.cap_field = "max_completion_tokens"
        elif "stream_options" in message and self.asks_usage:
            self.asks_usage = False
        else:
            return False
        return True


def body_of(api: Api, model: str, ask: Ask, habits: Habits) -> bytes:
    """The body of a request for a stream."""
    body: dict[str, object] = {"model": model, "stream": True}
    message = [{"role": "user", "content": ask.prompt}]
    match api:
        case "chat":
            body |= {"messages": message, habits.cap_field: ask.max_tokens}
        case "completions":
            body |= {"prompt": ask.prompt, "max_tokens": ask.max_tokens}
        case "messages":
            body |= {"messages": message, "max_tokens": ask.max_tokens}
    if habits.asks_usage and api != "messages":
        body["stream_options"] = {"include_usage": True}
    return msgspec.json.encode(body | habits.extra)


def headers_of(api: Api, key: str | None) -> dict[str, str]:
    """The headers that carry the key."""
    if api == "messages":
        return {"anthropic-version": ANTHROPIC_VERSION} | ({"x-api-key": key} if key else {})
    return {"authorization": f"Bearer {key}"} if key else {}
