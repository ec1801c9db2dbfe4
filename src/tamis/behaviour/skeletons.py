"""Skeletons. Programs with holes, in which a solver looks for values that part two drafts left together so far.

Two drafts differ in some of their definitions. What can show it are calls of these, and of what uses these; so a
skeleton is a short program that exploring ran and that ends in such a call, with its numbers, dates, texts and lists
made holes. Names of things stay: as formulas they would be looked up in every dict of a draft.
"""

import ast
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from msgspec.structs import replace

from tamis.behaviour.fitting import is_of, literal_value
from tamis.behaviour.inputs import Maker
from tamis.behaviour.kinds import Kind
from tamis.behaviour.matrix import Matrix, outcomes_of
from tamis.behaviour.programs import picked, refs_in, refs_of
from tamis.behaviour.surface import Param, Signature
from tamis.sandbox import HoleKind, Program, Skeleton, Value, decode, encode

MOST_SKELETONS = 4
"""Skeletons of one pair: each has its share of the pair's CPU seconds."""
MOST_CALLS = 10
MOST_HOLES = 6
LEAVES = frozenset({"int", "str", "float", "bool", "bytes", "date", "time", "timedelta", "Decimal", "Fraction", "none"})
"""Kinds that can be formulas, alone or within others."""
HOLDERS = frozenset({"list", "run", "tuple", "set", "frozenset", "dict"})
PLAIN_NUMBER = re.compile(r"-?\d{1,30}(\.\d{1,30})?([eE][+-]?\d{1,2})?(/\d{1,30})?")
TAGS = frozenset({"float", "date", "datetime", "time", "timedelta", "bytes", "str", *HOLDERS - {"run"}})
LONGEST, DEEPEST = 400, 6
"""How long a text or a list may be that was proposed, and how deep it may go."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def skeletons_of(first: str, second: str, draft: str, matrix: Matrix, maker: Maker) -> tuple[Skeleton, ...]:
    """The skeletons in which these two texts may part, at most MOST_SKELETONS. `draft` is the id of one of them."""
    names = differing(first, second)
    found: dict[tuple[str, ...], _Candidate] = {}
    row = matrix.drafts.index(draft)
    for p, (program, inside) in enumerate(zip(matrix.programs, matrix.inside, strict=True)):
        last = max((i for i, call in enumerate(program) if _shows(maker, program, i, names)), default=-1)
        if not inside or last < 0:
            continue
        short = _lean(maker, program, last)
        key = (short[-1].name, maker.shape(short), str(_width(short)))
        if len(short) <= MOST_CALLS and (key not in found or found[key].raised):
            column = matrix.columns[p]
            outcome = outcomes_of(column.raw[column.row[row]])[last]
            found[key] = _Candidate(short, not outcome.startswith(b'["="'), names & {c.name for c in short})
    return _chosen(maker, list(found.values()))


class _Candidate(NamedTuple):
    """A program, whether its last call raised, and the names that matter which it calls."""

    program: Program
    raised: bool
    names: frozenset[str]


def _chosen(maker: Maker, found: list[_Candidate]) -> tuple[Skeleton, ...]:
    """By turns the plainest that calls something new, and the one that calls the most that is new; of those whose last
    call raised only where there is no other."""
    chosen: list[Skeleton] = []
    called: frozenset[str] = frozenset()

    def plainest(one: _Candidate) -> tuple[object, ...]:
        return one.raised, one.names <= called, len(one.program), -_width(one.program)

    def richest(one: _Candidate) -> tuple[object, ...]:
        return one.raised, -len(one.names - called), -len(one.names), len(one.program)

    while found and len(chosen) < MOST_SKELETONS:
        one = min(found, key=richest if len(chosen) % 2 else plainest)
        found.remove(one)
        skeleton = with_holes(maker, one.program)
        if skeleton.holes and skeleton not in chosen:
            chosen.append(skeleton)
            called |= one.names
    return tuple(chosen)


def _width(program: Program) -> int:
    return len(program[-1].args) + len(program[-1].kwargs)


def _shows(maker: Maker, program: Program, at: int, names: frozenset[str]) -> bool:
    return program[at].name in names and maker.signature_at(program, at) is not None


def _lean(maker: Maker, program: Program, last: int) -> Program:
    """The program up to call `last`, without what can't matter to it: for a function, all but its objects."""
    upto = program[: last + 1]
    if maker.surface.classes:
        return picked(upto, sorted({*maker.lean(upto), *_needs(upto, last)}))
    return picked(upto, sorted(_needs(upto, last)))


def _needs(program: Program, last: int) -> set[int]:
    needed, todo = set[int](), [last]
    while todo:
        needed.add(at := todo.pop())
        todo += [ref for ref in refs_of(program[at]) if ref not in needed]
    return needed


# which definitions differ


def differing(first: str, second: str) -> frozenset[str]:
    """The names of functions, methods and classes that two drafts write differently, and of those that use them,
    directly or through others. What differs outside any definition concerns the names that it binds."""
    one, two = _definitions(first), _definitions(second)
    names = {name for name in one.keys() | two.keys() if one.get(name, ("", set()))[0] != two.get(name, ("", set()))[0]}
    used = {name: one.get(name, ("", set()))[1] | two.get(name, ("", set()))[1] for name in one.keys() | two.keys()}
    while more := {name for name, uses in used.items() if name not in names and uses & names}:
        names |= more
    return frozenset(names)


def _definitions(source: str) -> dict[str, tuple[str, set[str]]]:
    """For each name that is defined, how, and the names that this mentions. A class's constructor goes by the class's
    name, as do its other special methods."""
    found: dict[str, tuple[str, set[str]]] = {}

    def add(name: str, node: ast.AST) -> None:
        text, uses = found.get(name, ("", set()))
        mentioned = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        mentioned |= {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
        found[name] = text + ast.dump(node), uses | mentioned

    for statement in ast.parse(source).body:
        match statement:
            case ast.ClassDef(name=name, body=body):
                add(name, ast.ClassDef(name, statement.bases, statement.keywords, [], statement.decorator_list))
                for part in body:
                    method = isinstance(part, Function) and not part.name.startswith("__")
                    add(part.name if isinstance(part, Function) and method else name, _without_docstring(part))
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                add(name, _without_docstring(statement))
            case ast.Assign() | ast.AnnAssign():
                for target in ast.walk(statement):
                    if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store):
                        add(target.id, statement)
    return found


def _without_docstring(node: ast.stmt) -> ast.stmt:
    if isinstance(node, Function) and ast.get_docstring(node, clean=False) is not None:
        node.body = node.body[1:]
    return node


# holes


def with_holes(maker: Maker, program: Program) -> Skeleton:
    """The program with a hole for each argument that can be a formula, the last ones first where there are many."""
    holes: list[HoleKind] = []
    calls = list(program)
    for at in range(len(program) - 1, -1, -1):
        signature = maker.signature_at(program, at)
        if signature is not None:
            args = [_holed(maker, holes, p, v) for p, v in zip(_places(signature), program[at].args, strict=False)]
            by_name = {p.name: p for p in signature.params}
            named = {k: _holed(maker, holes, by_name.get(k), v) for k, v in program[at].kwargs.items()}
            calls[at] = replace(program[at], args=(*args, *program[at].args[len(args) :]), kwargs=named)
    return Skeleton(program=tuple(calls), holes=tuple(holes))


def _places(signature: Signature) -> list[Param]:
    """The parameter for each place, one that takes the rest for all that follow."""
    plain = [p for p in signature.params if not p.keyword and not p.spread]
    return plain + [p for p in signature.params if p.spread == "*"] * LONGEST


def _holed(maker: Maker, holes: list[HoleKind], param: Param | None, value: Value) -> Value:
    if param is None or len(holes) >= MOST_HOLES or refs_in(value):
        return value
    kind = maker.kind_of(param)
    if kind.name == "str" and maker.values.is_name(param.name):
        return value
    hole = hole_kind(kind)
    if hole is None:
        return value
    holes.append(hole)
    return ["hole", len(holes) - 1]


def hole_kind(kind: Kind, *, within: bool = False) -> HoleKind | None:
    """The kind as the box knows it; None where there is no formula for it."""
    if kind.name == "literal":
        values = tuple(encode(literal_value(source)) for source in kind.literals)
        return None if within else HoleKind(name="literal", values=values)
    if kind.name == "datetime":
        return None if within else HoleKind(name="datetime")
    if kind.name in LEAVES:
        return HoleKind(name=kind.name)
    parts = [hole_kind(k, within=True) for k in kind.of]
    if kind.name not in HOLDERS | {"union"} or not parts or None in parts:
        return None
    return HoleKind(name=kind.name, of=tuple(part for part in parts if part is not None))


def kind_in(hole: HoleKind) -> Kind:
    """The kind that a hole stands for."""
    literals = tuple(repr(decode(value)) for value in hole.values)
    return Kind(name=hole.name, of=tuple(map(kind_in, hole.of)), literals=literals)


def filled(skeleton: Skeleton, values: Sequence[Value]) -> Program | None:
    """The program with these values in its holes; None where one of them is not a plain value of its hole's kind.
    They come out of the box, where anybody may have written them: nothing is rebuilt from one before it was looked at.
    """
    fitting: list[Value] = []
    for hole, value in zip(skeleton.holes, values, strict=True):
        plain = _rebuilt(value)
        if plain is _NOTHING or not is_of(plain, kind_in(hole)):
            return None
        fitting.append(encode(plain))

    def at(value: Value) -> Value:
        return fitting[int(str(value[1]))] if isinstance(value, list) and value[:1] == ["hole"] else value

    return tuple(
        replace(call, args=tuple(map(at, call.args)), kwargs={k: at(v) for k, v in call.kwargs.items()})
        for call in skeleton.program
    )


_NOTHING = object()


def _rebuilt(value: Value) -> object:
    if _is_small(value, DEEPEST):
        with suppress(ValueError, TypeError, LookupError, ArithmeticError, AttributeError):
            return decode(value)
    return _NOTHING


def _is_small(value: object, depth: int) -> bool:  # noqa: PLR0911 (one answer for each kind)
    """Whether it is a plain value of a size that a person could look at, and that costs nothing to rebuild."""
    match value:
        case None | bool():
            return True
        case int():
            return abs(value) < 1 << 64
        case str():
            return len(value) <= LONGEST
        case ["Decimal" | "Fraction", str(text)]:
            return PLAIN_NUMBER.fullmatch(text) is not None
        case ["dict", list(pairs)]:
            whole = all(isinstance(pair, list) and len(pair) == 2 for pair in pairs)
            whole = whole and depth > 0 and len(pairs) <= LONGEST
            return whole and all(_is_small(v, depth - 1) for pair in pairs for v in pair)
        case [str(tag), list(items)] if tag in TAGS:
            return depth > 0 and len(items) <= LONGEST and all(_is_small(item, depth - 1) for item in items)
        case [str(tag), *parts] if tag in TAGS:
            return all(isinstance(part, int) or (isinstance(part, str) and len(part) <= LONGEST) for part in parts)
        case _:
            return False
