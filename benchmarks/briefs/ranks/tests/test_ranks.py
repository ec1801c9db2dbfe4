import pytest
from ranks import median, podium, ranks


def test_more_points_are_better():
    assert ranks([("ann", 3), ("bob", 9)]) == [(1, "bob"), (2, "ann")]


def test_a_tie_shares_its_rank():
    assert [rank for rank, _ in ranks([("ann", 5), ("bob", 5)])] == [1, 1]


def test_the_podium_has_three():
    assert podium([("a", 1), ("b", 2), ("c", 3), ("d", 4)]) == ["d", "c", "b"]


def test_the_one_in_the_middle():
    assert median([("a", 1), ("b", 2), ("c", 9)]) == 2


def test_no_results():
    assert ranks([]) == []
    with pytest.raises(ValueError):
        median([])
