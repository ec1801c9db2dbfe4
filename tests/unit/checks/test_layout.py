"""What two modules differ in by comments and blank lines alone is seen without their trees, and never wrongly."""

import ast
import random
import sys
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.checks.layout import without_layout
from tamis.checks.syntax_tree import tree_digest

MODULE = b'''import re

LIMIT = 3   # how many


def f(a, b=(1,
            # a comment in brackets

            2)):
    """Says # nothing."""
    if a:

        return "a # no comment"
    return b
'''
NESTS = sys.version_info >= (3, 12)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b"x = 1\n", b"# before\n\n\nx = 1  # behind\n\n# after\n"),
        (b"def f():\n    return 1\n", b"def f():\n\n    # here\n    return 1   \n\n\n"),
        (b"x = '''a\n\n# no comment'''\n", b"x = '''a\n\n# no comment'''  # but this\n"),
        (b"x = [1,\n2]\n", b"x = [1,  # one\n\n2]\n"),
        (b"y = '#'\n", b"y = '#'  # '\n"),
        (MODULE, MODULE.replace(b"# how many", b"").replace(b"            # a comment in brackets\n", b"")),
    ],
)
def test_comments_and_blank_lines_are_left_out(one: bytes, other: bytes) -> None:
    assert without_layout(one) is not None
    assert without_layout(one) == without_layout(other)
    assert tree_digest(one) == tree_digest(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b"x = '''a\n\nb'''\n", b"x = '''a\nb'''\n"),
        (b"x = '# a'\n", b"x = '# b'\n"),
        (b"if a:\n    x = 1\ny = 2\n", b"if a:\n    x = 1\n    y = 2\n"),
        (b"x = 1\n-y\n", b"x = (1\n-y)\n"),
        (b"x = ''\n", b"x = ' '\n"),
    ],
)
def test_what_means_something_is_kept(one: bytes, other: bytes) -> None:
    assert without_layout(one) != without_layout(other)


@pytest.mark.parametrize(
    "source",
    [
        b"x = 1 \\\n\n-y\n",
        b"x = 1\r\ny = 2\r\n",
        b"# -*- coding: latin-1 -*-\nx = 1\n",
        b"\xef\xbb\xbfx = 1\n",
        b"x = 1\n\x0c\ny = 2\n",
        pytest.param(b"x = f\"{y['#']}\"\n", marks=pytest.mark.skipif(not NESTS, reason="they don't nest here")),
    ],
)
def test_what_the_text_does_not_tell_is_left_to_the_tree(source: bytes) -> None:
    assert without_layout(source) is None


LIBRARY = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[::6]


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: path.name)
def test_what_is_left_of_a_real_module_has_the_same_tree(path: Path) -> None:
    source = path.read_bytes()
    left = without_layout(source)
    if left is None:
        return
    parts = left.split(b"\0")
    code, strings = parts[: len(parts) // 2 + 1], parts[len(parts) // 2 + 1 :]
    together = b"".join(piece for pair in zip(code, [*strings, b""], strict=True) for piece in pair)
    assert ast.dump(ast.parse(together)) == ast.dump(ast.parse(source))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from(["x = 1", "y = '#'", "# c", "", "   ", "def f():\n    return 2", "z = '''a\n\n#'''"])))
def test_modules_of_which_the_same_is_left_have_the_same_tree(lines: list[str]) -> None:
    rng = random.Random(len(lines))
    one = "\n".join(lines) + "\n"
    other = "".join(f"{line}\n" + rng.choice(["", "\n", "# more\n", "   \n"]) for line in lines)
    mine, theirs = without_layout(one.encode()), without_layout(other.encode())
    assert mine == theirs is not None
    assert tree_digest(one.encode()) == tree_digest(other.encode())
