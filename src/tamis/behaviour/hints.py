"""Hints. The values and sequences that matter for a brief, read from its tests, its text and all its drafts.

A number in a draft is a place where behaviour may change, so the numbers one below and one above it matter too; a
number of days makes dates that far apart. A name in a test is a name that a reader of a question has seen. Drafts and
tests are text here and are never run.
"""

import ast
import datetime
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from typing import TypeVar
from uuid import UUID

from tamis.behaviour.kinds import ANY, Kind
from tamis.behaviour.lift import Lifted, lift_examples, lift_tests
from tamis.behaviour.purity import readers_of
from tamis.behaviour.seeds import bound, is_plain, program_of
from tamis.behaviour.surface import Surface, fenced
from tamis.records import Record
from tamis.sandbox import Program, Value, encode

T = TypeVar("T")
INLINE_CODE = re.compile(r"`([^`\n]+)`")
QUOTED = re.compile(r"[\"“`]([^\"”`\n]{1,40})[\"”`]")
NUMBER = re.compile(r"(?<![\w.])-?\d{1,9}(?:\.\d{1,6})?(?![\w.]*\w)")
DAY_WORDS = {"days": 1, "weeks": 7}
SINGULAR: Mapping[type, str] = {
    bool: "bool", int: "int", float: "float", str: "str", bytes: "bytes", datetime.date: "date",
    datetime.datetime: "datetime", datetime.time: "time", datetime.timedelta: "timedelta", Decimal: "Decimal",
    Fraction: "Fraction", UUID: "UUID", type(None): "none",
}  # fmt: skip


class Hints(Record, frozen=True, kw_only=True):
    """What inputs are made from.

    `used` maps a parameter's name (also as "method.name") to the values that tests and examples give it, most used
    first, and `kinds` to the kind of those values. `ints`, `floats` and `texts` are the constants of the drafts and
    numbers of the brief, those first that most of them hold; `spans` are numbers of days among them, `dates` ISO
    dates. `seeds` are the sequences of calls that were lifted, `setting_up` the methods that those begin with,
    `readers` the methods that change nothing in most drafts, as far as that can be read."""

    used: Mapping[str, tuple[Value, ...]] = {}
    kinds: Mapping[str, Kind] = {}
    ints: tuple[int, ...] = ()
    floats: tuple[float, ...] = ()
    spans: tuple[int, ...] = ()
    texts: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    setting_up: tuple[str, ...] = ()
    readers: tuple[str, ...] = ()
    seeds: tuple[Program, ...] = ()


def hints_of(test_sources: Sequence[str], draft_sources: Sequence[str], brief_text: str, *, surface: Surface) -> Hints:
    """The hints from the given tests' texts, the drafts' texts and the brief's."""
    lifted = [s for source in test_sources for s in lift_tests(source, surface)]
    lifted += lift_examples(_snippets(brief_text), surface)
    constants = _Constants()
    for source in draft_sources:
        constants.add(source)
    for source in test_sources:
        constants.add_dates(source)
    constants.add_prose(brief_text)
    used = _used(lifted)
    return Hints(
        used={name: tuple(encode(v) for v in values) for name, values in used.items()},
        kinds={name: kind_of_values(values) for name, values in used.items()},
        ints=_most(constants.ints, 60),
        floats=_most(constants.floats, 20),
        spans=_most(constants.spans, 12),
        texts=_most(constants.texts, 60),
        dates=_most(constants.dates, 20),
        setting_up=_setting_up(lifted),
        readers=readers_of(draft_sources, surface),
        seeds=_distinct(program_of(s, used) for s in lifted),
    )


def _snippets(brief_text: str) -> Iterator[str]:
    """What may be an example call in the brief: lines of code blocks, and code within the running text. A line that
    goes on with an arrow or a comment is taken up to there."""
    for block in fenced(brief_text):
        yield block
        for line in block.splitlines():
            yield re.split(r"→|->|=>|==|  #", line.removeprefix(">>> "))[0]
    for code in INLINE_CODE.findall(brief_text):
        yield re.split(r"→|->|=>|==", code)[0]


def _used(lifted: Iterable[Lifted]) -> dict[str, list[object]]:
    """Each parameter's values, by its name and by "method.name", most used first."""
    counts: dict[str, Counter[str]] = {}
    values: dict[str, object] = {}
    for sequence in lifted:
        for call in sequence:
            for param, value in bound(call):
                if is_plain(value):
                    for name, part in [(f"{call.signature.name}.{param}", value), *_parts(param, value)]:
                        values.setdefault(repr(part), part)
                        counts.setdefault(name, Counter())[repr(part)] += 1
    return {name: [values[r] for r, _ in c.most_common(60)] for name, c in counts.items()}


def _parts(param: str, value: object) -> Iterator[tuple[str, object]]:
    """The value and the values in it, each with the name it goes by."""
    yield param, value
    if isinstance(value, list | tuple):
        for i, part in enumerate(value[:20]):
            yield from _parts(inner_name(value, i, param), part)


def inner_name(holder: object, at: int, param: str) -> str:
    """What the values at a place within a parameter go by: "results[]" for a list's items, "results[][0]" for the
    first parts of its pairs."""
    return f"{param}[{at}]" if isinstance(holder, tuple) else f"{param}[]"


def kind_of_values(values: Sequence[object]) -> Kind:
    """The kind that values seen have in common; a union where they differ."""
    kinds = _distinct(_kind_of_value(v) for v in values)
    return ANY if not kinds else kinds[0] if len(kinds) == 1 else Kind(name="union", of=kinds)


def _distinct(items: Iterable[T]) -> tuple[T, ...]:
    """The items without repeats, in order; for items that can't be hashed."""
    found: dict[str, T] = {}
    for item in items:
        found.setdefault(repr(item), item)
    return tuple(found.values())


def _kind_of_value(value: object) -> Kind:
    match value:
        case tuple():
            return Kind(name="tuple", of=tuple(_kind_of_value(v) for v in value))
        case list() | set() | frozenset():
            within = _distinct(_kind_of_value(v) for v in value)
            one = within[:1] if len(within) < 2 else (Kind(name="union", of=within),)
            return Kind(name=type(value).__name__, of=one)
        case dict():
            pairs = [(_kind_of_value(k), _kind_of_value(v)) for k, v in value.items()]
            return Kind(name="dict", of=pairs[0] if pairs else ())
    return Kind(name=SINGULAR.get(type(value), "any"))


def _setting_up(lifted: Sequence[Lifted]) -> tuple[str, ...]:
    """The methods that sequences begin with: those that, in half of the sequences where they are called at all, are
    called before any other method, and return nothing."""
    first: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    for sequence in lifted:
        methods = [c.signature for c in sequence if c.signature.form == "method"]
        leading = True
        for signature in methods:
            leading = leading and signature.returns.name == "none"
            seen[signature.name] += 1
            first[signature.name] += leading
    return tuple(name for name, n in seen.items() if n > 1 and first[name] * 2 > n)


def _most(counts: Counter[T], n: int) -> tuple[T, ...]:
    """The `n` most frequent; among equals the order in which they came."""
    return tuple(v for v, _ in counts.most_common(n))


class _Constants:
    """Counts, for each constant, how many texts hold it."""

    def __init__(self) -> None:
        self.ints: Counter[int] = Counter()
        self.floats: Counter[float] = Counter()
        self.texts: Counter[str] = Counter()
        self.spans: Counter[int] = Counter()
        self.dates: Counter[str] = Counter()

    def add(self, source: str) -> None:
        """Counts one draft's constants, each once."""
        tree = _tree(source)
        if tree is None:
            return
        mute = _unread(tree)
        ints: set[int] = set()
        floats: set[float] = set()
        texts: dict[str, None] = {}
        for node in ast.walk(tree):
            match node:
                case ast.Constant(value=bool() | None):
                    pass
                case ast.Constant(value=int(n)) if abs(n) < 10**12:
                    ints.add(n)
                case ast.Constant(value=float(x)):
                    floats.add(x)
                case ast.Constant(value=str(text)) if id(node) not in mute and len(text) <= 24 and text.isprintable():
                    texts[text] = None
                case ast.BinOp() if (folded := _folded(node)) is not None:
                    ints.add(folded)
        self.ints.update(sorted(ints))
        self.floats.update(sorted(floats))
        self.texts.update(list(texts))
        self.spans.update(sorted(_spans(tree)))

    def add_dates(self, source: str) -> None:
        """Counts the dates that a test file writes out, as calls or as ISO texts."""
        for year, month, day in re.findall(r"\bdate(?:time)?\(\s*(\d{4}),\s*(\d{1,2}),\s*(\d{1,2})", source):
            self._date(int(year), int(month), int(day))
        for year, month, day in re.findall(r"\b(\d{4})-(\d\d)-(\d\d)\b", source):
            self._date(int(year), int(month), int(day))

    def _date(self, year: int, month: int, day: int) -> None:
        with suppress(ValueError):
            self.dates[datetime.date(year, month, day).isoformat()] += 1

    def add_prose(self, text: str) -> None:
        """Counts the numbers and quoted pieces of the brief's text."""
        for number in dict.fromkeys(NUMBER.findall(text)):
            if "." in number:
                self.floats[float(number)] += 1
            else:
                self.ints[int(number)] += 2
        for quoted in dict.fromkeys(QUOTED.findall(text)):
            if not re.search(r"[()=_]|->", quoted):
                self.texts[quoted] += 1
        self.add_dates(text)


def _tree(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _unread(tree: ast.Module) -> set[int]:
    """The ids of string nodes that only people read: docstrings, messages of exceptions, pieces of f-strings,
    annotations."""
    found: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                found.add(id(node.value))
            case ast.Raise(exc=ast.expr() as exc):
                found.update(id(n) for n in ast.walk(exc))
            case ast.JoinedStr():
                found.update(id(n) for n in ast.walk(node))
            case ast.arg(annotation=ast.expr() as annotation) | ast.AnnAssign(annotation=annotation):
                found.update(id(n) for n in ast.walk(annotation))
            case ast.Assign(targets=[ast.Name(id="__all__" | "__slots__")]):
                found.update(id(n) for n in ast.walk(node.value))
    return found


def _folded(node: ast.expr) -> int | None:
    """The value of products and sums of whole numbers, like 60 * 60."""
    match node:
        case ast.Constant(value=int(n)) if not isinstance(n, bool):
            return n
        case ast.BinOp(left=left, op=ast.Mult() | ast.Add() as op, right=right):
            a, b = _folded(left), _folded(right)
            if a is None or b is None or abs(a) > 10**9 or abs(b) > 10**9:
                return None
            return a * b if isinstance(op, ast.Mult) else a + b
    return None


def _spans(tree: ast.Module) -> set[int]:
    """Numbers of days: what `timedelta` is given, directly or by a module's constant."""
    named = {
        t.id: s.value.value
        for s in ast.walk(tree)
        if isinstance(s, ast.Assign) and isinstance(s.value, ast.Constant) and isinstance(s.value.value, int)
        for t in s.targets
        if isinstance(t, ast.Name)
    }
    found: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Name(id="timedelta") | ast.Attribute(attr="timedelta"), args=args, keywords=keywords
            ):
                given = [("days", a) for a in args[:1]] + [(k.arg or "", k.value) for k in keywords]
                found.update(n * DAY_WORDS[w] for w, v in given if w in DAY_WORDS and (n := _number(v, named)))
    return {n for n in found if 0 < n <= 4_000}


def _number(node: ast.expr, named: Mapping[str, int]) -> int | None:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return named.get(name)
    return _folded(node)
