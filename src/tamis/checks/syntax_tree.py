"""The canonical syntax tree of a Python module: two modules have the same digest only if they do the same, whatever
their layout, comments, docstrings and the names that nobody outside can see.

Renamed are a function's local variables, the functions nested in it, the parameters of lambdas handed straight to a
call, and the module's own `_helpers` and `_constants`, each by where it first appears. Kept is what can be seen from
outside: parameters (they are keywords), public names, attributes, classes (they show in reprs), whatever is decorated,
and every name in a module that looks at itself (`locals()`, `eval`, `__doc__`, …) or has type parameters. Where in
doubt names are kept: then two modules that are the same count as different, which costs a little time and no truth.
"""

import ast
import hashlib
import sys
from collections.abc import Iterator
from typing import Literal

INTROSPECTION = frozenset(
    {"locals", "globals", "vars", "eval", "exec", "dir", "compile", "inspect", "signature", "doctest", "_getframe"}
    | {"currentframe", "f_locals", "f_globals", "modules", "import_module", "__import__", "__code__", "__doc__"}
    | {"__name__", "__qualname__", "__annotations__", "__dict__", "*"}
)
"""A module that mentions one of these may see its own names or docstrings. `__name__` alone, as in the usual
`if __name__ == "__main__"`, is the module's and doesn't count; "*" is an import of names that nobody has listed."""

MAX_DEPTH = 30_000
Function = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Kind = Literal["module", "function", "class", "comprehension"]


def tree_digest(source: bytes, keep: frozenset[str] = frozenset()) -> str:
    """32 hex digits. Names in `keep` are never renamed. Raises SyntaxError, ValueError, RecursionError or MemoryError
    where Python's parser does."""
    tree = ast.parse(source)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, MAX_DEPTH))  # only for the walk: for the parser it is a guard against crashes
    try:
        words = _Canon(tree, keep).words()
    finally:
        sys.setrecursionlimit(limit)
    return hashlib.sha256("\0".join(words).encode("utf-8", "surrogatepass")).hexdigest()[:32]


class _Scope:
    """The names that a scope binds, each with whether it may be renamed."""

    def __init__(self, kind: Kind, parent: "_Scope | None") -> None:
        self.kind = kind
        self.parent = parent
        self.bound: dict[str, bool] = {}
        self.elsewhere: dict[str, Literal["global", "nonlocal"]] = {}

    def bind(self, name: str, *, renamed: bool = True) -> None:
        self.bound[name] = self.bound.get(name, True) and renamed

    def home(self, name: str) -> "_Scope | None":
        """The scope whose name this is, None for builtins and names bound nowhere."""
        scope: _Scope | None = self
        while scope is not None:
            inside_class = scope.kind == "class" and scope is not self
            if scope.elsewhere.get(name) == "global":
                scope = scope.module()
                return scope if name in scope.bound else None
            if not inside_class and name in scope.bound and name not in scope.elsewhere:
                return scope
            scope = scope.parent
        return None

    def module(self) -> "_Scope":
        return self if self.parent is None else self.parent.module()


class _Canon:
    def __init__(self, tree: ast.Module, keep: frozenset[str]) -> None:
        self._tree = tree
        self._out: list[str] = []
        self._numbers: dict[tuple[int, str], str] = {}
        self._scopes: list[_Scope] = []  # kept alive, since their ids are keys
        nodes = list(ast.walk(tree))
        self._looks_at_itself = any(_introspects(node) for node in nodes)
        self._renames = not self._looks_at_itself and not any(getattr(node, "type_params", None) for node in nodes)
        self._keep = keep | {
            node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        self._keywords = {node.arg for node in nodes if isinstance(node, ast.keyword)}
        self._globals = {name for node in nodes if isinstance(node, ast.Global) for name in node.names}
        self._of_classes: frozenset[str] = frozenset()
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                self._of_classes |= self._bound_by(node.body)

    def words(self) -> list[str]:
        scope = self._scope("module", None)
        self._bind_all(self._tree.body, scope)
        for name in self._globals:
            scope.bind(name)
        for name in scope.bound:
            private = name.startswith("_") and not name.startswith("__") and name not in self._keep
            scope.bind(name, renamed=private)
        self._body(self._tree.body, scope)
        return self._out

    # what a scope binds

    def _scope(self, kind: Kind, parent: _Scope | None) -> _Scope:
        scope = _Scope(kind, parent)
        self._scopes.append(scope)
        return scope

    def _bound_by(self, body: list[ast.stmt]) -> frozenset[str]:
        scope = _Scope("class", None)
        self._bind_all(body, scope)
        return frozenset(scope.bound)

    def _bind_all(self, nodes: list[ast.stmt], scope: _Scope) -> None:
        for node in _of_this_scope(nodes):
            match node:
                case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                    scope.bind(name)
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    scope.bind(name, renamed=not node.decorator_list)
                case ast.ClassDef(name=name):
                    scope.bind(name, renamed=False)
                case ast.alias(name=name, asname=asname):
                    scope.bind(asname or name.split(".")[0], renamed=asname is not None)
                case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                    scope.bind(name)
                case ast.MatchMapping(rest=str(name)):
                    scope.bind(name)
                case ast.Global(names=names):
                    scope.elsewhere.update((name, "global") for name in names)
                case ast.Nonlocal(names=names):
                    scope.elsewhere.update((name, "nonlocal") for name in names)
                case _:
                    pass

    def _name(self, name: str, scope: _Scope) -> None:
        home = scope.home(name) if self._renames else None
        # what a class binds is looked up further out until then, so such a name means several things at once
        if home is None or home.kind == "class" or not home.bound[name] or name in self._of_classes:
            self._out.append(name)
        else:
            self._out.append(self._numbers.setdefault((id(home), name), f"${len(self._numbers)}"))

    # the walk

    def _body(self, body: list[ast.stmt], scope: _Scope) -> None:
        rest = body if self._looks_at_itself or not _is_docstring(body) else body[1:]
        self._out.append("[")
        for node in rest or [ast.Pass()]:
            self._node(node, scope)
        self._out.append("]")

    def _node(self, node: ast.AST, scope: _Scope) -> None:
        out = self._out
        out.append(type(node).__name__)
        match node:
            case ast.Name(id=name):
                self._name(name, scope)
            case ast.Constant(value=value):
                out.append(type(value).__name__)
                out.append(hex(value) if type(value) is int else repr(value))
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._function(node, scope)
            case ast.Lambda(args=args, body=body):
                self._lambda(args, body, scope, renamed=False)
            case ast.ClassDef():
                self._class(node, scope)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                self._comprehension(node, scope)
            case ast.Call(func=func, args=args, keywords=keywords):
                self._call(func, args, keywords, scope)
            case _:
                self._rest(node, scope)

    def _rest(self, node: ast.AST, scope: _Scope) -> None:
        """Nodes that hold names as plain strings, and all that hold none."""
        match node:
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                for name in names:
                    self._name(name, scope)
            case ast.alias(name=name, asname=asname):
                self._out.append(name)
                if asname is not None:
                    self._name(asname, scope)
            case ast.ExceptHandler(type=kind, name=caught, body=body):
                self._field(kind, scope)
                self._optional_name(caught, scope)
                self._field(body, scope)
            case ast.MatchAs(pattern=pattern, name=captured):
                self._field(pattern, scope)
                self._optional_name(captured, scope)
            case ast.MatchStar(name=captured):
                self._optional_name(captured, scope)
            case ast.MatchMapping(keys=keys, patterns=patterns, rest=rest):
                self._field(keys, scope)
                self._field(patterns, scope)
                self._optional_name(rest, scope)
            case _:
                self._fields(node, scope)

    def _fields(self, node: ast.AST, scope: _Scope) -> None:
        for name in node._fields:
            if name not in ("ctx", "type_comment", "kind"):
                self._field(getattr(node, name, None), scope)

    def _field(self, value: object, scope: _Scope) -> None:
        match value:
            case ast.AST():
                self._node(value, scope)
            case list():
                self._out.append("[")
                for item in value:
                    self._field(item, scope)
                self._out.append("]")
            case _:
                self._out.append(repr(value))

    def _optional_name(self, name: str | None, scope: _Scope) -> None:
        if name is None:
            self._out.append("None")
        else:
            self._name(name, scope)

    def _function(self, node: Function, scope: _Scope) -> None:
        """Decorators, defaults and annotations belong to the scope around it, the body to its own."""
        self._name(node.name, scope)
        self._field(node.decorator_list, scope)
        self._field(node.returns, scope)
        self._fields(node.args, scope)
        inner = self._scope("function", scope)
        self._bind_all(node.body, inner)
        for parameter in _parameters(node.args):
            inner.bind(parameter.arg, renamed=False)
        self._field(getattr(node, "type_params", []), inner)
        self._body(node.body, inner)

    def _lambda(self, args: ast.arguments, body: ast.expr, scope: _Scope, *, renamed: bool) -> None:
        inner = self._scope("function", scope)
        for parameter in _parameters(args):
            inner.bind(parameter.arg, renamed=renamed and parameter.arg not in self._keywords)
        self._field([*args.defaults, *args.kw_defaults], scope)
        groups: list[list[ast.arg | None]] = [[*args.posonlyargs], [*args.args], [*args.kwonlyargs]]
        for group in [*groups, [args.vararg], [args.kwarg]]:
            self._out.append("|")
            for each in group:
                self._optional_name(each.arg if each else None, inner)
        for name in _walrus_targets(body):
            inner.bind(name)
        self._node(body, inner)

    def _class(self, node: ast.ClassDef, scope: _Scope) -> None:
        self._name(node.name, scope)
        for part in (node.decorator_list, node.bases, node.keywords):
            self._field(part, scope)
        inner = self._scope("class", scope)
        self._bind_all(node.body, inner)
        self._field(getattr(node, "type_params", []), inner)
        self._body(node.body, inner)

    def _comprehension(self, node: Comprehension, scope: _Scope) -> None:
        """Its targets are its own; its first iterable belongs to the scope around it."""
        inner = self._scope("comprehension", scope)
        for generator in node.generators:
            for target in ast.walk(generator.target):
                if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store):
                    inner.bind(target.id)
        for number, generator in enumerate(node.generators):
            self._node(generator.iter, inner if number else scope)
            self._node(generator.target, inner)
            self._field(generator.ifs, inner)
            self._out.append(str(generator.is_async))
        for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            self._node(part, inner)

    def _call(self, func: ast.expr, args: list[ast.expr], keywords: list[ast.keyword], scope: _Scope) -> None:
        """Lambdas among the arguments may have their parameters renamed: a call knows them by position."""
        self._node(func, scope)
        spread = None in self._keywords
        for value in [*args, *(keyword.value for keyword in keywords)]:
            if isinstance(value, ast.Lambda):
                self._out.append("Lambda")
                self._lambda(value.args, value.body, scope, renamed=not spread)
            else:
                self._node(value, scope)
        self._out.append("|".join(str(keyword.arg) for keyword in keywords))


def _of_this_scope(nodes: list[ast.stmt]) -> Iterator[ast.AST]:
    """Every node that binds names in the scope of these statements: inner scopes are not entered, but for the walrus
    in a comprehension, which binds outside it."""
    stack: list[ast.AST] = list(reversed(nodes))
    while stack:
        node = stack.pop()
        yield node
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                stack += [*node.decorator_list, *node.args.defaults, *(d for d in node.args.kw_defaults if d)]
            case ast.ClassDef():
                stack += [*node.decorator_list, *node.bases, *node.keywords]
            case ast.Lambda():
                stack += [*node.args.defaults, *(d for d in node.args.kw_defaults if d)]
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                stack.append(node.generators[0].iter)
                for name in _walrus_targets(node):
                    yield ast.Name(id=name, ctx=ast.Store())
            case _:
                stack.extend(ast.iter_child_nodes(node))


def _walrus_targets(node: ast.AST) -> Iterator[str]:
    """The names that `:=` binds in an expression, lambdas inside it left out."""
    stack = [node]
    while stack:
        at = stack.pop()
        if isinstance(at, ast.NamedExpr):
            yield at.target.id
        stack.extend(child for child in ast.iter_child_nodes(at) if not isinstance(child, ast.Lambda))


def _parameters(args: ast.arguments) -> Iterator[ast.arg]:
    yield from (*args.posonlyargs, *args.args, *args.kwonlyargs)
    yield from (parameter for parameter in (args.vararg, args.kwarg) if parameter)


def _is_docstring(body: list[ast.stmt]) -> bool:
    match body:
        case [ast.Expr(value=ast.Constant(value=str())), *_]:
            return True
        case _:
            return False


def _introspects(node: ast.AST) -> bool:
    match node:
        case ast.Name(id=name):
            return name in INTROSPECTION and name != "__name__"
        case ast.Attribute(attr=name) | ast.alias(name=name):
            return name in INTROSPECTION
        case _:
            return False
