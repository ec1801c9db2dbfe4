import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.speed.budget import Budget
from tamis.speed.ceiling import bounded
from tamis.speed.counting import count, stream_speed
from tamis.speed.figures import Figure
from tamis.speed.inputs import measure_input
from tamis.speed.meter import measure
from tamis.speed.source import Session
from tamis.speed.stream import measure_alone
from tamis.speed.throughput import measure_together, point_of

from .virtual import Virtual, heard_stream

PLENTY = 10_000_000


@settings(max_examples=40)
@given(
    st.integers(40, 400),
    st.floats(5, 1e6),
    st.integers(1, 12),
    st.integers(1, 3),
    st.booleans(),
)
def test_a_rate_is_right_however_many_tokens_events_and_reads_carry(
    tokens: int, rate: float, per_event: int, per_read: int, usage: bool
) -> None:
    whole = tokens - tokens % (per_event * per_read)
    heard = heard_stream(
        whole, rate=rate, first_at=0.3, tokens_per_event=per_event, events_per_read=per_read, usage=usage
    )
    counted = count(heard)
    assert counted is not None and counted.tokens == whole
    if heard.reads > 1:
        assert stream_speed(heard, counted) == pytest.approx(rate, rel=1e-6)


def test_a_rate_that_counts_events_would_have_been_wrong_and_counts_that_disagree_are_flagged() -> None:
    heard = heard_stream(200, rate=100, tokens_per_event=4, usage=False)
    counted = count(heard)
    assert counted is not None
    assert counted.counted_by == "tokenizer"
    assert counted.flags == ("no usage: 200 tokens by o200k_base, 50 events",)
    by_events = (heard.events_seen - 1) / heard.lasted_seconds
    assert by_events == pytest.approx(25, rel=0.01)


def test_usage_that_no_tokenizer_would_give_is_flagged() -> None:
    heard = heard_stream(100, rate=100, tokens_per_event=2)
    heard.usage_tokens = 200
    counted = count(heard)
    assert counted is not None and any("usage says 200 tokens" in flag for flag in counted.flags)


def test_reasoning_that_was_not_shown_is_not_part_of_the_rate() -> None:
    heard = heard_stream(100, rate=50, reasoning=400)
    counted = count(heard)
    assert counted is not None
    assert stream_speed(heard, counted) == pytest.approx(50)
    assert any("400 reasoning tokens" in flag for flag in counted.flags)


def test_everything_in_one_read_has_no_rate() -> None:
    heard = heard_stream(20, rate=100, events_per_read=50)
    counted = count(heard)
    assert counted is not None and stream_speed(heard, counted) is None


@pytest.mark.parametrize("rate", [10.0, 100.0, 10_000.0, 1_000_000.0])
@pytest.mark.parametrize("per_event", [1, 5])
def test_stream_speed_is_measured_with_its_interval(rate: float, per_event: int) -> None:
    found = measure_alone(Virtual(rate=rate, tokens_per_event=per_event, jitter=0.02 / rate), Budget(60_000, 1e9))
    assert found.stream.value == pytest.approx(rate, rel=0.01)
    assert found.stream.low is not None and found.stream.high is not None
    assert found.stream.low <= found.stream.value <= found.stream.high
    assert bool(found.between_tokens) == (per_event == 1 and rate < 5000)


def test_a_small_budget_is_kept_and_said() -> None:
    budget = Budget(200, 1e9)
    found = measure_alone(Virtual(rate=50), budget)
    assert budget.spent_tokens <= 200 + 100  # the pilot is always written
    assert any("runs fitted the budget" in flag for flag in found.stream.flags) or found.stream.value is None


@pytest.mark.parametrize("speed", [2_000.0, 50_000.0, 1_000_000.0])
def test_input_speed_is_the_slope_of_the_time_to_first_token(speed: float) -> None:
    found = measure_input(
        Virtual(input_speed=speed, delay=0.08, jitter=1e-5), Budget(PLENTY // 10, 1e9), context=200_000
    )
    assert found.input.value == pytest.approx(speed, rel=0.02)


def test_a_fixed_delay_is_no_input_speed() -> None:
    found = measure_input(Virtual(delay=0.2, jitter=0.002), Budget(PLENTY // 10, 1e9), context=20_000)
    assert found.input.value is None
    assert "a fixed delay" in found.input.flags[0]


def test_prompts_are_all_different_so_that_no_cache_answers() -> None:
    source = Virtual(input_speed=10_000)
    measure_input(source, Budget(PLENTY // 10, 1e9), context=20_000)
    beginnings = [ask.prompt[:40] for ask in source.asked]
    assert len(set(beginnings)) == len(beginnings)


@settings(max_examples=40)
@given(st.integers(1, 40), st.floats(10, 1e5), st.floats(0, 0.5))
def test_streams_that_all_write_reach_the_sum_of_their_rates(streams: int, rate: float, skew: float) -> None:
    heard = [heard_stream(100, rate=rate, first_at=n * skew / rate) for n in range(streams)]
    point = point_of(Session(heard), streams)
    assert point is not None and point.at_once == streams
    assert point.throughput == pytest.approx(streams * rate, rel=0.03)
    assert point.stream_speed == pytest.approx(rate, rel=1e-6)


def test_streams_that_wait_for_a_place_are_counted_by_how_many_wrote_at_once() -> None:
    source = Virtual(rate=100, slots=8)
    session = source.hear([*map(lambda n: _ask(200), range(24))], Budget(PLENTY, 1e9))
    point = point_of(session, 24)
    assert point is not None and point.at_once == 8
    assert point.throughput == pytest.approx(800, rel=0.02)
    assert "at most 8 of 24 streams wrote at once" in point.flags


def _ask(tokens: int):
    from tamis.speed.dialect import Ask

    return Ask("x", tokens)


def test_the_sweep_ends_at_the_knee_of_a_batch() -> None:
    source = Virtual(step=(0.010, 0.001))
    found = measure_together(source, Budget(PLENTY, 1e9), alone=90, cap=10**6, most_streams=256)
    truth = {n: n / (0.010 + 0.001 * n) for n in (1, 2, 4, 8, 16, 32, 64, 128, 256)}
    for point in found.points:
        assert point.throughput == pytest.approx(truth[point.streams], rel=0.02)
        assert point.stream_speed == pytest.approx(truth[point.streams] / point.streams, rel=0.01)
    assert found.throughput.bound is None
    assert found.knee is not None and 32 <= found.knee <= 128


def test_throughput_that_still_grows_is_only_a_bound() -> None:
    found = measure_together(Virtual(rate=100), Budget(PLENTY, 1e9), alone=100, cap=10**6, most_streams=16)
    assert found.throughput.bound == ">="
    assert any("still growing" in flag for flag in found.throughput.flags)


def test_a_sweep_keeps_its_budget() -> None:
    budget = Budget(5_000, 1e9)
    measure_together(Virtual(rate=100), budget, alone=100, cap=10**6, most_streams=512)
    assert budget.spent_tokens <= 5_000


def test_failed_streams_are_told_and_not_counted() -> None:
    heard = [heard_stream(100, rate=100) for _ in range(4)]
    heard[1].failed = "the connection broke"
    point = point_of(Session(heard), 4)
    assert point is not None and point.throughput == pytest.approx(300, rel=0.02)
    assert "1 of 4 streams failed: the connection broke" in point.flags


FIGURE = Figure(value=1000.0, unit="tokens/s")


@pytest.mark.parametrize(
    ("ceiling", "idle", "bound"),
    [(10_000.0, 0.8, None), (1_100.0, 0.8, ">="), (10_000.0, 0.01, ">="), (None, None, None)],
)
def test_a_figure_at_the_readers_own_limit_is_only_a_bound(
    ceiling: float | None, idle: float | None, bound: str | None
) -> None:
    found = bounded(FIGURE, ceiling, idle)
    assert found.bound == bound
    assert bool(found.flags) == (bound is not None)


def test_the_whole_meter_tells_the_speeds_of_a_source_apart() -> None:
    source = Virtual(step=(0.010, 0.001), input_speed=20_000, delay=0.05, jitter=1e-5)
    speeds = measure(source, Budget(2_000_000, 1e9), most_streams=64, ceiling=None)
    assert speeds.stream.value == pytest.approx(1 / 0.011, rel=0.01)
    assert speeds.throughput.value == pytest.approx(64 / 0.074, rel=0.02)
    assert speeds.input.value == pytest.approx(20_000, rel=0.02)
    assert speeds.context.value is None and speeds.context.flags == ("not asked for",)
    assert speeds.spent_tokens <= 2_000_000


def test_what_is_not_asked_for_is_not_measured() -> None:
    source = Virtual()
    speeds = measure(source, Budget(100_000, 1e9), parts=("stream",), ceiling=None)
    assert speeds.throughput.value is None and speeds.input.value is None
    assert speeds.stream.value is not None


def test_a_slow_stream_of_large_events_is_given_the_time_for_some() -> None:
    found = measure_alone(Virtual(rate=20.0, tokens_per_event=100), Budget(30_000, 1e9))
    assert found.stream.value == pytest.approx(20.0, rel=0.01)
