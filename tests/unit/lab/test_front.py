import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tamis.lab.front import on_front, space_of

VALUES = arrays(float, st.tuples(st.integers(1, 12), st.integers(2, 4)), elements=st.integers(0, 5).map(float))


@settings(deadline=None)
@given(VALUES)
def test_an_idea_is_on_the_front_unless_another_is_as_good_in_all_and_better_in_one(values):
    beaten = [any((other >= one).all() and (other > one).any() for other in values) for one in values]
    assert on_front(values).tolist() == [not one for one in beaten]


def exact_area(points) -> float:
    """The area that points (x, y) above 0 cover together."""
    area = best = 0.0
    for x, y in sorted(points, reverse=True):
        area += x * max(0.0, y - best)
        best = max(best, y)
    return area


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000))
def test_the_mean_reach_is_the_hypervolume(seed):
    values = np.random.default_rng(seed).normal(size=(8, 2))
    space = space_of(values, (None, None))
    found = space.reach(values).max(axis=0).mean()
    assert found == pytest.approx(exact_area(np.maximum(space.scaled(values), 0.0).tolist()), rel=0.15)


def test_beyond_what_is_enough_better_is_no_better():
    values = np.array([[0.0, 1.0], [1.0, 0.0]])
    space = space_of(values, (2.0, None))
    assert space.reach(np.array([[5.0, 0.5]])).tolist() == space.reach(np.array([[2.0, 0.5]])).tolist()


def test_an_idea_that_is_best_in_everything_is_better_than_a_front_of_others():
    space = space_of(np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]), (None, None))
    balance = space.balance(np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]))
    assert int(np.argmax(balance)) == 2
    assert np.isfinite(balance).all()
