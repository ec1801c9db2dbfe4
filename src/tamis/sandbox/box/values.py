"""Values as data. What a draft returns, raises or is given crosses the border of the box in this form and no other.

None, bool, str and ints of up to 63 bits stand for themselves; everything else is a list that begins with its tag, so
that 1, True and 1.0 differ, and -0.0 from 0.0. Reading a value runs no code of the draft: no `__eq__`, `__iter__`,
property or `__repr__` of its classes is asked. Where it stops: objects of the draft show their class and public
attributes, to a depth and a size; foreign objects show their type and a short repr. A dict keeps its order here;
`canonical` sorts it, since dicts that differ in order are equal.
"""

from __future__ import annotations

import collections
import datetime as dt
import enum
import functools
import importlib
import itertools
import json
import os
import re
import sys
import types
from collections.abc import Callable, Iterable, Iterator

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would be copied into every child
    from typing import Any, TypeAlias

Value: TypeAlias = "bool | int | str | list[Value] | None"

DEPTH = 12
ITEMS = 20_000
STREAMED = 1_000
"""How many items are taken from a generator before the rest is cut off."""

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{4,}")
_LIMIT = 1 << 63
_ATOMS = (type(None), bool, str)
_STREAMS: tuple[type, ...] = (
    types.GeneratorType, map, filter, zip, enumerate, reversed,
    type(iter([])), type(iter(())), type(iter({})), type(iter({}.items())), type(iter({}.values())), type(iter(set())),
    type(iter("")), type(iter("é")), type(iter(range(0))), type(reversed([])), itertools.chain, itertools.islice,
    itertools.accumulate, itertools.product, itertools.permutations, itertools.combinations, itertools.starmap,
    itertools.takewhile, itertools.dropwhile, itertools.count, itertools.cycle, itertools.repeat, itertools.groupby,
    itertools.zip_longest, itertools.pairwise, itertools.combinations_with_replacement, itertools.compress,
    itertools.filterfalse,
)  # fmt: skip
_CONTAINERS: dict[type, str] = {list: "list", tuple: "tuple"}
_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))


def dumps(value: Value) -> str:
    """The one text of a value: no spaces, ASCII only, so that equal values have equal bytes."""
    return _to_json(value)


_to_json = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), check_circular=False).encode


class Encoder:
    """Encodes one object. `own` says whether a class is the draft's own, and so shown with its attributes; `private`
    shows those that begin with an underscore too."""

    def __init__(
        self, own: Callable[[type], bool] = lambda kind: kind.__module__ not in _FOREIGN, *, private: bool = False
    ) -> None:
        self._own = own
        self._private = private
        self._path: list[int] = []
        self._left = ITEMS

    def encode(self, obj: object) -> Value:
        kind = type(obj)
        if kind is int:
            return obj if -_LIMIT <= obj < _LIMIT else ["int", hex(obj)]  # type: ignore[operator,return-value,arg-type]
        if kind is str:
            return _text(obj)  # type: ignore[arg-type]
        if kind is bool or obj is None:
            return obj  # type: ignore[return-value]
        scalar = _SCALARS.get(kind)
        if scalar is not None:
            return scalar(obj)
        return self._compound(obj, kind)

    def _compound(self, obj: object, kind: type) -> Value:
        if obj is _Cut:
            return ["cut", "too many"]
        if id(obj) in self._path:
            return ["cycle", len(self._path) - self._path.index(id(obj))]
        if len(self._path) >= DEPTH:
            return ["cut", "too deep"]
        self._path.append(id(obj))
        try:
            return self._inside(obj, kind)
        finally:
            self._path.pop()

    def _inside(self, obj: Any, kind: type) -> Value:  # noqa: PLR0911 (one line for each kind)
        if kind in _CONTAINERS:
            return [_CONTAINERS[kind], self._items(obj)]
        if kind is dict:
            return ["dict", self._pairs(obj)]
        if kind is set or kind is frozenset:
            return [kind.__name__, sorted(self._items(obj), key=dumps)]
        if kind is Taken:
            return ["iterator", obj.kind.__name__, self._items(obj.items), obj.more]
        if kind in _VIEWS:
            return ["iterator", "dict view", self._items(obj), False]
        if kind is collections.deque:
            return ["deque", self._items(obj), obj.maxlen]
        if issubclass(kind, type):
            return ["type", kind_name(obj)]
        if issubclass(kind, enum.Enum):
            return ["enum", kind_name(kind), str(obj._name_) if obj._name_ else self.encode(obj._value_)]
        return self._special(obj, kind)

    def _special(self, obj: Any, kind: type) -> Value:  # noqa: PLR0911 (one line for each kind)
        later = _later(kind)
        if later is not None:
            return later(obj)
        if issubclass(kind, BaseException):
            return ["exception", kind_name(kind), message_of(obj)]
        if issubclass(kind, _known("pathlib", "PurePath")):
            return ["path", os.fspath(obj)]
        fields = _of_class(kind, "__dataclass_fields__")
        if type(fields) is dict:
            return [
                "data",
                kind_name(kind),
                self._fields(obj, [n for n, f in fields.items() if f._field_type is _known("dataclasses", "_FIELD")]),
            ]
        if issubclass(kind, tuple):
            names = _of_class(kind, "_fields")
            if isinstance(names, tuple) and len(names) == tuple.__len__(obj):
                return [
                    "named",
                    kind_name(kind),
                    [[str(n), self.encode(v)] for n, v in zip(names, tuple.__iter__(obj), strict=True)],
                ]
        for base in _BASES:
            if issubclass(kind, base):
                return ["sub", kind_name(kind), self._as_base(obj, base)]
        if issubclass(kind, _CALLABLES):
            return ["function", str(getattr(obj, "__name__", "?"))]
        if self._own(kind):
            return ["object", kind_name(kind), sorted(self._fields(obj, self._shown(obj)), key=dumps)]
        return ["opaque", f"{kind.__module__}.{kind_name(kind)}", _repr(obj)]

    def _as_base(self, obj: Any, base: type) -> Value:
        if base is dict:
            return ["dict", [[self.encode(k), self.encode(v)] for k, v in self._capped(dict.items(obj))]]
        if base in (list, tuple):
            return [base.__name__, [self.encode(item) for item in self._capped(base.__iter__(obj))]]
        if base in (set, frozenset):
            return [base.__name__, sorted((self.encode(i) for i in self._capped(base.__iter__(obj))), key=dumps)]
        return self.encode(_PLAIN[base](obj))

    def _items(self, obj: Iterable[object]) -> list[Value]:
        return [self.encode(item) for item in self._capped(obj)]

    def _pairs(self, obj: dict[object, object]) -> list[Value]:
        return [[self.encode(k), self.encode(v)] for k, v in self._capped(obj.items())]

    def _capped(self, items: Iterable[Any]) -> Iterator[Any]:
        """At most as many items as are left for this whole value; a marker stands for the rest."""
        for item in items:
            self._left -= 1
            if self._left < 0:
                yield _Cut if not isinstance(item, tuple) else (_Cut, None)
                return
            yield item

    def _shown(self, obj: object) -> list[str]:
        return [name for name in _attributes(obj) if self._private or not name.startswith("_")]

    def _fields(self, obj: object, names: Iterable[str]) -> list[Value]:
        own = _attributes(obj)
        return [[name, self.encode(own[name])] for name in self._capped(names) if name in own]


def _of_class(kind: type, name: str) -> Any:
    """A class's attribute as written in it or its bases, asking no metaclass."""
    for base in type.__dict__["__mro__"].__get__(kind):
        if name in base.__dict__:
            return base.__dict__[name]
    return None


class _Cut:
    """Stands in a value for what was cut off."""


def encode(obj: object) -> Value:
    """The canonical value of `obj`: equal objects of the same type have equal values, whatever their dicts' order."""
    return canonical(Encoder().encode(obj))


def canonical(value: Value) -> Value:
    """The same value with every dict sorted by its encoded keys."""
    if not isinstance(value, list):
        return value
    if value and value[0] == "dict" and len(value) == 2 and isinstance(value[1], list):
        return ["dict", sorted((canonical(pair) for pair in value[1]), key=dumps)]
    return [canonical(item) for item in value]


class Taken:
    """What a generator or another lazy iterator gave, taken out of it."""

    def __init__(self, kind: type, items: list[object], more: bool) -> None:
        self.kind = kind
        self.items = items
        self.more = more

    def __getitem__(self, index: int) -> object:
        return self.items[index]


def taken(iterator: Any) -> Taken:
    """Runs the iterator, to at most STREAMED items. That is the draft's code, and can raise."""
    items = list(itertools.islice(iterator, STREAMED + 1))
    return Taken(type(iterator), items[:STREAMED], len(items) > STREAMED)


def is_object(kind: type) -> bool:
    """Whether instances are more than a plain value with a name: their content is their own affair."""
    return not issubclass(kind, (*_BASES, BaseException))


def is_stream(kind: type) -> bool:
    return kind in _STREAMS


def kind_name(kind: type) -> str:
    """The class's name without the function it was made in: `type.__dict__` is asked, no metaclass."""
    return str(type.__dict__["__name__"].__get__(kind)).rpartition(".")[2]


def message_of(error: BaseException) -> str:
    """What the exception says, at most 500 characters, without memory addresses. A `str()` that fails is said so."""
    try:
        text = str(error)
    except BaseException as second:
        if isinstance(second, MemoryError | RecursionError):
            raise
        return f"<its message raises {kind_name(type(second))}>"
    return _ADDRESS.sub("0x…", text[:500]).encode("utf-8", "backslashreplace").decode()


def _text(text: str) -> Value:
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return ["str", text.encode("utf-8", "surrogatepass").hex()]
    return text


def _repr(obj: object) -> str:
    try:
        text = repr(obj)
    except Exception as error:
        return f"<its repr raises {kind_name(type(error))}>"
    return _ADDRESS.sub("0x…", text[:2000]).encode("utf-8", "backslashreplace").decode()


def _attributes(obj: object) -> dict[str, object]:
    """An object's own attributes, from its `__dict__` and slots, asking neither properties nor `__getattr__`."""
    found: dict[str, object] = {}
    for kind in reversed(type.__dict__["__mro__"].__get__(type(obj))):
        slots = kind.__dict__.get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots if isinstance(slots, tuple | list) else ():
            member = kind.__dict__.get(slot)
            if isinstance(member, types.MemberDescriptorType):
                try:
                    found[slot] = member.__get__(obj)
                except AttributeError:
                    continue
    try:
        own = object.__getattribute__(obj, "__dict__")
    except AttributeError:
        return found
    if type(own) is dict:
        found.update((k, v) for k, v in own.items() if type(k) is str)
    return found


def _zone(moment: dt.datetime | dt.time) -> str:
    return moment.isoformat()


def _float(number: float) -> Value:
    return ["float", float.__repr__(number)]


_CALLABLES = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.MethodWrapperType,
    types.WrapperDescriptorType,
)  # fmt: skip
_FOREIGN: set[str] = {
    "builtins",
    "types",
    "typing",
    "re",
    "functools",
    "collections",
    "threading",
    "_thread",
    "io",
    "_io",
}
_BASES = (bool, int, float, complex, str, bytes, bytearray, tuple, list, dict, set, frozenset, dt.datetime, dt.date)
_PLAIN: dict[type, Callable[[Any], object]] = {
    bool: bool,
    int: lambda x: int.__add__(x, 0),
    float: lambda x: float.__add__(x, 0.0),
    complex: lambda x: complex.__add__(x, 0),
    str: lambda x: str.__str__(x) if type(str.__str__(x)) is str else "".join(str.__iter__(x)),
    bytes: lambda x: bytes.__add__(b"", x),
    bytearray: bytearray,
    dt.datetime: lambda x: dt.datetime.fromisoformat(dt.datetime.isoformat(x)),
    dt.date: lambda x: dt.date.fromordinal(dt.date.toordinal(x)),
}
_SCALARS: dict[type, Callable[[Any], Value]] = {
    float: _float,
    complex: lambda x: ["complex", repr(x.real), repr(x.imag)],
    bytes: lambda x: ["bytes", x.hex()],
    bytearray: lambda x: ["bytearray", x.hex()],
    dt.date: lambda x: ["date", x.isoformat()],
    dt.datetime: lambda x: ["datetime", _zone(x), *([1] if x.fold else [])],
    dt.time: lambda x: ["time", _zone(x)],
    dt.timedelta: lambda x: ["timedelta", x.days, x.seconds, x.microseconds],
    range: lambda x: ["range", _whole(x.start), _whole(x.stop), _whole(x.step)],
    type(Ellipsis): lambda _: ["ellipsis"],
    type(NotImplemented): lambda _: ["not implemented"],
}


_LATER = {"decimal": "Decimal", "fractions": "Fraction", "uuid": "UUID"}


def _known(module: str, name: str) -> Any:
    """A class or mark of a module, where that is imported: what is not imported has no objects, and a lean process
    forks fast."""
    return getattr(sys.modules.get(module), name, type(_Cut))


def _as_text(name: str, obj: object) -> Value:
    return [name, str(obj)]


def _later(kind: type) -> Callable[[Any], Value] | None:
    """The encoding of a number or id whose module the draft has imported; known from then on."""
    for module, name in _LATER.items():
        if kind is _known(module, name):
            _SCALARS[kind] = functools.partial(_as_text, name)
            return _SCALARS[kind]
    return None


def _whole(number: int) -> Value:
    return number if -_LIMIT <= number < _LIMIT else ["int", hex(number)]


def _unwhole(value: Value) -> int:
    return value if isinstance(value, int) else int(value[1], 16)  # type: ignore[index,arg-type]


def fingerprint(text: str) -> Value:
    """Stands for a value too large to keep: its size in characters and its SHA-256."""
    hashlib = importlib.import_module("hashlib")  # heavy, and seldom needed
    return ["digest", len(text), hashlib.sha256(text.encode()).hexdigest()]


def decode(value: Value, refer: Callable[[list[Value]], object] | None = None) -> Any:
    """The object that a value stands for. `refer` gives the object for a `["ref", …]`.

    Raises ValueError for what can't be rebuilt outside: objects and classes of a draft, cut and foreign values."""
    if not isinstance(value, list):
        return value
    make = _MAKE.get(value[0]) if value and isinstance(value[0], str) else None
    if make is not None:
        return make(value, refer)
    if refer is not None and value and value[0] == "ref":
        return refer(value)
    raise ValueError(f"{str(value)[:80]} stands for no plain value")


_Refer = Callable[[list["Value"]], object] | None


def _sequence(kind: Callable[[Iterable[Any]], object]) -> Callable[[Any, _Refer], object]:
    return lambda v, refer: kind([decode(item, refer) if type(item) is list else item for item in v[1]])


_MAKE: dict[str, Callable[[Any, _Refer], object]] = {
    "float": lambda v, _: float(v[1]),
    "int": lambda v, _: int(v[1], 16),
    "list": _sequence(list),
    "tuple": _sequence(tuple),
    "set": _sequence(set),
    "frozenset": _sequence(frozenset),
    "dict": lambda v, refer: {decode(k, refer): decode(x, refer) for k, x in v[1]},
    "deque": lambda v, refer: collections.deque([decode(i, refer) for i in v[1]], v[2]),
    "iterator": lambda v, refer: iter([decode(i, refer) for i in v[2]]),
    "bytes": lambda v, _: bytes.fromhex(v[1]),
    "bytearray": lambda v, _: bytearray.fromhex(v[1]),
    "str": lambda v, _: bytes.fromhex(v[1]).decode("utf-8", "surrogatepass"),
    "date": lambda v, _: dt.date.fromisoformat(v[1]),
    "datetime": lambda v, _: dt.datetime.fromisoformat(v[1]).replace(fold=int(len(v) > 2)),
    "time": lambda v, _: dt.time.fromisoformat(v[1]),
    "timedelta": lambda v, _: dt.timedelta(v[1], v[2], v[3]),
    "Decimal": lambda v, _: importlib.import_module("decimal").Decimal(v[1]),
    "Fraction": lambda v, _: importlib.import_module("fractions").Fraction(v[1]),
    "complex": lambda v, _: complex(float(v[1]), float(v[2])),
    "range": lambda v, _: range(_unwhole(v[1]), _unwhole(v[2]), _unwhole(v[3])),
    "UUID": lambda v, _: importlib.import_module("uuid").UUID(v[1]),
    "path": lambda v, _: importlib.import_module("pathlib").Path(v[1]),
    "ellipsis": lambda *_: ...,
    "not implemented": lambda *_: NotImplemented,
}
