"""A module is compiled once, by the parser's process, and its box runs that code: nothing that it shows is another."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tamis.checks.codes import MOST_EACH, Codes
from tamis.checks.parser_pool import Job, ParserPool
from tamis.checks.parses import Parses
from tamis.records import Draft
from tamis.sandbox import Judged, Sandbox, Suite
from tamis.sandbox.arriving import Arriving

MODULE = b'''
"""What it is for."""

def doc():
    """Here."""
    return doc.__doc__, __doc__

def refuse():
    assert doc() is None, "so it is refused"

def where():
    import traceback
    try:
        refuse()
    except AssertionError as error:
        return [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
'''
TESTS = """
import pytest
from shown import doc, refuse, where

def test_docstrings_are_there():
    assert doc() == ("Here.", "What it is for.")

def test_assertions_are_there():
    with pytest.raises(AssertionError):
        refuse()

def test_where_it_stands_is_told():
    assert where() == [("shown.py", 14), ("shown.py", 9)]

def test_that_fails():
    assert doc() is None
"""


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    (tmp_path / "test_shown.py").write_text(TESTS)
    return Suite(folder=str(tmp_path), module="shown")


def judged(suite: Suite, code: bytes) -> Judged:
    with Sandbox(module="shown", workers=1) as box:
        sources = Arriving(iter([("a", MODULE)]), code=lambda _: code)
        ((_, found),) = box.judge(sources, suite)
        return found


def test_a_draft_is_judged_alike_with_and_without_the_code_that_the_parser_made(suite: Suite, pool: ParserPool) -> None:
    ((_, parsed),) = pool.parse([("a", Job(language="python", content=MODULE, file="shown.py"))])
    assert parsed is not None
    assert parsed.marshalled
    with_it, without = judged(suite, parsed.marshalled), judged(suite, b"")
    assert with_it.fault is without.fault is None
    assert with_it.results == without.results
    assert [one.outcome for one in with_it.results] == ["passed", "passed", "passed", "failed"]


def test_code_that_is_broken_is_the_draft_s_own_end_and_nobody_else_s(suite: Suite) -> None:
    found = judged(suite, b"no code at all")
    assert found.fault is None
    assert {one.outcome for one in found.results} == {"error"}


def test_the_parser_hands_on_the_code_of_what_it_accepts(
    draft: Callable[..., tuple[Draft, bytes]], pool: ParserPool
) -> None:
    codes = Codes(file="shown.py")
    given = [draft("a.py", MODULE), draft("b.py", "def f(:\n")]
    list(Parses("software", pool=pool, codes=codes).look(given))
    assert codes.take("a.py")
    assert codes.take("a.py") == codes.take("b.py") == codes.take("c.py") == b""


def test_what_does_not_fit_is_compiled_again() -> None:
    codes = Codes(file="shown.py", most_bytes=10)
    codes.put("a", b"12345678")
    codes.put("b", b"123")
    codes.put("a", b"twice")
    assert (codes.take("b"), codes.take("a")) == (b"", b"12345678")
    codes.put("b", b"1234567890")
    assert codes.take("b") == b"1234567890"


def test_code_too_large_for_a_box_to_be_given_is_compiled_there() -> None:
    codes = Codes(file="shown.py")
    codes.put("large", b"x" * (MOST_EACH + 1))
    assert codes.take("large") == b""
