"""What a batch of OpenAI's answered: one line a request, with one draft for each of its choices, or the error that
there is instead. Chat completions, completions and responses are read; what a chat model says around its code is taken
off as for any writer.
"""

from collections.abc import Iterator

import msgspec

from tamis.brief import LoadedBrief
from tamis.records import Fault, Finish
from tamis.writers.base import Written
from tamis.writers.jsonl import BadLine, Sample, Usage, encoded, finish_of

NOT_WRITTEN: Fault = "sandbox"


class _Error(msgspec.Struct, frozen=True):
    message: str | None = None
    code: str | int | None = None
    type: str | None = None

    @property
    def told(self) -> str:
        return ": ".join(str(part) for part in (self.code or self.type, self.message) if part) or "an error"


class _Message(msgspec.Struct, frozen=True):
    content: str | None = None
    refusal: str | None = None


class _Choice(msgspec.Struct, frozen=True):
    message: _Message | None = None
    text: str | None = None
    finish_reason: str | None = None


class _Part(msgspec.Struct, frozen=True):
    type: str = ""
    text: str | None = None
    refusal: str | None = None


class _Item(msgspec.Struct, frozen=True):
    type: str = ""
    content: tuple[_Part, ...] | None = None


class _Incomplete(msgspec.Struct, frozen=True):
    reason: str | None = None


class _Body(msgspec.Struct, frozen=True):
    """`output`, `status` and `incomplete_details` are of the responses API."""

    choices: tuple[_Choice, ...] | None = None
    usage: Usage | None = None
    output: tuple[_Item, ...] | None = None
    status: str | None = None
    incomplete_details: _Incomplete | None = None
    error: _Error | None = None


class _Response(msgspec.Struct, frozen=True):
    status_code: int = 200
    body: _Body | None = None


def drafts_of(sample: Sample, brief: LoadedBrief, *, name: str, max_bytes: int) -> Iterator[Written]:
    """Every draft of one request, named by its `custom_id`, and by its number where there are several. A choice that
    is none is a draft with its problem; raises BadLine where the whole request is."""
    body = _body(sample)
    choices = _choices(body)
    if not choices:
        raise BadLine("was answered with no choice", NOT_WRITTEN)
    # the usage is of all choices together, so with several none of them has one
    tokens = body.usage.tokens if body.usage and len(choices) == 1 else None
    for number, choice in enumerate(choices, 1):
        own = name if len(choices) == 1 else f"{name}#{number}"
        try:
            yield _draft(choice, brief, name=own, max_bytes=max_bytes, tokens=tokens)
        except BadLine as bad:
            yield Written(name=own, content=b"", problem=bad.problem, fault=bad.fault)


def _body(sample: Sample) -> _Body:
    """The answer. Raises BadLine where the request failed."""
    try:
        error = msgspec.json.decode(sample.error, type=_Error | str | None)
        response = msgspec.json.decode(sample.response, type=_Response | None)
    except (msgspec.DecodeError, RecursionError) as problem:
        raise BadLine(f"is a batch's line of another shape: {problem}") from problem
    if error is not None:
        raise BadLine(f"was not written: {error if isinstance(error, str) else error.told}", NOT_WRITTEN)
    if response is None or response.body is None:
        raise BadLine("was not written: the batch's line has no response", NOT_WRITTEN)
    if response.body.error is not None:
        raise BadLine(f"was not written: {response.body.error.told}", NOT_WRITTEN)
    if response.status_code != 200:
        raise BadLine(f"was not written: status {response.status_code}", NOT_WRITTEN)
    return response.body


def _choices(body: _Body) -> tuple[_Choice, ...]:
    """The choices; an answer of the responses API is one, put together from its parts."""
    if body.output is None:
        return body.choices or ()
    parts = [part for item in body.output if item.type == "message" for part in item.content or ()]
    refusals = [part.refusal for part in parts if part.refusal]
    message = _Message(
        content="".join(part.text or "" for part in parts if part.type == "output_text"),
        refusal=refusals[0] if refusals else None,
    )
    reason = body.incomplete_details.reason if body.incomplete_details else None
    return (_Choice(message=message, finish_reason=reason if body.status == "incomplete" else "stop"),)


def _draft(choice: _Choice, brief: LoadedBrief, *, name: str, max_bytes: int, tokens: int | None) -> Written:
    from tamis.writers.server.answers import content_of  # noqa: PLC0415 - brings all of HTTP, which no other file needs

    refusal = choice.message.refusal if choice.message else None
    finish: Finish = "refused" if refusal else finish_of(choice.finish_reason)
    answer = choice.message.content if choice.message else choice.text
    found = content_of(answer, brief).text if answer and choice.message else answer or ""
    return Written(
        name=name,
        content=encoded(found, max_bytes=max_bytes),
        finish=finish,
        tokens=tokens,
        counted_by="usage" if tokens is not None else None,
        problem=f"was refused by its writer: {refusal[:200]}" if refusal else None,
    )
