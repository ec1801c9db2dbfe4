"""Surface. What can be called in every draft of a brief: functions, classes with their methods and attributes,
exceptions, enums.

It is read from the signatures in the brief's fenced Python blocks, else from what most drafts share. Nothing is ever
imported: drafts are text here. What the brief leaves out (an annotation, a constructor's arguments) is filled in from
the drafts when most of them agree.
"""

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Literal, TypeVar

from msgspec.structs import replace

from tamis.behaviour.kinds import ANY, Kind, kind_of
from tamis.records import Record

Form = Literal["function", "constructor", "method", "property", "static", "class"]
Function = ast.FunctionDef | ast.AsyncFunctionDef
Declared = Mapping[str, ast.expr | None]
T = TypeVar("T")

EXCEPTION = re.compile(r"(Error|Exception|Warning|Interrupt|Exit)$")
ENUMS = {"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"}
TYPED_DICT = "TypedDict"
FIELDED = {TYPED_DICT, "dataclass", "dataclasses", "NamedTuple", "BaseModel", "Struct", "define", "attrs", "frozen"}
FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w+-]*)[^\n]*\n(.*?)^[ \t]*\1[ \t]*$", re.DOTALL | re.MULTILINE)
INLINE_SIGNATURE = re.compile(r"`(?:def\s+)?([A-Za-z_]\w*\([^`]*\)\s*->\s*[^`]+?):?`")
UNSAID_DUNDERS = {"__init__", "__new__", "__post_init__", "__hash__", "__init_subclass__", "__class_getitem__"}


class Param(Record, frozen=True, kw_only=True):
    """One parameter. `optional` says that it has a default, `default` is that default as source; `keyword` that it
    can only be given by name; `spread` is "*" or "**" for those that take the rest."""

    name: str
    kind: Kind
    optional: bool = False
    default: str = ""
    keyword: bool = False
    spread: Literal["", "*", "**"] = ""


class Signature(Record, frozen=True, kw_only=True):
    """Something that can be called (or, for a property, read). `comment` is what a person wrote behind it."""

    name: str
    form: Form
    of: str = ""
    params: tuple[Param, ...] = ()
    returns: Kind = ANY
    comment: str = ""

    @property
    def qualname(self) -> str:
        return f"{self.of}.{self.name}" if self.of and self.form != "constructor" else self.name


class ClassSurface(Record, frozen=True, kw_only=True):
    """A class: how an object of it is made, and what can be done with one. `keyed` says that it is a TypedDict: a plain
    dict with its keys is one."""

    name: str
    constructor: Signature
    members: tuple[Signature, ...]
    keyed: bool = False


class Surface(Record, frozen=True, kw_only=True):
    """Everything that can be called, and where that was read. `enums` maps each enum to the names of its members,
    `constants` are numbers and texts that the interface itself defines, as source."""

    functions: tuple[Signature, ...] = ()
    classes: tuple[ClassSurface, ...] = ()
    exceptions: tuple[str, ...] = ()
    enums: Mapping[str, tuple[str, ...]] = {}
    constants: Mapping[str, str] = {}
    basis: Literal["brief", "drafts", "nothing"] = "nothing"

    def class_named(self, name: str) -> ClassSurface | None:
        return next((c for c in self.classes if c.name == name), None)

    def signatures(self) -> Iterator[Signature]:
        """All of them, in the order in which they were written."""
        yield from self.functions
        for cls in self.classes:
            yield cls.constructor
            yield from cls.members

    @property
    def empty(self) -> bool:
        return not self.functions and not self.classes


def surface_of(brief_text: str, sources: Sequence[str]) -> Surface:
    """What can be called: by the brief's signatures, else what at least half of `sources` (the drafts' texts, those
    that parse) define under the same name."""
    modules = [m for m in map(_parsed, sources) if m is not None]
    blocks = interface_blocks(brief_text)
    shared = _shared(modules)
    if blocks:
        told = _surface([(_parsed(b) or ast.Module([], []), b) for b in blocks], "brief")
        if not told.empty:
            return _completed(told, shared)
    return shared


def fenced(text: str, languages: Iterable[str] = ("python", "py", "python3", "pycon", "")) -> list[str]:
    """The fenced blocks of a Markdown text in one of `languages`."""
    wanted = set(languages)
    return [m.group(3) for m in FENCE.finditer(text) if m.group(2).lower() in wanted]


def interface_blocks(brief_text: str) -> list[str]:
    """The blocks that declare what is to be written: those whose definitions have no bodies yet, else the last one
    that defines anything, else signatures that stand in the running text. Mended so that Python parses them."""
    parsed = [(b, tree) for b in map(_mended, fenced(brief_text)) if (tree := _parsed(b)) is not None]
    defining = [(b, t) for b, t in parsed if any(isinstance(s, Function | ast.ClassDef) for s in t.body)]
    bare = [b for b, t in defining if all(_is_bare(s) for s in t.body)]
    if bare:
        return bare
    if defining:
        return [defining[-1][0]]
    found = [f"def {m.group(1)}: ..." for m in INLINE_SIGNATURE.finditer(brief_text)]
    return [s for s in found if _parsed(s) is not None]


def _parsed(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _mended(block: str) -> str:
    """Signatures are often written without a body: each one that nothing deeper follows gets `: ...`."""
    block = re.sub(r"^[ \t]*(>>>|\.\.\.) ?", "", block, flags=re.MULTILINE) if ">>>" in block else block
    if _parsed(block) is not None:
        return block
    lines = [line for line in block.expandtabs(4).splitlines() if line.strip()]
    depth = [len(line) - len(line.lstrip()) for line in lines]
    out: list[str] = []
    for (line, here), (_, after) in pairwise([*zip(lines, depth, strict=True), ("", 0)]):
        code, hash_mark, comment = line.partition("  #")
        opens = re.match(r"\s*(async\s+def|def|class)\b", code) and not re.search(r":\s*(\.\.\.|pass)\s*$", code)
        if opens and after <= here:
            code = code.rstrip().rstrip(":") + ": ..."
        out.append(code + hash_mark + comment)
    return "\n".join(out) + "\n"


def _is_bare(statement: ast.stmt) -> bool:
    """A definition without a body, or one that only declares; anything but a loose expression."""
    match statement:
        case ast.FunctionDef(body=body) | ast.AsyncFunctionDef(body=body):
            return all(isinstance(s, ast.Pass) or (isinstance(s, ast.Expr) and _is_text(s.value)) for s in body)
        case ast.ClassDef(body=body):
            return all(_is_bare(s) for s in body)
        case ast.Expr(value=value):
            return _is_text(value)
        case _:
            return not isinstance(statement, ast.For | ast.While | ast.With | ast.Assert)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and (node.value is Ellipsis or isinstance(node.value, str))


def _surface(modules: Sequence[tuple[ast.Module, str]], basis: Literal["brief", "drafts"]) -> Surface:
    """All that these modules declare in public; where one name is declared twice, the later one."""
    statements = [(s, text) for tree, text in modules for s in tree.body]
    declared = _declared(s for s, _ in statements)
    functions: dict[str, Signature] = {}
    classes: dict[str, ClassSurface] = {}
    exceptions: dict[str, None] = {}
    enums: dict[str, tuple[str, ...]] = {}
    for statement, text in statements:
        match statement:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if not name.startswith("_"):
                functions[name] = _signature(statement, "function", "", declared, _comments(text))
            case ast.ClassDef(name=name) if name.startswith("_"):
                pass
            case ast.ClassDef(name=name) if _is_exception(statement):
                exceptions[name] = None
            case ast.ClassDef(name=name) if _bases(statement) & ENUMS:
                enums[name] = _enum_members(statement)
            case ast.ClassDef(name=name):
                classes[name] = _class(statement, declared, _comments(text))
    return Surface(
        functions=tuple(functions.values()),
        classes=tuple(classes.values()),
        exceptions=tuple(exceptions),
        enums=enums,
        constants=_constants(s for s, _ in statements),
        basis=basis,
    )


def _declared(statements: Iterable[ast.stmt]) -> dict[str, ast.expr | None]:
    found: dict[str, ast.expr | None] = {}
    for statement in statements:
        match statement:
            case ast.ClassDef(name=name):
                found[name] = None
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id="NewType"), args=[_, base])):
                found[name] = base
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name() | ast.Subscript() | ast.BinOp() as value):
                found[name] = value
            case ast.AnnAssign(target=ast.Name(id=name), annotation=ast.Name(id="TypeAlias"), value=value):
                found[name] = value
    return found


def _constants(statements: Iterable[ast.stmt]) -> dict[str, str]:
    found = {}
    for statement in statements:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant() as value) if value.value is not Ellipsis:
                found[name] = ast.unparse(value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant() as value) if value.value is not Ellipsis:
                found[name] = ast.unparse(value)
    return found


def _last_name(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=inner) | ast.Subscript(value=inner):
            return _last_name(inner)
    return ""


def _bases(cls: ast.ClassDef) -> set[str]:
    return {_last_name(b) for b in cls.bases}


def _is_exception(cls: ast.ClassDef) -> bool:
    return any(EXCEPTION.search(base) for base in _bases(cls))


def _enum_members(cls: ast.ClassDef) -> tuple[str, ...]:
    names = [t.id for s in cls.body if isinstance(s, ast.Assign) for t in s.targets if isinstance(t, ast.Name)]
    return tuple(n for n in names if not n.startswith("_"))


def _comments(text: str) -> dict[int, str]:
    """The trailing comment of each line, by line number."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return {}
    return {t.start[0]: t.string.lstrip("# ").rstrip() for t in tokens if t.type == tokenize.COMMENT}


def _class(cls: ast.ClassDef, declared: Declared, comments: Mapping[int, str]) -> ClassSurface:
    members: dict[str, Signature] = {}
    constructor: Signature | None = None
    for statement in cls.body:
        if not isinstance(statement, Function):
            continue
        name, form = statement.name, _form(statement)
        if name == "__init__":
            made = _signature(statement, "constructor", cls.name, declared, comments)
            constructor = Signature(name=cls.name, form="constructor", of=cls.name, params=made.params)
        elif form is not None and (not name.startswith("_") or (_is_dunder(name) and name not in UNSAID_DUNDERS)):
            members[name] = _signature(statement, form, cls.name, declared, comments)
    fields = _fields(cls, declared)
    if constructor is None:
        given = fields if FIELDED & ({_last_name(d) for d in cls.decorator_list} | _bases(cls)) else ()
        constructor = Signature(name=cls.name, form="constructor", of=cls.name, params=given)
    keyed = TYPED_DICT in _bases(cls)
    for field in () if keyed else fields:
        members.setdefault(field.name, Signature(name=field.name, form="property", of=cls.name, returns=field.kind))
    return ClassSurface(name=cls.name, constructor=constructor, members=tuple(members.values()), keyed=keyed)


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _form(function: Function) -> Form | None:
    """None for what is not called from outside, like a property's setter."""
    names = {_last_name(d) for d in function.decorator_list}
    if names & {"setter", "deleter"}:
        return None
    if names & {"property", "cached_property"}:
        return "property"
    return "static" if "staticmethod" in names else "class" if "classmethod" in names else "method"


def _fields(cls: ast.ClassDef, declared: Declared) -> tuple[Param, ...]:
    """The annotated attributes of a class body, in order: a dataclass's fields, or the keys of a TypedDict."""
    found = []
    keys = TYPED_DICT in _bases(cls)
    for s in cls.body:
        if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name) and not s.target.id.startswith("_"):
            default = ast.unparse(s.value) if s.value is not None else ""
            kind = kind_of(s.annotation, declared)
            optional = bool(default) or (keys and _may_lack(cls, s.annotation))
            found.append(Param(name=s.target.id, kind=kind, optional=optional, default=default, keyword=keys))
    return tuple(found)


def _may_lack(cls: ast.ClassDef, annotation: ast.expr) -> bool:
    """Whether a TypedDict need not have the key of this annotation."""
    word = _last_name(annotation)
    partial = any(k.arg == "total" and isinstance(k.value, ast.Constant) and not k.value.value for k in cls.keywords)
    return word == "NotRequired" or (partial and word != "Required")


def _signature(fn: Function, form: Form, of: str, declared: Declared, comments: Mapping[int, str]) -> Signature:
    args = fn.args
    plain = [*args.posonlyargs, *args.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(args.defaults)) + list(args.defaults)
    pairs = list(zip(plain, defaults, strict=True))
    if of and form != "static" and pairs:
        pairs = pairs[1:]
    params = [_param(a, d, declared) for a, d in pairs]
    if args.vararg:
        params.append(_param(args.vararg, None, declared, spread="*"))
    params += [_param(a, d, declared, keyword=True) for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    if args.kwarg:
        params.append(_param(args.kwarg, None, declared, spread="**"))
    last = max([fn.lineno, *(n.lineno for n in ast.walk(fn.args) if hasattr(n, "lineno"))])
    comment = comments.get(fn.lineno) or comments.get(last) or ast.get_docstring(fn) or ""
    return Signature(
        name=fn.name,
        form=form,
        of=of,
        params=tuple(params),
        returns=kind_of(fn.returns, declared),
        comment=comment.strip().split("\n\n")[0],
    )


def _param(
    arg: ast.arg,
    default: ast.expr | None,
    declared: Declared,
    *,
    keyword: bool = False,
    spread: Literal["", "*", "**"] = "",
) -> Param:
    text = "" if default is None else ast.unparse(default)
    kind = kind_of(arg.annotation, declared)
    return Param(name=arg.arg, kind=kind, optional=bool(text), default=text, keyword=keyword, spread=spread)


def _shared(modules: Sequence[ast.Module]) -> Surface:
    """What at least half of the drafts define in public, each in its most common form."""
    if not modules:
        return Surface()
    each = [_surface([(m, "")], "drafts") for m in modules]
    enough = max(1, (len(each) + 1) // 2)
    functions = _common([{f.name: f for f in s.functions} for s in each], enough)
    classes = _common([{c.name: c for c in s.classes} for s in each], enough)
    enums = _common([dict(s.enums) for s in each], enough)
    exceptions = _common([dict.fromkeys(s.exceptions, "") for s in each], enough)
    whole = tuple(_common_class([c for s in each for c in s.classes if c.name == name], enough) for name in classes)
    return Surface(
        functions=tuple(functions.values()),
        classes=whole,
        exceptions=tuple(exceptions),
        enums=enums,
        basis="drafts",
    )


def _common(each: Sequence[Mapping[str, T]], enough: int) -> dict[str, T]:
    """The names that at least `enough` of the mappings hold, with the value most of them agree on."""
    counts: dict[str, Counter[str]] = {}
    values: dict[tuple[str, str], T] = {}
    for mapping in each:
        for name, value in mapping.items():
            counts.setdefault(name, Counter())[repr(value)] += 1
            values.setdefault((name, repr(value)), value)
    return {n: values[n, c.most_common(1)[0][0]] for n, c in counts.items() if c.total() >= enough}


def _common_class(found: Sequence[ClassSurface], enough: int) -> ClassSurface:
    constructor = _common([{"": c.constructor} for c in found], 1)[""]
    members = _common([{m.name: m for m in c.members} for c in found], enough)
    keyed = all(c.keyed for c in found)
    return ClassSurface(name=found[0].name, constructor=constructor, members=tuple(members.values()), keyed=keyed)


def _completed(told: Surface, shared: Surface) -> Surface:
    """The brief's surface, with what it leaves open (a kind, the constructor's parameters) as most drafts have it."""
    functions = {f.name: f for f in shared.functions}
    classes = {c.name: c for c in shared.classes}
    return Surface(
        functions=tuple(_filled(f, functions.get(f.name)) for f in told.functions),
        classes=tuple(_filled_class(c, classes.get(c.name)) for c in told.classes),
        exceptions=told.exceptions,
        enums=told.enums,
        constants=told.constants,
        basis="brief",
    )


def _filled(mine: Signature, theirs: Signature | None) -> Signature:
    if theirs is None:
        return mine
    kinds = {p.name: p.kind for p in theirs.params}
    params = tuple(replace(p, kind=kinds.get(p.name, ANY)) if p.kind == ANY else p for p in mine.params)
    return replace(mine, params=params, returns=theirs.returns if mine.returns == ANY else mine.returns)


def _filled_class(mine: ClassSurface, theirs: ClassSurface | None) -> ClassSurface:
    if theirs is None:
        return mine
    members = {m.name: m for m in theirs.members}
    constructor = mine.constructor if mine.constructor.params else theirs.constructor
    filled = tuple(_filled(m, members.get(m.name)) for m in mine.members)
    constructor = _filled(constructor, theirs.constructor)
    return ClassSurface(name=mine.name, constructor=constructor, members=filled, keyed=mine.keyed)
