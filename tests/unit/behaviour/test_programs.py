import datetime
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.behaviour.changes import changed
from tamis.behaviour.hints import Hints
from tamis.behaviour.inputs import Maker
from tamis.behaviour.programs import day_of, on_day, picked, refs_of, with_inserted, without
from tamis.behaviour.surface import surface_of
from tamis.sandbox import Call, Program, encode

BRIEF = """```python
class Suit(Enum):
    H = 1
    S = 2
class Card:
    def __init__(self, suit: Suit, rank: int): ...
class Hand:
    def __init__(self, cards: list[Card]): ...
    def add(self, card: Card, on: date) -> None: ...
    def best(self) -> Card | None: ...
    @staticmethod
    def empty() -> Hand: ...
def worth(hand: Hand) -> int: ...
```"""
MAKER = Maker(surface_of(BRIEF, []), Hints(spans=(7,), readers=("best",)))


def is_whole(program: Program) -> bool:
    return all(0 <= r < i for i, call in enumerate(program) for r in refs_of(call))


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12))
def test_a_made_program_refers_only_to_what_was_made_before(seed: int, calls: int) -> None:
    program = MAKER.fresh(random.Random(seed), calls)
    assert program
    assert is_whole(program)
    assert MAKER.inside(program)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6))
def test_every_change_keeps_a_program_whole(seed: int) -> None:
    rng = random.Random(seed)
    program, other = MAKER.fresh(rng, 7), MAKER.fresh(rng, 5)
    for _ in range(6):
        program, _ = changed(rng, MAKER, program, [], lambda: other)
        assert is_whole(program)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.data())
def test_what_loses_its_object_goes_too(seed: int, data: st.DataObject) -> None:
    program = MAKER.fresh(random.Random(seed), 8)
    gone = data.draw(st.sets(st.integers(0, len(program) - 1)))
    left = without(program, gone)
    assert is_whole(left)
    assert len(left) <= len(program) - len(gone)


@given(st.integers(0, 10**6))
def test_picking_everything_changes_nothing(seed: int) -> None:
    program = MAKER.fresh(random.Random(seed), 6)
    assert picked(program, range(len(program))) == program


def test_calls_put_in_shift_the_references_behind_them() -> None:
    program = (Call(name="Hand"), Call(name="best", on=0), Call(name="worth", args=(["ref", 0],)))
    longer = with_inserted(program, 0, [Call(name="Card"), Call(name="Hand", args=(["list", [["ref", 0]]],))])
    assert [refs_of(c) for c in longer] == [[], [0], [], [2], [2]]


def test_members_of_an_enum_and_static_methods_are_reached_through_their_class() -> None:
    rng = random.Random(0)
    programs = [MAKER.fresh(rng, 6) for _ in range(60)]
    calls = [(c, p) for p in programs for c in p]
    assert any(c.name == "H" and c.get and p[c.on or 0].name == "Suit" for c, p in calls)
    assert any(c.name == "empty" and c.on is not None and p[c.on].get for c, p in calls)


def test_a_value_of_another_type_is_outside_the_brief() -> None:
    inside = (
        Call(name="Suit", get=True),
        Call(name="H", on=0, get=True),
        Call(name="Card", args=(["ref", 1], 7)),
    )
    assert MAKER.inside(inside)
    assert not MAKER.inside((*inside[:2], Call(name="Card", args=(["ref", 1], "7"))))
    assert not MAKER.inside((Call(name="Card", args=(None, 7)),))


def test_a_day_is_moved_where_a_call_has_one() -> None:
    day = datetime.date(2026, 3, 1)
    call = Call(name="add", args=(1, encode(datetime.date(2020, 1, 1))))
    assert day_of(on_day(call, day).args[1]) == day
    assert on_day(Call(name="best"), day) == Call(name="best")
