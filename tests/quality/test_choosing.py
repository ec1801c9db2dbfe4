"""Does tamis choose well where the truth is known? A small size of `benchmarks/choosing.py`, on one of its briefs."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def results() -> Iterator[list[object]]:
    sys.path.insert(0, str(BENCHMARKS))
    try:
        from _runs import one_run
        from _worlds import BRIEFS, world

        from tamis.behaviour.inquiry import Choosing
        from tamis.behaviour.odds import FITTED

        made = world(BRIEFS / "slugs", calls=500)
        choosing = Choosing(mutants=40, programs=40)
        yield [
            one_run(made, draft, removed=removed, erring=0.0, choosing=choosing, fit=FITTED)
            for draft in made.drafts[1::4]
            for removed in (False, True)
        ]
    finally:
        sys.path.remove(str(BENCHMARKS))


def test_an_owners_own_draft_is_found_in_few_questions_and_one_storyboard(results: list[object]) -> None:
    mine = [r for r in results if not r.removed]  # type: ignore[attr-defined]
    assert mine
    assert all(r.right for r in mine)  # type: ignore[attr-defined]
    assert max(r.questions for r in mine) <= 7  # type: ignore[attr-defined]


def test_where_no_draft_is_right_most_often_none_is_chosen(results: list[object]) -> None:
    gone = [r for r in results if r.removed]  # type: ignore[attr-defined]
    told = sum(r.chosen is None or r.p <= 0.3 for r in gone)  # type: ignore[attr-defined]
    assert told * 3 >= len(gone) * 2
    assert all(r.lines <= 24 for r in gone)  # type: ignore[attr-defined]
