"""Kinds. What an annotation says about the values that fit, as a small tree that inputs can be made from.

An annotation is read, never evaluated: `date` and `datetime.date` are the same kind, and a name that nobody declared
is of kind "any". What is lost on the way (bounds of a TypeVar, a Protocol's methods) is lost openly: "any" means that
the values must be guessed.
"""

import ast
from collections.abc import Mapping

from tamis.records import Record

SIMPLE = {
    "int", "str", "float", "bool", "bytes", "date", "datetime", "time", "timedelta", "Decimal", "Fraction", "complex",
    "object", "UUID", "Path",
}  # fmt: skip
CONTAINERS = {
    "list": "list", "List": "list", "Sequence": "list", "MutableSequence": "list", "Iterable": "list",
    "Collection": "list", "Iterator": "list", "Generator": "list", "deque": "list", "Deque": "list",
    "set": "set", "Set": "set", "AbstractSet": "set", "MutableSet": "set", "frozenset": "frozenset",
    "FrozenSet": "frozenset", "dict": "dict", "Dict": "dict", "Mapping": "dict", "MutableMapping": "dict",
    "defaultdict": "dict", "OrderedDict": "dict", "Counter": "counter", "tuple": "tuple", "Tuple": "tuple",
}  # fmt: skip
ALIASES = {"PurePath": "Path", "PosixPath": "Path", "PurePosixPath": "Path"}
WRAPPERS = {"Annotated", "Final", "ClassVar", "Required", "NotRequired", "ReadOnly", "Type", "Awaitable"}
NUMBERS = frozenset({"int", "float", "Decimal", "Fraction"})


Declared = Mapping[str, ast.expr | None]


class Kind(Record, frozen=True, kw_only=True):
    """`name` is a simple type, "none", "list", "set", "frozenset", "dict", "tuple", "run" (a tuple of any length),
    "union", "literal", "class" (one that the brief declares: `of_class`), "callable" or "any". `of` are the kinds
    within, `literals` the values of a Literal as Python source."""

    name: str
    of: tuple["Kind", ...] = ()
    of_class: str = ""
    literals: tuple[str, ...] = ()

    def within(self) -> "Kind":
        """The kind of the elements; "any" where it was not said."""
        return self.of[0] if self.of else ANY

    def mentions(self, name: str) -> bool:
        """Whether this kind, or one within, is `name`."""
        return self.name == name or any(k.mentions(name) for k in self.of)


ANY = Kind(name="any")
NONE = Kind(name="none")


def kind_of(node: ast.expr | None, declared: Mapping[str, ast.expr | None]) -> Kind:  # noqa: PLR0911 (one answer for each kind)
    """The kind that an annotation names. `declared` are the names that the brief defines: an alias with what it
    stands for, a class with None."""
    match node:
        case None:
            return ANY
        case ast.Constant(value=None):
            return NONE
        case ast.Constant(value=str(text)):
            return _quoted(text, declared)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return _named(name, declared)
        case ast.BinOp(op=ast.BitOr(), left=left, right=right):
            return _union((kind_of(left, declared), kind_of(right, declared)))
        case ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name), slice=inner):
            parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            return _subscripted(name, parts, declared)
    return ANY


def _quoted(text: str, declared: Mapping[str, ast.expr | None]) -> Kind:
    try:
        return kind_of(ast.parse(text, mode="eval").body, declared)
    except SyntaxError:
        return ANY


def _named(name: str, declared: Mapping[str, ast.expr | None]) -> Kind:
    if name in declared:
        alias = declared[name]
        rest = {k: v for k, v in declared.items() if k != name}
        return kind_of(alias, rest) if alias is not None else Kind(name="class", of_class=name)
    name = ALIASES.get(name, name)
    if name in SIMPLE:
        return Kind(name=name)
    if name in {"None", "NoneType"}:
        return NONE
    if name in CONTAINERS:
        return Kind(name="run" if CONTAINERS[name] == "tuple" else CONTAINERS[name])
    return Kind(name="callable") if name == "Callable" else ANY


def _subscripted(name: str, parts: list[ast.expr], declared: Declared) -> Kind:  # noqa: PLR0911 (one answer for each kind)
    if name == "Literal":
        return Kind(name="literal", literals=tuple(ast.unparse(p) for p in parts))
    if name in WRAPPERS:
        return kind_of(parts[0], declared)
    if name == "Callable":
        return Kind(name="callable")
    within = tuple(kind_of(p, declared) for p in parts)
    if name == "Optional":
        return _union((*within, NONE))
    if name == "Union":
        return _union(within)
    base = CONTAINERS.get(name)
    if base == "tuple":
        runs = len(parts) == 2 and isinstance(parts[1], ast.Constant) and parts[1].value is Ellipsis
        return Kind(name="run", of=within[:1]) if runs else Kind(name="tuple", of=within)
    if base is None:
        return _named(name, declared)
    return Kind(name=base, of=within)


def _union(kinds: tuple[Kind, ...]) -> Kind:
    flat: list[Kind] = []
    for kind in kinds:
        flat += [k for k in (kind.of if kind.name == "union" else (kind,)) if k not in flat]
    return flat[0] if len(flat) == 1 else Kind(name="union", of=tuple(flat))
