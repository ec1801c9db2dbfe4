import asyncio
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.errors import UsageError
from tamis.simulate import Batching, Failures, Simulated, Speculation, read_settings
from tamis.simulate.account import StreamReport
from tamis.simulate.admission import Admission
from tamis.simulate.asked import Refused
from tamis.simulate.explain import implied, loads
from tamis.simulate.failures import Mishap, fate_of
from tamis.simulate.presets import preset, presets
from tamis.simulate.prompts import BLOCK, PrefixCache


@pytest.mark.parametrize(
    "wrong",
    [
        {"stream_speed": 0.0},
        {"stream_speed": -5.0},
        {"input_speed": math.inf},
        {"context": 0},
        {"streams": 0},
        {"tokens_per_event": 0},
        {"length": 0},
        {"first_token_ms": -1.0},
        {"tokens_per_event": 4, "speculation": Speculation(acceptance=0.5, draft_length=2)},
    ],
)
def test_settings_that_cannot_be_are_refused_at_once(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        Simulated(**wrong)  # type: ignore[arg-type]


def test_a_file_holds_all_settings_and_a_wrong_key_names_its_nearest(tmp_path) -> None:
    file = tmp_path / "fast.toml"
    file.write_text("stream_speed = 1e6\ncontext = 9000\n[batching]\nseconds = 0.01\n[failures]\ncut = 0.1\n")
    found = read_settings(file)
    assert (found.stream_speed, found.context, found.failures.cut) == (1e6, 9000, 0.1)
    assert found.batching == Batching(seconds=0.01)
    file.write_text("stream_sped = 1\n")
    with pytest.raises(UsageError) as caught:
        read_settings(file)
    assert caught.value.hint == "did you mean 'stream_speed'?"


def test_a_file_that_is_none_is_an_error_in_words(tmp_path) -> None:
    with pytest.raises(UsageError, match="can't be read"):
        read_settings(tmp_path / "none.toml")


def test_failures_come_at_the_rates_asked_for_and_are_the_same_again() -> None:
    failures = Failures(too_many=0.1, broken=0.2, stall=0.3, cut=0.05)
    fates = [fate_of(failures, 4, number) for number in range(4000)]
    statuses = [fate.status for fate in fates if isinstance(fate, Refused)]
    assert statuses.count(429) / 4000 == pytest.approx(0.1, abs=0.02)
    assert (len(statuses) - statuses.count(429)) / 4000 == pytest.approx(0.2, abs=0.03)
    mishaps = [fate for fate in fates if isinstance(fate, Mishap)]
    assert sum(m.stall_seconds is not None for m in mishaps) / 4000 == pytest.approx(0.3, abs=0.03)
    assert all(0.1 <= m.share <= 0.9 for m in mishaps)
    again = [fate_of(failures, 4, number) for number in range(100)]
    assert [str(fate) for fate in again] == [str(fate) for fate in fates[:100]]


def test_without_failures_nothing_fails() -> None:
    assert all(fate_of(Failures(), 1, number) is None for number in range(500))


def test_shares_that_are_more_than_all_requests_are_refused() -> None:
    with pytest.raises(UsageError):
        Failures(stall=0.7, cut=0.7)


@given(st.lists(st.integers(0, 5), max_size=200), st.lists(st.integers(0, 5), max_size=200))
def test_the_cached_part_is_the_common_beginning_in_whole_blocks(one: list[int], other: list[int]) -> None:
    cache = PrefixCache()
    assert cache.read(one) == 0
    common = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    read_before = (len(one) - 1) // BLOCK * BLOCK if one else 0
    expected = min(common, read_before, max(0, len(other) - 1)) // BLOCK * BLOCK
    assert cache.read(other) == expected


def test_a_prompt_read_twice_still_has_its_last_token_read() -> None:
    cache = PrefixCache()
    prompt = list(range(BLOCK * 4))
    cache.read(prompt)
    assert cache.read(prompt) == BLOCK * 3


def test_the_cache_forgets_what_was_not_used_for_longest() -> None:
    cache = PrefixCache(blocks_kept=4)
    cache.read(list(range(BLOCK * 3)))
    cache.read(list(range(1000, 1000 + BLOCK * 5)))
    assert cache.read(list(range(BLOCK * 3))) == 0


def test_streams_beyond_the_limit_wait_in_turn_and_beyond_the_queue_are_sent_away() -> None:
    async def play() -> list[str]:
        admission, seen = Admission(2, 2), []

        async def come(name: str, wanted: int = 1) -> None:
            admitted = await admission.take(wanted, since=0.0)
            seen.append(name)
            await asyncio.sleep(0)
            admission.give(admitted)

        first = await admission.take(2, since=0.0)
        waiting = [asyncio.create_task(come(name)) for name in ("b", "c")]
        await asyncio.sleep(0)
        with pytest.raises(Refused) as caught:
            await admission.take(1, since=0.0)
        assert caught.value.status == 429
        admission.give(first)
        await asyncio.gather(*waiting)
        return seen

    assert asyncio.run(play()) == ["b", "c"]


def test_who_gives_up_waiting_does_not_keep_the_place() -> None:
    async def play() -> float:
        admission = Admission(1, None)
        first = await admission.take(1, since=0.0)
        waiting = asyncio.create_task(admission.take(1, since=0.0))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        admission.give(first)
        return (await admission.take(1, since=3.0)).at

    assert asyncio.run(play()) == 3.0


def _report(**values: float) -> StreamReport:
    given = {
        "tokens": 100,
        "events": 100,
        "writes": 10,
        "lasted_seconds": 1.0,
        "late_seconds": 0.0,
        "paused_seconds": 0.0,
    }
    return StreamReport(**{**given, **values})  # type: ignore[arg-type]


def test_a_stream_that_waited_for_its_reader_is_client_limited_and_says_by_how_much() -> None:
    late = _report(late_seconds=0.5, paused_seconds=0.45)
    assert late.client_limited and not late.server_limited
    assert "0.500 s late" in str(late)


def test_a_stream_late_without_waiting_is_the_servers_own_fault() -> None:
    assert _report(late_seconds=0.5, paused_seconds=0.01).server_limited


def test_a_stream_in_time_is_nobodys_fault() -> None:
    assert not _report(late_seconds=0.001, paused_seconds=0.3).is_late


def test_every_preset_lies_on_its_published_points_as_nearly_as_it_says() -> None:
    for found in presets().values():
        assert found.published.source.startswith("https://") and found.published.date
        for streams, ms in found.published.step_ms:
            assert abs(found.batching.step_seconds(streams, 0) * 1000 / ms - 1) <= found.worst_error + 1e-12
    assert preset("llama-3.3-70b-2xh100").worst_error < 0.01


def test_an_unknown_preset_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"llama-3\.3-70b-2xh100"):
        preset("llama-70b")


def test_loads_rise_together_in_throughput_and_fall_in_stream_speed() -> None:
    table = loads(Simulated(batching=Batching(seconds=0.01, seconds_per_stream=0.001), streams=48))
    assert table[-1].streams == 48
    assert [load.throughput for load in table] == sorted(load.throughput for load in table)
    assert [load.stream_speed for load in table] == sorted((load.stream_speed for load in table), reverse=True)


def test_the_explanation_says_that_no_batch_makes_a_chain_faster_and_that_a_delay_is_no_speed() -> None:
    said = " ".join(implied(Simulated(batching=Batching(seconds=0.01))))
    assert "No batch size makes one chain faster" in said
    assert "a fixed delay, no input speed" in said
    assert loads(Simulated(stream_speed=None)) == []
