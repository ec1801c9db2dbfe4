"""Mutants. All drafts may share a mistake, and then their agreement proves nothing. A small change to the chosen draft
that every given test and every answer lets through shows what nobody has checked yet.

Changes are made in the syntax tree, one at a time: constants ±1, comparisons and their boundaries, conditions that
always or never hold, dropped statements, swapped arguments, plus for minus, and for or. A mutant may do exactly what
its original does; only running it tells. Mutants are never offered as drafts.
"""

import ast
import random
from collections.abc import Callable, Iterator, Sequence

from tamis.records import Record, digest


class Mutant(Record, frozen=True, kw_only=True):
    """One changed copy of a draft. `change` says what was changed, for a person; `line` is where, in the original;
    `kind` is the rule that made it."""

    id: str
    kind: str
    change: str
    line: int
    source: bytes


NEAREST: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
"""For each comparison its neighbour at the boundary first, then its opposite."""

ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.FloorDiv,
    ast.Mod: ast.FloorDiv,
}
TWINS = {"min": "max", "max": "min", "any": "all", "all": "any"}

DROPPABLE = (ast.Assign, ast.AugAssign, ast.Expr, ast.Raise, ast.Delete)


class _Change(Record, frozen=True, kw_only=True):
    """A change at the node that stands at `place` in the tree's own order of walking, as its `option`-th."""

    kind: str
    place: int
    option: int


def mutants(source: bytes, *, limit: int, rng: random.Random) -> tuple[Mutant, ...]:
    """At most `limit` changed copies of the module `source`, spread over the kinds of change and over the lines, each
    different from all others. Raises SyntaxError when `source` does not parse."""
    tree = ast.parse(source)
    nodes = list(ast.walk(tree))
    changes = list(_changes(tree))
    rng.shuffle(changes)
    found: dict[str, Mutant] = {ast.unparse(tree): _UNCHANGED}
    for change in _spread(changes):
        mutant = _changed(tree, nodes[change.place], change)
        found.setdefault(mutant.source.decode("utf-8", "surrogatepass"), mutant)
        if len(found) > limit:
            break
    return tuple(m for m in found.values() if m is not _UNCHANGED)


def _spread(changes: Sequence[_Change]) -> Iterator[_Change]:
    """The kinds in turn, so that a limit does not cut off a whole kind."""
    by_kind: dict[str, list[_Change]] = {}
    for change in changes:
        by_kind.setdefault(change.kind, []).append(change)
    while by_kind:
        for kind in sorted(by_kind):
            yield by_kind[kind].pop()
            if not by_kind[kind]:
                del by_kind[kind]


def _changed(tree: ast.Module, node: ast.AST, change: _Change) -> Mutant:
    """The mutant that this change makes. The tree is put back as it was: reading and copying it anew for each mutant
    takes three times as long."""
    kind, fields, before = node.__class__, dict(node.__dict__), _shown(node)
    try:
        _EDITS[change.kind](node, change.option)
        text = ast.unparse(tree)
        after = "dropped" if change.kind == "drop" else _shown(node)
    finally:
        node.__class__ = kind
        node.__dict__.clear()
        node.__dict__.update(fields)
    return Mutant(
        id=digest("mutant", text),
        kind=change.kind,
        change=f"{before} → {after}",
        line=fields.get("lineno", 0),
        source=text.encode("utf-8", "surrogatepass"),
    )


def _shown(node: ast.AST) -> str:
    shown = node.test if isinstance(node, ast.If | ast.While | ast.IfExp) else node
    text = " ".join(ast.unparse(shown).split())
    return text if len(text) <= 60 else text[:59] + "…"


_UNCHANGED = Mutant(id="", kind="", change="", line=0, source=b"")


def _changes(tree: ast.Module) -> Iterator[_Change]:
    """Every change that the rules know for this tree. Docstrings and annotations are left alone."""
    silent = _silent(tree)
    for place, node in enumerate(ast.walk(tree)):
        if id(node) in silent:
            continue
        for kind, options in _options(node):
            for option in range(options):
                yield _Change(kind=kind, place=place, option=option)


def _silent(tree: ast.Module) -> set[int]:
    """Nodes in annotations and docstrings, and in the messages of exceptions."""
    quiet: list[ast.AST] = []
    for node in ast.walk(tree):
        match node:
            case ast.arg(annotation=ast.expr() as a) | ast.AnnAssign(annotation=ast.expr() as a):
                quiet.append(a)
            case ast.FunctionDef(returns=ast.expr() as a):
                quiet.append(a)
            case ast.Expr(value=ast.Constant() as a):
                quiet.extend([node, a])
            case ast.Raise(exc=ast.Call(args=args)):
                quiet.extend(args)
            case _:
                pass
    return {id(inner) for node in quiet for inner in ast.walk(node)}


def _options(node: ast.AST) -> Iterator[tuple[str, int]]:
    """The kinds of change that fit this node, each with how many ways there are."""
    match node:
        case ast.Constant(value=bool()):
            yield "constant", 1
        case ast.Constant(value=int() | float()):
            yield "constant", 2
        case ast.Constant(value=str(value)) if value:
            yield "text", 1
        case ast.Compare(ops=ops):
            yield "comparison", max(len(NEAREST.get(type(op), ())) for op in ops) * len(ops)
        case ast.BoolOp(values=values):
            yield "and-or", 1
            yield "part", len(values)
        case ast.BinOp(op=op) if type(op) in ARITHMETIC:
            yield "arithmetic", 1
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield "negation", 1
        case ast.Call():
            yield from _call_options(node)
        case ast.If() | ast.IfExp() | ast.While():
            yield "condition", 1 if isinstance(node, ast.While) else 2
        case ast.Subscript(slice=ast.Slice()):
            yield "slice", 1
        case _ if isinstance(node, DROPPABLE):
            yield "drop", 1


def _call_options(node: ast.Call) -> Iterator[tuple[str, int]]:
    if len(node.args) >= 2 and not any(isinstance(a, ast.Starred) for a in node.args):
        yield "arguments", len(node.args) - 1
    match node.func:
        case ast.Name(id="sorted") if node.args:
            yield "order", 2
        case ast.Name(id=name) if name in TWINS:
            yield "twin", 1
        case _:
            pass
    if node.keywords:
        yield "keyword", len(node.keywords)


def _constant(node: ast.AST, option: int) -> None:
    assert isinstance(node, ast.Constant)
    if isinstance(node.value, bool):
        node.value = not node.value
    elif isinstance(node.value, int | float):
        node.value = node.value + (1 if option == 0 else -1)


def _text(node: ast.AST, _option: int) -> None:
    assert isinstance(node, ast.Constant)
    node.value = f"{node.value}_" if node.value == str(node.value).swapcase() else str(node.value).swapcase()


def _comparison(node: ast.AST, option: int) -> None:
    assert isinstance(node, ast.Compare)
    at, which = option % len(node.ops), option // len(node.ops)
    ways = NEAREST.get(type(node.ops[at]), ())
    if which < len(ways):
        node.ops = [*node.ops[:at], ways[which](), *node.ops[at + 1 :]]


def _and_or(node: ast.AST, _option: int) -> None:
    assert isinstance(node, ast.BoolOp)
    node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()


def _part(node: ast.AST, option: int) -> None:
    assert isinstance(node, ast.BoolOp)
    node.values = node.values[:option] + node.values[option + 1 :]
    if len(node.values) == 1:  # the tree allows no `and` of one thing; twice the same is the same
        node.values = node.values * 2


def _arithmetic(node: ast.AST, _option: int) -> None:
    assert isinstance(node, ast.BinOp)
    node.op = ARITHMETIC[type(node.op)]()


def _negation(node: ast.AST, _option: int) -> None:
    assert isinstance(node, ast.UnaryOp)
    node.op, node.operand = ast.Not() if isinstance(node.op, ast.Not) else ast.UAdd(), node.operand
    if isinstance(node.op, ast.Not):
        node.operand = ast.UnaryOp(op=ast.Not(), operand=node.operand)


def _arguments(node: ast.AST, option: int) -> None:
    assert isinstance(node, ast.Call)
    first, second = node.args[option : option + 2]
    node.args = [*node.args[:option], second, first, *node.args[option + 2 :]]


def _order(node: ast.AST, option: int) -> None:
    """Sorted the other way round, or not at all."""
    assert isinstance(node, ast.Call)
    if option == 0:
        back = [k for k in node.keywords if k.arg == "reverse"]
        node.keywords = [k for k in node.keywords if k.arg != "reverse"]
        if not back:
            node.keywords = [*node.keywords, ast.keyword(arg="reverse", value=ast.Constant(value=True))]
    else:
        node.func, node.keywords = ast.Name(id="list", ctx=ast.Load()), []


def _twin(node: ast.AST, _option: int) -> None:
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Name)
    node.func = ast.Name(id=TWINS[node.func.id], ctx=ast.Load())


def _keyword(node: ast.AST, option: int) -> None:
    assert isinstance(node, ast.Call)
    node.keywords = [*node.keywords[:option], *node.keywords[option + 1 :]]


def _condition(node: ast.AST, option: int) -> None:
    assert isinstance(node, ast.If | ast.IfExp | ast.While)
    node.test = ast.Constant(value=option == 1)


def _slice(node: ast.AST, _option: int) -> None:
    assert isinstance(node, ast.Subscript)
    node.slice = ast.Slice()


def _drop(node: ast.AST, _option: int) -> None:
    node.__class__ = ast.Pass


_EDITS: dict[str, Callable[[ast.AST, int], None]] = {
    "constant": _constant,
    "text": _text,
    "comparison": _comparison,
    "and-or": _and_or,
    "part": _part,
    "arithmetic": _arithmetic,
    "negation": _negation,
    "arguments": _arguments,
    "order": _order,
    "twin": _twin,
    "keyword": _keyword,
    "condition": _condition,
    "slice": _slice,
    "drop": _drop,
}
