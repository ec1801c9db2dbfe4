import pytest

from tamis.taste.habits import Pick, agreement, habits, share


def pick(first: str, second: str, taken: str | None) -> Pick:
    return Pick(shown=(first, second), taken=taken)


def test_how_often_the_left_one_is_taken() -> None:
    found = habits([pick("a", "b", "a"), pick("c", "d", "c"), pick("e", "f", "f"), pick("g", "h", None)])
    assert found.left.p == pytest.approx(2 / 3)
    assert found.left.basis == "2 of 3 comparisons of two"
    assert found.left.low is not None
    assert found.left.high is not None
    assert found.left.low < 2 / 3 < found.left.high


def test_consistent_is_taking_the_same_text_when_sides_are_swapped() -> None:
    found = habits([pick("a", "b", "a"), pick("c", "d", "c"), pick("b", "a", "a"), pick("d", "c", "d")])
    assert found.consistent.p == 0.5


def test_without_answers_habits_are_unknown_and_not_a_half() -> None:
    found = habits([])
    assert found.left.p is None
    assert found.consistent.p is None
    assert found.consistent.basis.startswith("no ")


def test_agreement_counts_only_what_both_answered() -> None:
    mine = [pick("a", "b", "a"), pick("c", "d", "c"), pick("e", "f", "e")]
    theirs = [pick("b", "a", "a"), pick("c", "d", "d")]
    assert agreement({"me": mine, "them": theirs})["me", "them"].p == 0.5


def test_the_interval_narrows_with_more_answers() -> None:
    few, many = share(6, 10, "x"), share(600, 1000, "x")
    assert (few.high or 0) - (few.low or 0) > (many.high or 0) - (many.low or 0)
