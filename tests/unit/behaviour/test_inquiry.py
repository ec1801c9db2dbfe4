import itertools

import pytest

from tamis.behaviour.beliefs import CONSIDERED
from tamis.behaviour.inquiry import Choosing, Inquiry
from tamis.behaviour.owner import (
    ActingOwner,
    Ask,
    DontKnow,
    Either,
    NeverHappens,
    NoOwner,
    Owner,
    Page,
    Picked,
    Told,
    Wrong,
)

from ._toy import SOURCES, Toy, fee, owner_like


def converse(inquiry: Inquiry, owner: Owner, *, most: int = 40) -> list[Told]:
    told: list[Told] = []
    for _ in range(most):
        what = inquiry.next_question()
        if what is None:
            return told
        if isinstance(what, Ask):
            answer = owner.answer(what)
            assert answer is not None
            told.append(inquiry.learn(answer))
        else:
            answers = owner.review(what)
            assert answers is not None
            told += inquiry.learn_page(answers)
    raise AssertionError("it never stops asking")


@pytest.mark.parametrize("name", SOURCES)
def test_every_owner_finds_her_own_draft(name: str) -> None:
    inquiry = Toy().inquiry()
    converse(inquiry, owner_like(name))
    verdict = inquiry.verdict()
    chosen = {verdict.draft, *verdict.alike}
    assert name in chosen
    assert inquiry.questions <= 5


@pytest.mark.parametrize("name", ["eight", "no_cap", "low_cap", "lenient"])
def test_without_the_owners_draft_none_is_chosen(name: str) -> None:
    inquiry = Toy(gone=[name]).inquiry()
    converse(inquiry, owner_like(name))
    verdict = inquiry.verdict()
    assert verdict.draft is None or inquiry.chance(verdict.draft) <= 0.3
    assert verdict.near[0][1], "the nearest draft comes with the answers that go against it"


def test_the_storyboard_raises_the_odds_and_both_are_stated() -> None:
    inquiry = Toy().inquiry()
    owner = owner_like("right")
    before = None
    while (what := inquiry.next_question()) is not None:
        if isinstance(what, Ask):
            inquiry.learn(owner.answer(what))
        else:
            before = before or inquiry.chance("right")
            inquiry.learn_page(owner.review(what))
    assert before is not None
    assert inquiry.chance("right") > before
    assert inquiry.odds_before is not None
    assert inquiry.lines_read <= Choosing().lines


def test_a_correction_makes_another_draft_lead() -> None:
    inquiry = Toy().inquiry(choosing=Choosing(budget=0))
    page = inquiry.next_question()
    assert isinstance(page, Page)
    assert page.draft in ("right", "twin")
    inquiry.learn_page(owner_like("eight").review(page))
    assert inquiry.leading() == "eight"


@pytest.mark.parametrize("name", ["right", "low_cap"])
def test_what_was_read_counts_as_much_when_it_is_taken_up_again(name: str) -> None:
    first = Toy().inquiry()
    told = converse(first, owner_like(name))
    second = Toy().inquiry(told=told)
    for draft in first.ground.drafts:
        assert second.chance(draft) == pytest.approx(first.chance(draft), abs=0.001)
    assert second.odds_before is not None


@pytest.mark.parametrize("says", [DontKnow(), NeverHappens()])
def test_a_page_of_which_she_can_say_nothing_is_not_put_again(says: DontKnow | NeverHappens) -> None:
    inquiry = Toy().inquiry(choosing=Choosing(budget=0, page_lines=3, lines=12))
    seen: list[str] = []
    before = None
    while (page := inquiry.next_question()) is not None:
        assert isinstance(page, Page)
        before = before or inquiry.chance("right")
        seen += [line.text for line in page.lines]
        inquiry.learn_page([says for _ in page.lines])
        assert len(seen) <= 12
    assert len(seen) == len(set(seen))
    assert before is not None
    if isinstance(says, DontKnow):
        assert inquiry.chance("right") == pytest.approx(before, abs=0.01)
    else:  # what never happens is one place less where the truth could depart
        assert inquiry.chance("right") >= before


def test_asked_again_her_own_value_is_among_the_options() -> None:
    inquiry = Toy().inquiry(choosing=Choosing(budget=10))
    said = b'["=",123]'
    while not isinstance(page := inquiry.next_question(), Page):
        assert isinstance(page, Ask)
        inquiry.learn(owner_like("right").answer(page))
    step = page.lines[0].calls[0].step
    inquiry.learn_page([Wrong(step=step, outcome=said)])
    again = inquiry.next_question()
    assert isinstance(again, Ask)
    assert said in again.options


def test_without_any_program_nothing_is_asked_and_nothing_breaks() -> None:
    inquiry = Toy(days=()).inquiry()
    assert inquiry.next_question() is None
    assert inquiry.verdict().odds.p is not None


def test_answers_learned_again_are_not_asked_again() -> None:
    first = Toy().inquiry()
    told = converse(first, owner_like("low_cap"))
    second = Toy().inquiry(told=told)
    assert second.questions == first.questions
    assert second.lines_read == first.lines_read
    left = converse(second, owner_like("low_cap"))
    assert len(left) <= len(told)
    assert not {t.decision for t in left} & {t.decision for t in told if t.page is None}
    assert second.leading() == first.leading()


def test_the_order_of_the_answers_does_not_matter() -> None:
    told = [t for t in converse(Toy().inquiry(), owner_like("no_cap")) if t.page is None]
    chances = set()
    for order in itertools.permutations(told):
        inquiry = Toy().inquiry(told=order)
        chances.add(round(inquiry.chance("no_cap"), 9))
    assert len(chances) == 1


def test_either_rules_nobody_out() -> None:
    inquiry = Toy().inquiry()
    before = {d: inquiry.chance(d) for d in SOURCES}
    assert isinstance(inquiry.next_question(), Ask)
    inquiry.learn(Either())
    assert all(inquiry.chance(d) >= before[d] * 0.9 for d in SOURCES)


@pytest.mark.parametrize("answer", [DontKnow(), NeverHappens()])
def test_no_answer_is_missing_never_bad(answer: DontKnow | NeverHappens) -> None:
    inquiry = Toy().inquiry()
    before = {d: inquiry.chance(d) for d in SOURCES}
    ask = inquiry.next_question()
    inquiry.learn(answer)
    assert not inquiry.clues
    if isinstance(answer, DontKnow):
        assert {d: inquiry.chance(d) for d in SOURCES} == before
    following = inquiry.next_question()
    assert isinstance(following, Ask)
    assert isinstance(ask, Ask)
    assert following.decision != ask.decision


def test_one_slip_does_not_delete_a_draft() -> None:
    inquiry = Toy().inquiry()
    owner = owner_like("right")
    ask = inquiry.next_question()
    assert isinstance(ask, Ask)
    true = owner.answer(ask)
    assert isinstance(true, Picked)
    inquiry.learn(Picked(option=1 - true.option if true.option < 2 else 0))
    assert inquiry.chance("right") > 0


def test_a_line_that_is_only_wrong_counts_against_the_draft() -> None:
    inquiry = Toy().inquiry(choosing=Choosing(budget=0))
    page = inquiry.next_question()
    assert isinstance(page, Page)
    before = inquiry.chance(page.draft)
    inquiry.learn_page([Wrong(step=page.lines[0].calls[0].step, outcome=None)])
    assert inquiry.chance(page.draft) < before


def test_a_correction_is_asked_again_in_the_same_calls_and_told_apart_from_a_slip_by_that() -> None:
    chances = []
    for again in (b'["=",77]', None):
        inquiry, owner = Toy().inquiry(), owner_like("right")
        while isinstance(page := inquiry.next_question(), Ask):
            answer = owner.answer(page)
            assert answer is not None
            inquiry.learn(answer)
        assert isinstance(page, Page)
        call = page.lines[0].calls[0]
        inquiry.learn_page([Wrong(step=call.step, outcome=b'["=",77]')])
        ask = inquiry.next_question()
        assert isinstance(ask, Ask)
        assert ask.again
        assert ask.program == page.lines[0].program[: call.step + 1]
        assert {call.outcome, b'["=",77]'} <= set(ask.options)
        inquiry.learn(Picked(option=ask.options.index(again or call.outcome)))
        chances.append(inquiry.chance(page.draft))
    persisted, slipped = chances
    assert persisted < 0.1 < slipped


def test_a_correction_that_was_not_asked_again_before_the_run_ended_is_asked_again_in_the_next() -> None:
    inquiry, owner = Toy().inquiry(), owner_like("right")
    while isinstance(page := inquiry.next_question(), Ask):
        answer = owner.answer(page)
        assert answer is not None
        inquiry.learn(answer)
    assert isinstance(page, Page)
    inquiry.learn_page([Wrong(step=page.lines[0].calls[0].step, outcome=b'["=",77]')])
    pending = inquiry.next_question()
    taken_up = Toy().inquiry(told=inquiry.told).next_question()
    assert isinstance(taken_up, Ask)
    assert taken_up.again
    assert isinstance(pending, Ask)
    assert taken_up.program == pending.program


def test_a_spent_budget_says_so() -> None:
    inquiry = Toy().inquiry(choosing=Choosing(budget=1, lines=0))
    converse(inquiry, owner_like("right"))
    assert inquiry.questions == 1
    assert inquiry.stopped == "the budget of 1 question is spent"


def test_nobody_answers_and_nothing_is_learned() -> None:
    inquiry = Toy().inquiry()
    ask = inquiry.next_question()
    assert isinstance(ask, Ask)
    assert NoOwner().answer(ask) is None
    assert inquiry.next_question() == ask
    assert inquiry.told == []


def test_answers_make_the_tests_stronger() -> None:
    inquiry = Toy().inquiry()
    converse(inquiry, owner_like("right"))
    strength = inquiry.strength()
    assert strength.mutants_by_tests < strength.mutants_with_answers <= strength.mutants
    assert strength.drafts_by_tests == 0
    assert strength.drafts_with_answers == strength.drafts == 4


def test_a_value_that_nobody_offered_leaves_every_draft_wrong() -> None:
    inquiry = Toy().inquiry(told=[Told(id="1", decision="d", program=fee(9), kind="value", outcome=b'["=",77]')])
    assert inquiry.belief.none > 0.6
    assert all(against for _, against in inquiry.verdict().near)


def test_a_large_camp_does_not_fill_the_places_of_what_is_reckoned_in_full() -> None:
    world = Toy()
    world.sources = {f"more_{i}": world.sources["eight"] for i in range(2 * CONSIDERED)} | world.sources
    world.lab.sources = world.sources
    inquiry = world.inquiry()
    reckoned = [next(i for i, camp in enumerate(inquiry.camps) if d in camp) for d in inquiry.uncovered()]
    assert sorted(reckoned) == list(range(len(inquiry.camps)))
    converse(inquiry, owner_like("right"))
    assert {"right", "twin"} == {inquiry.verdict().draft, *inquiry.verdict().alike}
    assert inquiry.chance("right") > 0.9


def test_an_owners_file_is_asked_only_about_what_it_defines() -> None:
    owner = ActingOwner(acts=lambda program: (None,) * len(program), defines=frozenset({"fee"}))
    assert owner.lacking(["fee", "due", "lend"]) == ("due", "lend")
    assert owner_like("right").lacking(["fee", "due"]) == ()
