"""Situations. What a reader would call a new case, whether or not any draft parts there: another outcome of a method
or another reason for it, a day before the last one, a day that some months lack, a character not seen before, a tie, an
empty list, as many as there are.

All drafts may share a mistake, and mutants only stray from what a draft has. A storyboard that also goes through many
different situations shows the owner more of what nobody thought of.
"""

import datetime
import re
from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from tamis.behaviour.sights import masked
from tamis.sandbox import Program, Value

Situation = tuple[str, ...]
NUMBERS = ("float", "Decimal", "Fraction")
"""Tags of numbers that are written as texts."""


def situations_of(program: Program, endings: Sequence[str]) -> list[frozenset[Situation]]:
    """For each call of the program, the situations that it shows: how it ended (`endings` has that, call by call), what
    it was given, where it ended in something that may have come of that, and both together."""
    found: list[frozenset[Situation]] = []
    for call, given, end in zip(program, given_in(program), endings, strict=True):
        here: set[Situation] = {(call.name, end), *((*trait, end) for trait in given)}
        found.append(frozenset(here if _is_mute(end) else here | given))
    return found


def given_in(program: Program) -> list[frozenset[Situation]]:
    """For each call of the program what it was given, beside the calls before it: the method, the place of the
    argument, and what can be said of it."""
    found: list[frozenset[Situation]] = []
    days: list[str] = []
    for call in program:
        here: set[Situation] = set()
        values = [*call.args, *call.kwargs.values()]
        for place, value in enumerate(values):
            given = {*_traits(value), *_against_sizes(value, values)}
            if isinstance(value, list) and len(value) == 2 and value[0] == "date":
                day = str(value[1])
                given |= {_when(day, days), *_of_day(datetime.date.fromisoformat(day))}
                days.append(day)
            here |= {(call.name, str(place), trait) for trait in given}
        found.append(frozenset(here))
    return found


def _is_mute(end: str) -> bool:
    """Whether the end says little of what was given: an exception, or nothing at all, may come of something else."""
    return end.startswith("!") or end in ("None", "no text") or end.endswith(" of 0")


def weights_of(situations: Sequence[Situation]) -> list[float]:
    """How much each counts, 1 in all: what calls are given, how they end, and both together count alike, since a
    hundred ways to combine them are not a hundred new cases to a reader."""
    many = Counter(map(len, situations))
    return [1 / len(many) / many[len(one)] for one in situations]


def ending(outcome: bytes, program: Program) -> str:
    """How a call of the program ends: the sort of its value, or its exception and the reason that it gives, without
    the program's own names and numbers."""
    mark, *rest = msgspec.json.decode(outcome)
    return f"! {rest[0]} {masked(str(rest[2]), program)}" if mark == "!" else kind_of(outcome)


def kind_of(outcome: bytes) -> str:
    """What sort of outcome it is: which exception, or which type of value, and whether empty, zero or below."""
    mark, what, *_ = msgspec.json.decode(outcome)
    return _sort_of(what) if mark == "=" else f"{mark} {what}"


def _sort_of(value: Value) -> str:
    match value:
        case bool() | None:
            return str(value)
        case int():
            return _sign(str(value))
        case str():
            return "text" if value else "no text"
        case [str(tag), [*items], *_]:
            return f"{tag} of {min(len(items), 3)}"
        case [str(tag), str(number)] if tag in NUMBERS:
            return f"{tag} {_sign(number)}"
        case _:
            return str(value[0]) if value else "?"


def _when(day: str, before: Sequence[str]) -> str:
    if not before:
        return "first day"
    latest = max(before)
    return "a day before" if day < latest else "the same day" if day == latest else "a later day"


def _of_day(day: datetime.date) -> Iterator[str]:
    if day.day >= 29:
        yield "29 February" if day.month == 2 else "a day that some months lack"


def _traits(value: Value) -> Iterator[str]:
    match value:
        case bool() | None:
            yield str(value)
        case int():
            yield "0" if value == 0 else "1" if value == 1 else "below 0" if value < 0 else "above 1"
        case str():
            yield from _of_text(value)
        case [str(tag), [*items], *_] if tag in ("list", "tuple", "set", "dict"):
            yield f"{min(len(items), 4)} items"
            if len({repr(item) for item in items}) < len(items):
                yield "the same twice"
            parts = [part for item in items if isinstance(item, list) for part in _inner(item)]
            if len(set(map(repr, parts))) < len(parts):
                yield "a part twice"
            signs = {_sign(str(n)) for n in map(_number, [*items, *parts]) if n is not None}
            yield from (f"{sign} among them" for sign in signs - {"above 0"})
        case [str(tag), str(number)] if tag in NUMBERS:
            yield _sign(number)
        case _:
            pass


def _against_sizes(value: Value, others: Sequence[Value]) -> Iterator[str]:
    """A whole number beside the sizes of what else is given: as many as there are, fewer or more."""
    if isinstance(value, bool) or not isinstance(value, int):
        return
    for other in others:
        match other:
            case str() if not other.isidentifier():  # a name's length says nothing
                size = len(other)
            case [str(tag), [*items], *_] if tag in ("list", "tuple", "set", "dict"):
                size = len(items)
            case _:
                continue
        yield "as many" if value == size else "fewer" if value < size else "more"


def _number(value: Value) -> str | None:
    match value:
        case bool():
            return None
        case int():
            return str(value)
        case [str(tag), str(number)] if tag in NUMBERS:
            return number
    return None


def _sign(number: str) -> str:
    if not any(c.isdigit() for c in number):
        return number  # no number, or an infinite one
    if not re.match(r"-?[0._]*[1-9]", number):
        return "0"
    return "below 0" if number.startswith("-") else "above 0"


def _inner(item: Sequence[Value]) -> Sequence[Value]:
    return item[1] if len(item) > 1 and isinstance(item[1], list) else item[1:]


def _of_text(text: str) -> Iterator[str]:
    if text.isidentifier():
        return  # a name, as good as any other
    yield f"{min(len(text.split()), 3)} words"
    if text != text.strip():
        yield "space at an end"
    if "  " in text:
        yield "two spaces"
    yield from {f"with {c}" for c in text if not (c.isalnum() or c == " ") or not c.isascii()}
    if any(c.isdigit() for c in text):
        yield "with digits"
