"""Figures with their uncertainty: a value, an interval, what counted it, and flags that say what to doubt.

Intervals come from order statistics and rank methods, because timings have long tails: one stalled run must not move
a figure. A figure that can't be told has the value None and a flag that says why.
"""

import math
from collections.abc import Sequence
from itertools import combinations
from statistics import NormalDist, median
from typing import Literal

from tamis.records import Record

LEVEL = 0.9
"""The coverage that intervals aim at."""

CountedBy = Literal["usage", "tokenizer", "events", "server", "clock"]


class Figure(Record, frozen=True, kw_only=True):
    """One of the speeds. `bound` is ">=" where the figure is the reader's own limit and the truth may be higher."""

    value: float | None
    low: float | None = None
    high: float | None = None
    unit: str
    bound: Literal[">="] | None = None
    counted_by: CountedBy | None = None
    flags: tuple[str, ...] = ()


class Interval(Record, frozen=True, kw_only=True):
    """A middle with its interval. `coverage` is what the interval's order statistics cover, at few runs below LEVEL."""

    value: float
    low: float
    high: float
    coverage: float
    runs: int

    @property
    def width(self) -> float:
        """The interval's length in parts of the value."""
        return (self.high - self.low) / self.value if self.value else math.inf


def median_interval(values: Sequence[float]) -> Interval:
    """The median, and the narrowest pair of order statistics, symmetric in rank, that covers it with at least LEVEL
    (Conover 1999, section 3.2); below five values all of them, at the coverage that they have."""
    ranked = sorted(values)
    n = len(ranked)
    left_out = 0
    while left_out + 1 < (n + 1) // 2 and _covered(n, left_out + 1) >= LEVEL:
        left_out += 1
    return Interval(
        value=median(ranked),
        low=ranked[left_out],
        high=ranked[n - 1 - left_out],
        coverage=_covered(n, left_out),
        runs=n,
    )


def _covered(n: int, left_out: int) -> float:
    """How likely the median lies between the order statistics that leave `left_out` values out at each end."""
    return float(1 - 2 * sum(math.comb(n, k) for k in range(left_out + 1)) / 2**n)


def ends(interval: Interval) -> tuple[float | None, float | None]:
    """The interval's ends, None where one run alone has none."""
    return (interval.low, interval.high) if interval.runs > 1 else (None, None)


class Slope(Record, frozen=True, kw_only=True):
    """A slope with its interval; `low` above 0 means that there is one."""

    value: float
    low: float
    high: float


def theil_sen(points: Sequence[tuple[float, float]]) -> Slope | None:
    """The median of all slopes between two points, with Sen's interval (Sen 1968; ties in x left out). None for fewer
    than three pairs."""
    slopes = sorted((y2 - y1) / (x2 - x1) for (x1, y1), (x2, y2) in combinations(sorted(points), 2) if x2 != x1)
    if len(slopes) < 3:
        return None
    reach = NormalDist().inv_cdf((1 + LEVEL) / 2) * math.sqrt(_kendall_variance(points))
    half = reach / 2
    last = len(slopes) - 1
    low = slopes[max(0, math.floor(last / 2 - half))]
    high = slopes[min(last, math.ceil(last / 2 + half))]
    return Slope(value=median(slopes), low=low, high=high)


def _kendall_variance(points: Sequence[tuple[float, float]]) -> float:
    """The variance of Kendall's S with ties in x."""
    n = len(points)
    ties = [sum(1 for x, _ in points if x == one) for one in {x for x, _ in points}]
    return float(n * (n - 1) * (2 * n + 5) - sum(t * (t - 1) * (2 * t + 5) for t in ties)) / 18


def percentiles(values: Sequence[float], wanted: Sequence[float]) -> dict[str, float]:
    """Percentiles by the nearest rank, named p50, p99 and so on. Empty for no values."""
    ranked = sorted(values)
    if not ranked:
        return {}
    return {f"p{p:g}": ranked[min(len(ranked) - 1, max(0, math.ceil(p / 100 * len(ranked)) - 1))] for p in wanted}
