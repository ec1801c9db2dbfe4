"""Fitting. Whether a value is of a kind, and whether a brief that asks for the kind plausibly allows it."""

import ast
import datetime
import math
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from uuid import UUID

from tamis.behaviour.kinds import Kind
from tamis.behaviour.programs import is_ref, refs_in
from tamis.sandbox import Value, decode


def literal_value(source: str) -> object:
    """The value of a literal's source: a text, a number, True, False or None."""
    return ast.literal_eval(source)


TYPES: Mapping[str, tuple[type, ...]] = {
    "int": (int,), "str": (str,), "float": (float, int), "bool": (bool,), "bytes": (bytes,), "date": (datetime.date,),
    "datetime": (datetime.datetime,), "time": (datetime.time,), "timedelta": (datetime.timedelta,),
    "Decimal": (Decimal,), "Fraction": (Fraction,), "none": (type(None),), "complex": (complex, float, int),
    "UUID": (UUID,), "Path": (type(Path()),),
}  # fmt: skip


def is_of(value: object, kind: Kind) -> bool:  # noqa: PLR0911 (one answer for each kind)
    """Whether the value is exactly of the kind: a bool is no int here, a datetime no date."""
    match kind.name:
        case "any" | "object":
            return True
        case "union":
            return any(is_of(value, k) for k in kind.of)
        case "literal":
            return any(type(value) is type(v) and value == v for v in map(literal_value, kind.literals))
        case "list" | "run":
            same = type(value) is list if kind.name == "list" else type(value) is tuple
            return same and isinstance(value, list | tuple) and all(is_of(v, kind.within()) for v in value)
        case "set" | "frozenset":
            same = isinstance(value, set | frozenset) and type(value).__name__ == kind.name
            return same and isinstance(value, set | frozenset) and all(is_of(v, kind.within()) for v in value)
        case "tuple":
            return (
                isinstance(value, tuple)
                and len(value) == len(kind.of)
                and all(is_of(v, k) for v, k in zip(value, kind.of, strict=True))
            )
        case "dict" | "counter":
            return isinstance(value, dict) and (
                len(kind.of) != 2 or all(is_of(k, kind.of[0]) and is_of(v, kind.of[1]) for k, v in value.items())
            )
    return type(value) in TYPES.get(kind.name, ())


def fits(value: object, kind: Kind, *, named: bool = False) -> bool:
    """Whether a brief that asks for this kind plausibly allows the value: of the type, finite, of a size people use.
    `named` says that a text names a thing: then it has no blanks around it and is not empty."""
    return is_of(value, kind) and _is_sane(value, named=named)


def _is_sane(value: object, *, named: bool) -> bool:  # noqa: PLR0911 (one answer for each kind)
    match value:
        case bool() | None:
            return True
        case int():
            return abs(value) <= 10**9
        case float():
            return math.isfinite(value) and abs(value) <= 1e12
        case Decimal():
            return value.is_finite() and abs(value) <= 10**12
        case str():
            return len(value) <= 200 and not (named and (value != value.strip() or not value))
        case datetime.date():
            return 1900 <= value.year <= 2200
        case list() | tuple() | set() | frozenset():
            return len(value) <= 60 and all(_is_sane(v, named=named) for v in value)
        case dict():
            return len(value) <= 60 and all(
                _is_sane(k, named=named) and _is_sane(v, named=False) for k, v in value.items()
            )
    return True


def fits_with_objects(value: Value, kind: Kind, keyed: frozenset[str]) -> bool:
    """The same for a kind with objects in it: the objects themselves are right by how they are made. `keyed` are the
    classes that a plain dict may stand for."""
    if kind.name == "union":
        return any(fits_with_objects(value, k, keyed) for k in kind.of)
    if kind.name in {"list", "run", "tuple"}:
        if not (isinstance(value, list) and len(value) == 2 and isinstance(value[1], list)):
            return False
        kinds = kind.of if kind.name == "tuple" else (kind.within(),) * len(value[1])
        right = value[0] == ("list" if kind.name == "list" else "tuple") and len(kinds) == len(value[1])
        return right and all(fits_with_objects(v, k, keyed) for v, k in zip(value[1], kinds, strict=True))
    if kind.name == "class" and (is_ref(value) or kind.of_class not in keyed):
        return is_ref(value)
    return not refs_in(value) and fits(decode(value), Kind(name="dict") if kind.name == "class" else kind)
