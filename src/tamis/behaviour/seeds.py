"""Seeds. Sequences that were lifted from tests and examples, as programs that can be run.

A value that reading could not tell is filled with one that the same parameter is given elsewhere; a call that can't be
filled is left out, with what was done on the object that it would have made.
"""

import datetime
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from uuid import UUID

from tamis.behaviour.lift import Hole, Lifted, LiftedCall, Made, Member
from tamis.sandbox import Call, Program, Value, encode

PLAIN = (
    type(None), bool, int, float, str, bytes, datetime.date, datetime.time, datetime.timedelta, Decimal, Fraction, UUID,
)  # fmt: skip


def bound(call: LiftedCall) -> list[tuple[str, object]]:
    """The arguments of a lifted call with the names of their parameters."""
    plain = [p for p in call.signature.params if not p.keyword and not p.spread]
    spread = next((p for p in call.signature.params if p.spread == "*"), None)
    pairs = [(p.name, a) for p, a in zip(plain, call.args, strict=False)]
    if spread is not None:
        pairs += [(spread.name, a) for a in call.args[len(plain) :]]
    return [*pairs, *call.kwargs]


def is_plain(value: object) -> bool:
    if isinstance(value, list | tuple | set | frozenset):
        return len(value) <= 100 and all(map(is_plain, value))
    if isinstance(value, dict):
        return len(value) <= 100 and all(is_plain(k) and is_plain(v) for k, v in value.items())
    return isinstance(value, PLAIN) and len(repr(value)) <= 2_000


def program_of(lifted: Lifted, used: Mapping[str, Sequence[object]]) -> Program:
    """The sequence as a program. `used` are the values that each parameter is given anywhere."""
    writing = _Writing(used)
    for i, call in enumerate(lifted):
        writing.add(i, call)
    return tuple(writing.calls)


class _Writing:
    """A program being written. `place` maps the calls that were lifted to where they now stand."""

    def __init__(self, used: Mapping[str, Sequence[object]]) -> None:
        self.calls: list[Call] = []
        self._used = used
        self._place: dict[int, int] = {}

    def add(self, number: int, call: LiftedCall) -> None:
        start = len(self.calls)
        found = [self._value(v, name) for v, (name, _) in zip(call.args, bound(call), strict=False)]
        named = {name: self._value(v, name) for name, v in call.kwargs}
        args = [v for v in found if not isinstance(v, Hole)]
        kwargs = {name: v for name, v in named.items() if not isinstance(v, Hole)}
        if len(args) < len(found) or len(kwargs) < len(named) or (call.on is not None and call.on not in self._place):
            del self.calls[start:]
            return
        signature = call.signature
        on = self._place[call.on] if call.on is not None else None
        if signature.form in {"static", "class"}:
            on = self._get(signature.of)
        self._place[number] = len(self.calls)
        get = signature.form == "property"
        self.calls.append(Call(name=signature.name, on=on, args=tuple(args), kwargs=kwargs, get=get))

    def _get(self, name: str, on: int | None = None) -> int:
        self.calls.append(Call(name=name, on=on, get=True))
        return len(self.calls) - 1

    def _value(self, value: object, name: str) -> "Value | Hole":
        match value:
            case Made(at=at):
                return ["ref", self._place[at]] if at in self._place else Hole()
            case Member(of=of, name=member):
                return ["ref", self._get(member, self._get(of))]
            case list() | tuple() if not is_plain(value):
                parts = [self._value(v, name) for v in value]
                whole = [p for p in parts if not isinstance(p, Hole)]
                return [type(value).__name__, whole] if len(whole) == len(parts) else Hole()
        if is_plain(value):
            return encode(value)
        known = self._used.get(name, ())
        return encode(known[0]) if known else Hole()
