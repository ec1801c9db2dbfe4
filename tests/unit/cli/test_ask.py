import io
from collections.abc import Iterator

import msgspec
import pytest
from rich.console import Console

from tamis.behaviour.owner import (
    Ask,
    DontKnow,
    Either,
    Neither,
    NeverHappens,
    Page,
    Picked,
    Right,
    ShownCall,
    ShownLine,
    Wrong,
)
from tamis.cli.ask import TerminalOwner, outcome_typed
from tamis.sandbox import Call

DESK = Call(name="LendingDesk")
LEND = Call(name="lend", on=0, args=("drill", "ann", ["date", "2026-03-01"]))
RENEW = Call(name="renew", on=0, args=("drill", ["date", "2026-03-04"]))
DATES = (b'["=",["date","2026-03-15"]]', b'["=",["date","2026-03-11"]]')
ASK = Ask(id="1", decision="d", program=(DESK, LEND, RENEW), setup=1, options=DATES, number=3, about=6)


def owner(*typed: str) -> tuple[TerminalOwner, Console]:
    lines: Iterator[str] = iter(typed)

    def read(_prompt: str) -> str:
        try:
            return next(lines)
        except StopIteration:
            raise EOFError from None

    console = Console(width=100, record=True, file=io.StringIO())
    return TerminalOwner(console, read=read), console


def test_a_question_is_one_screen_that_reads_plainly() -> None:
    person, console = owner("a")
    person.answer(ASK)
    text = console.export_text()
    assert "question 3, about 3 more" in text
    assert 'desk.renew("drill", 4 March 2026)  →  what should this give?' in text
    assert "a  15 March 2026" in text
    assert "b  11 March 2026" in text


def test_where_more_questions_are_left_than_it_looked_that_is_said() -> None:
    person, console = owner("a", "a", "a", "a")
    for number, about in ((1, 5), (2, 5), (3, 8), (8, 8)):
        person.answer(msgspec.structs.replace(ASK, number=number, about=about))
    shown = [line for line in console.export_text().splitlines() if line.startswith("question ")]
    assert [line.partition("        ")[0] for line in shown] == [
        "question 1, about 4 more",
        "question 2, about 3 more",
        "question 3, about 5 more (more than it looked: answers told less than hoped)",
        "question 8, perhaps the last",
    ]


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        (["a"], Picked(option=0)),
        (["B"], Picked(option=1)),
        (["e"], Either()),
        (["x"], NeverHappens()),
        (["?"], DontKnow()),
        (["q"], None),
        ([], None),
        (["c", "b"], Picked(option=1)),
        (["n", "18 March 2026"], Neither(outcome=b'["=",["date","2026-03-18"]]')),
        (["n: raises LendingError"], Neither(outcome=b'["!","LendingError",[],""]')),
        (["n", "what", "17"], Neither(outcome=b'["=",17]')),
    ],
)
def test_what_is_typed_becomes_an_answer(typed: list[str], answer: object) -> None:
    person, _ = owner(*typed)
    assert person.answer(ASK) == answer


def page() -> Page:
    program = (DESK, LEND, RENEW)
    first = ShownLine(program=program, calls=(ShownCall(step=1, outcome=DATES[1]),), text="lent → 11 March 2026")
    second = ShownLine(program=program, calls=(ShownCall(step=2, outcome=DATES[0]),), text="renewed → 15 March 2026")
    return Page(id="p", draft="draft_17.py", scenes=((first, second), (first,)), headings=("desk", "desk"))


def test_enter_approves_the_whole_page() -> None:
    person, console = owner("")
    assert person.review(page()) == [Right(), Right(), Right()]
    text = console.export_text()
    assert "What draft_17.py does" in text
    assert "  2   renewed → 15 March 2026" in text


def test_a_correction_leaves_the_rest_of_its_scene_unread() -> None:
    person, _ = owner("1", "8 March 2026", "")
    assert person.review(page()) == [Wrong(step=1, outcome=b'["=",["date","2026-03-08"]]'), DontKnow(), Right()]


def test_leaving_a_page_answers_nothing() -> None:
    assert owner("q")[0].review(page()) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [("17", 17), ("[1, 'a']", ["list", [1, "a"]]), ("None", None), ("True", True), ("1.5", ["float", "1.5"])],
)
def test_values_are_typed_as_python(text: str, value: object) -> None:
    typed = outcome_typed(text)
    assert typed is not None
    assert msgspec.json.decode(typed) == ["=", value]


def test_what_is_no_value_is_refused() -> None:
    assert outcome_typed("fifteen days") is None
