"""Looks for an input on which two drafts do otherwise, by running both at once on arguments that stand for any value.

CrossHair follows one path through both drafts after the other and asks a solver for values that lead down each; where
the two come to different ends, the values are written out. Both drafts run in this process and can write what they
like, so what it says is a proposal: the supervisor's side runs each in the drafts, as it runs any other input.
"""

# A lean interpreter has no pathlib. What is heavy here was imported before the fork, and only where it is asked for.

from __future__ import annotations

import contextlib
import copy
import datetime as dt
import decimal
import enum
import fractions
import inspect
import itertools
import math
import time
import typing

import crosshair.core_and_libs  # noqa: F401 (what it knows of the standard library)
from crosshair.core import ExceptionFilter, deep_realize, explore_paths
from crosshair.options import DEFAULT_OPTIONS
from crosshair.statespace import RootNode
from crosshair.tracers import NoTracing
from crosshair.util import CrossHairInternal, IgnoreAttempt

from .runner import Draft, exception_line
from .values import STREAMED, Encoder, Value, decode, dumps, is_stream, kind_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

Json: TypeAlias = "Any"
LARGEST, LARGEST_FLOAT = 10**9, 1e12
FIRST_YEAR, LAST_YEAR = 1900, 2200
"""Values beyond these no brief plausibly allows, so that finding them would tell nothing."""
DEPTH = 6
"""How deep two results are compared."""


def run(draft: Draft, lines: Any, message: Json) -> None:
    """Searches each skeleton of `message` for values in its holes on which `draft` and the other one part. A line for
    each that is found: the skeleton's number and the values."""
    other = Draft(draft.name, bytes.fromhex(message["other"]))
    try:
        for one in (draft, other):
            one.seed()
            one.load()
    except BaseException as error:
        lines.write(dumps(exception_line(error, "at import: ")))
        return
    lines.write('["=",null]')
    skeletons = message["skeletons"]
    for number, skeleton in enumerate(skeletons):
        left = message["cpu_seconds"] - time.process_time()
        cpu_seconds = left / (len(skeletons) - number) / 2  # both ways round
        # half of a path's seconds are the solver's, by the clock on the wall: so many that its bounded work ends first
        options = DEFAULT_OPTIONS.overlay(
            per_condition_timeout=cpu_seconds, per_path_timeout=4 * cpu_seconds, max_iterations=message["paths"]
        )
        values = Search(skeleton, draft, other, plain=True).found(options)
        if values is None:
            values = Search(skeleton, other, draft, plain=False).found(options)
        if values is not None:
            lines.write(dumps(["=", ["found", number, values]]))


class Search:
    """One skeleton in two drafts: calls, in whose arguments `["hole", i]` stands for any value of the i-th kind. Both
    ways round are searched, since what the first draft decides the second only follows; with `plain`, texts are of
    ASCII only, since a person is to read what is found."""

    def __init__(self, skeleton: Json, first: Draft, second: Draft, *, plain: bool) -> None:
        self._calls = skeleton["calls"]
        self._drafts = first, second
        self._holes = [_hole(kind, plain) for kind in skeleton["holes"]]

    def found(self, options: Any) -> list[Value] | None:
        """Values on which the two part, encoded: those of the first path on which they do so when run plainly too.
        Paths on which a draft does not do the same twice are passed over."""
        found: list[list[Value]] = []

        def ended(space: Any, given: Any, _after: Any, alike: bool | None, *_: object) -> bool:
            if alike is not False:
                return False
            space.detach_path()
            with NoTracing():
                values = [hole.realized(value) for hole, value in zip(self._holes, given.args, strict=True)]
                if not self._are_alike(values):
                    found.append([Encoder().encode(value) for value in values])
            return bool(found)

        def both(given: inspect.BoundArguments) -> Any:
            try:
                values = [hole.filled(value) for hole, value in zip(self._holes, given.args, strict=True)]
                return True if self._are_alike(values) else False  # noqa: SIM210 (here is where a formula is decided)
            except CrossHairInternal as error:
                raise IgnoreAttempt from error  # its own fault on this path, and no reason to give up the others

        parameters = [
            inspect.Parameter(f"hole{i}", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=hole.annotation)
            for i, hole in enumerate(self._holes)
        ]
        signature = inspect.Signature(parameters)
        with contextlib.suppress(Exception, CrossHairInternal):  # its own fault: then it has found nothing
            explore_paths(both, signature, options, RootNode(), ended, on_nondeterminism=lambda: None)
        return found[0] if found else None

    def _are_alike(self, values: list[Any]) -> Any:
        again = copy.deepcopy(values)
        one, two = (_played(draft, self._calls, v) for draft, v in zip(self._drafts, (values, again), strict=True))
        return _alike(one, two, DEPTH) and _alike(values, again, DEPTH)


class Hole:
    """What stands for any value of a kind: `annotation` is what CrossHair makes of it."""

    def __init__(self, annotation: Any, *, plain: bool = False) -> None:
        self.annotation = annotation
        self._plain = plain

    def filled(self, value: Any) -> Any:
        """The value in the hole; what no brief plausibly allows is not followed."""
        if not _is_plausible(value) or (self._plain and isinstance(value, str) and not value.isascii()):
            raise IgnoreAttempt
        return value

    def realized(self, value: Any) -> Any:
        return deep_realize(value)


class Choice(Hole):
    """One of a few values, which CrossHair knows by their number."""

    def __init__(self, values: list[object]) -> None:
        super().__init__(int)
        self._values = values

    def filled(self, value: Any) -> Any:
        for number, one in enumerate(self._values):
            if value == number:
                return one
        raise IgnoreAttempt

    def realized(self, value: Any) -> Any:
        return self._values[deep_realize(value)]


class Moment(Hole):
    """A day with a time, without a zone: one made of the day and the minute, since zones can't be formulas."""

    def __init__(self) -> None:
        super().__init__(tuple[dt.date, int])

    def filled(self, value: Any) -> Any:
        day, minute = value
        if not (_is_plausible(day) and 0 <= minute < 24 * 60):
            raise IgnoreAttempt
        return dt.datetime(day.year, day.month, day.day, minute // 60, minute % 60)

    def realized(self, value: Any) -> Any:
        day, minute = deep_realize(value)
        return dt.datetime.combine(day, dt.time(minute // 60, minute % 60))


def _hole(kind: Json, plain: bool) -> Hole:
    match kind[0]:
        case "literal":
            return Choice([decode(value) for value in kind[2]])
        case "datetime":
            return Moment()
    return Hole(_type(kind), plain=plain)


def _played(draft: Draft, calls: Json, holes: list[Any]) -> list[tuple[str, object]]:
    """What the draft does, call by call: "=" with what it returned, or "!" with the class that it raised."""
    outcomes: list[tuple[str, object]] = []
    results: dict[Json, object] = {}

    def given(value: Json) -> object:
        if type(value) is list and value[0] == "hole":
            return holes[value[1]]
        with NoTracing():
            return decode(value, lambda ref: results[ref[1]])

    for index, (name, on, args, kwargs, get) in enumerate(calls):
        with ExceptionFilter() as caught:
            target = draft.module if on is None else results[on]
            found = getattr(target, name)
            plain, named = [given(value) for value in args], {key: given(value) for key, value in kwargs.items()}
            result = found if get else found(*plain, **named)
            result = list(itertools.islice(result, STREAMED)) if is_stream(type(result)) else result
            results[index] = result
            outcomes.append(("made", kind_name(found)) if isinstance(found, type) else ("=", result))
            continue
        if caught.user_exc is None:
            raise IgnoreAttempt
        outcomes.append(("!", type(caught.user_exc[0]).__name__))
    return outcomes


def _alike(one: Any, two: Any, depth: int) -> Any:  # noqa: PLR0911 (one line for each kind)
    """Whether two outcomes are the same, by type and value; a formula where that depends on the holes."""
    kind, other = type(one), type(two)
    if kind.__name__ != other.__name__:
        return False
    if depth == 0 or one is two or issubclass(kind, BaseException):
        return True
    if issubclass(kind, enum.Enum):
        return one.name == two.name
    if issubclass(kind, list | tuple):
        return len(one) == len(two) and all(_alike(a, b, depth - 1) for a, b in zip(one, two, strict=True))
    if issubclass(kind, dict):
        return len(one) == len(two) and all(key in two and _alike(one[key], two[key], depth - 1) for key in one)
    if kind is other:
        if kind.__eq__ is object.__eq__:  # type: ignore[comparison-overlap]  # asked of any class
            return True
        return one == two or (kind is float and math.isnan(one) and math.isnan(two))
    return _alike(_shown(one), _shown(two), depth - 1)  # objects of the same class, as each draft has written it


def _shown(thing: object) -> dict[str, object]:
    return {name: value for name, value in getattr(thing, "__dict__", {}).items() if not name.startswith("_")}


def _is_plausible(value: Any) -> Any:
    """Asked one by one, since `match` does not see what a formula stands for."""
    if isinstance(value, bool) or value is None:
        return True
    if isinstance(value, int):
        return -LARGEST <= value <= LARGEST
    if isinstance(value, float):
        return -LARGEST_FLOAT <= value <= LARGEST_FLOAT
    if isinstance(value, dt.date):
        return FIRST_YEAR <= value.year <= LAST_YEAR
    return True


_SIMPLE: dict[str, object] = {
    "int": int, "str": str, "float": float, "bool": bool, "bytes": bytes, "date": dt.date,
    "time": dt.time, "timedelta": dt.timedelta, "Decimal": decimal.Decimal, "Fraction": fractions.Fraction,
    "none": None,
}  # fmt: skip
_HOLDERS: dict[str, Any] = {"list": list, "set": set, "frozenset": frozenset, "tuple": tuple, "dict": dict}


def _type(kind: Json) -> Any:
    """The annotation for a kind, [name, kinds within, values of a literal]."""
    name, within, _ = kind
    types: Any = tuple(_type(one) for one in within)
    if name == "union":
        return typing.Union[types]  # noqa: UP007 (their number is not known)
    if name == "run":
        return tuple[(*types, ...)]
    return _HOLDERS[name][types] if name in _HOLDERS else _SIMPLE[name]
