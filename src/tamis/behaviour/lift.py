"""Lift. The sequences of calls and the values that the given tests, and the brief's examples, use.

A test is read, never run: a small evaluator follows its statements as far as literal values, loops over them,
fixtures, helpers and parametrised cases go. A value that it can't know (a due date that a call returned) stays open,
as a `Hole`, for whoever makes inputs to fill. What is lifted is a sequence a person wrote, so it is plausible and
reads well.
"""

import ast
import datetime
import decimal
import fractions
import operator
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from tamis.behaviour.surface import Function, Signature, Surface

STEPS = 4_000
"""Statements and expressions followed per test: enough for any test a person writes, and an end for a loop."""

SAFE: Mapping[str, Callable[..., object]] = {
    "date": datetime.date, "datetime": datetime.datetime, "timedelta": datetime.timedelta, "time": datetime.time,
    "Decimal": decimal.Decimal, "Fraction": fractions.Fraction, "int": int, "float": float, "str": str, "bool": bool,
    "list": list, "tuple": tuple, "dict": dict, "set": set, "frozenset": frozenset, "range": range, "len": len,
    "sorted": sorted, "sum": sum, "min": min, "max": max, "abs": abs, "round": round, "zip": zip, "reversed": reversed,
    "enumerate": enumerate, "chr": chr, "ord": ord, "UUID": uuid.UUID,
}  # fmt: skip
METHODS = {
    "isoformat", "fromisoformat", "strptime", "strftime", "replace", "upper", "lower", "strip", "split", "join",
    "items", "keys", "values", "format", "copy", "combine", "date", "title", "weekday",
}  # fmt: skip
BINARY: Mapping[type[ast.operator], Callable[[object, object], object]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip


@dataclass(frozen=True)
class Hole:
    """A value that reading could not tell: what call `of` returned, where it came from one."""

    of: int | None = None


HOLE = Hole()


@dataclass(frozen=True)
class Made:
    """The object that call `at` made or returned."""

    at: int


@dataclass(frozen=True)
class Member:
    """A member of an enum that the brief declares."""

    of: str
    name: str


@dataclass(frozen=True)
class LiftedCall:
    """One call, its arguments still Python values, `Made`, `Member` or `Hole`."""

    signature: Signature
    on: int | None
    args: tuple[object, ...]
    kwargs: tuple[tuple[str, object], ...] = ()


Lifted = tuple[LiftedCall, ...]


class _Enough(Exception):
    """The evaluator has followed as many steps as it may."""


class _Returned(Exception):
    def __init__(self, value: object) -> None:
        self.value = value


@dataclass
class _Reader:
    """Follows one test. `calls` grows as it goes; `env` is what the names stand for."""

    surface: Surface
    functions: Mapping[str, Function]
    env: dict[str, object]
    calls: list[LiftedCall] = field(default_factory=list)
    steps: int = 0
    depth: int = 0

    def block(self, statements: Iterable[ast.stmt]) -> None:
        for statement in statements:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:  # noqa: PLR0912 (one branch for each kind)
        self.steps += 1
        if self.steps > STEPS:
            raise _Enough
        match node:
            case ast.Assign(targets=targets, value=value):
                result = self.value(value)
                for target in targets:
                    self.bind(target, result)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.bind(target, self.value(value))
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                self.env[name] = self.binary(op, self.env.get(name, HOLE), self.value(value))
            case ast.Expr(value=value) | ast.Assert(test=value):
                self.value(value)
            case ast.Return(value=value):
                raise _Returned(None if value is None else self.value(value))
            case ast.With(items=items, body=body):
                for item in items:
                    self.value(item.context_expr)
                self.block(body)
            case ast.For(target=target, iter=source, body=body):
                for element in self.elements(self.value(source)):
                    self.bind(target, element)
                    self.block(body)
            case ast.If(test=test, body=body, orelse=orelse):
                self.block(body if self.value(test) not in (False, None, 0, "") else orelse)
            case ast.Try(body=body, finalbody=final):
                self.block(body)
                self.block(final)

    def bind(self, target: ast.expr, value: object) -> None:
        match target:
            case ast.Name(id=name):
                self.env[name] = value
            case ast.Attribute(value=ast.Name(id="self"), attr=attr):
                self.env[f"self.{attr}"] = value
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                parts = list(value) if isinstance(value, tuple | list) and len(value) == len(elts) else []
                for i, elt in enumerate(elts):
                    self.bind(elt, parts[i] if parts else HOLE)

    def elements(self, value: object) -> Iterator[object]:
        if isinstance(value, Hole | Made) or not isinstance(value, Iterable):
            return
        for i, element in enumerate(value):
            if i == 200:
                return
            yield element

    def value(self, node: ast.expr) -> object:  # noqa: PLR0911, PLR0912 (one branch for each kind)
        """What the expression stands for; calls of what can be called are noted on the way."""
        self.steps += 1
        if self.steps > STEPS:
            raise _Enough
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self.env.get(name, HOLE)
            case ast.Tuple(elts=elts):
                return tuple(self.value(e) for e in elts)
            case ast.List(elts=elts):
                return [self.value(e) for e in elts]
            case ast.Set(elts=elts):
                return self.guarded(set, [self.value(e) for e in elts])
            case ast.Dict(keys=keys, values=values):
                pairs = [(self.value(k), self.value(v)) for k, v in zip(keys, values, strict=True) if k is not None]
                return self.guarded(dict, pairs)
            case ast.BinOp(left=left, op=op, right=right):
                return self.binary(op, self.value(left), self.value(right))
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return self.guarded(operator.neg, self.value(inner))
            case ast.Attribute():
                return self.attribute(node)
            case ast.Call():
                return self.call(node)
            case ast.ListComp(elt=elt, generators=[one]) | ast.GeneratorExp(elt=elt, generators=[one]):
                return [self.value(elt) for e in self.elements(self.value(one.iter)) if not self.bind(one.target, e)]  # type: ignore[func-returns-value]  # bind is only for its effect
            case ast.JoinedStr(values=parts):
                return self.joined([self.value(p) for p in parts])
            case ast.FormattedValue(value=inner, format_spec=None):
                return self.value(inner)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.value(child)
        return HOLE

    def joined(self, parts: Sequence[object]) -> object:
        return HOLE if any(isinstance(p, Hole | Made) for p in parts) else "".join(map(str, parts))

    def guarded(self, function: Callable[..., object], *args: object) -> object:
        """The function's value, or a hole where an argument is open or Python refuses."""
        if any(_is_open(a) or (isinstance(a, range) and len(a) > STEPS) for a in args):
            return HOLE
        try:
            return function(*args)
        except Exception:
            return HOLE

    def binary(self, op: ast.operator, left: object, right: object) -> object:
        if isinstance(op, ast.Mult) and not all(isinstance(v, int | float) and abs(v) < 10**9 for v in (left, right)):
            sizes = [v for v in (left, right) if isinstance(v, int)]
            if any(n > 1_000 for n in sizes):
                return HOLE
        function = BINARY.get(type(op))
        return HOLE if function is None else self.guarded(function, left, right)

    def attribute(self, node: ast.Attribute) -> object:
        if isinstance(node.value, ast.Name) and f"self.{node.attr}" in self.env and node.value.id == "self":
            return self.env[f"self.{node.attr}"]
        if isinstance(node.value, ast.Name) and node.attr in self.surface.enums.get(node.value.id, ()):
            return Member(node.value.id, node.attr)
        holder = self.value(node.value)
        if isinstance(holder, Made):
            signature = self.member(holder, node.attr)
            if signature is not None and signature.form == "property":
                return self.note(LiftedCall(signature, holder.at, ()))
        return HOLE

    def member(self, holder: Made, name: str) -> Signature | None:
        """The member of that name, by the class that the call made, else by any class that has one."""
        made = self.calls[holder.at].signature
        of = made.name if made.form == "constructor" else made.returns.of_class
        classes = [c for c in self.surface.classes if c.name == of] or list(self.surface.classes)
        return next((m for c in classes for m in c.members if m.name == name), None)

    def call(self, node: ast.Call) -> object:
        match node.func:
            case ast.Name(id=name):
                return self.named_call(name, node)
            case ast.Attribute(value=inner, attr=name):
                return self.method_call(inner, name, node)
        return HOLE

    def arguments(self, node: ast.Call) -> tuple[tuple[object, ...], tuple[tuple[str, object], ...]]:
        args: list[object] = []
        for a in node.args:
            if isinstance(a, ast.Starred):
                args += self.elements(self.value(a.value))
            else:
                args.append(self.value(a))
        return tuple(args), tuple((k.arg, self.value(k.value)) for k in node.keywords if k.arg)

    def named_call(self, name: str, node: ast.Call) -> object:
        args, kwargs = self.arguments(node)
        signature = next((f for f in self.surface.functions if f.name == name), None)
        cls = self.surface.class_named(name)
        if cls is not None:
            signature = cls.constructor
        if signature is not None and name not in self.functions:
            return self.note(LiftedCall(signature, None, args, kwargs))
        if name in self.functions and self.depth < 5:
            return self.helper(self.functions[name], args, dict(kwargs))
        if name in SAFE:
            return self.guarded(lambda *a: SAFE[name](*a, **dict(kwargs)), *args)
        return HOLE

    def method_call(self, inner: ast.expr, name: str, node: ast.Call) -> object:  # noqa: PLR0911 (one for each)
        if isinstance(inner, ast.Name) and inner.id not in self.env:
            cls = self.surface.class_named(inner.id)
            static = next((m for m in cls.members if m.name == name), None) if cls else None
            if static is not None:
                args, kwargs = self.arguments(node)
                return self.note(LiftedCall(static, None, args, kwargs))
            if name not in METHODS:
                return self.named_call(name, node)
        if isinstance(inner, ast.Name) and inner.id == "self" and name in self.functions:
            args, kwargs = self.arguments(node)
            return self.helper(self.functions[name], (HOLE, *args), dict(kwargs))
        holder = SAFE[inner.id] if isinstance(inner, ast.Name) and inner.id in SAFE else self.value(inner)
        args, kwargs = self.arguments(node)
        if isinstance(holder, Made):
            signature = self.member(holder, name)
            return HOLE if signature is None else self.note(LiftedCall(signature, holder.at, args, kwargs))
        if isinstance(holder, list) and name in {"append", "add"} and len(args) == 1:
            holder.append(args[0])
            return None
        if isinstance(holder, Hole) or name not in METHODS:
            return HOLE
        return self.guarded(lambda *a: getattr(holder, name)(*a, **dict(kwargs)), *args)

    def helper(self, function: Function, args: Sequence[object], kwargs: Mapping[str, object]) -> object:
        """A fixture or helper of the test file, followed where it is called."""
        outer, self.depth = self.env, self.depth + 1
        names = [a.arg for a in function.args.args]
        self.env = {**outer, **dict(zip(names, args, strict=False)), **kwargs}
        try:
            self.block(function.body)
            return _yielded(self, function)
        except _Returned as returned:
            return returned.value
        finally:
            self.env, self.depth = outer, self.depth - 1

    def note(self, call: LiftedCall) -> object:
        self.calls.append(call)
        at = len(self.calls) - 1
        returns_object = call.signature.form == "constructor" or call.signature.returns.mentions("class")
        return Made(at) if returns_object else Hole(at)


def _yielded(reader: _Reader, function: Function) -> object:
    """What a fixture that yields, instead of returning, gives."""
    for node in ast.walk(function):
        if isinstance(node, ast.Yield) and node.value is not None:
            return reader.value(node.value)
    return None


def _is_open(value: object) -> bool:
    if isinstance(value, Hole | Made | Member):
        return True
    if isinstance(value, list | tuple | set | frozenset):
        return any(_is_open(v) for v in value)
    return isinstance(value, dict) and any(_is_open(v) for v in value.values())


def lift_tests(source: str, surface: Surface) -> list[Lifted]:
    """One sequence for each test function (and each parametrised case) of a test file; none where it does not
    parse."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return []
    functions = {n.name: n for n in ast.walk(tree) if isinstance(n, Function)}
    top = _Reader(surface, functions, {})
    _quietly(top, tree.body)
    found = []
    for function in functions.values():
        if function.name.startswith("test"):
            found += [_followed(function, case, functions, top.env, surface) for case in _cases(function, top)]
    return [f for f in found if f]


def lift_examples(snippets: Iterable[str], surface: Surface) -> list[Lifted]:
    """The sequences in pieces of text that may be Python, like the examples of a brief; those that don't parse, or
    call nothing, are left out."""
    found = []
    for snippet in snippets:
        reader = _Reader(surface, {}, {})
        try:
            _quietly(reader, ast.parse(snippet.strip()).body)
        except (SyntaxError, ValueError, RecursionError):
            continue
        if reader.calls:
            found.append(tuple(reader.calls))
    return found


def _quietly(reader: _Reader, body: Sequence[ast.stmt]) -> None:
    with suppress(_Enough, _Returned):
        reader.block(body)


def _cases(function: Function, top: _Reader) -> list[dict[str, object]]:
    """The values of the parameters for each parametrised case; one empty case where there are none."""
    cases: list[dict[str, object]] = [{}]
    for decorator in function.decorator_list:
        match decorator:
            case ast.Call(func=ast.Attribute(attr="parametrize"), args=[names, values, *_]):
                keys = _parameter_names(top.value(names))
                rows = [_row(keys, v) for v in top.elements(_parametrised(top, values))]
                cases = [{**case, **row} for case in cases for row in rows][:200]
    return cases


def _parametrised(top: _Reader, values: ast.expr) -> object:
    """The rows, with `pytest.param(…)` taken for its arguments."""
    if not isinstance(values, ast.List | ast.Tuple):
        return top.value(values)
    rows: list[object] = []
    for row in values.elts:
        is_param = isinstance(row, ast.Call) and isinstance(row.func, ast.Attribute) and row.func.attr == "param"
        rows.append(tuple(top.value(a) for a in row.args) if is_param and isinstance(row, ast.Call) else top.value(row))
    return rows


def _parameter_names(names: object) -> list[str]:
    if isinstance(names, str):
        return [n.strip() for n in names.split(",") if n.strip()]
    return [str(n) for n in names] if isinstance(names, list | tuple) else []


def _row(keys: Sequence[str], value: object) -> dict[str, object]:
    if len(keys) == 1:
        return {keys[0]: value[0] if isinstance(value, tuple) and len(value) == 1 else value}
    return dict(zip(keys, value, strict=False)) if isinstance(value, tuple | list) else {}


def _followed(
    test: Function,
    case: Mapping[str, object],
    functions: Mapping[str, Function],
    env: Mapping[str, object],
    surface: Surface,
) -> Lifted:
    reader = _Reader(surface, functions, dict(env))
    try:
        for name in ("setUp", "setup_method", "setup"):
            if name in functions:
                reader.block(functions[name].body)
        _fixtures(reader, test, case)
        reader.block(test.body)
    except (_Enough, _Returned):
        pass
    return tuple(reader.calls)


def _fixtures(reader: _Reader, function: Function, case: Mapping[str, object]) -> None:
    """Binds a function's parameters: to the case's values, else to what the fixture of that name gives."""
    for parameter in function.args.args:
        name = parameter.arg
        if name in case:
            reader.env[name] = case[name]
        elif name in reader.functions and not name.startswith("test") and reader.depth < 5:
            reader.depth += 1
            _fixtures(reader, reader.functions[name], {})
            reader.env[name] = reader.helper(reader.functions[name], (), {})
            reader.depth -= 1
