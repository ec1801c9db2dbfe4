import datetime
import types

import pytest

from tamis.behaviour.wording import witness_source
from tamis.sandbox import Call, Program, encode

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


def test_a_witness_runs_as_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("lending")
    exec(LENDING, module.__dict__)
    monkeypatch.setitem(__import__("sys").modules, "lending", module)
    seen: dict[str, object] = {}
    exec(witness_source(LEND, "lending"), seen)
    assert seen["result"] == ("drill", datetime.date(2026, 3, 4))
    static = (Call(name="LendingDesk", get=True), Call(name="zero", on=0))
    exec(witness_source(static, "lending"), seen)
    assert seen["result"] == 0


def test_a_witness_imports_what_it_needs_and_members_go_by_their_own_names() -> None:
    program = (
        Call(name="Suit", get=True),
        Call(name="H", on=0, get=True),
        Call(name="Card", args=(["ref", 1], 7)),
        Call(name="LendingDesk"),
        Call(name="show", on=3, args=(["list", [["ref", 2], ["ref", 2]]],)),
    )
    assert witness_source(program, "m").splitlines() == [
        "from m import Card, LendingDesk, Suit",
        "",
        "card = Card(Suit.H, 7)",
        "desk = LendingDesk()",
        "result = desk.show([card, card])",
    ]


def test_only_what_is_used_has_a_name() -> None:
    program = (Call(name="LendingDesk"), Call(name="LendingDesk"), Call(name="__len__", on=1))
    assert witness_source(program, "m").splitlines()[2:] == [
        "LendingDesk()",
        "desk = LendingDesk()",
        "result = len(desk)",
    ]


def test_without_a_module_the_calls_alone_say_what_is_done() -> None:
    assert witness_source((Call(name="program", args=("1 2\n",)),), "") == 'program("1 2\\n")'
