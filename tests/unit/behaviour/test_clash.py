"""Answers that no draft meets all of: how few show it, that they are asked again, and how they are told."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.behaviour.clash import clash_said, counting, smallest_clash
from tamis.behaviour.inquiry import Choosing, Inquiry
from tamis.behaviour.owner import Ask, Neither, Page, Picked, Right, Told, Wrong

from ._toy import DAYS, Toy, fee, owner_like


def told(day: int, outcome: int, *, number: str = "") -> Told:
    said = f'["=",{outcome}]'.encode()
    return Told(id=f"{day} {outcome} {number}", decision=f"day {day}", program=fee(day), kind="value", outcome=said)


AGREES = st.integers(1, 6).flatmap(
    lambda drafts: st.lists(st.lists(st.booleans(), min_size=drafts, max_size=drafts), min_size=1, max_size=8)
)


@given(AGREES)
def test_what_clashes_is_met_by_no_draft_and_without_any_one_of_it_by_some(rows: list[list[bool]]) -> None:
    agrees = np.array(rows)
    clash = list(smallest_clash(agrees))
    assert bool(clash) != bool(agrees.all(axis=0).any())
    if clash:
        assert not agrees[clash].all(axis=0).any()
        for one in clash:
            assert agrees[[row for row in clash if row != one]].all(axis=0).any()


def test_one_answer_that_rules_out_every_draft_is_named_before_two_that_only_do_so_together() -> None:
    assert smallest_clash(np.array([[False] * 3, [True, False, False], [False, True, True]])) == (0,)


def test_an_answer_that_no_draft_gives_clashes_alone() -> None:
    inquiry = Toy().inquiry(told=[told(9, 100), told(27, 77), told(7, 0)])
    assert inquiry.clash() == (1,)
    assert inquiry.verdict().clash == (1,)


def test_two_answers_that_are_each_of_some_draft_clash_where_no_draft_gives_both() -> None:
    inquiry = Toy().inquiry(told=[told(-1, 0), told(7, 0), told(18, 500)])
    assert inquiry.clash() == (0, 2)


def test_answers_of_one_draft_do_not_clash() -> None:
    assert Toy().inquiry(told=[told(9, 50), told(18, 500), told(7, 0)]).clash() == ()
    assert Toy().inquiry().clash() == ()


def test_of_two_answers_about_the_same_calls_the_last_counts() -> None:
    answers = [told(9, 77), told(7, 0), told(9, 100)]
    assert counting(answers) == [1, 2]
    assert Toy().inquiry(told=answers).clash() == ()


def asked_of(inquiry: Inquiry) -> Ask:
    ask = inquiry.next_question()
    assert isinstance(ask, Ask)
    return ask


def test_answers_that_clash_are_each_asked_again_once_in_the_same_calls() -> None:
    answers = [told(-1, 0), told(7, 0), told(18, 500)]
    inquiry = Toy().inquiry(told=answers)
    programs, whys = [], []
    for _ in range(2):
        ask = asked_of(inquiry)
        assert ask.again
        whys.append(ask.why)
        programs.append(ask.program)
        inquiry.learn(Neither(outcome=next(t.outcome for t in answers if t.program == ask.program) or b""))
    assert programs == [fee(-1), fee(18)]
    assert whys[0] == "you said 0, and no draft does this and fee(18) → 500"
    assert inquiry.clash() == (0, 2)
    assert inquiry.next_question() is None, "she said both twice, so there is nothing left to hope for"
    assert inquiry.stopped == "no draft is right: the answers rule each of them out"


def test_an_answer_that_is_not_repeated_was_a_slip_and_the_draft_is_found_all_the_same() -> None:
    slip = told(18, 500)
    inquiry = Toy().inquiry(told=[slip, told(-1, 0)])
    owner = owner_like("lenient")
    while (what := inquiry.next_question()) is not None:
        if isinstance(what, Ask):
            answer = owner.answer(what)
            assert answer is not None
            inquiry.learn(answer)
        else:
            inquiry.learn_page(owner.review(what) or ())
    assert inquiry.clash() == ()
    assert inquiry.verdict().draft == "lenient"
    assert inquiry.chance("lenient") > 0.8


def test_the_same_answer_given_again_is_one_more_and_not_the_same_record() -> None:
    inquiry = Toy().inquiry(told=[told(-1, 0), told(18, 500)])
    first = inquiry.learn(Picked(option=asked_of(inquiry).options.index(b'["=",0]')))
    assert first.id not in {t.id for t in inquiry.told[:2]}
    assert len(inquiry.told) == 3


def test_no_question_is_put_again_beyond_the_budget() -> None:
    inquiry = Toy().inquiry(told=[told(-1, 0), told(18, 500)], choosing=Choosing(budget=2, lines=0))
    assert inquiry.next_question() is None


def test_a_question_in_another_case_has_no_option_that_belongs_to_the_first() -> None:
    """Her own value is among the options only where the very same calls are put again."""
    said = b'["=",[34,33,33]]'
    one = Told(id="own", decision="d", program=fee(-2), kind="value", outcome=said)
    inquiry = Toy(days=(-3, -2, *DAYS)).inquiry(told=[one])
    leader = inquiry.ground.drafts.index("right")
    like = inquiry._neighbour(leader, one)
    assert like is not None
    assert like.program != one.program
    assert set(like.options) == {
        inquiry.ground.rans[inquiry.ground.programs.index(like.program)][d][1:-1] for d in (0, 5)
    }
    assert said in asked_of(inquiry).options


@pytest.mark.parametrize(
    ("answers", "clash", "said"),
    [
        (
            [told(9, 77)],
            (0,),
            "no draft does what answer 1 says, fee(9) → 77, and a given test makes these very calls",
        ),
        (
            [told(7, 0), told(-1, 0), told(18, 500)],
            (1, 2),
            "answers 2, 3 clash, no draft does both fee(-1) → 0 and fee(18) → 500",
        ),
        (
            [told(7, 0), told(-1, 0), told(18, 500)],
            (0, 1, 2),
            "answers 1, 2, 3 clash, no draft does all of fee(7) → 0, fee(-1) → 0 and fee(18) → 500",
        ),
    ],
)
def test_a_clash_is_told_with_the_answers_that_show_it(answers: list[Told], clash: tuple[int, ...], said: str) -> None:
    assert clash_said(answers, clash, [(*fee(9), *fee(10))]) == said


def test_slips_in_one_page_are_asked_about_again_though_no_draft_seems_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tamis.behaviour.inquiry.NONE_LEFT", 0.8)
    inquiry, owner = Toy().inquiry(), owner_like("right")
    while isinstance(page := inquiry.next_question(), Ask):
        answer = owner.answer(page)
        assert answer is not None
        inquiry.learn(answer)
    assert isinstance(page, Page)
    slips = [Wrong(step=line.calls[0].step, outcome=b'["=",77]') for line in page.lines[:2]]
    inquiry.learn_page([*slips, *(Right() for _ in page.lines[2:])])
    assert inquiry.belief.none >= 0.8
    for _ in slips:
        ask = asked_of(inquiry)
        assert ask.again
        answer = owner.answer(ask)
        assert answer is not None
        inquiry.learn(answer)
    assert inquiry.verdict().draft in {"right", "twin"}
