"""Objects and classes of the draft on this side: what is done with them is done in the box.

Whether two objects are equal is decided here, by their structure as the box tells it; the
draft's `__eq__` is never asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tamis.sandbox.box.values import Value, dumps
from tamis.sandbox.judging.session import CannotCross

if TYPE_CHECKING:
    from tamis.sandbox.judging.proxy import World

Json = Any
_set = object.__setattr__
_get = object.__getattribute__
_PYTEST = ("pytest", "_pytest", "_hypothesis", "hypothesis")
"""What pytest and its plugins look for on everything that a test module holds."""


class Kind(type):
    """The class of the classes that stand for a draft's. Calling one makes an object in the box."""

    _tamis_world: World
    _tamis_methods: frozenset[str]

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        world = type.__getattribute__(cls, "_tamis_world")
        return world.ask(cls.__name__, None, args, kwargs)

    def __getattr__(cls, name: str) -> Any:
        __tracebackhide__ = True
        if name.startswith("__"):
            if name == "__dataclass_fields__" and cls._tamis_world.session is not None:
                raise cls._tamis_world.cannot(f"the tests look into the draft's class {cls.__name__} ({name})")
            raise AttributeError(name)
        if name.startswith(_PYTEST) or (cls._tamis_world.session is None and name not in cls._tamis_methods):
            raise AttributeError(name)
        index, outcome, _ = cls._tamis_world.raw(cls.__name__, None, (), {}, get=True)
        if outcome[0] == "!":
            raise cls._tamis_world.exception(outcome, index)
        return cls._tamis_world.ask(name, index, get=True)

    def __setattr__(cls, name: str, value: object) -> None:
        if name.startswith("__"):
            type.__setattr__(cls, name, value)
            return
        raise cls._tamis_world.cannot(f"the tests replace {name} in the draft's class {cls.__name__}")


class Handle:
    """An object of the draft, in the box. `_tamis` is (world, number of the call that gave it, path, value)."""

    _tamis: tuple[World, int, tuple[Json, ...], Json]
    _tamis_methods: frozenset[str] = frozenset()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        if not isinstance(cls, type) or "_tamis_world" not in cls.__dict__:
            super().__init_subclass__()

    def __getattr__(self, name: str) -> Any:
        __tracebackhide__ = True
        world, _, _, _ = _get(self, "_tamis")
        if name.startswith("__"):
            if name in ("__dataclass_fields__", "__dict__"):
                raise world.cannot(f"the tests look into an object of the draft ({name})")
            raise AttributeError(name)
        if name in type(self)._tamis_methods:
            return Method(self, name)
        return world.ask(name, located(self), get=True)

    def __setattr__(self, name: str, value: object) -> None:
        __tracebackhide__ = True
        _get(self, "_tamis")[0].ask("__setattr__", located(self), (name, value))

    def __eq__(self, other: object) -> bool:
        """By structure: the draft's own `__eq__` is never asked."""
        if self is other:
            return True
        if not isinstance(other, Handle):
            return False
        return structure(self) == structure(other)

    def __hash__(self) -> int:
        return hash(structure(self))

    def __repr__(self) -> str:
        value = _get(self, "_tamis")[3]
        return f"<{value[1] if len(value) > 1 else 'object'} of the draft>"

    def __reduce__(self) -> Any:
        raise _get(self, "_tamis")[0].cannot("the tests copy or pickle an object of the draft")

    def __deepcopy__(self, memo: object) -> Any:
        raise _get(self, "_tamis")[0].cannot("the tests copy an object of the draft")

    __copy__ = __reduce__


class Method:
    """A method of an object of the draft, not called yet."""

    def __init__(self, owner: Handle, name: str) -> None:
        self.__self__ = owner
        self.__name__ = name

    def __call__(self, *args: object, **kwargs: object) -> Any:
        __tracebackhide__ = True
        return _get(self.__self__, "_tamis")[0].ask(self.__name__, located(self.__self__), args, kwargs)


class Called(Handle):
    """A callable that the draft returned."""

    def __call__(self, *args: object, **kwargs: object) -> Any:
        __tracebackhide__ = True
        return _get(self, "_tamis")[0].ask("__call__", located(self), args, kwargs)


def located(handle: Any) -> int:
    """The number of the call that gives exactly this object: items of a result are fetched by a call of their own."""
    world, index, path, value = _get(handle, "_tamis")
    for step in path:
        index, outcome, _ = world.raw("__getitem__", index, (Plain(step),), {}, get=False)
        if outcome[0] == "!":
            raise CannotCross("an item of a result can't be taken by its place")
    _set(handle, "_tamis", (world, index, (), value))
    return int(index)


def structure(handle: Any) -> str:
    """An object's structure, private attributes too, as text."""
    world = _get(handle, "_tamis")[0]
    _, outcome, _ = world.raw("#structure", located(handle), (), {}, get=False)
    return dumps(outcome[1])


class Plain:
    """A value that is encoded already."""

    def __init__(self, value: Value) -> None:
        self.value = value


def operator_for(name: str) -> Callable[..., Any]:
    def forward(self: Any, *args: object) -> Any:
        __tracebackhide__ = True
        return _get(self, "_tamis")[0].ask(name, located(self), args)

    def leave(self: Any, _kind: object, error: object, _trace: object) -> Any:
        __tracebackhide__ = True
        if error is None:
            return _get(self, "_tamis")[0].ask("__exit__", located(self), (None, None, None))
        if not isinstance(error, Exception):
            return None
        raise _get(self, "_tamis")[0].cannot("an exception of the tests passes through the draft's context manager")

    return leave if name == "__exit__" else forward
