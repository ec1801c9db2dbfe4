"""What goes over the wire, whatever the protocol: how a stream of events opens, repeats, closes and ends.

An event is what stands `before` its token, the token, and what stands `after` it; everything but the token is rendered
once per stream, so that a million events a second are one join of bytes. No JSON is built per token.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

import msgspec

from tamis.records import Record
from tamis.simulate.asked import Refused

Ending = Literal["stop", "length", "sequence"]
"""Why a text ended: by itself, at the limit of tokens, or at a stop sequence."""


class Used(Record, frozen=True, kw_only=True):
    """Tokens of one request. `accepted` and `rejected` are tokens that a draft model proposed."""

    prompt: int
    cached: int = 0
    completion: int = 0
    reasoning: int = 0
    accepted: int | None = None
    rejected: int | None = None


class Text(Record, frozen=True, kw_only=True):
    """One whole answer, for a request that did not ask for a stream."""

    content: str
    reasoning: str
    ending: Ending
    stopped_by: str | None = None


class Frame(NamedTuple):
    """What stands around each token of a run of events."""

    before: bytes
    between: bytes
    after: bytes

    def parts(self, tokens: Sequence[bytes]) -> tuple[bytes, bytes, bytes]:
        """Every token in an event of its own, in parts: joining them here would copy every byte once more."""
        return self.before, self.between.join(tokens), self.after

    def around(self, tokens: Sequence[bytes]) -> bytes:
        """The parts joined."""
        return b"".join(self.parts(tokens))


class Wire(Protocol):
    """One protocol's events for one request. `index` counts the answers of a request with n above 1."""

    def opening(self, index: int, used: Used, *, reasoning: bool) -> bytes:
        """What comes before the first token; `reasoning` says whether that one is reasoning."""
        ...

    def frame(self, index: int, *, reasoning: bool) -> Frame: ...

    def turn(self, index: int) -> bytes:
        """Between the reasoning and the answer."""
        ...

    def closing(self, index: int, ending: Ending, stopped_by: str | None, used: Used) -> bytes: ...

    def end(self, used: Used | None) -> bytes: ...

    def whole(self, texts: Sequence[Text], used: Used | None) -> object:
        """The body of an answer that is not streamed."""
        ...


def event(payload: object, *, name: str | None = None) -> bytes:
    """A server-sent event that carries a JSON value."""
    head = f"event: {name}\n".encode() if name else b""
    return head + b"data: " + msgspec.json.encode(payload) + b"\n\n"


MARK = "«the token goes here»"


def split_event(payload: object, *, name: str | None = None) -> Frame:
    """The event of `payload`, cut where MARK stands in it: what comes before a token and what after."""
    before, after = event(payload, name=name).split(MARK.encode())
    return Frame(before, after + before, after)


def error_body(refused: Refused, *, anthropic: bool) -> object:
    """An error in the API's own shape."""
    if anthropic:
        kind = {429: "rate_limit_error", 500: "api_error", 503: "overloaded_error", 529: "overloaded_error"}
        inner = {"type": kind.get(refused.status, refused.kind), "message": refused.message}
        return {"type": "error", "error": inner, "request_id": None}
    return {"error": {"message": refused.message, "type": refused.kind, "param": refused.param, "code": refused.code}}
