"""What a module remembers between two programs, so that each can start as if it were the first.

Everything that a draft's module can hold is looked at: its globals, its classes' attributes, defaults, closures and
function attributes. What is bound anew shows by identity, what is changed in place by its value, caches are emptied;
where a thing can't be looked into, the module is taken to have changed. No code of the draft runs for this.
"""

from __future__ import annotations

import collections
import enum
import functools
import opcode
import types
from collections.abc import Callable, Iterator

from .values import Encoder, dumps, is_stream

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would be copied into every child
    from typing import Any

_FIXED = (type(None), bool, int, float, complex, str, bytes, range, types.BuiltinFunctionType, types.ModuleType)
_PLAIN = (list, dict, set, frozenset, tuple, bytearray, collections.deque)
_STATELESS = {
    "datetime", "decimal", "fractions", "re", "typing", "types", "uuid", "pathlib", "logging", "enum", "_struct",
    "operator", "__future__", "zoneinfo", "_collections", "abc", "_abc", "dataclasses",
}  # fmt: skip
"""Modules whose objects do not change, or hold what is looked at in another way."""
_CANT_TELL = ('["opaque"', '["cut"', '["digest"')


class State:
    """A module just imported, and whether it has changed since."""

    def __init__(self, module: types.ModuleType, own: Callable[[type], bool]) -> None:
        self._own = own
        self._scopes: list[Any] = [vars(module)]
        self._cells: list[types.CellType] = []
        self._held: list[object] = []
        self._caches: list[Any] = []
        self._stored: set[str] = set()
        self._attributes: set[str] = set()
        self._unknown = False
        self._seen: set[int] = set()
        self._look_into(vars(module))
        self._bound = [tuple(scope.values()) for scope in self._scopes]
        self._ids = [tuple(map(id, bound)) for bound in self._bound]
        self._contents = [_content(cell) for cell in self._cells]
        self._print = self._values()

    @property
    def may_change(self) -> bool:
        """Whether there is anything that a call could change, judged before any call."""
        return bool(
            self._held or self._caches or self._unknown or self._stored & self._attributes or "" in self._stored
        )

    def changed(self) -> bool:
        """Whether anything is not as it was; caches are emptied on the way."""
        for cache in self._caches:
            cache.cache_clear()
        if self._unknown or [tuple(map(id, scope.values())) for scope in self._scopes] != self._ids:
            return True
        if any(_content(cell) is not held for cell, held in zip(self._cells, self._contents, strict=True)):
            return True
        return bool(self._held) and self._values() != self._print

    def _values(self) -> str:
        if not self._held:
            return ""
        text = dumps(Encoder(self._own, private=True).encode(self._held))
        self._unknown = self._unknown or any(mark in text for mark in _CANT_TELL)
        return text

    def _look_into(self, scope: Any) -> None:
        """Everything that has a name of the draft's; what Python keeps for itself is passed over."""
        for name, thing in list(scope.items()):
            if not (name.startswith("_") and name.endswith("_")):
                self._look(thing)

    def _look(self, thing: object) -> None:
        kind = type(thing)
        if kind in _FIXED or isinstance(thing, enum.Enum) or id(thing) in self._seen:
            return
        self._seen.add(id(thing))
        if isinstance(thing, type):
            if self._own(thing):
                self._scopes.append(vars(thing))
                self._attributes.update(n for n, v in vars(thing).items() if not callable(v) and not n.startswith("__"))
                self._look_into(vars(thing))
        elif kind is types.FunctionType:
            self._look_at_function(thing)  # type: ignore[arg-type]
        elif kind is staticmethod or kind is classmethod:
            self._look(thing.__func__)  # type: ignore[attr-defined]
        elif kind is property:
            for function in (thing.fget, thing.fset, thing.fdel):  # type: ignore[attr-defined]
                self._look(function)
        elif kind is functools._lru_cache_wrapper:
            self._caches.append(thing)
            self._look(thing.__wrapped__)  # type: ignore[attr-defined]
        elif issubclass(kind, _PLAIN) or self._own(kind):
            if not _constant(thing):
                self._held.append(thing)
        elif kind.__module__ == "builtins":
            self._unknown = self._unknown or is_stream(kind)
        elif kind.__module__ not in _STATELESS and kind is not functools.cached_property:
            self._unknown = True

    def _look_at_function(self, function: types.FunctionType) -> None:
        if function.__globals__ is not self._globals():
            return
        if function.__qualname__ == function.__name__:  # one of the module's own, not a method: it may count its calls
            self._scopes.append(vars(function))
        for code in _codes(function.__code__):
            self._stored.update(_stores(code))
        for held in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self._look(held)
        for cell in function.__closure__ or ():
            self._cells.append(cell)
            self._look(_content(cell))

    def _globals(self) -> Any:
        return self._scopes[0]


def _content(cell: types.CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _constant(thing: object) -> bool:
    return type(thing) in (tuple, frozenset) and all(type(item) in _FIXED for item in thing)  # type: ignore[attr-defined]


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            yield from _codes(part)


def _stores(code: types.CodeType) -> set[str]:
    """The attributes that a function sets; "" where it binds a name outside itself."""
    whole = code.co_code
    operations, arguments = whole[::2], whole[1::2]
    outside = _STORE_OUTSIDE | ({_STORE_DEREF} if code.co_freevars else set())
    found = {""} if any(operation in operations for operation in outside) else set()
    at = operations.find(_STORE_ATTRIBUTE)
    while at >= 0:
        argument, before, shift = arguments[at], at - 1, 8
        while before >= 0 and operations[before] == _EXTENDED:
            argument |= arguments[before] << shift
            before, shift = before - 1, shift + 8
        found.add(code.co_names[argument])
        at = operations.find(_STORE_ATTRIBUTE, at + 1)
    return found


_CODES = opcode.opmap
_EXTENDED, _STORE_ATTRIBUTE, _STORE_DEREF = _CODES["EXTENDED_ARG"], _CODES["STORE_ATTR"], _CODES["STORE_DEREF"]
_STORE_OUTSIDE = {_CODES["STORE_GLOBAL"], _CODES["DELETE_GLOBAL"]}
