import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.taste.answers import Heard, Manner, contrasts, likelihood

utilities = st.lists(st.floats(-8, 8), min_size=2, max_size=4)
manners = st.builds(Manner, careless=st.floats(0, 0.5), first=st.floats(0, 1), alike=st.sampled_from([0.0, 0.1, 1.0]))


def probability(values: list[float], said: object, manner: Manner) -> float:
    heard = Heard(shown=tuple(range(len(values))), said=said)  # type: ignore[arg-type]
    point = [sum(sign * values[text] for text, sign in contrast.texts) for contrast in contrasts(heard)]
    return float(likelihood(np.array([[point]]), heard, [manner])[0, 0])


@given(utilities, manners)
def test_the_probabilities_of_all_answers_add_up_to_one(values: list[float], manner: Manner) -> None:
    taken = sum(probability(values, place, manner) for place in range(len(values)))
    assert taken + probability(values, "alike", manner) == pytest.approx(1, abs=1e-6)


@given(utilities)
def test_the_best_text_is_the_likeliest_to_be_taken(values: list[float]) -> None:
    taken = [probability(values, place, Manner(careless=0.0)) for place in range(len(values))]
    assert taken[int(np.argmax(values))] == pytest.approx(max(taken))


def test_of_two_a_text_is_taken_by_bradley_terry() -> None:
    assert probability([1.0, 0.0], 0, Manner(careless=0.0, alike=0.0)) == pytest.approx(1 / (1 + np.exp(-1)))


def test_of_four_a_text_is_taken_by_plackett_luce() -> None:
    values = [0.5, -1.0, 2.0, 0.0]
    share = np.exp(values) / np.exp(values).sum()
    found = [probability(values, place, Manner(careless=0.0, alike=0.0)) for place in range(4)]
    assert found == pytest.approx(share)


def test_the_side_shown_first_pulls_for_it_and_against_the_others() -> None:
    shown = (7, 8, 9)
    assert [one.side for one in contrasts(Heard(shown=shown, said=0))] == [1.0, 1.0]
    assert [one.side for one in contrasts(Heard(shown=shown, said=2))] == [-1.0, 0.0]


def test_a_text_near_the_bar_is_as_likely_above_as_below() -> None:
    heard = Heard(shown=(0,), said="above")
    assert likelihood(np.zeros((1, 1, 1)), heard, [Manner()])[0, 0] == 0.5
