"""The meter against the simulated writer over real sockets: limits, refusals, keys, and what it tells."""

import asyncio
import json
from collections.abc import Callable
from typing import TypeVar

import msgspec
import pytest

from tamis.errors import TamisError, UsageError
from tamis.report.speed_page import speed_page
from tamis.simulate import Failures, Simulated
from tamis.simulate.server import serving
from tamis.speed import Budget, find_source, measure
from tamis.speed.cards import card, cards
from tamis.speed.dialect import Api, Ask
from tamis.speed.http import address
from tamis.speed.limits import Limits, limit_in, measure_limits
from tamis.speed.meter import Speeds
from tamis.speed.source import ServerSource, must
from tamis.speed.told import SHOWN, as_json, beside, interval_of, value_of

from .virtual import Virtual

T = TypeVar("T")
FAST = {"stream_speed": 50_000.0, "first_token_ms": 0.0}


def _with(settings: Simulated, play: Callable[[str], T]) -> T:
    async def run() -> T:
        async with serving(settings) as url:
            return await asyncio.to_thread(play, url)

    return asyncio.run(run())


def _limits(settings: Simulated, *, tokens: int = 200_000, api: Api = "chat") -> tuple[Limits, int]:
    def play(url: str) -> tuple[Limits, int]:
        budget = Budget(tokens, 60)
        return measure_limits(ServerSource(address(url), model="simulated", api=api), budget), budget.spent_tokens

    return _with(settings, play)


@pytest.mark.parametrize("api", ["chat", "completions", "messages"])
def test_both_limits_are_told_apart_by_what_refusals_name(api: Api) -> None:
    found, _ = _limits(Simulated(context=9_000, output_cap=700, **FAST), api=api)
    assert (found.context.value, found.output_cap.value) == (9_000, 700)
    assert "named by a refusal" in found.context.flags


def test_a_context_that_nobody_announces_is_found_by_ever_longer_prompts() -> None:
    found, spent = _limits(Simulated(context=9_000, output_cap=700, announce=False, **FAST))
    assert found.context.value == 9_000
    assert spent < 40_000


def test_an_announced_context_that_the_budget_does_not_reach_is_told_as_not_tried() -> None:
    found, spent = _limits(Simulated(context=50_000, output_cap=700, **FAST), tokens=2_000)
    assert found.context.value == 50_000
    assert "announced, not tried" in found.context.flags[0]
    assert spent < 2_000


def test_a_search_that_the_budget_ends_is_a_bound() -> None:
    found, spent = _limits(Simulated(context=50_000, output_cap=700, announce=False, **FAST), tokens=9_000)
    assert found.context.bound == ">="
    assert found.context.value is not None and 3_000 < found.context.value < 9_000
    assert spent <= 9_500


def test_a_cap_as_large_as_the_context_is_no_cap_of_its_own() -> None:
    found, _ = _limits(Simulated(context=4_000, output_cap=10**9, stream_speed=100, first_token_ms=0))
    assert found.context.value == 4_000
    assert found.output_cap.value is None
    assert "none of its own" in found.output_cap.flags[0]


@pytest.mark.parametrize(
    ("message", "which", "tokens"),
    [
        ("This model's maximum context length is 8192 tokens. However, you requested 9000", "context", 8192),
        ("max_tokens is too large: 9. This model supports at most 4096 completion tokens, whereas", "output", 4096),
        ("max_tokens: 90000 > 8192, which is the maximum allowed number of output tokens for claude", "output", 8192),
        ("prompt is too long: 200001 tokens > 200000 maximum", "context", 200_000),
        ("input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease", "context", 200_000),
        ("max_tokens must be less than or equal to 32768", "output", 32_768),
        ("request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it", "context", 4096),
    ],
)
def test_limits_are_read_out_of_real_apis_words(message: str, which: str, tokens: int) -> None:
    found = limit_in(message)
    assert found is not None and (found.which, found.tokens) == (which, tokens)


@pytest.mark.parametrize("message", [None, "", "Rate limit reached", "Invalid key"])
def test_other_refusals_name_no_limit(message: str | None) -> None:
    assert limit_in(message) is None


def test_too_many_requests_are_tried_again_after_the_time_that_was_asked_for() -> None:
    waited: list[float] = []

    def play(url: str) -> int:
        source = ServerSource(address(url), model="m", api="chat", sleep=waited.append)
        return source.hear([Ask("x", 5)], Budget(1000, 100)).refused

    failing = Simulated(failures=Failures(too_many=1.0, retry_after_seconds=7), **FAST)
    assert _with(failing, play) == 3
    assert waited == [7.0, 7.0, 10.0]


def test_a_server_that_writes_nothing_is_an_error_in_its_own_words() -> None:
    def play(url: str) -> None:
        source = ServerSource(address(url), model="m", api="chat", sleep=lambda seconds: None)
        must(source.hear([Ask("x", 5)], Budget(1000, 100)), "measuring")

    with pytest.raises(TamisError, match="simulated failure"):
        _with(Simulated(failures=Failures(broken=1.0), **FAST), play)


def test_a_key_is_never_shown_even_when_a_server_says_it_aloud() -> None:
    secret = "sk-very-secret"

    def play(url: str) -> str:
        source = ServerSource(address(url), model="m", api="chat", key=secret)
        source.where = address(f"{url}/{secret}/v1")
        heard = source.hear([Ask("x", 5)], Budget(1000, 100)).heard[0]
        return heard.failed or ""

    failed = _with(Simulated(**FAST), play)
    assert "Unknown request URL" in failed
    assert secret not in failed


def test_the_first_listed_model_and_the_first_answered_protocol_are_taken() -> None:
    def play(url: str) -> tuple[str, str]:
        source = find_source(url, model=None, api=None, key=None, extra={}, budget=Budget(1000, 10))
        return source.model, source.api

    assert _with(Simulated(model="tiny", **FAST), play) == ("tiny", "chat")


def test_nothing_that_listens_is_an_error_with_a_hint() -> None:
    with pytest.raises(TamisError, match="no connection"):
        find_source("http://127.0.0.1:9", model="m", api=None, key=None, extra={}, budget=Budget(1000, 10))


def test_a_server_is_measured_from_its_address_alone() -> None:
    def play(url: str) -> Speeds:
        budget = Budget(3_000, 20)
        source = find_source(url, model=None, api=None, key=None, extra={}, budget=budget)
        return measure(source, budget, parts=("limits", "stream"), ceiling=None)

    found = _with(Simulated(stream_speed=2_000, first_token_ms=5, context=9_000, output_cap=200), play)
    assert (found.context.value, found.output_cap.value) == (9_000, 200)
    assert found.stream.value is not None and found.stream.counted_by == "usage"
    assert found.throughput.value is None
    assert found.spent_tokens <= 3_000


@pytest.fixture(scope="module")
def speeds() -> Speeds:
    source = Virtual(step=(0.010, 0.001), input_speed=20_000, jitter=1e-5)
    return measure(source, Budget(500_000, 1e9), most_streams=16, ceiling=None)


def test_json_has_the_six_figures_with_their_seven_fields(speeds: Speeds) -> None:
    found = json.loads(as_json(speeds))
    assert list(found) == [*SHOWN, "details"]
    for key in SHOWN:
        assert list(found[key]) == ["value", "low", "high", "unit", "bound", "counted_by", "flags"]
    assert found["stream"]["value"] == pytest.approx(1 / 0.011, rel=0.01)
    assert found["context"] == {**found["context"], "value": None, "flags": ["not asked for"]}
    assert [point["streams"] for point in found["details"]["together"]["points"]] == [1, 2, 4, 8, 16]


def test_the_page_is_whole_and_fetches_nothing(speeds: Speeds) -> None:
    page = speed_page(speeds)
    assert page.count("<svg") == 2 and page.rstrip().endswith("</html>")
    assert "src=" not in page and "<script" not in page and "@import" not in page
    assert "context capacity" in page


def test_the_table_says_plainly_what_cannot_be_told(speeds: Speeds) -> None:
    unknown = msgspec.structs.replace(speeds.input, value=None, low=None, high=None)
    assert value_of(unknown) == "can't be told"
    assert interval_of(unknown) == ""
    assert value_of(msgspec.structs.replace(speeds.stream, value=1e6, bound=">=")) == "≥ 1,000,000 tokens/s"
    assert any("words/s" in sentence for sentence in beside(speeds))


def test_every_card_has_a_source_and_a_date_and_says_something() -> None:
    for name, found in cards().items():
        assert found.source.startswith("https://"), name
        assert len(found.read) == 10, name
        assert found.context or found.output_cap or found.latency, name
        assert (found.latency is None) == (found.latency_source is None), name


def test_an_unknown_card_names_its_nearest() -> None:
    assert card("anthropic/claude-opus-5.5").context == 1_000_000
    with pytest.raises(UsageError) as caught:
        card("anthropic/claude-opus-5-5")
    assert caught.value.hint == "did you mean anthropic/claude-opus-5.5?"


def test_a_model_that_reasons_in_silence_is_waited_for_and_its_reasoning_left_out() -> None:
    def play(url: str) -> Speeds:
        source = ServerSource(address(url), model="m", api="chat")
        return measure(source, Budget(20_000, 20), parts=("stream", "input"), ceiling=None)

    silent = Simulated(stream_speed=4_000, first_token_ms=0, reasoning=60, reasoning_shown=False)
    found = _with(silent, play)
    assert found.stream.value is not None
    assert any("60 reasoning tokens were not shown" in flag for flag in found.stream.flags)
    assert found.input.value is None
    assert "no first token could be seen" in found.input.flags[0]


def test_runs_that_fail_are_told_and_the_others_still_count() -> None:
    def play(url: str) -> Speeds:
        source = ServerSource(address(url), model="m", api="chat", sleep=lambda seconds: None)
        return measure(source, Budget(20_000, 20), parts=("stream",), ceiling=None)

    failing = Simulated(stream_speed=4_000, first_token_ms=0, failures=Failures(cut=0.4))
    found = _with(failing, play)
    assert found.stream.value is not None
    assert any("runs failed: the " in flag for flag in found.stream.flags)
