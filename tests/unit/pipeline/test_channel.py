"""What a channel promises to both of its ends."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.pipeline import channel as channels
from tamis.pipeline.channel import BATCH_ITEMS, Channel, Stopped


@given(st.lists(st.tuples(st.integers(), st.integers(0, 2_000_000)), max_size=400))
def test_everything_comes_out_once_in_order_and_in_bounded_batches(items: list[tuple[int, int]]) -> None:
    channel: Channel[int] = Channel("c", most_items=float("inf"), most_bytes=float("inf"))
    for item, size in items:
        channel.put(item, size)
    channel.close()
    batches = []
    while batch := channel.take():
        batches.append(batch)
    assert [item for batch in batches for item in batch] == [item for item, _ in items]
    assert all(len(batch) <= BATCH_ITEMS for batch in batches)


def test_a_full_channel_takes_no_more_until_some_was_taken() -> None:
    channel: Channel[str] = Channel("c", most_items=2, most_bytes=100)
    assert channel.put_now("a", 60)
    assert not channel.put_now("b", 60), "too many bytes"
    assert channel.put_now("b", 10)
    assert not channel.put_now("c"), "too many items"
    assert channel.take() == ["a", "b"]
    assert channel.put_now("c", 1_000), "one that is larger than the channel goes through alone"
    assert not channel.put_now("d")


def test_who_puts_into_a_full_channel_waits_and_goes_on() -> None:
    channel: Channel[int] = Channel("c", most_items=1)
    channel.put(1)
    putter = threading.Thread(target=channel.put, args=(2,))
    putter.start()
    assert channel.take() == [1]
    assert channel.take() == [2]
    putter.join()
    channel.close()
    assert channel.take() == []


@pytest.mark.parametrize("waits_at", ["put", "take"])
def test_a_stopped_channel_lets_go_of_who_waits(waits_at: str) -> None:
    channel: Channel[int] = Channel("c", most_items=1)
    if waits_at == "put":
        channel.put(1)
    left: list[str] = []

    def wait() -> None:
        try:
            channel.put(2) if waits_at == "put" else channel.take()
        except Stopped:
            left.append("stopped")

    waiting = threading.Thread(target=wait)
    waiting.start()
    channel.stop()
    waiting.join()
    assert left == ["stopped"]
    with pytest.raises(Stopped):
        channel.put_now(3)


def test_what_comes_within_a_moment_of_the_first_is_taken_along(monkeypatch: pytest.MonkeyPatch) -> None:
    channel: Channel[str] = Channel("c")
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        channel.put("second")

    monkeypatch.setattr(channels.time, "sleep", sleep)
    channel.put("first")
    assert channel.take(linger_seconds=0.01) == ["first", "second"]
    channel.put("last")
    channel.close()
    assert channel.take(linger_seconds=0.01) == ["last"]  # nothing more can come
    assert channel.take(linger_seconds=0.01) == []
    assert slept == [0.01]
