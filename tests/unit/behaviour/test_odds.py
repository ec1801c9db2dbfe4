import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tamis.behaviour.odds import FITTED, Clue, posterior, prior_weights, stated

FOUR = prior_weights([(0, 1), (2,), (3,)], 4, 0.5)


def clue(*agrees: int, group: str = "g", there: tuple[int, ...] = (1, 1, 1, 1)) -> Clue:
    return Clue(group, "m", np.array(agrees, dtype=bool), np.array(there, dtype=bool))


def test_a_camps_weight_grows_more_slowly_than_its_size() -> None:
    assert FOUR.sum() == pytest.approx(1)
    assert FOUR[0] + FOUR[1] == pytest.approx(2**0.5 * FOUR[2])


clues = st.lists(
    st.builds(
        lambda row, group: clue(*row, group=group),
        st.lists(st.integers(0, 1), min_size=4, max_size=4),
        st.sampled_from("abc"),
    ),
    max_size=8,
)


@settings(max_examples=60, deadline=None)
@given(clues, st.lists(st.floats(0, 1), min_size=4, max_size=4))
def test_it_is_a_probability_whatever_is_answered(some: list[Clue], exposed: list[float]) -> None:
    found = posterior(some, FOUR, np.array(exposed), FITTED)
    assert np.all(found.right >= 0)
    assert np.all(found.right <= found.base + 1e-12)
    assert found.base.sum() == pytest.approx(1)
    assert 0 <= found.none <= 1


@settings(max_examples=40, deadline=None)
@given(clues, st.randoms())
def test_the_order_of_the_answers_changes_nothing(some: list[Clue], rng: object) -> None:
    mixed = list(some)
    rng.shuffle(mixed)  # type: ignore[attr-defined]
    first, second = (posterior(c, FOUR, np.zeros(4), FITTED) for c in (some, mixed))
    assert np.allclose(first.right, second.right)


def test_an_answer_moves_belief_towards_who_agrees() -> None:
    before, after = posterior([], FOUR, np.zeros(4), FITTED), posterior([clue(1, 1, 0, 1)], FOUR, np.zeros(4), FITTED)
    assert after.right[0] > before.right[0]
    assert 0 < after.right[2] < before.right[2]


def test_agreement_on_what_was_asked_says_little_about_what_was_not() -> None:
    """The trap: a draft that went along with seven questions may be wrong wherever nobody asked."""
    seven = [clue(1, 1, 0, 0, group=str(i)) for i in range(7)]
    unread = posterior(seven, FOUR, np.full(4, 0.1), FITTED)
    read = posterior(seven, FOUR, np.full(4, 0.95), FITTED)
    assert unread.base[:2].sum() > 0.95
    assert unread.right[:2].sum() < 0.8
    assert read.right[:2].sum() > unread.right[:2].sum() + 0.1


def test_one_slip_weighs_down_and_three_nearly_rule_out() -> None:
    agree = [clue(1, 1, 0, 0, group=str(i)) for i in range(6)]
    chances = []
    for slips in (0, 1, 3):
        against = [clue(0, 0, 1, 0, group=f"x{i}") for i in range(slips)]
        chances.append(posterior([*agree, *against], FOUR, np.full(4, 0.9), FITTED).right[:2].sum())
    assert chances[0] > chances[1] > chances[2] > 0
    assert chances[2] < 0.25 * chances[0]


def test_asked_again_the_same_way_tells_a_slip_from_a_departure() -> None:
    """On one decision: against, then against again, is a departure; against, then with, was a slip."""
    agree = [clue(1, 1, 0, 0, group=str(i)) for i in range(6)]
    twice = [clue(0, 0, 0, 0, group="x"), clue(0, 0, 0, 0, group="x")]
    mixed = [clue(0, 0, 0, 0, group="x"), clue(1, 1, 0, 0, group="x")]
    exposed = np.full(4, 0.9)
    confirmed = posterior([*agree, *twice], FOUR, exposed, FITTED).right[:2].sum()
    taken_back = posterior([*agree, *mixed], FOUR, exposed, FITTED).right[:2].sum()
    assert taken_back > 2 * confirmed


def test_drafts_that_an_answer_tells_nothing_about_keep_their_odds_among_each_other() -> None:
    apart = clue(1, 1, 0, 0, there=(1, 1, 0, 0))
    found = posterior([apart], FOUR, np.zeros(4), FITTED)
    assert found.right[2] / found.right[3] == pytest.approx(FOUR[2] / FOUR[3])
    assert found.right[2] > 0


def test_odds_without_a_basis_are_none_and_with_one_they_name_it() -> None:
    assert stated(0.9, 10, replace(FITTED, basis="uncalibrated")).p is None
    told = stated(0.9, 10, replace(FITTED, basis="some record"))
    assert told.basis == "some record"
    assert told.low is not None
    assert told.high is not None
    assert told.low < 0.9 < told.high
