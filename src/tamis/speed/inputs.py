"""Input speed: how the time to first token grows with the prompt. A fixed delay is not a speed.

Prompts of several lengths, each seen for the first time, in mixed order; the slope by Theil and Sen. Where the slope's
interval reaches zero, or a prompt's way through the network explains it, there is no figure.
"""

import random

import msgspec

from tamis.speed.budget import Budget
from tamis.speed.dialect import Ask
from tamis.speed.figures import Figure, theil_sen
from tamis.speed.heard import Heard
from tamis.speed.prompts import fresh
from tamis.speed.source import Source
from tamis.tokens import count_tokens

LENGTHS = 6
ROUNDS = 4
SHORTEST = 64
START = 2048
GROWTH = 4
TELLING_SECONDS = 0.25
"""A longest prompt that takes this much longer than the shortest shows the slope well enough."""


class FirstToken(msgspec.Struct, frozen=True):
    """One prompt: tokens that the server had to read, and the seconds from its last byte sent to its first token."""

    uncached: int
    seconds: float
    by_usage: bool = True


class Reads(msgspec.Struct, frozen=True):
    """The figure and the points it rests on."""

    input: Figure
    points: list[FirstToken]


def measure_input(source: Source, budget: Budget, *, context: int | None, seed: int = 20_000) -> Reads:
    """Find a length that takes visibly longer than the shortest, then measure lengths between them."""
    rng = random.Random(seed)
    points: list[FirstToken] = []
    longest = _longest(source, budget, context, rng, points)
    lengths = [SHORTEST + (longest - SHORTEST) * n // (LENGTHS - 1) for n in range(LENGTHS)]
    for _ in range(ROUNDS if points else 0):
        for tokens in rng.sample(lengths, LENGTHS):
            if budget.affords(tokens):
                _add(source, budget, tokens, rng, points)
    return Reads(_figure([p for p in points if p.uncached <= 1.2 * longest]), points)


def _longest(source: Source, budget: Budget, context: int | None, rng: random.Random, points: list[FirstToken]) -> int:
    """The first length, growing from START, whose prompt takes TELLING_SECONDS longer than the shortest; or the
    longest that the budget allows to repeat, or the context holds."""
    most = max(SHORTEST * 2, budget.left_tokens // (ROUNDS * LENGTHS))
    if context is not None:
        most = min(most, context - 16)
    _add(source, budget, SHORTEST, rng, points)  # a first request warms up what is cold
    points.clear()
    for _ in range(3):
        _add(source, budget, SHORTEST, rng, points)
    if not points:  # nothing is said within one token: there is no first token to be timed
        return SHORTEST
    base = min(point.seconds for point in points)
    tokens = min(START, most)
    while True:
        before = len(points)
        _add(source, budget, tokens, rng, points)
        if len(points) == before:
            return max(SHORTEST * 2, tokens // GROWTH)
        if points[-1].seconds - base > TELLING_SECONDS or tokens >= most:
            return tokens
        tokens = min(tokens * GROWTH, most)


def _add(source: Source, budget: Budget, tokens: int, rng: random.Random, points: list[FirstToken]) -> None:
    heard = source.hear([Ask(prompt := fresh(tokens, rng.getrandbits(48)), 1)], budget).heard[0]
    seconds = heard.reading_seconds
    if heard.failed is None and seconds is not None:
        points.append(FirstToken(_uncached(heard, prompt), seconds, heard.prompt_tokens is not None))


def _uncached(heard: Heard, prompt: str) -> int:
    return (heard.prompt_tokens or count_tokens(prompt)) - heard.cached_tokens


def _figure(points: list[FirstToken]) -> Figure:
    if not points:
        return _none("no first token could be seen: the model reasons without showing it, or failed")
    slope = theil_sen([(point.uncached, point.seconds) for point in points])
    if slope is None:
        return _none("too few prompts fitted the budget")
    longest = max(point.uncached for point in points)
    if slope.low <= 0:
        return _none(
            f"no growth with the prompt is seen, up to {longest:,} tokens: a fixed delay, as far as can be told"
        )
    flags = []
    if slope.high > 1.5 * slope.low:
        flags.append(f"the slope is small beside the noise, up to prompts of {longest:,} tokens")
    return Figure(
        value=1 / slope.value,
        low=1 / slope.high,
        high=1 / slope.low,
        unit="tokens/s",
        counted_by="usage" if all(point.by_usage for point in points) else "tokenizer",
        flags=tuple(flags),
    )


def slope_of(points: list[FirstToken]) -> float | None:
    """Tokens per second by the slope alone, None where there is none: for the meter's own ceiling."""
    slope = theil_sen([(point.uncached, point.seconds) for point in points])
    return 1 / slope.value if slope is not None and slope.value > 0 else None


def _none(why: str) -> Figure:
    return Figure(value=None, unit="tokens/s", flags=(why,))
