"""Stretches of the clock as sorted, disjoint (start, end) pairs in seconds: what "how long did this take" means when
several things happen at once."""

from collections.abc import Iterable, Sequence

Interval = tuple[float, float]


def union(intervals: Iterable[Interval]) -> list[Interval]:
    """The same stretches, sorted and merged where they touch; empty and backward ones vanish."""
    merged: list[Interval] = []
    for start, end in sorted(i for i in intervals if i[1] > i[0]):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def without(whole: Interval, holes: Sequence[Interval]) -> list[Interval]:
    """What is left of `whole` outside the holes, which are sorted and disjoint as `union` makes them."""
    left, cursor = [], whole[0]
    for start, end in holes:
        if start > cursor:
            left.append((cursor, min(start, whole[1])))
        cursor = max(cursor, end)
    left.append((cursor, whole[1]))
    return [i for i in left if i[1] > i[0]]


def split(intervals: Sequence[Interval], seconds: float) -> tuple[list[Interval], list[Interval]]:
    """The first `seconds` of the stretches, and the rest."""
    first: list[Interval] = []
    for at, (start, end) in enumerate(intervals):
        if seconds <= 0:
            return first, list(intervals[at:])
        cut = min(end, start + seconds)
        if cut > start:
            first.append((start, cut))
        seconds -= cut - start
        if cut < end:
            return first, [(cut, end), *intervals[at + 1 :]]
    return first, []


def length(disjoint: Iterable[Interval]) -> float:
    """Seconds in stretches that don't overlap."""
    return sum(end - start for start, end in disjoint)
