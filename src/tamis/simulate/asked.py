"""What a request asks for, in one form for all protocols, and what it is refused with.

The bodies of requests come from any client; what they hold beyond these fields is ignored, as real servers do.
"""

import random
from typing import Literal

import msgspec

from tamis.records import Record

Protocol = Literal["chat", "completions", "messages"]

Body = dict[str, object]


class Asked(Record, frozen=True, kw_only=True):
    protocol: Protocol
    model: str
    prompt: str
    streamed: bool = False
    max_tokens: int | None = None
    n: int = 1
    seed: int | None = None
    stop: tuple[str, ...] = ()
    wants_usage: bool = False
    ignores_end: bool = False
    ids: tuple[int, ...] = ()
    """the prompt as token numbers, where it was sent as such"""


class Refused(Exception):
    """A request that is answered with an error. `kind` and `code` are the API's own words for it."""

    def __init__(
        self, status: int, message: str, *, kind: str = "invalid_request_error", param: str | None = None,
        code: str | None = None, retry_after_seconds: float | None = None,
    ) -> None:  # fmt: skip
        super().__init__(message)
        self.status, self.message, self.kind, self.param, self.code = status, message, kind, param, code
        self.retry_after_seconds = retry_after_seconds


def read_body(raw: bytes) -> Body:
    """The JSON object of a request. Raises Refused where it is none."""
    try:
        return msgspec.json.decode(raw, type=Body)
    except msgspec.DecodeError as error:
        raise Refused(400, f"We could not parse the JSON body of your request: {error}") from error


def number(body: Body, name: str, *, least: int = 1) -> int | None:
    """A whole number of the body. Raises Refused where something else stands there."""
    found = body.get(name)
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, int):
        raise Refused(400, f"Invalid type for '{name}': expected an integer.", param=name, code="invalid_type")
    if found < least:
        raise Refused(
            400, f"Invalid '{name}': must be at least {least}, got {found}.", param=name, code="invalid_value"
        )
    return found


def texts(found: object, name: str) -> tuple[str, ...]:
    """A text or a list of texts. Raises Refused."""
    if found is None:
        return ()
    many = found if isinstance(found, list) else [found]
    if not all(isinstance(one, str) for one in many):
        raise Refused(400, f"Invalid type for '{name}': expected a string or a list of strings.", param=name)
    return tuple(str(one) for one in many if one)


def message_text(message: object) -> str:
    """The text of one chat message: its content, or the text parts of it."""
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def messages_text(body: Body) -> str:
    """All messages, one a line. Raises Refused where there are none."""
    found = body.get("messages")
    if not isinstance(found, list) or not found:
        raise Refused(
            400, "Missing required parameter: 'messages'.", param="messages", code="missing_required_parameter"
        )
    return "\n".join(message_text(message) for message in found)


def drawn(seed: int, *parts: object) -> random.Random:
    """The randomness of one thing: the same for the same seed and parts."""
    return random.Random(f"{seed} {parts!r}")
