"""The budget of writing: tokens, money and seconds, over all runs of a brief, and never overrun.

Before a request goes out, the most that it can cost is held back; when it is over, what it did cost takes its place.
A request that broke off, or was out when the process was killed, may have been paid for: it counts in full. A server
that doesn't tell its usage leaves the same doubt, so its answers count in full as well.
"""

import asyncio
from collections.abc import Callable
from typing import Literal

import msgspec

Over = Literal["tokens", "money", "seconds"]


class Prices(msgspec.Struct, frozen=True):
    """Money for a million tokens, None where it isn't known."""

    tokens_in: float | None
    tokens_out: float | None

    def of(self, tokens_in: int, tokens_out: int) -> float | None:
        if self.tokens_in is None or self.tokens_out is None:
            return None
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / 1e6


class Held(msgspec.Struct, eq=False):
    """What one request may cost at most, held back while it is out."""

    tokens_in: int
    tokens_out: int


class Budget:
    """`tokens` and `money` are the limits, None for none. `left_seconds` says how long may still be written. What was
    counted before is told by `count`."""

    def __init__(
        self, *, tokens: int | None, money: float | None, prices: Prices, left_seconds: Callable[[], float]
    ) -> None:
        self._tokens, self._money, self._prices = tokens, money, prices
        self.left_seconds = left_seconds
        self._sure_in = self._sure_out = 0
        self._doubtful: list[Held] = []
        """What requests that are over may have cost, of which nobody knows."""
        self._held: set[Held] = set()
        self._changed = asyncio.Event()

    @property
    def counted(self) -> tuple[int, int]:
        """Tokens in and out that are paid, or perhaps paid."""
        doubtful = self._doubtful
        return (
            self._sure_in + sum(one.tokens_in for one in doubtful),
            self._sure_out + sum(one.tokens_out for one in doubtful),
        )

    def count(self, tokens_in: int, tokens_out: int) -> None:
        """So much is paid."""
        self._sure_in += tokens_in
        self._sure_out += tokens_out

    async def hold(self, tokens_in: int, tokens_out: int) -> Held | Over:
        """Holds back what a request may cost. Waits for those that are out where it does not fit now; returns what is
        over where it never will."""
        while True:
            over = self._over(tokens_in, tokens_out)
            if over is None:
                held = Held(tokens_in, tokens_out)
                self._held.add(held)
                return held
            if over == "seconds" or not self._held:
                return over
            self._changed.clear()
            await self._changed.wait()

    def release(self, held: Held, tokens_in: int, tokens_out: int) -> None:
        """The request is over, and so much counts for it. Said once: what is released already stays as it was."""
        if held in self._held:
            self._held.discard(held)
            self.count(tokens_in, tokens_out)
            self._changed.set()

    def release_in_full(self, held: Held) -> None:
        """The request is over, and nobody knows what it cost."""
        if held in self._held:
            self._held.discard(held)
            self._doubtful.append(held)
            self._changed.set()

    def knows_prompt(self, tokens: int) -> None:
        """The prompt has no more tokens than this: what was held back and counted for it was too much."""
        for held in (*self._held, *self._doubtful):
            held.tokens_in = min(held.tokens_in, tokens)
        self._changed.set()

    def _over(self, tokens_in: int, tokens_out: int) -> Over | None:
        """What would be overrun if so much more were spent."""
        if self.left_seconds() <= 0:
            return "seconds"
        counted_in, counted_out = self.counted
        all_in = counted_in + tokens_in + sum(held.tokens_in for held in self._held)
        all_out = counted_out + tokens_out + sum(held.tokens_out for held in self._held)
        if self._tokens is not None and all_in + all_out > self._tokens:
            return "tokens"
        money = self._prices.of(all_in, all_out)
        if self._money is not None and money is not None and money > self._money:
            return "money"
        return None
