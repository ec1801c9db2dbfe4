import ast
import random
import re
from pathlib import Path

import pytest

from tamis.checks.parser_child import compiled
from tamis.checks.syntax_tree import tree_digest

DRAFTS = sorted((Path(__file__).parents[3] / "examples" / "lending" / "drafts").glob("*.py"))


def shape_of(source: bytes) -> object:
    return compiled(source)[0]["shape"]


def same(one: str, other: str, keep: frozenset[str] = frozenset()) -> bool:
    alike = tree_digest(one.encode(), keep) == tree_digest(other.encode(), keep)
    if alike:  # what is the same must never be told apart by the cheap shape that is asked first
        assert shape_of(one.encode()) == shape_of(other.encode())
    return alike


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("def f(a):\n    return a+1\n", "def f( a ):   # adds\n\n    return (a + 1)\n"),
        ('"""Doc."""\ndef f():\n    """Doc."""\n    return 1\n', "def f():\n    return 1\n"),
        # a docstring that stands elsewhere too, so that the code holds it once
        ("def f():\n    'a'\n    return 'b', 'a'\n", "def f():\n    'z'\n    return 'b', 'a'\n"),
        ("def f():\n    'a'\n    return 'a'\n", "def f():\n    return 'a'\n"),
        ("class A:\n    'a'\n    x = 'b', 'a'\n", "class A:\n    x = 'b', 'a'\n"),
        ("'a'\nx = 'a'\n", "'b'\nx = 'a'\n"),
        ("'a'\nx = [" + "'a', f(1), " * 300 + "]\n", "x = [" + "'a', f(1), " * 300 + "]\n"),
        ("def f():\n    'a'\n    assert g(), 'no'\n", "def f():\n    assert g(), 'no'\n"),
        ("async def f():\n    'a'\n    await g('b')\n", "async def f():\n    await g('b')\n"),
        ("class A:\n    'x'\n    y = 1\n", "class A:\n    y = 1\n"),
        ("def f():\n    'only this'\n", "def f():\n    pass\n"),
        ("def f(a):\n    b = a\n    return b\n", "def f(a):\n    c = a\n    return c\n"),
        ("def f(xs):\n    return [x for x in xs if x]\n", "def f(xs):\n    return [y for y in xs if y]\n"),
        ("def f(xs):\n    return {k: v for k, v in xs}\n", "def f(xs):\n    return {a: b for a, b in xs}\n"),
        ("x = [a for a in [1]]\n", "x = [b for b in [1]]\n"),
        (
            "def f():\n    def g():\n        return 1\n    return g()\n",
            "def f():\n    def h():\n        return 1\n    return h()\n",
        ),
        (
            "def f(xs):\n    return sorted(xs, key=lambda x: x.due)\n",
            "def f(xs):\n    return sorted(xs, key=lambda y: y.due)\n",
        ),
        (
            "def _help():\n    return 1\ndef f():\n    return _help()\n",
            "def _aid():\n    return 1\ndef f():\n    return _aid()\n",
        ),
        ("_N = 3\ndef f():\n    global _N\n    _N += 1\n", "_M = 3\ndef f():\n    global _M\n    _M += 1\n"),
        (
            "def f():\n    try:\n        g()\n    except E as e:\n        raise X from e\n",
            "def f():\n    try:\n        g()\n    except E as err:\n        raise X from err\n",
        ),
        ("def f():\n    with o() as h:\n        return h\n", "def f():\n    with o() as k:\n        return k\n"),
        (
            "def f():\n    n = 0\n    def g():\n        nonlocal n\n        n += 1\n    return g\n",
            "def f():\n    m = 0\n    def g():\n        nonlocal m\n        m += 1\n    return g\n",
        ),
        (
            "def f(v):\n    match v:\n        case [a, *b]: return a, b\n        case {'k': c, **d}: return c, d\n",
            "def f(v):\n    match v:\n        case [w, *x]: return w, x\n        case {'k': y, **z}: return y, z\n",
        ),
        ("def f(xs):\n    return [y := 1, y]\n", "def f(xs):\n    return [z := 1, z]\n"),
        ("import datetime as _d\nx = _d.date\n", "import datetime as _e\nx = _e.date\n"),
        ("x = 0x10\n", "x = 16\n"),
        ("x = 'a'\n", 'x = "a"\n'),
    ],
)
def test_layout_docstrings_and_unseen_names_make_no_difference(one: str, other: str) -> None:
    assert one != other
    assert same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x = 1\n", "x = 2\n"),
        ("x = 1\n", "x = True\n"),
        ("x = 1\n", "x = 1.0\n"),
        ("x = 'a'\n", "x = b'a'\n"),
        ("x = 1\n", "y = 1\n"),
        ("def f(a): pass\n", "def f(b): pass\n"),
        ("def f(a, b): return a - b\n", "def f(a, b): return b - a\n"),
        ("def f():\n    a = 1\n    b = 2\n    return a\n", "def f():\n    a = 1\n    b = 2\n    return b\n"),
        ("def f(): return 1\n", "def g(): return 1\n"),
        ("class _A: pass\n", "class _B: pass\n"),
        ("def f():\n    class A: pass\n    return A\n", "def f():\n    class B: pass\n    return B\n"),
        ("class A:\n    def f(self): self._x = 1\n", "class A:\n    def f(self): self._y = 1\n"),
        ("def f():\n    a = 1\n    return locals()\n", "def f():\n    b = 1\n    return locals()\n"),
        ("def f():\n    a = 1\n    return eval('a')\n", "def f():\n    b = 1\n    return eval('a')\n"),
        ("'one'\nx = __doc__\n", "'two'\nx = __doc__\n"),
        ("def f():\n    'one'\ny = f.__doc__\n", "def f():\n    'two'\ny = f.__doc__\n"),
        (
            "def f():\n    def g(): pass\n    return g.__name__\n",
            "def f():\n    def h(): pass\n    return h.__name__\n",
        ),
        ("def f():\n    @app\n    def g(): pass\n", "def f():\n    @app\n    def h(): pass\n"),
        ("area = lambda w: w\n", "area = lambda x: x\n"),
        ("def f(): return partial(lambda a: a, a=1)\n", "def f(): return partial(lambda b: b, a=1)\n"),
        ("def f(k): return g(lambda a: a, **k)\n", "def f(k): return g(lambda b: b, **k)\n"),
        ("_a = 1\nx = '_a'\n", "_b = 1\nx = '_a'\n"),
        ("_a = 1\nclass C:\n    _a = _a\n", "_b = 1\nclass C:\n    _a = _a\n"),
        ("_a = 1\nfrom m import *\n", "_b = 1\nfrom m import *\n"),
        ("def f():\n    import os\n    return os\n", "def f():\n    import re\n    return re\n"),
        ("def f():\n    global a\n    a = 1\n", "def f():\n    global b\n    b = 1\n"),
        (
            "def f():\n    a = 1\n    def g():\n        return a\n    return g\n",
            "def f():\n    a = 1\n    def g():\n        return b\n    return g\n",
        ),
        (
            "def f(xs):\n    x = 0\n    [x for x in xs]\n    return x\n",
            "def f(xs):\n    x = 0\n    [y for x in xs]\n    return x\n",
        ),
        ("def f(a=_x): pass\n_x = 1\n", "def f(a=_x): pass\n_y = 1\n"),
        ("def f():\n    x: int = 1\n", "def f():\n    x = 1\n"),
        ("x = f'{a}'\n", "x = f'{a!r}'\n"),
        ("for x in y:\n    a()\nelse:\n    b()\n", "for x in y:\n    a()\nb()\n"),
        ("async def f(): pass\n", "def f(): pass\n"),
    ],
)
def test_whatever_can_be_seen_from_outside_makes_a_difference(one: str, other: str) -> None:
    assert not same(one, other)


def test_names_that_the_tests_use_are_kept() -> None:
    one, other = "def _help(): return 1\n", "def _aid(): return 1\n"
    assert same(one, other)
    assert not same(one, other, keep=frozenset({"_help"}))


def test_a_constant_too_long_for_decimal_digits_has_a_tree() -> None:
    assert len(tree_digest(b"x = 0x" + b"9" * 5_000)) == 32


def test_the_longest_expression_that_python_parses_has_a_tree() -> None:
    assert len(tree_digest(b"+".join([b"a"] * 900))) == 32


@pytest.mark.parametrize("path", DRAFTS[::8], ids=lambda path: path.stem)
def test_a_draft_laid_out_anew_with_locals_renamed_is_the_same_draft(path: Path) -> None:
    source = path.read_text()
    other = renamed(source, random.Random(1))
    assert re.search(r"\bv[0-9]{6,}\b", other)
    assert same(source, other)


def test_different_drafts_have_different_shapes_and_trees() -> None:
    assert len({shape_of(path.read_bytes()) for path in DRAFTS}) == len(DRAFTS) == 40
    assert len({tree_digest(path.read_bytes()) for path in DRAFTS[::4]}) == 10


def renamed(source: str, rng: random.Random) -> str:
    """The source written out again by Python, without comments and docstrings, its local variables renamed by an
    independent, blunter rule: only names that a single function stores and nothing else in the module mentions."""
    tree = ast.parse(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for function in functions:
        inside = {id(node) for node in ast.walk(function)}
        elsewhere = {name for node in ast.walk(tree) if id(node) not in inside for name in names_of(node)}
        parameters = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
        stored = {
            node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        new = {name: f"v{rng.getrandbits(40)}" for name in sorted(stored - elsewhere - parameters)}
        for node in ast.walk(function):
            if isinstance(node, ast.Name):
                node.id = new.get(node.id, node.id)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def names_of(node: object) -> set[str]:
    return {
        getattr(node, field) for field in ("id", "attr", "arg", "name") if isinstance(getattr(node, field, None), str)
    }
