"""What "either will do" and "this never happens" change: here, and in the same case elsewhere."""

import itertools

import pytest

from tamis.behaviour.inquiry import Choosing, Inquiry
from tamis.behaviour.owner import Ask, Either, NeverHappens, Page, ShownCall, ShownLine, Told
from tamis.behaviour.telling import told_of_line
from tamis.behaviour.waivers import apply, waiver_of

from ._toy import DAYS, Toy, fee, owner_like


def told(day: int, kind: str, outcome: bytes | None = None) -> Told:
    return Told(id=f"{day} {kind}", decision=f"day {day}", program=fee(day), kind=kind, outcome=outcome)


def left_to_ask(inquiry: Inquiry, *, by: str = "right") -> list[int]:
    """The days that are asked about or shown from here on."""
    owner, days = owner_like(by), []
    while (what := inquiry.next_question()) is not None:
        if isinstance(what, Ask):
            days.append(int(str(what.program[0].args[0])))
            answer = owner.answer(what)
            assert answer is not None
            inquiry.learn(answer)
        else:
            days += [int(str(line.program[0].args[0])) for line in what.lines]
            inquiry.learn_page(owner.review(what) or ())
    return days


def test_what_never_happens_is_neither_asked_about_nor_shown() -> None:
    assert -1 in left_to_ask(Toy().inquiry())
    days = left_to_ask(Toy(days=(-3, -2, *DAYS)).inquiry(told=[told(-2, "never")]))
    assert days
    assert min(days) >= 0


def test_drafts_that_differ_only_in_what_never_happens_are_alike() -> None:
    inquiry = Toy(days=(-3, -2, *DAYS)).inquiry(told=[told(-2, "never")])
    named = [{inquiry.ground.drafts[d] for d in camp} for camp in inquiry.camps]
    assert {"right", "twin", "lenient"} in named
    left_to_ask(inquiry)
    verdict = inquiry.verdict()
    assert {verdict.draft, *verdict.alike} == {"right", "twin", "lenient"}


def test_an_answer_about_what_never_happens_holds_against_nobody() -> None:
    wrong = told(-3, "value", b'["=",77]')
    assert Toy(days=(-3, -2, *DAYS)).inquiry(told=[wrong]).belief.none > 0.5
    inquiry = Toy(days=(-3, -2, *DAYS)).inquiry(told=[wrong, told(-2, "never")])
    assert not any(against for _, against in inquiry.verdict().near)
    assert not any(clue.there.any() for clue in inquiry.clues)


def test_that_one_ordinary_day_never_happens_says_nothing_of_the_others() -> None:
    inquiry = Toy().inquiry(told=[told(40, "never")])
    assert inquiry.camps == Toy(days=[d for d in DAYS if d != 40]).inquiry().camps
    assert 40 not in left_to_ask(inquiry)


def test_drafts_that_differ_only_where_either_will_do_are_not_parted() -> None:
    inquiry = Toy(days=(-3, -2, *DAYS)).inquiry(told=[told(-2, "either")])
    days = left_to_ask(inquiry)
    verdict = inquiry.verdict()
    assert {verdict.draft, *verdict.alike} == {"right", "twin", "lenient"}
    assert inquiry.chance("lenient") == pytest.approx(inquiry.chance("right"))
    assert not {-3, -2} & set(days[: inquiry.questions])


def test_either_in_one_case_leaves_another_in_which_the_same_drafts_part() -> None:
    inquiry = Toy().inquiry(told=[told(-1, "either")])
    named = [{inquiry.ground.drafts[d] for d in camp} for camp in inquiry.camps]
    assert named == [{"right", "twin", "lenient"}, {"eight"}, {"no_cap"}, {"low_cap"}]
    assert any(day > 16 for day in left_to_ask(inquiry, by="low_cap"))


@pytest.mark.parametrize("kind", ["either", "never"])
def test_the_order_in_which_answers_come_does_not_matter(kind: str) -> None:
    answers = [told(9, "value", b'["=",100]'), told(-3, "value", b'["=",0]'), told(-2, kind)]
    chances = set()
    for order in itertools.permutations(answers):
        inquiry = Toy(days=(-3, -2, *DAYS)).inquiry(told=order)
        chances.add(tuple(round(inquiry.chance(d), 9) for d in inquiry.ground.drafts))
    assert len(chances) == 1


def test_a_program_that_comes_later_knows_what_never_happens() -> None:
    inquiry = Toy(days=(-2, *DAYS)).inquiry(told=[told(-2, "never")])
    (place,) = inquiry._join([fee(-7)], aside=True)
    assert inquiry.ground.told(place, 0) == 0


def test_after_what_never_happens_nothing_is_told_and_before_it_everything() -> None:
    world = Toy()
    ground = world.ground()
    program = (*fee(9), *fee(-1), *fee(10))
    inquiry = Inquiry(ground, [], run=world.run, lab=world.lab)
    (place,) = inquiry._join([program])
    apply(waiver_of("never", ground, fee(-1), ground.programs.index(fee(-1))), ground, place)
    assert [ground.told(place, base) for base in range(len(ground.drafts))] == [1] * len(ground.drafts)


@pytest.mark.parametrize("says", [Either(), NeverHappens()])
def test_said_of_a_page_it_is_kept_and_taken_up_the_same(says: Either | NeverHappens) -> None:
    first = Toy().inquiry(choosing=Choosing(budget=0, page_lines=6))
    page = first.next_question()
    assert isinstance(page, Page)
    kept = first.learn_page([says for _ in page.lines])
    second = Toy().inquiry(choosing=Choosing(budget=0, page_lines=6), told=kept)
    assert second.camps == first.camps
    assert [second.chance(d) for d in second.ground.drafts] == pytest.approx(
        [first.chance(d) for d in first.ground.drafts], abs=0.001
    )


def test_what_only_follows_from_something_that_does_not_matter_holds_against_nobody() -> None:
    """Some drafts count a day below zero and some refuse it; then how many there were later is another number."""
    world = Toy()
    world.sources |= {
        "counts": b"calls = []\ndef fee(days):\n    calls.append(days)\n    return len(calls)\n",
        "refuses": b"calls = []\ndef fee(days):\n    if days < 0:\n        raise ValueError('no')\n"
        b"    calls.append(days)\n    return len(calls)\n",
    }
    world.sources = {name: world.sources[name] for name in ("counts", "refuses", "right")}
    program = (*fee(-1), *fee(40))
    inquiry = Inquiry(world.ground(), [], run=world.run, lab=world.lab)
    at = inquiry.ground.drafts.index
    second = Told(id="later", decision="later", program=program, kind="value", outcome=b'["=",2]')
    inquiry._take(second)
    assert inquiry._against(at("refuses")) == (0,)
    inquiry._take(Told(id="first", decision="first", program=program[:1], kind="either"))
    assert inquiry._against(at("refuses")) == ()
    (clue,) = inquiry.clues
    assert not clue.there[at("refuses")]
    assert not clue.against.any()


def test_of_a_line_with_two_calls_that_never_happens_only_both_together_never_happen() -> None:
    program = (*fee(9), *fee(-1))
    calls = (ShownCall(step=0, outcome=b'["=",100]'), ShownCall(step=1, outcome=b'["=",0]'))
    line = ShownLine(program=program, calls=calls, text="")
    page = Page(id="p", draft="right", scenes=((line,),), headings=("",))
    first, second = told_of_line(page, 0, line, NeverHappens())
    assert (first.kind, second.kind) == ("unknown", "never")
    inquiry = Toy().inquiry(told=[first, second])
    assert inquiry.ground.told(inquiry.ground.programs.index(fee(9)), 0) == 1
    assert inquiry.ground.told(inquiry.ground.programs.index(fee(-1)), 0) == 0
