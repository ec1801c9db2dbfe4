"""Situations. What a reader would call a new case, whether or not any draft parts there: another outcome of a method,
another order of two calls, a day before the last one, a character not seen before, a tie, an empty list.

All drafts may share a mistake, and mutants only stray from what a draft has. A storyboard that also goes through many
different situations shows the owner more of what nobody thought of.
"""

from collections.abc import Iterator, Sequence

import msgspec

from tamis.sandbox import Call, Program, Value

Situation = tuple[str, ...]


def situations_of(program: Program, outcomes: Sequence[bytes]) -> list[frozenset[Situation]]:
    """For each call of the program, the situations that it shows, given what the calls did (JSON)."""
    found: list[frozenset[Situation]] = []
    kinds = [kind_of(o) for o in outcomes]
    days: list[str] = []
    for i, call in enumerate(program):
        here: set[Situation] = {(call.name, kinds[i])}
        earlier = [j for j in range(i) if program[j].on == call.on and program[j].on is not None]
        for j in earlier[-2:]:
            here.add((program[j].name, kinds[j], call.name, kinds[i], _shared(program[j], call)))
        values = [*call.args, *call.kwargs.values()]
        for place, value in enumerate(values):
            here |= {(call.name, str(place), trait, kinds[i]) for trait in _traits(value)}
            if isinstance(value, list) and len(value) == 2 and value[0] == "date":
                day = str(value[1])
                here |= {(call.name, str(place), _when(day, days), kinds[i])}
                days.append(day)
        found.append(frozenset(here))
    return found


def kind_of(outcome: bytes) -> str:
    """What sort of outcome it is: which exception, or which type of value, and whether empty, zero or below."""
    mark, what, *_ = msgspec.json.decode(outcome)
    return _sort_of(what) if mark == "=" else f"{mark} {what}"


def _sort_of(value: Value) -> str:
    match value:
        case bool() | None:
            return str(value)
        case int():
            return "0" if value == 0 else "below 0" if value < 0 else "above 0"
        case str():
            return "text" if value else "no text"
        case [str(tag), [*items], *_]:
            return f"{tag} of {min(len(items), 3)}"
        case _:
            return str(value[0]) if value else "?"


def _shared(before: Call, call: Call) -> str:
    """Whether two calls are about the same: how many of their values they share, dates left out."""
    first = {repr(v) for v in before.args if isinstance(v, str)}
    second = {repr(v) for v in call.args if isinstance(v, str)}
    return f"{len(first & second)} shared"


def _when(day: str, before: Sequence[str]) -> str:
    if not before:
        return "first day"
    latest = max(before)
    return "a day before" if day < latest else "the same day" if day == latest else "a later day"


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
            parts = [repr(part) for item in items if isinstance(item, list) for part in _inner(item)]
            if len(set(parts)) < len(parts):
                yield "a part twice"
        case _:
            pass


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
