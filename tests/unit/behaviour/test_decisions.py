import pytest

from tamis.behaviour.camps import camps_of
from tamis.behaviour.decisions import Decision
from tamis.behaviour.matrix import outcomes_of
from tamis.sandbox import decode

from ._briefs import ALL, CACHE, DURATION, PODIUM, PRORATE, Case
from ._exploring import Explored

DURATIONS, RENT, PODIUMS, CACHES = (
    Explored(DURATION),
    Explored(PRORATE),
    Explored(PODIUM, calls=1_000, round_calls=250),
    Explored(CACHE, calls=4_000, seed=1),
)
EXPLORED = {c.module: e for c, e in zip(ALL, (DURATIONS, RENT, PODIUMS, CACHES), strict=True)}


@pytest.mark.parametrize("case", ALL, ids=lambda c: c.module)
def test_drafts_that_went_different_ways_are_told_apart(case: Case) -> None:
    camps = camps_of(EXPLORED[case.module].matrix)
    assert [len(c.drafts) for c in camps] == [1] * len(case.drafts)


@pytest.mark.parametrize("case", ALL, ids=lambda c: c.module)
def test_every_two_drafts_are_parted_by_some_decision(case: Case) -> None:
    parted = set()
    for decision in EXPLORED[case.module].decisions:
        for i, one in enumerate(decision.options):
            for other in decision.options[i + 1 :]:
                parted |= {frozenset((a, b)) for a in one.drafts for b in other.drafts}
    assert len(parted) == len(case.drafts) * (len(case.drafts) - 1) // 2


@pytest.mark.parametrize("case", ALL, ids=lambda c: c.module)
def test_a_decision_is_what_its_witness_shows(case: Case) -> None:
    explored = EXPLORED[case.module]
    for decision in explored.decisions:
        ran = explored.run(tuple(case.drafts), [decision.witness])
        for option in decision.options:
            for draft in option.drafts:
                assert explored.matrix.keys.of(option.outcome) == explored.matrix.keys.of(_last(ran[draft][0]))


def _last(raw: bytes) -> bytes:
    return outcomes_of(raw)[-1]


def test_an_empty_text_is_a_decision_with_the_empty_text_as_witness() -> None:
    (decision,) = DURATIONS.parting("empty_is_zero", "lenient")
    assert DURATIONS.shown(decision) == 'parse_duration("")'
    assert set(DURATIONS.sides(decision)) == {"raises ValueError", "0"}


def test_more_than_fifty_nine_minutes_after_hours_is_a_decision() -> None:
    (decision,) = DURATIONS.parting("below_sixty")
    assert decision.method == "parse_duration"
    assert "raises ValueError" in DURATIONS.sides(decision)


def test_ties_are_parted_by_short_lists_of_known_names() -> None:
    by_name = PODIUMS.parting("by_name", "reverse")
    assert by_name
    assert all(len(decode_list(d)) == 2 for d in by_name)
    assert all(name in {"ann", "bob", "cid", "dee"} for d in by_name for name in decode_list(d))


def decode_list(decision: Decision) -> list[str]:
    return [name for name, _ in decode(decision.witness[-1].args[0])]


def test_an_owner_is_asked_about_one_thing_at_a_time() -> None:
    sizes = [len(d.options) for d in PODIUMS.decisions if d.state == "open"]
    assert sum(n == 2 for n in sizes) > len(sizes) / 2


def test_a_leap_day_and_a_months_length_are_found() -> None:
    assert RENT.parting("no_leap") or any("no_leap" in o.drafts for d in RENT.decisions for o in d.options[1:])
    assert RENT.parting("thirty_days")


def test_negative_amounts_are_a_decision() -> None:
    asked = [d for d in RENT.decisions if d.state == "open" and "-" in RENT.shown(d)]
    assert any({"refuses_negative"} == RENT.sides(d).get("raises ValueError") for d in asked)


def test_which_entry_makes_room_takes_a_sequence_to_see() -> None:
    parted = [d for d in CACHES.decisions if {x for o in d.options for x in o.drafts} >= {"plain", "fifo"}]
    telling = [d for d in parted if not any({"plain", "fifo"} <= set(o.drafts) for o in d.options)]
    assert telling
    assert all(len(d.witness) <= 8 for d in telling)
    assert all(d.method in {"Cache.get", "Cache.__len__"} for d in telling)


def test_what_only_wrong_types_show_is_set_aside_and_comes_last() -> None:
    states = [d.state for d in DURATIONS.decisions]
    assert "set aside" in states
    assert states == sorted(states)


def test_decisions_that_part_more_drafts_come_first() -> None:
    open_ = [d.parts for d in DURATIONS.decisions if d.state == "open"]
    assert open_ == sorted(open_, reverse=True)


def test_drafts_that_had_parted_before_are_named_and_hold_no_option() -> None:
    for decision in CACHES.decisions:
        everyone = [x for o in decision.options for x in o.drafts] + list(decision.apart)
        assert sorted(everyone) == sorted(CACHE.drafts)


def test_alike_drafts_leave_no_decision() -> None:
    twins = Case("m", "```python\ndef f(n: int) -> int: ...\n```", {x: "def f(n): return n + 1\n" for x in "abc"})
    explored = Explored(twins, calls=300)
    assert explored.decisions == ()
    assert [len(c.drafts) for c in camps_of(explored.matrix)] == [3]
