"""The draft's module as the tests see it: functions, classes, exceptions and constants that stand for the draft's.

Plain values cross by copy. An object of the draft is a handle; what is done with it is done in the box. Two things
never are: whether two objects are equal (their structure is compared here, not by the draft's `__eq__`), and what an
exception's class derives from. What can't be handed across raises Unproxyable, and the tests are judged inside.
"""

from __future__ import annotations

import builtins
import collections
import enum
import importlib
import operator
import sys
import types
from typing import Any

from tamis.sandbox.box.values import Encoder, Value, decode
from tamis.sandbox.judging.copies import COPIES
from tamis.sandbox.judging.exceptions import exception_kind, is_told, unquoted, worded
from tamis.sandbox.judging.handles import Handle, Kind, Plain, located, operator_for
from tamis.sandbox.judging.session import OPERATORS, CannotCross, DraftDied, Session, Unproxyable

Json = Any
_set = object.__setattr__
_BUILTIN = frozenset(vars(builtins))


class World:
    """All that stands for one draft's module: the session that answers calls, and the classes made so far."""

    def __init__(self, module: str) -> None:
        self.module = module
        self.session: Session | None = None
        self.surface: dict[str, Json] = {}
        self.kinds: dict[str, type] = {}
        self.details: dict[str, Json] = {}
        self.touched: set[str] = set()
        self.missing: list[str] = []
        self.why_not = ""

    # calls

    def ask(
        self, name: str, on: int | None, args: tuple[object, ...] = (), kwargs: Any = None, *, get: bool = False
    ) -> Any:
        """Makes a call in the box; its result by copy or handle, or its exception raised."""
        __tracebackhide__ = True
        index, outcome, given = self.raw(name, on, args, kwargs or {}, get=get)
        if outcome[0] == "!":
            error = self.exception(outcome, index)
            if isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit):
                raise DraftDied(f"raised {outcome[1]}")  # as itself it would stop pytest, not the test
            raise error from None
        if len(outcome) > 2:
            self._mutate(outcome[2], given)
        try:
            return self.copy(outcome[1], index, ())
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError) as error:
            raise CannotCross(f"the draft returns what makes no sense: {error}") from None

    def raw(self, name: str, on: int | None, args: tuple[object, ...], kwargs: Any, *, get: bool) -> Any:
        __tracebackhide__ = True
        if self.session is None:
            raise self.cannot("the tests call the draft while they are collected")
        plain = [self.value(arg) for arg in args]
        named = {key: self.value(arg) for key, arg in kwargs.items()}
        index, outcome = self.session.call(name, on, plain, named, get)
        return index, outcome, {**{str(i): arg for i, arg in enumerate(args)}, **kwargs}

    def cannot(self, why: str) -> Unproxyable:
        if self.session is not None:
            return self.session.cannot(why)
        self.why_not = self.why_not or why
        return Unproxyable(why)

    def value(self, obj: object) -> Value:
        """An argument as data. Raises Unproxyable for what only exists on this side."""
        value = _Arguments(self).encode(obj)
        if isinstance(value, list):
            try:
                decode(value, lambda ref: ref)
            except ValueError:
                raise self.cannot(f"the tests pass a {type(obj).__name__} to the draft") from None
        return value

    def _mutate(self, changes: dict[str, Value], given: dict[str, Any]) -> None:
        """Gives the test's own lists and dicts the content that the draft left in them."""
        for key, value in changes.items():
            mine, new = given[key], decode(value)
            if isinstance(mine, list):
                mine[:] = new
            elif isinstance(mine, dict | set | collections.deque):
                mine.clear()
                (mine.extend if isinstance(mine, collections.deque) else mine.update)(new)
            elif isinstance(mine, bytearray):
                mine[:] = new
            else:
                raise CannotCross(f"the draft changes a {type(mine).__name__} that the tests pass")

    def message_read(self) -> None:
        if self.session is not None:
            self.session.read_messages = True

    # results

    def copy(self, value: Value, index: int, path: tuple[Json, ...]) -> Any:
        """A result on this side: plain ones by copy, objects as handles to item `path` of what call `index` gave."""
        if not isinstance(value, list):
            return value
        made = COPIES.get(value[0])  # type: ignore[arg-type]
        if made is not None:
            return made(self, value, index, path)
        try:
            return decode(value)
        except ValueError:
            return self.handle(value, index, path)

    def handle(self, value: Json, index: int, path: tuple[Json, ...]) -> Any:
        kind = self.kind_named(str(value[1])) if len(value) > 1 else Handle
        made: Any = object.__new__(kind if issubclass(kind, Handle) else Handle)
        _set(made, "_tamis", (self, index, path, value))
        return made

    def exception(self, outcome: Json, index: int) -> BaseException:
        """The exception that the draft raised, of the class that stands for its class."""
        name, bases, message = outcome[1], outcome[2], outcome[3]
        kind = self.class_raised(name, bases, outcome[4] if len(outcome) > 4 else None)
        if not is_told(kind):
            self.message_read()
        made = kind.__new__(kind, message)
        made.args = (unquoted(message),) if issubclass(kind, KeyError) else (message,)
        if isinstance(made, UnicodeError | OSError) and not is_told(kind):
            made = worded(kind, message)
        made.__dict__["_tamis"] = (self, index, (), outcome)
        return made

    def class_raised(self, name: str, bases: list[str], module: str | None) -> type[BaseException]:
        if module:
            found = _foreign(module, name)
        elif name in self.details:
            found = self.kind_named(name)
        else:
            found = getattr(builtins, name, None)
        if isinstance(found, type) and issubclass(found, BaseException):
            return found
        parents = [k for k in (getattr(builtins, base, None) for base in bases) if isinstance(k, type)]
        return exception_kind(name, tuple(parents[:1]) or (Exception,), self)

    # classes

    def kind_named(self, name: str) -> type:
        """The class that stands for the draft's class of this name; made when first needed."""
        if name not in self.kinds:
            detail = self.details.get(name) or ["", name, [["builtins", "object"]], [], [], []]
            self.kinds[name] = self._make(name, detail)
        return self.kinds[name]

    def _make(self, name: str, detail: Json) -> type:
        module, _, bases, _, _, members = detail
        if module:
            return _foreign(module, name) or Handle
        parents = [self._parent(base) for base in bases]
        if any(issubclass(p, BaseException) for p in parents):
            return exception_kind(name, tuple(p for p in parents if issubclass(p, BaseException)), self)
        if members:
            kinds = [p for p in parents if issubclass(p, enum.Enum)] or [enum.Enum]
            make: Any = kinds[0]
            made: type = make(name, [(key, decode(value)) for key, value in members], module=self.module)
            return made
        kind = Kind(name, tuple(p for p in parents if issubclass(p, Handle)) or (Handle,), {"__module__": self.module})
        type.__setattr__(kind, "_tamis_world", self)
        self.equip(kind, detail)
        return kind

    def _parent(self, base: Json) -> type:
        module, name = base
        if not module:
            return self.kind_named(name)
        found = _foreign(module, name)
        return found if isinstance(found, type) else Handle

    def equip(self, kind: type, detail: Json) -> None:
        """Gives a class the operators that the draft's class has, and forgets those of another draft's."""
        for name in OPERATORS:
            if name in kind.__dict__ and name not in detail[3]:
                type.__delattr__(kind, name)
            elif name in detail[3] and name not in kind.__dict__:
                type.__setattr__(kind, name, operator_for(name))
        type.__setattr__(kind, "_tamis_methods", frozenset(detail[4]))

    # the module

    def apply(self, surface: Json) -> None:
        """Another draft's surface of the same shape: the classes stay the same objects, with what this draft's have."""
        self.surface = dict(surface)
        self.details = {
            n[2]: n[1:] for n in self.surface.values() if n[0] == "class" and (n[1] == "" or n[2] not in _BUILTIN)
        }
        for name, kind in self.kinds.items():
            if name in self.details and isinstance(kind, Kind):
                self.equip(kind, self.details[name])

    def attribute(self, name: str) -> Any:
        self.touched.add(name)
        nature = self.surface.get(name)
        if nature is None:
            self.missing.append(name)
            raise AttributeError(f"module {self.module!r} has no attribute {name!r}")
        match nature[0]:
            case "class":
                return (
                    self.kind_named(nature[2])
                    if not nature[1]
                    else _foreign(nature[1], nature[2]) or self.function(name)
                )
            case "module":
                return self._imported(nature[1])
            case "function":
                return self.function(name)
            case _:
                return self._constant(name, nature[1])

    def _imported(self, name: str) -> types.ModuleType:
        if name.partition(".")[0] in sys.stdlib_module_names:
            return importlib.import_module(name)
        raise self.cannot(f"the tests use {name} through the draft")

    def _constant(self, name: str, value: Value) -> Any:
        """Constants by copy. What can change is read anew in every test."""
        fixed = not isinstance(value, list) or value[0] not in ("list", "dict", "set", "deque", "object", "data", "sub")
        if self.session is not None and not fixed:
            return self.ask(name, None, get=True)
        try:
            return decode(value)
        except ValueError:
            return self.ask(name, None, get=True)

    def function(self, name: str) -> Function:
        return Function(self, name)


class Function:
    """A function of the draft's module."""

    def __init__(self, world: World, name: str) -> None:
        self._world = world
        self.__name__ = self.__qualname__ = name
        self.__module__ = world.module

    def __call__(self, *args: object, **kwargs: object) -> Any:
        __tracebackhide__ = True
        return self._world.ask(self.__name__, None, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if self._world.session is None or name not in _FUNCTION_PARTS:
            raise AttributeError(name)
        raise self._world.cannot(f"the tests look into the draft's function {self.__name__} ({name})")


_FUNCTION_PARTS = {
    "__code__",
    "__defaults__",
    "__annotations__",
    "__closure__",
    "cache_clear",
    "cache_info",
    "__signature__",
}


class Module(types.ModuleType):
    """What `import` gives the tests."""

    def __init__(self, world: World) -> None:
        super().__init__(world.module)
        self.__dict__["_tamis_world"] = world
        self.__dict__["__file__"] = f"{world.module}.py"

    def __getattr__(self, name: str) -> Any:
        world: World = self.__dict__["_tamis_world"]
        if name == "__all__":
            return _offered(world)
        if name.startswith("__") and name not in world.surface:
            raise AttributeError(name)
        return world.attribute(name)

    def __setattr__(self, name: str, value: object) -> None:
        if name.startswith("__"):
            super().__setattr__(name, value)
            return
        raise self.__dict__["_tamis_world"].cannot(f"the tests replace {name} in the draft")

    def __delattr__(self, name: str) -> None:
        raise self.__dict__["_tamis_world"].cannot(f"the tests remove {name} from the draft")

    def __dir__(self) -> list[str]:
        return sorted(self.__dict__["_tamis_world"].surface)


def _offered(world: World) -> list[str]:
    """What `from module import *` takes."""
    given = world.surface.get("__all__")
    world.touched.update(world.surface)
    if given is not None:
        names: list[str] = list(decode(given[1]))
        return names
    return [name for name in world.surface if not name.startswith("_")]


class _Arguments(Encoder):
    """Encodes arguments: a handle is a reference to what the box holds."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world

    def encode(self, obj: object) -> Value:
        kind = type(obj)
        if kind is Plain:
            return obj.value  # type: ignore[attr-defined,no-any-return]
        if isinstance(kind, Kind) or issubclass(kind, Handle):
            return ["ref", located(obj)]
        if isinstance(obj, enum.Enum) and self._world.kinds.get(kind.__name__) is kind:
            index, _, _ = self._world.raw(kind.__name__, None, (), {}, get=True)
            index, _, _ = self._world.raw(obj.name, index, (), {}, get=True)
            return ["ref", index]
        if (
            isinstance(obj, type | Function)
            and obj.__name__ in self._world.surface
            and obj.__module__ == self._world.module
        ):
            index, _, _ = self._world.raw(obj.__name__, None, (), {}, get=True)
            return ["ref", index]
        return super().encode(obj)


def _foreign(module: str, name: str) -> Any:
    """A class of the standard library, which is the same on both sides."""
    if module.partition(".")[0] not in sys.stdlib_module_names:
        return None
    try:
        return operator.attrgetter(name)(importlib.import_module(module))
    except (ImportError, AttributeError):
        return None
