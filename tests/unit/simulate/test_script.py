import random
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.simulate.script import Events, Script, stopping
from tamis.simulate.settings import Speculation
from tamis.simulate.text import Tokens, as_text, generated

SPECULATIONS = st.none() | st.builds(Speculation, acceptance=st.floats(0, 1), draft_length=st.integers(1, 6))


def _events(count: int, size: int, spec: Speculation | None) -> Events:
    return Events(count, size=1 if spec else size, spec=spec, rng=random.Random(3))


def _script(count: int, seed: int = 5) -> Script:
    return Script(generated(seed), count, "length")


@settings(max_examples=40)
@given(st.integers(1, 400), st.integers(1, 100), SPECULATIONS)
def test_events_carry_every_token_once_and_in_order(count: int, size: int, spec: Speculation | None) -> None:
    events = _events(count, size, spec)
    grouped = events.grouped(_script(count), 0, events.total)
    assert b"".join(grouped) == b"".join(_script(count).take(count))
    assert len(grouped) == events.total


@settings(max_examples=40)
@given(st.integers(1, 400), st.integers(1, 100), SPECULATIONS, st.lists(st.integers(1, 50), max_size=20))
def test_where_the_events_are_cut_into_writes_changes_nothing(
    count: int, size: int, spec: Speculation | None, writes: list[int]
) -> None:
    events, script, at = _events(count, size, spec), _script(count), 0
    got: Tokens = []
    for write in [*writes, events.total]:
        end = min(at + write, events.total)
        got += events.grouped(script, at, end)
        at = end
    assert got == _events(count, size, spec).grouped(_script(count), 0, events.total)


@settings(max_examples=40)
@given(st.integers(1, 400), st.integers(1, 100), SPECULATIONS)
def test_an_event_is_due_with_the_pass_that_completes_it_and_not_before(
    count: int, size: int, spec: Speculation | None
) -> None:
    events = _events(count, size, spec)
    for event in range(events.total):
        last = events.pass_of(event)
        assert events.after(last) >= event + 1
        assert events.after(last - 1) <= event
    assert events.after(events.passes) == events.total


@settings(max_examples=40)
@given(st.integers(1, 400), SPECULATIONS.filter(bool))
def test_accepted_and_rejected_tokens_are_what_was_proposed(count: int, spec: Speculation) -> None:
    events = _events(count, 1, spec)
    assert events.accepted is not None and events.rejected is not None
    assert events.accepted + events.rejected == events.total * spec.draft_length
    assert events.accepted == count - events.total


@settings(max_examples=40)
@given(st.integers(1, 300), st.integers(1, 40), SPECULATIONS, st.integers(0, 400))
def test_reasoning_takes_the_fewest_events_that_hold_it(
    count: int, size: int, spec: Speculation | None, reasoning: int
) -> None:
    events = _events(count, size, spec)
    number, tokens = events.holding(min(reasoning, count))
    sizes = events.sizes or [min(size, count - at) for at in range(0, count, size)]
    assert sum(sizes[:number]) == tokens >= min(reasoning, count)
    assert number == 0 or sum(sizes[: number - 1]) < reasoning


@pytest.mark.parametrize("stop", [("the",), (". ",), (" kept the", "market"), ("nowhere to be found",)])
def test_a_text_ends_before_the_first_stop_sequence_in_it(stop: tuple[str, ...]) -> None:
    whole = as_text([t for p in islice(generated(5), 20) for t in p][:300])
    cut = stopping(_script(300), stop)
    found = [whole.find(one) for one in stop if one in whole]
    assert as_text(cut.take(cut.count)) == (whole[: min(found)] if found else whole)
    assert cut.ending == ("sequence" if found else "length")
    assert (cut.stopped_by in stop) == bool(found)


def test_a_script_that_is_taken_from_for_long_forgets_what_it_gave() -> None:
    script = _script(300_000)
    taken = sum(len(script.take(1000)) for _ in range(300))
    assert taken == 300_000
    assert len(script._ready) < 200_000
