"""Runs one draft on its programs, in the child that the zygote forked for it.

A program is a list of calls; each call's outcome is written as one line into memory shared with the supervisor, at
once, so that whatever kills the draft, all it did before is known. The lines hold what the draft did and nothing else:
there is no expected value in this process to find, and what a draft writes into its own lines is its own answer.
"""

from __future__ import annotations

import importlib
import io
import json
import marshal
import mmap
import sys
import types
from collections.abc import Callable

from .state import State
from .values import (
    Encoder,
    Value,
    canonical,
    decode,
    dumps,
    fingerprint,
    is_object,
    is_stream,
    kind_name,
    message_of,
    taken,
)

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would be copied into every child
    from typing import Any, TypeAlias

OUTPUT_BYTES = 1 << 16
"""The first bytes of the shared memory keep what the draft printed; lines begin after them."""
BROKEN = 70
"""The exit code of a child whose draft broke the code that runs it."""
LONGEST_LINE = 1 << 20

Json: TypeAlias = "Any"
"""What `json` reads: a call or a value."""
Channel: TypeAlias = "Any"
"""A socket to the supervisor; not Python's own class around it, whose making each child would pay for."""


class Died(BaseException):
    """The draft ended itself within a call: the rest of its programs is for a fresh child."""


class Lines:
    """The outcomes, one JSON line each, in memory that outlives this process."""

    def __init__(self, shared: mmap.mmap, channel: Channel) -> None:
        self._shared = shared
        self._channel = channel
        self._room = len(shared) - OUTPUT_BYTES - 1
        shared.seek(OUTPUT_BYTES)

    def write(self, text: str) -> None:
        if len(text) > LONGEST_LINE:
            text = dumps(["=", fingerprint(text)])
        raw = text.encode() + b"\n"
        if len(raw) > self._room:
            self._drain()
        self._room -= len(raw)
        self._shared.write(raw)

    def _drain(self) -> None:
        """The supervisor takes what is there and clears it before it answers."""
        self._channel.sendall(b"full\n")
        self._channel.recv(1)
        self._shared.seek(OUTPUT_BYTES)
        self._room = len(self._shared) - OUTPUT_BYTES - 1


class Kept(io.RawIOBase):
    """What a draft prints: its first bytes and, turning in a ring, its last ones. The rest is counted only."""

    def __init__(self, shared: mmap.mmap, kept_bytes: int) -> None:
        self._shared = shared
        self._half = min(kept_bytes, OUTPUT_BYTES - 16) // 2
        self._total = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        raw = bytes(data)
        size, at = len(raw), self._total
        if at < self._half:
            head = raw[: self._half - at]
            self._shared[16 + at : 16 + at + len(head)] = head
            raw, at = raw[len(head) :], at + len(head)
        for start in range(max(0, len(raw) - self._half), len(raw)):
            self._shared[16 + self._half + (at + start - self._half) % self._half] = raw[start]
        self._total += size
        self._shared[0:8] = self._total.to_bytes(8, "little")
        return size


class Draft:
    """The draft's module, and the objects that its calls returned. `compiled` is its code as `marshal` writes it, where
    the parser has made it already; else it is compiled here."""

    def __init__(self, name: str, source: bytes, compiled: bytes = b"") -> None:
        self.name = name
        self._compiled = compiled
        self._code: types.CodeType | None = None
        self.source = source
        self._random = b"random" in source
        self.module: types.ModuleType = types.ModuleType(name)
        self.results: dict[int, object] = {}
        self._state: State | None = None

    def seed(self) -> None:
        """The same random numbers in every run under one hash seed, for a draft that has to do with any; others where
        hashes are others too, so that what hangs on either shows."""
        if self._random:
            importlib.import_module("random").seed(sys.flags.hash_randomization)

    def changed(self) -> bool:
        """Whether the module is no longer as it was imported."""
        return self.state().changed()

    def state(self) -> State:
        if self._state is None:
            self._state = State(self.module, self.own)
        return self._state

    def load(self) -> None:
        """Runs the module's top level, as an import does. Raises what it raises."""
        if self._code is None:
            self._code = (
                marshal.loads(self._compiled)
                if self._compiled
                else compile(self.source, f"{self.name}.py", "exec", dont_inherit=True)
            )
        self.module = types.ModuleType(self.name)
        self.module.__file__ = f"{self.name}.py"
        sys.modules[self.name] = self.module
        exec(self._code, self.module.__dict__)
        self._state = None
        found = sys.modules.get(self.name)
        if isinstance(found, types.ModuleType):
            self.module = found
        self.results = {}

    def own(self, kind: type) -> bool:
        return kind.__module__ == self.name

    def resolve(self, ref: Json) -> object:
        """The object for `["ref", i, …]`: what call i returned, then item by item."""
        if ref[1] not in self.results:
            raise Unreachable(f"call {ref[1]} returned nothing to call on")
        obj: Any = self.results[ref[1]]
        for step in ref[2:]:
            obj = list(obj)[step] if isinstance(obj, set | frozenset) else obj[decode(step)]
        return obj


def serve(draft: Draft, lines: Lines, channel: Channel) -> None:
    """Answers one call at a time until the other side has no more. A message is one JSON line: the call's number and
    the call."""
    reader = io.BufferedReader(io.FileIO(channel.fileno(), closefd=False))
    while request := reader.readline():
        index, call = json.loads(request)
        line = do(draft, index, call)
        lines.write(line)
        channel.sendall(b".")


class Unreachable(Exception):
    """The call can't be made, since the call whose object it needs did not return one."""


def do(draft: Draft, index: int, call: Json) -> str:
    """Makes one call and returns its outcome as a line. Raises Died where the draft ended itself."""
    name, on, args, kwargs, get = call
    try:
        target: object = draft.module if on is None else draft.resolve(["ref", on])
        plain = [decode(v, draft.resolve) for v in args]
        named = {k: decode(v, draft.resolve) for k, v in kwargs.items()}
    except Unreachable as error:
        return dumps(["!", "Unreachable", ["Exception"], str(error)])
    try:
        if name.startswith("#"):
            return dumps(["=", _SPECIAL[name](draft, target)])
        found = getattr(target, name)
        result = found if get else found(*plain, **named)
        if type(result) is types.CoroutineType:
            result = _awaited(result)
        made = not get and isinstance(found, type) and type(result) is found and draft.own(found) and is_object(found)
        return _outcome(draft, index, result, _changed(draft, args, plain, kwargs, named), made)
    except BaseException as error:
        return _raised(draft, index, error)


def _outcome(draft: Draft, index: int, result: object, changed: dict[str, Value], made: bool) -> str:
    kind = type(result)
    if kind is int and not changed and -(1 << 62) < result < 1 << 62:  # type: ignore[operator]
        return f'["=",{result}]'
    if result is None and not changed:
        return '["=",null]'
    if made:
        # what a new object holds inside is no behaviour: it shows in the calls made on it
        value: Value = ["object", kind_name(kind), []]
    else:
        if is_stream(kind):
            result = taken(result)
        value = Encoder(draft.own).encode(result)
    if isinstance(value, list):
        draft.results[index] = result
    return dumps(["=", value, changed] if changed else ["=", value])  # type: ignore[list-item]


def _awaited(coroutine: types.CoroutineType[Any, Any, Any]) -> object:
    return importlib.import_module("asyncio").run(coroutine)  # heavy, and seldom needed


def _raised(draft: Draft, index: int, error: BaseException) -> str:
    """The line for an exception. What ends a process, ends this one."""
    if isinstance(error, MemoryError):
        raise Died(dumps(["#", "out of memory", "MemoryError"]))
    if isinstance(error, SystemExit):
        raise Died(dumps(["#", "exited", f"SystemExit({error.code!r})"[:200]]))
    if isinstance(error, Died):
        raise error
    draft.results[index] = error
    return dumps(exception_line(error))


def exception_line(error: BaseException, prefix: str = "") -> Value:
    """["!", class, its bases up to the first builtin, message], and the module of a class of the standard library's."""
    bases: list[Value] = []
    for base in type(error).__mro__[1:] if type(error).__module__ != "builtins" else ():
        bases.append(kind_name(base))
        if base.__module__ == "builtins":
            break
    line: list[Value] = ["!", kind_name(type(error)), bases, prefix + message_of(error)]
    if type(error).__module__ in sys.stdlib_module_names and type(error).__module__ != "builtins":
        line.append(type(error).__module__)
    return line


def _changed(draft: Draft, args: Json, plain: list[Any], kwargs: Json, named: dict[str, Any]) -> dict[str, Value]:
    """Which arguments a call changed, and to what. Only lists can be mutable values; objects show it in later calls."""
    changed: dict[str, Value] = {}
    if not any(type(v) is list for v in args) and not kwargs:
        return changed
    for key, before, after in (
        *zip(map(str, range(len(args))), args, plain, strict=True),
        *((k, v, named[k]) for k, v in kwargs.items()),
    ):
        if type(before) is list and before[0] in _MUTABLE and not _still_flat(before, after):
            now = Encoder(draft.own).encode(after)
            if now != before and (now := canonical(now)) != _known(before, draft):
                changed[key] = now
    return changed


def _still_flat(before: Json, after: Any) -> bool:
    """Whether a plain list of numbers and texts is plainly the same: the usual case, told without encoding it anew."""
    if type(after) is not list or before[0] != "list" or len(before[1]) != len(after):
        return False
    for was, item in zip(before[1], after, strict=True):
        kind = type(item)
        if kind is float:
            if type(was) is not list or was[0] != "float" or was[1] != float.__repr__(item):
                return False
        elif kind not in _ATOMS or type(was) is not kind or was != item:
            return False
    return True


_ATOMS = {int, str, bool}
_MUTABLE = {"list", "dict", "set", "bytearray", "deque", "tuple"}


def _known(value: Json, draft: Draft) -> Value:
    """The value as this box writes it, for values that were not made by `encode`."""
    return canonical(Encoder(draft.own).encode(decode(value, draft.resolve)))


# What can be asked of a draft beside its own calls


def _surface(draft: Draft, _: object) -> Value:
    """Whether the module keeps state, and each name that it offers with what it is."""
    names = [name for name in vars(draft.module) if not name.startswith("__") or name in ("__all__", "__version__")]
    return [draft.state().may_change, [[name, _nature(draft, vars(draft.module)[name])] for name in names]]


def _nature(draft: Draft, thing: Any) -> Value:
    if isinstance(thing, type):
        return ["class", *_class(draft, thing)]
    if isinstance(thing, types.ModuleType):
        return ["module", thing.__name__]
    if isinstance(thing, _FUNCTIONS) or (callable(thing) and not draft.own(type(thing))):
        return ["function", str(getattr(thing, "__module__", ""))]
    return ["value", Encoder(draft.own).encode(thing)]


_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType)


def _class(draft: Draft, kind: type) -> list[Value]:
    """[module ("" for the draft's own), name, direct bases as [module, name], own dunders, own methods, members of an
    enum as [name, value]]."""
    own = [base for base in type.__dict__["__mro__"].__get__(kind) if draft.own(base)]
    names = {name for base in own for name in vars(base)}
    dunders = sorted(n for n in names if n.startswith("__") and n.endswith("__"))
    methods = sorted({n for b in own for n, v in vars(b).items() if isinstance(v, _METHODS) and n not in dunders})
    members = vars(kind).get("_member_map_", {})
    return [
        "" if draft.own(kind) else kind.__module__, kind_name(kind),
        [["" if draft.own(b) else b.__module__, kind_name(b)] for b in kind.__bases__],
        [*dunders], [*methods], [[name, Encoder().encode(m._value_)] for name, m in members.items()],
    ]  # fmt: skip


_METHODS = (types.FunctionType, classmethod, staticmethod)


def _structure(draft: Draft, target: object) -> Value:
    """An object with all its own attributes, private ones too: what structural equality compares."""
    return canonical(Encoder(draft.own, private=True).encode(target))


_SPECIAL: dict[str, Callable[[Draft, object], Value]] = {"#surface": _surface, "#structure": _structure}


# The child's whole life after its layers are on


def run(draft: Draft, programs: Json, lines: Lines, *, start: int, fresh: bool) -> None:
    """Imports the draft and runs its programs from number `start` on. `fresh` starts each from its own import where
    the module keeps state of its own, so that a program's outcome is the same run alone; else programs share one
    import and their objects, and each call comes with its number."""
    if not _loaded(draft, lines):
        return
    if fresh and len(programs) - start > 1:
        draft.state()
    for number in range(start, len(programs)):
        if fresh and number > start and draft.changed():
            draft.load()
            draft.state()
        if fresh:
            draft.results = {}
        draft.seed()
        for index, call in enumerate(programs[number]) if fresh else programs[number]:
            lines.write(do(draft, index, call))


def _loaded(draft: Draft, lines: Lines) -> bool:
    try:
        draft.seed()
        draft.load()
    except BaseException as error:
        if isinstance(error, MemoryError | SystemExit | Died):
            _raised(draft, -1, error)
        lines.write(dumps(exception_line(error, "at import: ")))
        return False
    lines.write('["=",null]')
    return True
