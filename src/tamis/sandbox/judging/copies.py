"""Results by copy: what of a draft's value becomes a plain value of the tests, and what a handle."""

from __future__ import annotations

import builtins
import collections
import enum
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from tamis.sandbox.box.values import decode
from tamis.sandbox.judging.handles import Called
from tamis.sandbox.judging.session import CannotCross

if TYPE_CHECKING:
    from tamis.sandbox.judging.proxy import World

Json = Any
_set = object.__setattr__
Copy = Callable[["World", Json, int, tuple[Json, ...]], Any]


def _copied(kind: Callable[[Iterator[Any]], Any]) -> Copy:
    return lambda world, v, index, path: kind(world.copy(item, index, (*path, i)) for i, item in enumerate(v[1]))


def _copied_dict(world: World, v: Json, index: int, path: tuple[Json, ...]) -> Any:
    return {world.copy(k, index, (*path, None)): world.copy(x, index, (*path, k)) for k, x in v[1]}


def _copied_set(_world: World, v: Json, _index: int, _path: tuple[Json, ...]) -> Any:
    __tracebackhide__ = True
    try:
        return decode(v)
    except ValueError:
        raise CannotCross("the draft returns a set of objects") from None


def _streamed(world: World, v: Json, index: int, path: tuple[Json, ...]) -> Iterator[Any]:
    __tracebackhide__ = True
    for i, item in enumerate(v[2]):
        yield world.copy(item, index, (*path, i))
    if v[3]:
        raise CannotCross("the draft returns an iterator without end, and the tests go on taking from it")


def _named(world: World, v: Json, index: int, path: tuple[Json, ...]) -> Any:
    """A named tuple by copy: its fields are all that it is."""
    kind = collections.namedtuple(v[1], [name for name, _ in v[2]])  # type: ignore[misc]
    return kind(*(world.copy(item, index, (*path, i)) for i, (_, item) in enumerate(v[2])))


def _member(world: World, v: Json, index: int, path: tuple[Json, ...]) -> Any:
    kind = world.kind_named(v[1])
    if issubclass(kind, enum.Enum) and isinstance(v[2], str) and v[2] in kind.__members__:
        return kind[v[2]]
    return world.handle(v, index, path)


def _sub(world: World, v: Json, index: int, path: tuple[Json, ...]) -> Any:
    """A subclass of a plain type: its plain value, and the rest of it in the box."""
    if v[1] in ("Counter", "OrderedDict"):
        return getattr(collections, v[1])(decode(v[2]))
    base = world.copy(v[2], index, path)
    if v[1] == "defaultdict" or isinstance(base, bool):
        return base
    kind: Any = type(v[1], (type(base),), {"__module__": world.module})
    return kind(base)


def _exception(world: World, v: Json, index: int, _path: tuple[Json, ...]) -> BaseException:
    return world.exception(["!", v[1], [], v[2]], index)


def _function(world: World, v: Json, index: int, path: tuple[Json, ...]) -> Any:
    made = object.__new__(Called)
    _set(made, "_tamis", (world, index, path, v))
    return made


def _type(world: World, v: Json, index: int, path: tuple[Json, ...]) -> Any:
    if v[1] in world.details:
        return world.kind_named(v[1])
    return getattr(builtins, v[1], None) or _function(world, v, index, path)


def _too_much(_world: World, _v: Json, _index: int, _path: tuple[Json, ...]) -> Any:
    __tracebackhide__ = True
    raise CannotCross("the draft returns more than can be copied")


COPIES: dict[str, Copy] = {
    "list": _copied(list),
    "tuple": _copied(tuple),
    "dict": _copied_dict,
    "set": _copied_set,
    "frozenset": _copied_set,
    "iterator": _streamed,
    "named": _named,
    "enum": _member,
    "sub": _sub,
    "exception": _exception,
    "function": _function,
    "type": _type,
    "digest": _too_much,
    "cut": _too_much,
    "cycle": _too_much,
}
