"""How much is out at once, when it is tried again, and what may be spent."""

import asyncio
import random
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.writers.server.budget import Budget, Held, Prices
from tamis.writers.server.retrying import pause, retry_after
from tamis.writers.server.streams import FIRST, Place, Streams

NO_PRICES = Prices(None, None)


class Time:
    """A clock that only waiting moves."""

    def __init__(self) -> None:
        self.at = 0.0

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.at += seconds
        await asyncio.sleep(0)


def streams(most: int = 100) -> Streams:
    return Streams(most, now=lambda: 0.0)


async def taken(some: Streams, count: int) -> list[Place]:
    return [await some.take() for _ in range(count)]


def test_it_begins_with_a_few_and_doubles_while_all_goes_well() -> None:
    async def rounds() -> list[int]:
        some, limits = streams(), []
        for _ in range(4):
            limits.append(int(some.limit))
            for place in await taken(some, int(some.limit)):
                some.give(place, well=True)
        return limits

    assert asyncio.run(rounds()) == [FIRST, 2 * FIRST, 4 * FIRST, 8 * FIRST]


def test_an_overload_halves_once_however_many_requests_it_hits() -> None:
    async def hit() -> float:
        some = streams()
        some.limit = 32.0
        for place in await taken(some, 32):
            some.give(place, overloaded=True)
        return some.limit

    assert asyncio.run(hit()) == 16.0


def test_after_an_overload_a_full_round_adds_one() -> None:
    async def grow() -> float:
        some = streams()
        some.limit = 16.0
        some.give(await some.take(), overloaded=True)
        for place in await taken(some, 8):
            some.give(place, well=True)
        return some.limit

    assert 8.9 < asyncio.run(grow()) <= 9.0


@given(st.lists(st.sampled_from(["well", "overloaded", "neither"]), max_size=200), st.integers(1, 50))
def test_there_is_always_one_place_and_never_more_than_the_most(ends: list[str], most: int) -> None:
    async def play() -> None:
        some = streams(most)
        for end in ends:
            place = await some.take()
            some.give(place, well=end == "well", overloaded=end == "overloaded")
            assert 1 <= some.limit <= most
            assert some.out == 0

    asyncio.run(play())


def test_nothing_is_sent_before_the_server_wants_it() -> None:
    async def closed() -> float:
        time = Time()
        some = Streams(4, now=time.now, sleep=time.sleep)
        some.close_for(7.5)
        await some.take()
        return time.at

    assert asyncio.run(closed()) == 7.5


def test_the_pause_doubles_within_bounds_and_no_two_are_alike() -> None:
    rng = random.Random(0)
    pauses = [pause(tries, rng) for tries in range(1, 12)]
    for tries, seconds in enumerate(pauses, 1):
        whole = min(60.0, 0.5 * 2 ** (tries - 1))
        assert whole / 2 <= seconds <= whole
    assert len(set(pauses)) == len(pauses)


@given(st.integers(1, 50), st.floats(0, 3600), st.integers())
def test_what_the_server_asks_to_wait_is_waited(tries: int, told: float, seed: int) -> None:
    assert told <= pause(tries, random.Random(seed), told=told) <= told + 0.25


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": formatdate(1_000_030, usegmt=True)}, 30.0),
        ({"retry-after": formatdate(1_000_530, usegmt=True), "date": formatdate(1_000_500, usegmt=True)}, 30.0),
        ({"retry-after": formatdate(999_000, usegmt=True)}, 0.0),
        ({}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "Mon, 99 Foo 9999999 00:00:00 GMT"}, None),
    ],
)
def test_retry_after_is_understood_as_seconds_and_as_a_date(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, now=1_000_000.0) == seconds


def budget(
    tokens: int | None = None, money: float | None = None, prices: Prices = NO_PRICES, left: float = 1e9
) -> Budget:
    return Budget(tokens=tokens, money=money, prices=prices, left_seconds=lambda: left)


def test_what_is_out_is_held_back_and_what_does_not_fit_waits_for_it() -> None:
    async def play() -> str:
        some = budget(tokens=100)
        first = await some.hold(10, 50)
        assert isinstance(first, Held)
        waiting = asyncio.create_task(some.hold(10, 50))
        await asyncio.sleep(0)
        assert not waiting.done()
        some.release(first, 10, 20)  # it cost less than it might have
        assert isinstance(await waiting, Held)
        some.release_in_full(await waiting)  # type: ignore[arg-type]  # it was held
        over = await some.hold(10, 50)
        assert isinstance(over, str)
        return over

    assert asyncio.run(play()) == "tokens"


def test_a_budget_of_money_counts_both_prices() -> None:
    async def play() -> object:
        some = budget(money=1.0, prices=Prices(1.0, 10.0))
        assert isinstance(await some.hold(100_000, 80_000), Held)
        return await budget(money=1.0, prices=Prices(1.0, 10.0)).hold(100_001, 90_000)

    assert asyncio.run(play()) == "money"


def test_no_time_left_is_told_at_once() -> None:
    assert asyncio.run(budget(left=0.0).hold(1, 1)) == "seconds"


@given(
    st.integers(1, 500),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 60), st.floats(0, 1), st.booleans()), max_size=40),
)
def test_whatever_requests_cost_the_budget_is_never_overrun(
    tokens: int, requests: list[tuple[int, int, float, bool]]
) -> None:
    async def play() -> None:
        some = budget(tokens=tokens)
        out: list[Held] = []
        for most_in, most_out, share, ends in requests:
            if ends and out:
                held = out.pop(0)
                if share < 0.2:
                    some.release_in_full(held)
                else:
                    some.release(held, int(held.tokens_in * share), int(held.tokens_out * share))
            holding = asyncio.create_task(some.hold(most_in, most_out))
            await asyncio.sleep(0)
            if holding.done() and isinstance(holding.result(), Held):
                out.append(holding.result())  # type: ignore[arg-type]  # as was just seen
            holding.cancel()
            worst = sum(held.tokens_in + held.tokens_out for held in out)
            assert sum(some.counted) + worst <= tokens
            await asyncio.sleep(0)

    asyncio.run(play())
