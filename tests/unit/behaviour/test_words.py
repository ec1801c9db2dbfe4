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
        (b'["#","timed out",""]', "timed out"),
        (b'["=",null,{"0":["list",[1]]}]', "None; changed: 0 to [1]"),
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
