"""Sights. What an outcome looks like from afar, so that a new kind of behaviour is told from more of the same.

Two due dates that each lie seven days after their call look alike; an error that names another reason does not. Used to
decide what is worth running in all drafts, never to decide whether drafts behave alike.
"""

import datetime
import math
import re
from collections.abc import Mapping, Sequence

import msgspec

from tamis.behaviour.matrix import outcomes_of
from tamis.behaviour.programs import day_of
from tamis.sandbox import Call, Program, Value, decode

Sight = str


def masked(text: str, program: Sequence[Call]) -> str:
    """What an exception says, without the names and numbers of this program."""
    values = {v for c in program for v in [*c.args, *c.kwargs.values()] if isinstance(v, str) and len(v) > 1}
    for value in sorted(values, key=lambda v: (-len(v), v)):
        text = text.replace(value, "…")
    return re.sub(r"\d+|(['\"]).*?\1", "#", text)


class Sights:
    """Sees outcomes; remembers those it has seen, since most come again."""

    def __init__(self) -> None:
        self._decoded: dict[bytes, tuple[str, object]] = {}

    def of(self, ran: bytes, program: Program) -> tuple[Sight, ...]:
        """One sight for each call of a program."""
        names = _names(program)
        return tuple(
            self._one(outcome, call, program, names) for outcome, call in zip(outcomes_of(ran), program, strict=False)
        )

    def _one(self, outcome: bytes, call: Call, program: Program, names: Mapping[str, int]) -> Sight:
        kind, value = self._read(outcome)
        if kind == "!":
            return "!" + masked(str(value), program)
        if kind == "#":
            return f"#{value}"
        if isinstance(value, datetime.date):
            base = [d for d in map(day_of, [*call.args, *call.kwargs.values()]) if d is not None]
            if base and type(value) is datetime.date:
                return f"day{(value - base[-1]).days:+d}"
        return seen(value, names)

    def _read(self, outcome: bytes) -> tuple[str, object]:
        known = self._decoded.get(outcome)
        if known is None:
            parts: list[Value] = msgspec.json.decode(outcome)
            value: object = f"{parts[1]} {parts[3]}" if parts[0] == "!" else parts[1]
            if parts[0] == "=":
                try:
                    value = decode(parts[1])
                except (ValueError, TypeError, IndexError):
                    value = str(parts[1])[:60]
                if len(parts) > 2:
                    value = (value, "changed")
            known = self._decoded[outcome] = (str(parts[0]), value)
        return known


def _names(program: Program) -> dict[str, int]:
    """The texts of a program, numbered as they come."""
    found: dict[str, int] = {}
    for call in program:
        for value in [*call.args, *call.kwargs.values()]:
            if isinstance(value, str):
                found.setdefault(value, len(found))
    return found


def seen(value: object, names: Mapping[str, int]) -> Sight:  # noqa: PLR0911 (one answer for each kind)
    """A value from afar: a small number itself, a large one by its size, a text by its shape, a list by its items."""
    match value:
        case None | bool():
            return str(value)
        case int():
            return str(value) if abs(value) <= 3 else f"{'-' if value < 0 else '+'}{len(str(abs(value)))}"
        case float():
            if value == 0 or math.isnan(value):
                return "f0" if value == 0 else "fnan"
            return f"f{'-' if value < 0 else '+'}{len(str(int(min(abs(value), 1e15))))}"
        case str():
            if value in names:
                return f"n{names[value]}"
            return (
                "s"
                + re.sub(r"(.)\1+", r"\1+", re.sub(r"[a-z]", "a", re.sub(r"[A-Z]", "A", re.sub(r"\d", "0", value))))[
                    :16
                ]
            )
        case list() | tuple():
            inner = ",".join(seen(v, names) for v in value[:6])
            return f"{type(value).__name__}{len(value)}[{inner}]"
        case dict():
            return f"dict{len(value)}[{','.join(seen(v, names) for v in list(value.values())[:4])}]"
        case set() | frozenset():
            return f"set{len(value)}"
    return type(value).__name__
