import datetime
import random
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.behaviour.fitting import fits, is_of
from tamis.behaviour.hints import Hints
from tamis.behaviour.kinds import Kind
from tamis.behaviour.texts import LONGEST, Texts
from tamis.behaviour.values import Near, Unmakeable, Values, guessed
from tamis.sandbox import decode, encode

INT, STR, DATE = Kind(name="int"), Kind(name="str"), Kind(name="date")
HINTS = Hints(
    used={"member": ("ann", "bob"), "on": (encode(datetime.date(2026, 3, 1)),)},
    ints=(500, 7, 50),
    spans=(7, 3),
    texts=("h", "m", ":"),
    dates=("2026-03-01",),
)
simple = st.sampled_from(
    [
        "int",
        "str",
        "float",
        "bool",
        "bytes",
        "date",
        "datetime",
        "time",
        "timedelta",
        "Decimal",
        "Fraction",
        "none",
        "UUID",
        "Path",
    ]
).map(lambda name: Kind(name=name))
kinds = st.recursive(
    simple,
    lambda inner: st.one_of(
        st.builds(lambda k: Kind(name="list", of=(k,)), inner),
        st.builds(lambda a, b: Kind(name="tuple", of=(a, b)), inner, inner),
        st.builds(lambda k: Kind(name="dict", of=(STR, k)), inner),
        st.builds(lambda a, b: Kind(name="union", of=(a, b)), inner, inner),
    ),
    max_leaves=4,
)


@settings(max_examples=150, deadline=None)
@given(kinds, st.integers(0, 10**6), st.booleans())
def test_a_drawn_value_is_of_its_kind_and_can_be_written_down(kind: Kind, seed: int, stateful: bool) -> None:
    value = Values(HINTS, stateful=stateful).draw(random.Random(seed), Near(), kind, "x")
    assert is_of(value, kind)
    assert is_of(decode(encode(value)), kind)


@settings(max_examples=150, deadline=None)
@given(kinds, st.integers(0, 10**6))
def test_a_neighbour_keeps_the_type(kind: Kind, seed: int) -> None:
    values, rng = Values(HINTS, stateful=False), random.Random(seed)
    value = values.draw(rng, Near(), kind, "x")
    assert type(values.tweak(rng, Near(), value, kind, "x")) is type(value)


@given(st.integers(0, 10**6))
def test_the_same_seed_draws_the_same_value(seed: int) -> None:
    values = Values(HINTS, stateful=True)
    kind = Kind(name="list", of=(Kind(name="tuple", of=(STR, INT)),))
    one, other = (values.draw(random.Random(seed), Near(), kind, "x") for _ in range(2))
    assert one == other


def draws(kind: Kind, param: str, n: int = 400, near: Near | None = None, *, stateful: bool = True) -> list[object]:
    values, rng = Values(HINTS, stateful=stateful), random.Random(1)
    return [values.draw(rng, near or Near(), kind, param) for _ in range(n)]


def test_constants_of_the_drafts_are_drawn_with_their_neighbours() -> None:
    assert {499, 500, 501, 6, 7, 8} <= set(draws(INT, "cents"))


def test_dates_lie_a_span_of_the_drafts_apart_give_or_take_a_day() -> None:
    first = datetime.date(2026, 3, 1)
    near = Near(used=[first])
    apart = {(d - first).days for d in draws(DATE, "on", near=near) if isinstance(d, datetime.date)}
    assert {0, 2, 3, 4, 6, 7, 8} <= apart


def test_a_returned_date_is_the_next_calls_date_give_or_take_a_day() -> None:
    due = datetime.date(2026, 5, 5)
    found = set(draws(DATE, "on", near=Near(used=[datetime.date(2026, 3, 1)], returned=[due])))
    assert {due - datetime.timedelta(1), due, due + datetime.timedelta(1)} <= found


def test_names_are_those_of_the_tests() -> None:
    assert set(draws(STR, "member")) == {"ann", "bob"}


def test_texts_of_a_function_are_content_with_odd_cases() -> None:
    found = draws(STR, "text", stateful=False)
    assert "" in found
    assert any(isinstance(t, str) and "h" in t for t in found)


def test_lists_hold_ties() -> None:
    found = draws(Kind(name="list", of=(INT,)), "scores")
    assert any(isinstance(v, list) and len(set(v)) < len(v) for v in found)


def test_a_pair_that_may_be_an_interval_is_mostly_in_order() -> None:
    found = [v for v in draws(Kind(name="tuple", of=(INT, INT)), "slot") if isinstance(v, tuple)]
    assert sum(a <= b for a, b in found) > 0.7 * len(found)


def test_numbers_stay_small_once_large_ones_took_too_long() -> None:
    values, rng = Values(HINTS, stateful=False), random.Random(1)
    values.most = 100
    assert all(abs(values.draw(rng, Near(), INT, "n")) <= 101 for _ in range(500))  # type: ignore[arg-type]


def test_a_callable_cannot_be_made() -> None:
    with pytest.raises(Unmakeable):
        Values(HINTS, stateful=False).draw(random.Random(1), Near(), Kind(name="callable"), "key")


@pytest.mark.parametrize(
    ("value", "kind", "fitting"),
    [
        (1, INT, True),
        (True, INT, False),
        (1.0, INT, False),
        (1, Kind(name="float"), True),
        (10**12, INT, False),
        (float("nan"), Kind(name="float"), False),
        (datetime.datetime(2026, 1, 1), DATE, False),
        (datetime.date(1, 1, 1), DATE, False),
        ([1, "a"], Kind(name="list", of=(INT,)), False),
        (None, Kind(name="union", of=(INT, Kind(name="none"))), True),
        ((1, 2), Kind(name="tuple", of=(INT,)), False),
        (Decimal("NaN"), Kind(name="Decimal"), False),
        ("b", Kind(name="literal", literals=("'a'",)), False),
    ],
)
def test_what_a_brief_plausibly_allows(value: object, kind: Kind, fitting: bool) -> None:
    assert fits(value, kind) is fitting


def test_a_name_has_no_blanks_around_it() -> None:
    assert fits("ann", STR, named=True)
    assert not fits(" ann", STR, named=True)
    assert not fits("", STR, named=True)
    assert fits("", STR)


@pytest.mark.parametrize(
    ("param", "kind"), [("count", "int"), ("on", "date"), ("items", "list"), ("is_open", "bool"), ("text", "str")]
)
def test_a_parameter_nobody_annotated_is_guessed_by_its_name(param: str, kind: str) -> None:
    assert guessed(param, Hints()).name == kind


@settings(max_examples=100)
@given(st.text(max_size=30), st.integers(0, 10**6))
def test_an_edited_text_stays_a_text_of_bounded_length(text: str, seed: int) -> None:
    assert len(Texts(["h"], [1]).edited(random.Random(seed), text)) <= LONGEST
