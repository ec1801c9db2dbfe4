"""Purity. Which methods only read: what can be told from the drafts' texts about whether a call changes anything."""

import ast
from collections.abc import Iterable, Sequence

from tamis.behaviour.surface import Function, Surface

MUTATORS = {
    "append", "appendleft", "add", "clear", "discard", "extend", "insert", "pop", "popitem", "popleft", "remove",
    "setdefault", "update", "sort", "execute", "heappush", "heappop", "insort", "move_to_end",
}  # fmt: skip


def readers_of(sources: Sequence[str], surface: Surface) -> tuple[str, ...]:
    """The names of the methods that change nothing in most drafts: no attribute, item or global is assigned, no
    container changed, also not by what they call within the draft."""
    names = [m.name for c in surface.classes for m in c.members if m.form in {"method", "property"}]
    votes = dict.fromkeys(names, 0)
    read = 0
    for source in sources:
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        read += 1
        changing = _changing(tree)
        for name in votes:
            votes[name] += name not in changing
    return tuple(name for name, n in votes.items() if read and n * 2 > read)


def _changing(tree: ast.Module) -> set[str]:
    """The functions of a module that change something, themselves or through another of its functions, by name."""
    calls: dict[str, set[str]] = {}
    changing: set[str] = set()
    for function in ast.walk(tree):
        if isinstance(function, Function):
            calls.setdefault(function.name, set()).update(_called(function))
            if function.name not in {"__init__", "__post_init__"} and _changes(function):
                changing.add(function.name)
    while True:
        more = {name for name, called in calls.items() if name not in changing and called & changing}
        if not more:
            return changing
        changing |= more


def _called(function: Function) -> Iterable[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            match node.func:
                case ast.Name(id=name) | ast.Attribute(attr=name):
                    yield name


def _changes(function: Function) -> bool:
    """Whether it assigns beyond its own names, or changes a container that is not one of them."""
    own = _own_names(function)
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=targets):
                if any(_is_beyond(t, own) for t in targets):
                    return True
            case ast.AugAssign(target=target) | ast.AnnAssign(target=target, value=ast.expr()):
                if _is_beyond(target, own):
                    return True
            case ast.Delete(targets=targets):
                if any(_is_beyond(t, own) for t in targets):
                    return True
            case ast.Global() | ast.Nonlocal():
                return True
            case ast.Call(func=ast.Attribute(value=holder, attr=attr)) if attr in MUTATORS:
                if not (isinstance(holder, ast.Name) and holder.id in own):
                    return True
    return False


def _own_names(function: Function) -> set[str]:
    """The local names that hold something made here: a display, a comprehension, a copy."""
    found = set()
    for node in ast.walk(function):
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=value)
            ):
                if _is_new(value):
                    found.add(name)
    return found


def _is_new(value: ast.expr | None) -> bool:
    match value:
        case ast.List() | ast.Dict() | ast.Set() | ast.ListComp() | ast.DictComp() | ast.SetComp():
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name in {"list", "dict", "set", "sorted", "deque", "defaultdict", "Counter"}
        case ast.Call(func=ast.Attribute(attr=attr)):
            return attr in {"copy", "items", "values", "keys"}
    return False


def _is_beyond(target: ast.expr, own: set[str]) -> bool:
    """Whether assigning to it reaches something that is not the function's own."""
    match target:
        case ast.Name() | ast.Starred():
            return False
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            return any(_is_beyond(e, own) for e in elts)
        case ast.Subscript(value=ast.Name(id=name)):
            return name not in own
    return True
