from datetime import date

import pytest

from tamis.behaviour.words import date_typed, heading, names_of, outcome_said, said, script
from tamis.sandbox import Call

PROGRAM = (
    Call(name="LendingDesk"),
    Call(name="add_tool", on=0, args=("drill",)),
    Call(name="add_tool", on=0, args=("saw",)),
    Call(name="lend", on=0, args=("drill", "ann", ["date", "2026-03-01"])),
    Call(name="overdue", on=0, args=(["ref", 3],)),
)


def test_calls_read_plainly_and_dates_are_written_out() -> None:
    names = names_of(PROGRAM)
    assert said(PROGRAM, 3, names) == 'desk.lend("drill", "ann", 1 March 2026)'
    assert said(PROGRAM, 4, names) == "desk.overdue(lend)"


def test_what_is_prepared_stands_in_one_line() -> None:
    assert heading(PROGRAM, 3, names_of(PROGRAM)) == 'desk = LendingDesk() with add_tool("drill", then "saw")'


def test_the_script_runs_as_python() -> None:
    text = script(PROGRAM)
    compile(text, "script", "exec")
    assert text.splitlines()[0] == "desk = LendingDesk()"
    assert text.splitlines()[3] == 'lend = desk.lend("drill", "ann", date(2026, 3, 1))'


def test_two_objects_of_one_class_have_two_names() -> None:
    program = (Call(name="Desk"), Call(name="Desk"), Call(name="go", on=0), Call(name="go", on=1))
    assert list(names_of(program).values()) == ["desk", "desk2"]


@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        (b'["=",["date","2026-03-08"]]', "8 March 2026"),
        (b'["=",["list",["drill",null]]]', '["drill", None]'),
        (b'["!","LendingError",["Exception"],"no"]', "raises LendingError"),
        (b'["#","timed out",""]', "runs out of time"),
        (b'["=",null,{"0":["list",[1]]}]', "None (argument 1 becomes [1])"),
    ],
)
def test_outcomes_read_plainly(outcome: bytes, text: str) -> None:
    assert outcome_said(outcome) == text


@pytest.mark.parametrize("text", ["15 March 2026", "15 Mar 2026", "2026-03-15"])
def test_a_date_is_read_as_people_write_it(text: str) -> None:
    assert date_typed(text) == date(2026, 3, 15)


def test_an_object_in_a_list_is_called_by_its_name() -> None:
    program = (Call(name="Tool"), Call(name="lend_all", args=(["list", [["ref", 0], "saw"]],)))
    assert said(program, 1, names_of(program)) == 'lend_all([tool, "saw"])'


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (Call(name="__len__", on=0), "len(desk)"),
        (Call(name="__getitem__", on=0, args=(2,)), "desk[2]"),
        (Call(name="__contains__", on=0, args=("x",)), '"x" in desk'),
        (Call(name="__add__", on=0, args=(1,)), "desk + 1"),
        (Call(name="open", on=0, get=True), "desk.open"),
        (Call(name="lend", on=0, args=(1,), kwargs={"on": None}), "desk.lend(1, on=None)"),
    ],
)
def test_special_methods_and_attributes_read_as_people_write_them(call: Call, text: str) -> None:
    program = (PROGRAM[0], call)
    assert said(program, 1, names_of(program)) == text


def test_for_running_a_date_stays_python() -> None:
    assert said(PROGRAM, 3, names_of(PROGRAM), dates=False) == 'desk.lend("drill", "ann", date(2026, 3, 1))'
    assert outcome_said(b'["=",["date","2026-03-08"]]', dates=False) == "date(2026, 3, 8)"


def test_members_go_by_their_own_names_and_need_no_line() -> None:
    program = (
        Call(name="Suit", get=True),
        Call(name="H", on=0, get=True),
        Call(name="Card", args=(["ref", 1], 7)),
        Call(name="rank", on=2),
    )
    assert script(program) == "card = Card(Suit.H, 7)\ncard.rank()"
    assert heading(program, 3, names_of(program)) == "card = Card(Suit.H, 7)"


def test_no_result_is_called_as_something_that_the_program_calls_itself() -> None:
    program = (Call(name="split", args=(7,)), Call(name="join", args=(["ref", 0],)), Call(name="split", args=(8,)))
    text = script(program)
    called: dict[str, object] = {"split": lambda n: n, "join": lambda n: n}
    exec(text, called)
    assert text.splitlines()[0] == "the_split = split(7)"
