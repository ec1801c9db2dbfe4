"""The encoding of values: exact, canonical, and asking no code of a draft."""

import collections
import dataclasses
import datetime as dt
import decimal
import enum
import fractions
import json
import pathlib
import uuid
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.sandbox import decode, encode, outcome_key, render
from tamis.sandbox.box.values import dumps

ZONES = st.sampled_from([None, dt.UTC, dt.timezone(dt.timedelta(hours=5, minutes=30))])
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(), st.dates(),
    st.datetimes(timezones=ZONES), st.times(), st.timedeltas(), st.decimals(), st.fractions(), st.complex_numbers(),
    st.uuids(),
    st.builds(range, st.integers(), st.integers(), st.integers(min_value=1)), st.just(...),
    st.text(st.characters(categories=["Cs", "Lu"])),
)  # fmt: skip
HASHABLE = st.one_of(st.integers(), st.text(), st.dates(), st.tuples(st.integers(), st.text()))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.tuples(inner, inner), st.dictionaries(HASHABLE, inner, max_size=4),
        st.sets(HASHABLE, max_size=4), st.frozensets(HASHABLE, max_size=4),
    ),
    max_leaves=12,
)  # fmt: skip


@given(VALUES)
def test_a_plain_value_survives_the_border_exactly(value: Any) -> None:
    there = decode(json.loads(dumps(encode(value))))
    assert type(there) is type(value)
    assert repr(there) == repr(value) or encode(there) == encode(value)


@given(VALUES)
def test_a_value_is_json_that_every_reader_agrees_on(value: Any) -> None:
    text = dumps(encode(value))
    assert msgspec.json.decode(text) == json.loads(text)


@given(VALUES, VALUES)
def test_two_values_have_one_encoding_only_where_they_are_alike(one: Any, other: Any) -> None:
    if encode(one) == encode(other):
        assert type(one) is type(other)
        assert one == other or repr(one) == repr(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, True), (1, 1.0), (0.0, -0.0), ("1", 1), ([1], (1,)), ({1}, frozenset({1})), (b"a", bytearray(b"a")),
     (decimal.Decimal("1.0"), decimal.Decimal("1.00")), (dt.date(2026, 3, 1), dt.datetime(2026, 3, 1)), (None, False),
     ([], ["list", []])],
)  # fmt: skip
def test_what_python_may_call_equal_is_told_apart(one: Any, other: Any) -> None:
    assert dumps(encode(one)) != dumps(encode(other))


def test_a_dicts_order_makes_no_difference() -> None:
    assert encode({"b": 1, "a": {2: 3, 1: 4}}) == encode({"a": {1: 4, 2: 3}, "b": 1})


class Liar:
    """Everything that could be asked of it says it is 9."""

    __class__ = int  # type: ignore[assignment]

    def __init__(self) -> None:
        self.asked = False

    def __eq__(self, other: object) -> bool:
        raise AssertionError("asked")

    def __hash__(self) -> int:
        raise AssertionError("asked")

    def __repr__(self) -> str:
        raise AssertionError("asked")

    def __iter__(self) -> Any:
        raise AssertionError("asked")

    @property
    def price(self) -> int:
        raise AssertionError("asked")


class Yes(int):
    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0

    def __add__(self, other: int) -> int:
        return 9


@dataclasses.dataclass
class Loan:
    tool: str
    due: dt.date | None = None


class Colour(enum.Enum):
    RED = 1


Point = collections.namedtuple("Point", "x y")


def test_no_code_of_an_object_is_asked() -> None:
    assert encode(Liar()) == ["object", "Liar", [["asked", False]]]
    assert encode(Yes(-1)) == ["sub", "Yes", -1]


def test_objects_show_their_class_and_public_attributes() -> None:
    loan = Loan("drill", dt.date(2026, 3, 8))
    assert encode(loan) == ["data", "Loan", [["tool", "drill"], ["due", ["date", "2026-03-08"]]]]
    assert encode(Point(1, 2)) == ["named", "Point", [["x", 1], ["y", 2]]]
    assert encode(Colour.RED) == ["enum", "Colour", "RED"]


def test_what_refers_to_itself_ends() -> None:
    endless: list[Any] = [1]
    endless.append(endless)
    assert encode(endless) == ["list", [1, ["cycle", 1]]]
    deep: list[Any] = []
    for _ in range(10_000):
        deep = [deep]
    assert '["cut","too deep"]' in dumps(encode(deep))
    assert len(dumps(encode(list(range(10**6))))) < 10**6


def test_what_is_no_plain_value_is_not_decoded() -> None:
    for thing in (Loan("saw"), Colour.RED, len, ValueError("no"), object(), int):
        with pytest.raises(ValueError, match="plain"):
            decode(encode(thing))


@pytest.mark.parametrize(
    ("value", "text"),
    [(dt.date(2026, 3, 1), "date(2026, 3, 1)"), ("drill", '"drill"'), ("it's", '"it\'s"'),
     (float("nan"), 'float("nan")'), (decimal.Decimal("1.50"), 'Decimal("1.50")'), ((1,), "(1,)"),
     (set(), "set()"), ({"a": [1]}, '{"a": [1]}'),
     (Loan("saw"), 'Loan(tool="saw", due=None)'), (Colour.RED, "Colour.RED"), (2**70, str(2**70)),
     (pathlib.Path("/tmp"), 'Path("/tmp")'), (uuid.UUID(int=1), 'UUID("00000000-0000-0000-0000-000000000001")'),
     (fractions.Fraction(1, 3), "Fraction(1, 3)"), (dt.timedelta(days=2), "timedelta(days=2)"), (None, "None")],
)  # fmt: skip
def test_a_value_reads_as_python(value: Any, text: str) -> None:
    assert render(encode(value)) == text


def test_outcomes_compare_without_messages_and_within_the_stated_tolerance() -> None:
    def key(*calls: Any) -> bytes:
        return outcome_key(msgspec.json.encode(list(calls)))

    assert key(["!", "KeyError", [], "a"]) == key(["!", "KeyError", [], "b"]) != key(["!", "ValueError", [], "a"])
    assert key(["#", "timed out", "1"]) == key(["#", "timed out", "2"]) != key(["#", "crashed", "1"])
    assert key(["=", encode(0.1 + 0.2)]) == key(["=", encode(0.3)]) != key(["=", encode(0.30001)])
    assert key(["=", 1]) != key(["=", encode(1.0)])
