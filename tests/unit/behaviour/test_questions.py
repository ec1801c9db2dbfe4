import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.behaviour.odds import FITTED, Posterior
from tamis.behaviour.questions import candidate, information, most_telling, reading_seconds

from ._toy import Toy


def even(n: int) -> Posterior:
    base = np.full(n, 1 / n)
    return Posterior(base=base, right=base * 0.6)


def test_an_even_split_tells_most_and_none_tells_nothing() -> None:
    belief = even(8)
    halves = information(np.array([0, 0, 0, 0, 1, 1, 1, 1], dtype=np.int32), belief, FITTED)
    one = information(np.array([0, 0, 0, 0, 0, 0, 0, 1], dtype=np.int32), belief, FITTED)
    none = information(np.zeros(8, dtype=np.int32), belief, FITTED)
    assert halves > one > none == 0


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=6, max_size=6))
def test_information_is_between_nothing_and_all_there_is(outcomes: list[int]) -> None:
    assert 0 <= information(np.array(outcomes, dtype=np.int32), even(6), FITTED) <= np.log2(6)


def test_drafts_that_are_out_do_not_make_a_question_worth_asking() -> None:
    base = np.array([0.5, 0.5, 0, 0])
    belief = Posterior(base=base, right=base * 0.9)
    between_those_out = information(np.array([0, 0, 0, 1], dtype=np.int32), belief, FITTED)
    assert between_those_out < 0.01


def test_calls_read_before_take_less_time() -> None:
    toy = Toy()
    ground, decisions = toy.ground(), toy.decisions()
    place = ground.place(decisions[0].witness)
    assert place is not None
    ask = candidate(ground, decisions[0], place)
    assert reading_seconds(ask, frozenset(ask.texts)) < reading_seconds(ask, frozenset())


def test_of_two_that_tell_as_much_the_shorter_is_asked() -> None:
    toy = Toy()
    ground, decisions = toy.ground(), toy.decisions()
    asks = [candidate(ground, d, p) for d in decisions if (p := ground.place(d.witness)) is not None]
    long = [
        type(a)(a.decision + "long", a.method, a.place, a.outcomes, a.texts * 9, a.outcome_characters) for a in asks
    ]
    best = most_telling([*long, *asks], even(len(ground.drafts)), FITTED, read_before=frozenset())
    assert best is not None
    assert not best[0].decision.endswith("long")
