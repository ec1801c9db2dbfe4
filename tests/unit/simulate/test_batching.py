import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.errors import UsageError
from tamis.simulate.batching import Engine, Seat
from tamis.simulate.pace import Batched, Steady
from tamis.simulate.settings import Batching, Speculation
from tamis.simulate.speculative import bursts, pass_length, speed_up, tokens_per_pass

SIXTEENTH = st.integers(1, 160).map(lambda n: n / 16)
"""Times that binary fractions hold exactly, so that two ways of adding them agree to the last bit."""


def _step_by_step(batching: Batching, arrivals: list[tuple[float, int, int]]) -> dict[int, float]:
    """When each stream's last step ends, found by running every step of the batch one after the other."""
    waiting = sorted((at, n, context, steps) for n, (at, context, steps) in enumerate(arrivals))
    running: dict[int, list[float]] = {}
    ended: dict[int, float] = {}
    now = 0.0
    while waiting or running:
        if not running:
            now = max(now, waiting[0][0])
        while waiting and waiting[0][0] <= now:
            _, n, context, steps = waiting.pop(0)
            running[n] = [context, steps]
        step = batching.step_seconds(len(running), sum(context for context, _ in running.values()))
        if waiting and waiting[0][0] < now + step:
            # the engine lets a newcomer make the step that is under way longer; arrivals here come when none is
            raise AssertionError("an arrival in the middle of a step")
        now += step
        for n in list(running):
            running[n][0] += 1
            running[n][1] -= 1
            if running[n][1] == 0:
                ended[n] = now
                del running[n]
    return ended


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 50),
    st.integers(0, 8),
    st.integers(0, 4),
    st.lists(st.tuples(st.integers(0, 300), st.integers(1, 60)), min_size=1, max_size=6),
)
def test_steps_counted_at_once_are_steps_taken_one_by_one(
    a: int, b: int, c: int, streams: list[tuple[int, int]]
) -> None:
    batching = Batching(seconds=a / 64, seconds_per_stream=b / 64, seconds_per_context_token=c / 4096)
    expected = _step_by_step(batching, [(0.0, context, steps) for context, steps in streams])
    engine = Engine(batching)
    seats = [engine.join(0.0, context, steps) for context, steps in streams]
    for end in sorted(set(expected.values())):
        ending = [n for n in expected if expected[n] == end]
        assert all(seats[n].done(end - 1e-6) < streams[n][1] for n in ending)
        assert all(seats[n].done(end + 1e-6) == streams[n][1] for n in ending)


@settings(max_examples=60, deadline=None)
@given(st.lists(SIXTEENTH, min_size=2, max_size=20), st.integers(0, 3))
def test_how_often_the_clock_is_looked_at_changes_nothing(looks: list[float], c: int) -> None:
    batching = Batching(seconds=0.125, seconds_per_stream=0.0625, seconds_per_context_token=c / 1024)
    often, once = Engine(batching), Engine(batching)
    seats = [engine.join(0.0, 10, 400) for engine in (often, once)]
    for look in sorted(looks):
        seats[0].done(look)
    assert seats[0].done(max(looks)) == seats[1].done(max(looks))


def test_a_stream_that_leaves_makes_the_others_faster_and_no_batch_makes_one_faster_than_alone() -> None:
    batching = Batching(seconds=1.0, seconds_per_stream=0.5)
    alone = Engine(batching).join(0.0, 0, 100)
    engine = Engine(batching)
    stays, leaves = engine.join(0.0, 0, 100), engine.join(0.0, 0, 100)
    assert stays.done(20.0) == 10  # 2 s a step with two, against 1.5 s alone
    engine.leave(leaves)
    assert stays.done(35.0) == 20
    assert alone.done(35.0) == 23


def test_what_a_stream_held_is_given_back_when_it_leaves_early() -> None:
    batching = Batching(seconds=1.0, seconds_per_context_token=0.01)
    engine = Engine(batching)
    stays: Seat = engine.join(0.0, 0, 1000)
    leaves = engine.join(0.0, 100, 1000)
    engine.advance(0.0)
    engine.leave(leaves)
    assert engine.when(1) == pytest.approx(1.0)
    assert stays.done(1.0) == 1


def test_a_million_steps_a_second_are_counted_without_taking_them() -> None:
    seat = Engine(Batching(seconds=1e-6)).join(0.0, 0, 10**9)
    assert seat.done(100.0) == pytest.approx(10**8, rel=1e-6)
    assert seat.when(10**8) == pytest.approx(100.0)


@given(st.floats(0, 100), st.floats(1e-6, 1), st.integers(1, 10_000))
def test_a_steady_pace_has_done_as_many_passes_as_were_due(first: float, each: float, passes: int) -> None:
    pace = Steady(first, each)
    assert pace.done(pace.when(passes) + each / 4) == passes
    assert pace.done(first - 1e-3) == 0


def test_a_stall_moves_what_is_left_and_nothing_else() -> None:
    pace = Steady(1.0, 0.5)
    before = pace.when(10)
    pace.shift(2.0)
    assert pace.when(10) == before + 2.0


def test_the_first_token_of_a_batched_stream_comes_with_its_prefill() -> None:
    pace = Batched(1.0, Engine(Batching(seconds=0.5)).join(1.0, 10, 5))
    assert [pace.done(at) for at in (0.9, 1.0, 1.49, 1.51, 2.01)] == [0, 1, 1, 2, 3]


@given(st.floats(0, 1), st.integers(1, 10))
def test_tokens_per_pass_lie_between_one_and_all_that_were_proposed(acceptance: float, length: int) -> None:
    found = tokens_per_pass(Speculation(acceptance=acceptance, draft_length=length))
    assert 1 <= found <= length + 1 + 1e-9


@given(st.floats(0, 0.999), st.integers(1, 8))
def test_the_formula_is_the_mean_of_the_bursts(acceptance: float, length: int) -> None:
    a = acceptance
    shares = [a**k * (1 - a) for k in range(length)] + [a**length]
    mean = math.fsum((k + 1) * share for k, share in enumerate(shares))
    assert tokens_per_pass(Speculation(acceptance=a, draft_length=length)) == pytest.approx(mean)


@pytest.mark.parametrize("acceptance", [0.0, 0.3, 0.7, 0.95, 1.0])
def test_drawn_bursts_have_the_expected_mean(acceptance: float) -> None:
    spec = Speculation(acceptance=acceptance, draft_length=4)
    sizes = bursts(spec, 20_000, random.Random(1))
    assert sum(sizes) / len(sizes) == pytest.approx(tokens_per_pass(spec), rel=0.02)
    assert set(sizes) <= {1, 2, 3, 4, 5}


def test_drafting_that_costs_more_than_it_saves_is_a_slow_down() -> None:
    spec = Speculation(acceptance=0.1, draft_length=4, draft_cost=0.5)
    assert pass_length(spec) == 3.0
    assert speed_up(spec) < 1


@pytest.mark.parametrize("wrong", [{"acceptance": 1.5, "draft_length": 4}, {"acceptance": 0.5, "draft_length": 0}])
def test_speculation_that_cannot_be_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        Speculation(**wrong)  # type: ignore[arg-type]
