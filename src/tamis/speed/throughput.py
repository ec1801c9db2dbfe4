"""Throughput: all streams together, swept over how many are written at once, up to the knee.

It is measured while as many streams as possible are writing at the same time: before the last has begun and after the
first has ended, the rate is of fewer. Stream speed at each load stands beside it, because the two are different things.
"""

from bisect import bisect_right
from statistics import median

import msgspec

from tamis.speed.budget import Budget
from tamis.speed.counting import Count, count, stream_speed, tokens_until
from tamis.speed.dialect import Ask
from tamis.speed.figures import CountedBy, Figure, ends, median_interval
from tamis.speed.heard import Heard
from tamis.speed.prompts import fresh
from tamis.speed.source import Session, Source
from tamis.speed.stream import FEWEST_TOKENS, PROMPT_TOKENS

SECONDS_A_LEVEL = 2.0
KNEE = 0.10
"""Twice the streams for less than this much more throughput is past the knee."""
FEWEST_RUNS = 3


class Point(msgspec.Struct, frozen=True):
    """One load: how many streams were asked for, how many wrote at once, and what they reached."""

    streams: int
    at_once: int
    throughput: float
    stream_speed: float
    idle_share: float | None
    counted_by: CountedBy
    flags: tuple[str, ...] = ()


class Together(msgspec.Struct, frozen=True):
    """The sweep. `knee` is the least load that reaches nine tenths of the best throughput."""

    throughput: Figure
    points: list[Point]
    knee: int | None


def measure_together(
    source: Source, budget: Budget, *, alone: float, cap: int, most_streams: int = 512, seed: int = 10_000
) -> Together:
    """Sweep 1, 2, 4 … streams until throughput stops growing or the budget is spent, then repeat the best."""
    points: list[Point] = []
    streams, speed, ended = 1, alone, False
    while streams <= most_streams:
        tokens = _tokens(speed, cap)
        if not budget.affords(streams * (tokens + PROMPT_TOKENS), 2 * SECONDS_A_LEVEL):
            break
        point = _level(source, budget, streams, tokens, seed=seed + 1000 * len(points))
        if point is None:
            break
        points.append(point)
        speed = point.stream_speed or speed
        if len(points) > 1 and point.throughput < points[-2].throughput * (1 + KNEE):
            ended = True
            break
        streams *= 2
    if not points:
        return Together(_unknown("the budget did not allow for it"), [], None)
    best = max(points, key=lambda point: point.throughput)
    again = _again(source, budget, best, cap, seed=seed + 900_000)
    return Together(_figure(best, again, points, ended), points, _knee(points))


def _tokens(speed: float, cap: int) -> int:
    return int(max(FEWEST_TOKENS, min(cap, speed * SECONDS_A_LEVEL)))


def _level(source: Source, budget: Budget, streams: int, tokens: int, *, seed: int) -> Point | None:
    asks = [Ask(fresh(PROMPT_TOKENS, seed + n), tokens) for n in range(streams)]
    return point_of(source.hear(asks, budget), streams)


def _again(source: Source, budget: Budget, best: Point, cap: int, *, seed: int) -> list[float]:
    """The best load's throughput, measured as often as the budget allows, five times at most."""
    tokens = _tokens(best.stream_speed, cap)
    found = [best.throughput]
    while len(found) < 5 and budget.affords(best.streams * (tokens + PROMPT_TOKENS), 2 * SECONDS_A_LEVEL):
        point = _level(source, budget, best.streams, tokens, seed=seed + 1000 * len(found))
        if point is not None:
            found.append(point.throughput)
        if len(found) >= FEWEST_RUNS and median_interval(found).width < 0.02:
            break
    return found


def point_of(session: Session, streams: int) -> Point | None:
    """What one load reached; None where no stream was written."""
    written = [
        Written(heard, counted)
        for heard in session.heard
        if heard.failed is None and heard.reads > 1 and (counted := count(heard)) is not None
    ]
    if not written:
        return None
    flags = sorted({flag for one in written for flag in one.count.flags})[:3]
    if len(written) < streams:
        failed = next((h.failed for h in session.heard if h.failed), "too short to see a rate")
        flags.append(f"{streams - len(written)} of {streams} streams failed: {failed}")
    window, at_once = _busiest([one.heard for one in written])
    if at_once < len(written):
        flags.append(f"at most {at_once} of {streams} streams wrote at once")
    speeds = [one.speed for one in written]
    return Point(
        streams=streams,
        at_once=at_once,
        throughput=_rate_within(written, window),
        stream_speed=median(speeds),
        idle_share=session.idle_share,
        counted_by="usage" if all(one.count.counted_by == "usage" for one in written) else "tokenizer",
        flags=tuple(flags),
    )


class Written(msgspec.Struct, frozen=True):
    """A stream that was written, and its count."""

    heard: Heard
    count: Count

    @property
    def speed(self) -> float:
        return stream_speed(self.heard, self.count) or 0.0


Window = list[tuple[float, float]]


def _busiest(written: list[Heard]) -> tuple[Window, int]:
    """The stretches of time in which the most streams were writing, long enough to measure in, and how many those
    were. A single moment of many does not count: the stretches hold at least a fifth of the time of all writing."""
    edges = sorted([(h.times[0], 1) for h in written] + [(h.times[-1], -1) for h in written])
    stretches: dict[int, Window] = {}
    writing, since = 0, edges[0][0]
    for at, change in edges:
        if at > since and writing:
            stretches.setdefault(writing, []).append((since, at))
        writing, since = writing + change, at
    whole = sum(end - start for window in stretches.values() for start, end in window)
    held: Window = []
    for most in sorted(stretches, reverse=True):
        held += stretches[most]
        if sum(end - start for start, end in held) >= whole / 5:
            return held, most
    return held, 1


def _rate_within(written: list[Written], window: Window) -> float:
    """Tokens per second of all streams within these stretches. Between two reads of a stream its tokens count as coming
    evenly, so that a read just outside is neither lost nor counted whole."""
    seconds = sum(end - start for start, end in window)
    came = sum(_tokens_by(one, end) - _tokens_by(one, start) for start, end in window for one in written)
    return came / seconds if seconds else 0.0


def _tokens_by(one: Written, at: float) -> float:
    """How many of a stream's tokens had come by then."""
    times = one.heard.times
    after = bisect_right(times, at)
    if after == 0:
        return 0.0
    before = tokens_until(one.heard, after - 1, one.count.tokens)
    if after == len(times):
        return before
    share = (at - times[after - 1]) / (times[after] - times[after - 1])
    return before + share * (tokens_until(one.heard, after, one.count.tokens) - before)


def _figure(best: Point, again: list[float], points: list[Point], ended: bool) -> Figure:
    interval = median_interval(again)
    low, high = ends(interval)
    flags = {flag for point in points for flag in point.flags if point.streams == best.streams}
    if len(again) < FEWEST_RUNS:
        flags.add(f"only {len(again)} runs fitted the budget")
    if not ended:
        flags.add(f"still growing at {points[-1].streams} streams, the most that were tried")
    return Figure(
        value=interval.value,
        low=low,
        high=high,
        unit="tokens/s",
        bound=None if ended else ">=",
        counted_by=best.counted_by,
        flags=tuple(sorted(flags)),
    )


def _knee(points: list[Point]) -> int | None:
    best = max(point.throughput for point in points)
    return next((point.streams for point in points if point.throughput >= 0.9 * best), None)


def _unknown(why: str) -> Figure:
    return Figure(value=None, unit="tokens/s", flags=(why,))
