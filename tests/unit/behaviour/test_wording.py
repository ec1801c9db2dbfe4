import datetime
import types

import pytest

from tamis.behaviour.surface import surface_of
from tamis.behaviour.wording import outcome_text, render_call, witness_source
from tamis.sandbox import Call, Program, encode

SURFACE = surface_of(
    """```python
class Suit(Enum):
    H = 1
class Card:
    def __init__(self, suit: Suit, rank: int): ...
class LendingDesk:
    def lend(self, tool: str, on: date) -> date: ...
    def show(self, cards: list[Card]) -> int: ...
    def __len__(self) -> int: ...
    @staticmethod
    def zero() -> int: ...
```""",
    [],
)
LENDING = """
class LendingDesk:
    def lend(self, tool, on):
        return tool, on
    @staticmethod
    def zero():
        return 0
"""
DAY = encode(datetime.date(2026, 3, 4))
LEND: Program = (Call(name="LendingDesk"), Call(name="lend", on=0, args=("drill", DAY)))


def test_a_call_reads_as_python() -> None:
    assert render_call(LEND, 1, SURFACE) == 'desk.lend("drill", date(2026, 3, 4))'


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (Call(name="__len__", on=0), "len(desk)"),
        (Call(name="__getitem__", on=0, args=(2,)), "desk[2]"),
        (Call(name="__contains__", on=0, args=("x",)), '"x" in desk'),
        (Call(name="open", on=0, get=True), "desk.open"),
        (Call(name="lend", on=0, args=(1,), kwargs={"on": None}), "desk.lend(1, on=None)"),
    ],
)
def test_special_methods_and_attributes_read_as_people_write_them(call: Call, text: str) -> None:
    assert render_call((LEND[0], call), 1, SURFACE) == text


def test_members_and_objects_in_lists_go_by_their_names() -> None:
    program = (
        Call(name="Suit", get=True),
        Call(name="H", on=0, get=True),
        Call(name="Card", args=(["ref", 1], 7)),
        Call(name="LendingDesk"),
        Call(name="show", on=3, args=(["list", [["ref", 2], ["ref", 2]]],)),
    )
    assert render_call(program, 4, SURFACE) == "desk.show([card, card])"
    source = witness_source(program, SURFACE, "m")
    assert "from m import Card, LendingDesk, Suit" in source
    assert "card = Card(Suit.H, 7)" in source
    assert "result = desk.show([card, card])" in source


def test_a_witness_runs_as_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("lending")
    exec(LENDING, module.__dict__)
    monkeypatch.setitem(__import__("sys").modules, "lending", module)
    seen: dict[str, object] = {}
    exec(witness_source(LEND, SURFACE, "lending"), seen)
    assert seen["result"] == ("drill", datetime.date(2026, 3, 4))
    static = (Call(name="LendingDesk", get=True), Call(name="zero", on=0))
    exec(witness_source(static, SURFACE, "lending"), seen)
    assert seen["result"] == 0


def test_two_objects_of_a_class_have_two_names() -> None:
    program = (Call(name="LendingDesk"), Call(name="LendingDesk"), Call(name="__len__", on=1))
    assert witness_source(program, SURFACE, "m").splitlines()[2:] == [
        "LendingDesk()",
        "desk2 = LendingDesk()",
        "result = len(desk2)",
    ]


@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        (b'["=",["date","2026-03-15"]]', "date(2026, 3, 15)"),
        (b'["!","LendingError",["Exception"],"it is out"]', "raises LendingError"),
        (b'["#","timed out",""]', "runs out of time"),
        (b'["=",null]', "None"),
        (b'["=",null,{"0":["list",[1]]}]', "None (argument 1 becomes [1])"),
    ],
)
def test_an_outcome_is_told_in_a_few_words(outcome: bytes, text: str) -> None:
    assert outcome_text(outcome) == text
