"""What a foreign trace tells, before it becomes spans: the same few facts whatever format it came in.

Model calls become writing, tool calls tools; what only holds others, or what nobody can name, becomes "whole", so that
the time in it that nothing accounts for shows up as such. Nothing is dropped or capped in silence: `notes`.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeGuard

import msgspec

from tamis.records import Record, Span, Stage

Json = Mapping[str, object]


class Seen(msgspec.Struct, kw_only=True):
    """A span as a trace tells it. `stage` is None where the trace doesn't say what kind of work it is, `ended` where
    it never says that it ended. Times are in seconds since 1970."""

    id: str
    parent: str | None
    run: str
    name: str
    stage: Stage | None
    started: float
    ended: float | None
    tokens_in: int = 0
    tokens_out: int = 0
    first_token_at: float | None = None
    waited: float = 0.0
    waited_on: str | None = None
    after: tuple[str, ...] | None = None
    resource: str | None = None


class Imported(Record, frozen=True, kw_only=True):
    """A trace as spans. `format` names what it was, `notes` what was missing or had to be decided."""

    format: str
    spans: tuple[Span, ...]
    notes: tuple[str, ...] = ()


def imported(format_name: str, seen: Sequence[Seen], *, notes: Sequence[str] = ()) -> Imported:
    """The spans of a trace, with what had to be made good told in the notes."""
    by_id = {one.id: one for one in seen}
    told = list(notes)
    unfinished = _end_unfinished(by_id)
    told += [f"{unfinished} spans never ended: counted up to the last thing known in them"] if unfinished else []
    doubled = _count_once(by_id)
    told += [f"{doubled} model calls are around others: their tokens are counted there, once"] if doubled else []
    inside = _fold(by_id)
    told += (
        [f"{inside} spans inside model and tool calls (transport, say) are counted as part of those"] if inside else []
    )
    unknown = sum(one.stage is None for one in by_id.values() if one.parent is not None)
    told += [f"{unknown} spans don't say what kind of work they are: their own time has no stage"] if unknown else []
    return Imported(format=format_name, spans=tuple(_span(one) for one in by_id.values()), notes=tuple(told))


def _span(one: Seen) -> Span:
    ended = one.ended if one.ended is not None else one.started
    first = one.first_token_at
    return Span(
        id=one.id,
        parent=one.parent,
        stage=one.stage or "whole",
        name=one.name,
        started=one.started,
        ended=ended,
        waited=min(max(0.0, one.waited), max(0.0, ended - one.started)),
        waited_on=one.waited_on,
        tokens_in=one.tokens_in,
        tokens_out=one.tokens_out,
        first_token_at=first if first is not None and one.started <= first <= ended else None,
        after=one.after,
        resource=one.resource,
        run=one.run,
    )


def _end_unfinished(by_id: Mapping[str, Seen]) -> int:
    """Ends what never ended with the last thing known below it. Returns how many there were."""
    children: dict[str, list[Seen]] = defaultdict(list)
    for one in by_id.values():
        if one.parent is not None:
            children[one.parent].append(one)
    unfinished = [one for one in by_id.values() if one.ended is None]
    for one in unfinished:
        last, below, met = one.started, list(children[one.id]), {one.id}
        while below:
            child = below.pop()
            if child.id not in met:
                met.add(child.id)
                last = max(last, child.started, child.ended or child.started)
                below += children[child.id]
        one.ended = last
    return len(unfinished)


def _above(by_id: Mapping[str, Seen], one: Seen) -> list[Seen]:
    """What the span is within, from the inside out; a circle ends it."""
    above: list[Seen] = []
    met = {one.id}
    parent = one.parent
    while parent is not None and parent in by_id and parent not in met:
        met.add(parent)
        above.append(by_id[parent])
        parent = by_id[parent].parent
    return above


def _count_once(by_id: Mapping[str, Seen]) -> int:
    """A model call around another (a client's around its server's) tells the same tokens again. Returns how many."""
    holders = {
        outer.id
        for one in by_id.values()
        if one.stage == "writing" and one.tokens_out
        for outer in _above(by_id, one)
        if outer.stage == "writing" and outer.tokens_out
    }
    for holder in holders:
        by_id[holder].tokens_in = by_id[holder].tokens_out = 0
    return len(holders)


def _fold(by_id: dict[str, Seen]) -> int:
    """Takes spans of no known kind inside a call as part of the call. A tool that runs an agent keeps what that did."""
    known = {outer.id for one in by_id.values() if one.stage is not None for outer in _above(by_id, one)}
    part = [
        one.id
        for one in by_id.values()
        if one.stage is None
        and one.id not in known
        and any(outer.stage in ("writing", "tools") for outer in _above(by_id, one))
    ]
    for span_id in part:
        del by_id[span_id]
    return len(part)


def seconds(value: object) -> float | None:
    """Seconds since 1970 of an ISO text (UTC where it says nothing) or of a number of s, ms, µs or ns, told apart by
    its size. None where it is no moment."""
    if isinstance(value, str) and not _is_number(value):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    number = amount(value)
    if number is None or number <= 0:
        return None
    for above, scale in ((1e17, 1e-9), (1e14, 1e-6), (1e11, 1e-3)):
        if number > above:
            return number * scale
    return number


def amount(value: object) -> float | None:
    """The number that it is or spells; None where it is none."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value)
    return float(value) if isinstance(value, str) and _is_number(value) else None


def count(*values: object) -> int:
    """The first of these that is a number, as a whole one; 0 where none is."""
    for value in values:
        number = amount(value)
        if number is not None and number >= 0:
            return int(number)
    return 0


def text(*values: object) -> str | None:
    """The first of these that is a text with something in it."""
    return next((value for value in values if isinstance(value, str) and value), None)


def within(value: object, *path: str) -> object:
    """What stands at that path of nested objects; None where it doesn't."""
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def objects(value: object) -> list[Json]:
    """The objects of a list; empty where it is none."""
    return [one for one in value if is_object(one)] if isinstance(value, list) else []


def is_object(value: object) -> TypeGuard[Json]:
    return isinstance(value, Mapping)


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True
