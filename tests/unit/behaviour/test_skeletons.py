"""Skeletons: which calls can show where two drafts differ, what is left open in them, and what may fill it."""

import datetime
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.behaviour.camps import camps_of
from tamis.behaviour.inputs import Maker
from tamis.behaviour.kinds import Kind
from tamis.behaviour.skeletons import (
    LONGEST,
    MOST_HOLES,
    MOST_SKELETONS,
    differing,
    filled,
    hole_kind,
    kind_in,
    skeletons_of,
    with_holes,
)
from tamis.sandbox import Call, HoleKind, Skeleton, Value, encode

from ._briefs import Case
from ._exploring import Explored

DESK = """
class Desk:
    LIMIT = 3
    def __init__(self): self.out = {}
    def lend(self, tool, on):
        self.out[tool] = on
        return self._due(on)
    def give_back(self, tool, on): return (on - self.out.pop(tool)).days
    def count(self): return len(self.out)
    def _due(self, on): return on
"""


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("(on - self.out.pop(tool)).days", "(on - self.out.pop(tool)).days + 0", {"give_back"}),
        ("return on\n", "return on or None\n", {"_due", "lend"}),
        ("self.out = {}", "self.out = dict()", {"Desk"}),
        ("LIMIT = 3", "LIMIT = 4", {"Desk"}),
        ("return len(self.out)", "return len(self.out)  # how many", set()),
    ],
)
def test_what_differs_and_what_uses_it_are_named(old: str, new: str, names: set[str]) -> None:
    assert differing(DESK, DESK.replace(old, new)) == names


def test_a_docstring_is_no_difference() -> None:
    assert differing("def f(n): return n", 'def f(n):\n    """The number."""\n    return n') == frozenset()


def test_a_constant_of_the_module_concerns_what_mentions_it() -> None:
    source = "RATE = 3\ndef fee(n): return n * RATE\ndef other(n): return n\ndef all_(n): return fee(n)"
    assert differing(source, source.replace("RATE = 3", "RATE = 4")) == {"RATE", "fee", "all_"}


LENT = Case(
    module="desk",
    brief="""```python
class Desk:
    def __init__(self) -> None: ...
    def lend(self, tool: str, on: date) -> date: ...
    def give_back(self, tool: str, on: date) -> int: ...
    def count(self) -> int: ...
```""",
    tests=[
        """from datetime import date
from desk import Desk

def test_days():
    desk = Desk()
    desk.lend("drill", date(2026, 3, 2))
    assert desk.give_back("drill", date(2026, 3, 9)) == 7
"""
    ],
    drafts={
        "one": DESK,
        "two": DESK.replace("return (on - self.out.pop(tool)).days", "return (on - self.out.pop(tool)).days + 0"),
        "three": DESK.replace("return len(self.out)", "return len([*self.out])"),
    },
)


@pytest.fixture(scope="module")
def lent() -> Explored:
    explored = Explored(LENT, calls=600, round_calls=200)
    assert len(camps_of(explored.matrix)) == 1
    return explored


def shown(explored: Explored, one: str, two: str) -> tuple[Skeleton, ...]:
    maker = Maker(explored.surface, explored.hints)
    return skeletons_of(LENT.drafts[one], LENT.drafts[two], one, explored.matrix, maker)


def test_a_skeleton_ends_in_a_call_that_can_show_the_difference(lent: Explored) -> None:
    skeletons = shown(lent, "one", "two")
    assert 0 < len(skeletons) <= MOST_SKELETONS
    assert {s.program[-1].name for s in skeletons} == {"give_back"}
    assert all(len(s.holes) <= MOST_HOLES for s in skeletons)


def test_days_are_left_open_and_names_stay(lent: Explored) -> None:
    first = shown(lent, "one", "two")[0]
    assert [c.name for c in first.program] == ["Desk", "lend", "give_back"]
    assert {hole.name for hole in first.holes} == {"date"}
    assert all(isinstance(c.args[0], str) for c in first.program[1:])
    assert sorted(c.args[1][1] for c in first.program[1:]) == [0, 1]


def test_drafts_that_differ_in_nothing_leave_nothing_to_search(lent: Explored) -> None:
    assert shown(lent, "one", "one") == ()


def test_a_call_without_anything_to_leave_open_is_no_skeleton(lent: Explored) -> None:
    assert all(s.holes for s in shown(lent, "one", "three"))


def test_what_was_left_open_filled_with_what_stood_there_is_the_program_again(lent: Explored) -> None:
    maker = Maker(lent.surface, lent.hints)
    for program, inside in zip(lent.matrix.programs, lent.matrix.inside, strict=True):
        skeleton = with_holes(maker, program)
        values: dict[int, Value] = {}
        for before, after in zip(program, skeleton.program, strict=True):
            for was, now in zip(before.args, after.args, strict=True):
                if isinstance(now, list) and now[0] == "hole":
                    values[now[1]] = was
        if inside:
            assert filled(skeleton, [values[i] for i in range(len(values))]) == program


# what comes back


def asking(hole: HoleKind) -> Skeleton:
    return Skeleton(program=(Call(name="f", args=(["hole", 0],)),), holes=(hole,))


INT, TEXT = Kind(name="int"), Kind(name="str")
FORGED: list[tuple[Kind, Value]] = [
    (INT, True),
    (INT, "7"),
    (INT, None),
    (INT, ["float", "1.0"]),
    (INT, ["ref", 0]),
    (INT, ["hole", 0]),
    (INT, ["int", "0x" + "f" * 1000]),
    (INT, ["object", "Evil", []]),
    (INT, []),
    (INT, [[]]),
    (INT, 1 << 70),
    (TEXT, "x" * (LONGEST + 1)),
    (TEXT, ["str", "zz"]),
    (Kind(name="Fraction"), ["Fraction", "1e999999999"]),
    (Kind(name="Decimal"), ["Decimal", "1E+999999999"]),
    (Kind(name="Decimal"), ["Decimal", "NaN"]),
    (Kind(name="date"), ["date", "yesterday"]),
    (Kind(name="date"), ["datetime", "2026-03-02T12:00:00"]),
    (Kind(name="timedelta"), ["timedelta", 10**18, 0, 0]),
    (Kind(name="list", of=(INT,)), ["list", [1, "2"]]),
    (Kind(name="list", of=(INT,)), ["list", [1] * (LONGEST + 1)]),
    (Kind(name="list", of=(INT,)), ["range", 0, 10**18, 1]),
    (Kind(name="list", of=(INT,)), ["iterator", "x", [1], False]),
    (Kind(name="dict", of=(TEXT, INT)), ["dict", [["a"]]]),
    (Kind(name="dict", of=(TEXT, INT)), ["dict", [[["list", []], 1]]]),
    (Kind(name="set", of=(INT,)), ["set", [["list", []]]]),
    (Kind(name="literal", literals=("'a'", "'b'")), "c"),
]


@pytest.mark.parametrize(("kind", "value"), FORGED, ids=[f"{k.name}-{i}" for i, (k, _) in enumerate(FORGED)])
def test_what_is_no_plain_value_of_its_kind_fills_nothing(kind: Kind, value: Value) -> None:
    hole = hole_kind(kind)
    assert hole is not None
    assert filled(asking(hole), [value]) is None


def test_a_value_that_goes_too_deep_fills_nothing() -> None:
    value: Value = ["list", []]
    kind = Kind(name="list", of=(INT,))
    for _ in range(200):
        value, kind = ["list", [value]], Kind(name="list", of=(kind,))
    hole = hole_kind(kind)
    assert hole is not None
    assert filled(asking(hole), [value]) is None


VALUES = st.one_of(
    st.tuples(st.just(INT), st.integers(-(10**9), 10**9)),
    st.tuples(st.just(TEXT), st.text(max_size=40)),
    st.tuples(st.just(Kind(name="date")), st.dates()),
    st.tuples(st.just(Kind(name="datetime")), st.datetimes()),
    st.tuples(st.just(Kind(name="float")), st.floats(allow_nan=False)),
    st.tuples(st.just(Kind(name="Decimal")), st.decimals(-(10**9), 10**9, places=3)),
    st.tuples(st.just(Kind(name="Fraction")), st.fractions(-(10**9), 10**9, max_denominator=99)),
    st.tuples(st.just(Kind(name="list", of=(INT,))), st.lists(st.integers(-9, 9), max_size=9)),
    st.tuples(st.just(Kind(name="dict", of=(TEXT, INT))), st.dictionaries(st.text(max_size=3), st.integers(0, 9))),
    st.tuples(st.just(Kind(name="tuple", of=(INT, TEXT))), st.tuples(st.integers(0, 9), st.text(max_size=3))),
    st.tuples(st.just(Kind(name="literal", literals=("1", "'a'", "None"))), st.sampled_from([1, "a", None])),
)


@given(VALUES)
def test_every_plain_value_of_the_kind_fills_its_hole(drawn: tuple[Kind, object]) -> None:
    kind, value = drawn
    hole = hole_kind(kind)
    assert hole is not None
    assert kind_in(hole) == kind
    assert filled(asking(hole), [encode(value)]) == (Call(name="f", args=(encode(value),)),)


def test_a_hole_is_of_what_can_be_a_formula() -> None:
    assert hole_kind(Kind(name="callable")) is None
    assert hole_kind(Kind(name="list")) is None
    assert hole_kind(Kind(name="list", of=(Kind(name="datetime"),))) is None
    assert hole_kind(Kind(name="union", of=(INT, Kind(name="class", of_class="Loan")))) is None


def test_the_plainest_decimals_and_fractions_come_through() -> None:
    for kind, value in (("Decimal", Decimal("-0.10")), ("Fraction", Fraction(-3, 7)), ("date", datetime.date.max)):
        hole = hole_kind(Kind(name=kind))
        assert hole is not None
        assert filled(asking(hole), [encode(value)]) is not None
