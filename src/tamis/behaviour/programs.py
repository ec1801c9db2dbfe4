"""Programs. Sequences of calls as plain data, and the changes that keep them whole.

A call may be made on the object that an earlier call made, or be given it. Every change here keeps such references
right: what loses its object goes too.
"""

import datetime
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from tamis.behaviour.surface import Param, Signature
from tamis.sandbox import Call, Program, Value, encode


def is_ref(value: Value) -> bool:
    """Whether an argument stands for the object that an earlier call made."""
    return isinstance(value, list) and len(value) == 2 and value[0] == "ref"


def refs_in(value: Value) -> list[int]:
    """The calls whose objects an argument is, or holds."""
    if not isinstance(value, list) or not value:
        return []
    if value[0] == "ref":
        return [int(str(value[1]))] if is_ref(value) else []
    if value[0] in ("list", "tuple") and len(value) == 2 and isinstance(value[1], list):
        return [r for part in value[1] if isinstance(part, list) for r in refs_in(part)]
    return []


def refs_of(call: Call) -> list[int]:
    """The calls whose objects this one needs."""
    held = [r for v in [*call.args, *call.kwargs.values()] for r in refs_in(v)]
    return held if call.on is None else [call.on, *held]


def moved(call: Call, places: Mapping[int, int]) -> Call:
    """The call with its references at their new places; all of them must be in `places`."""

    def at(value: Value) -> Value:
        if not refs_in(value) or not isinstance(value, list):
            return value
        if is_ref(value):
            return ["ref", places[int(str(value[1]))]]
        return [value[0], [at(part) for part in value[1]]] if isinstance(value[1], list) else value

    on = None if call.on is None else places[call.on]
    return replace(call, on=on, args=tuple(map(at, call.args)), kwargs={k: at(v) for k, v in call.kwargs.items()})


def picked(program: Sequence[Call], keep: Iterable[int]) -> Program:
    """The calls at `keep`, in that order; one whose object was not made before it is left out."""
    places: dict[int, int] = {}
    calls: list[Call] = []
    for i in keep:
        call = program[i]
        if all(r in places for r in refs_of(call)):
            places[i] = len(calls)
            calls.append(moved(call, places))
    return tuple(calls)


def without(program: Program, gone: Iterable[int]) -> Program:
    """The program without those calls, and without what needs their objects."""
    drop = set(gone)
    return picked(program, [i for i in range(len(program)) if i not in drop])


def with_inserted(program: Program, at: int, calls: Sequence[Call]) -> Program:
    """`calls` go in before place `at`. They may refer to calls before it, and to each other as if they stood there."""
    n = len(calls)
    places = {i: i if i < at else i + n for i in range(len(program))}
    return (*program[:at], *calls, *(moved(c, places) for c in program[at:]))


def bound_values(signature: Signature, call: Call) -> list[tuple[Param, Value]]:
    """The arguments of a call with their parameters."""
    plain = [p for p in signature.params if not p.keyword and not p.spread]
    spread = [p for p in signature.params if p.spread == "*"]
    pairs = list(zip(plain, call.args, strict=False))
    if spread:
        pairs += [(spread[0], a) for a in call.args[len(plain) :]]
    by_name = {p.name: p for p in signature.params}
    return pairs + [(by_name[k], v) for k, v in call.kwargs.items() if k in by_name]


def key_of(program: Program) -> bytes:
    """Bytes that are equal for equal programs."""
    return msgspec.json.encode(program)


def unique(programs: Iterable[Program]) -> list[Program]:
    """The programs without repeats, in order."""
    found: dict[bytes, Program] = {}
    for program in programs:
        found.setdefault(key_of(program), program)
    return list(found.values())


def day_of(value: Value) -> datetime.date | None:
    """The day that an encoded date stands for; None for any other value."""
    if isinstance(value, list) and len(value) == 2 and value[0] == "date":
        return datetime.date.fromisoformat(str(value[1]))
    return None


def on_day(call: Call, day: datetime.date) -> Call:
    """The call with its first date moved to that day; the call itself where it has none."""
    at = next((j for j, a in enumerate(call.args) if day_of(a)), None)
    return call if at is None else replace(call, args=(*call.args[:at], encode(day), *call.args[at + 1 :]))


def backwards(program: Program) -> int:
    """How often a call's day lies before that of an earlier call."""
    latest, found = None, 0
    for call in program:
        for day in filter(None, map(day_of, [*call.args, *call.kwargs.values()])):
            found += latest is not None and day < latest
            latest = day if latest is None else max(latest, day)
    return found
