import ast
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.behaviour.mutants import mutants

SOURCE = b'''"""A module."""


def price(count, *, members=3):
    """A docstring is no behaviour."""
    if count < 1 or count > 9:
        raise ValueError("no 5 things")
    total = count * 50
    total += min(total, members)
    return [t for t in sorted([total, count], reverse=True)][1:]
'''


def made(limit: int = 500) -> dict[str, str]:
    return {m.change: m.source.decode() for m in mutants(SOURCE, limit=limit, rng=random.Random(0))}


@pytest.mark.parametrize(
    "change",
    [
        "count < 1 → count <= 1",
        "count < 1 → count >= 1",
        "1 → 2",
        "50 → 49",
        "count * 50 → count + 50",
        "count < 1 or count > 9 → count < 1 and count > 9",
        "min(total, members) → max(total, members)",
        "min(total, members) → min(members, total)",
        "total += min(total, members) → dropped",
        "count < 1 or count > 9 → False",
    ],
)
def test_each_kind_of_slip_is_made(change: str) -> None:
    assert change in made()


def test_every_mutant_parses_and_differs_from_the_original_and_from_all_others() -> None:
    sources = [m.source.decode() for m in mutants(SOURCE, limit=500, rng=random.Random(1))]
    trees = [ast.dump(ast.parse(s)) for s in sources]
    assert len(set(trees)) == len(trees)
    assert ast.dump(ast.parse(ast.unparse(ast.parse(SOURCE)))) not in trees


def test_docstrings_and_messages_are_left_alone() -> None:
    for source in made().values():
        assert "A docstring is no behaviour." in source
        assert "no 5 things" in source or "raise" not in source


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 30), st.integers())
def test_a_limit_is_kept_and_the_same_seed_makes_the_same(limit: int, seed: int) -> None:
    first = mutants(SOURCE, limit=limit, rng=random.Random(seed))
    assert len(first) <= limit
    assert first == mutants(SOURCE, limit=limit, rng=random.Random(seed))


def test_a_limit_takes_from_every_kind() -> None:
    kinds = {m.kind for m in mutants(SOURCE, limit=14, rng=random.Random(0))}
    assert {"constant", "comparison", "drop", "condition", "arguments"} <= kinds


def test_what_does_not_parse_is_refused() -> None:
    with pytest.raises(SyntaxError):
        mutants(b"def f(:", limit=5, rng=random.Random(0))
