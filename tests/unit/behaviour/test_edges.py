import datetime
import random

import pytest

from tamis.behaviour.edges import edges_along, last_line, line_of
from tamis.behaviour.sights import Sights
from tamis.sandbox import Call, Program, decode, encode

from ._running import InProcess

FEE = """
from datetime import timedelta
class Shop:
    def __init__(self):
        self.due = None
    def lend(self, on):
        self.due = on + timedelta(days=7)
        return self.due
    def back(self, on):
        return (on - self.due).days >= 17
def ok(cents):
    return cents >= 437
def parse(text):
    n = int(text.removesuffix("m"))
    if n >= 60:
        raise ValueError("too many minutes")
    return n > 0
"""
RUN = InProcess("m", {"a": FEE})


def edges(program: Program) -> list[Program]:
    line = line_of(random.Random(0), program)
    assert line is not None
    return edges_along([line], ["a"], RUN, Sights())[0]


@pytest.mark.parametrize("start", [0, 5, 100, 10_000])
def test_both_sides_of_a_threshold_are_found_wherever_it_starts(start: int) -> None:
    assert {436, 437} <= {p[0].args[0] for p in edges((Call(name="ok", args=(start,)),))}


def test_a_number_within_a_text_is_moved() -> None:
    found = {p[0].args[0] for p in edges((Call(name="parse", args=("7m",)),))}
    assert {"59m", "60m"} <= found


def test_the_days_between_two_calls_are_moved_with_all_later_days() -> None:
    first = datetime.date(2026, 3, 1)
    program = (
        Call(name="Shop"),
        Call(name="lend", on=0, args=(encode(first),)),
        Call(name="back", on=0, args=(encode(first + datetime.timedelta(1)),)),
    )
    found = {(decode(p[2].args[0]) - first).days for p in edges(program)}
    assert found == {23, 24}
    line = last_line((*program, program[2]), 3)
    assert line is not None
    moved = line.at(40)
    assert moved is not None
    assert [decode(c.args[0]) for c in moved[2:]] == [first + datetime.timedelta(40)] * 2


def test_a_program_without_numbers_has_no_line() -> None:
    assert line_of(random.Random(0), (Call(name="Shop"),)) is None


def test_behaviour_that_never_turns_has_no_edges() -> None:
    assert edges((Call(name="Shop", args=(3,)),)) == []
