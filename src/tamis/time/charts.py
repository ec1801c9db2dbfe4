"""Pictures of time, as SVG text that stands inside a page: where it goes at each writing speed, and the curve over
speeds that goes flat. The waterfall is in `waterfall`.

Each is a pure function of its data. Colours tell stages apart in every picture alike; no colour carries anything that a
label doesn't say too.
"""

import math
from collections.abc import Mapping, Sequence

import msgspec

from tamis.records import Span
from tamis.time.critical import Share
from tamis.time.durations import spoken
from tamis.time.graph import graph
from tamis.time.svg import picture, tag, title, words
from tamis.time.tree import tree
from tamis.time.whatif import Changes, Replay, at_speeds, drafts_written, replay

WIDTH = 760.0
COLOURS: Mapping[Share, str] = {
    # Okabe and Ito's colours, which stay apart for the colour-blind, and two of Tol's
    "writing": "#0072B2",
    "reading": "#56B4E9",
    "ranking": "#AA4499",
    "tools": "#E69F00",
    "permission": "#F0E442",
    "tests": "#009E73",
    "deployment": "#882255",
    "people": "#D55E00",
    "lab": "#CC79A7",
    "whole": "#999999",
    "unknown": "#CCCCCC",
}
NAMES: Mapping[Share, str] = {"whole": "between stages", "unknown": "unknown"}
LINES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")


class Bar(msgspec.Struct, frozen=True):
    """One way of running: its name, and the seconds of its critical path by stage."""

    name: str
    shares: Mapping[Share, float]

    @property
    def seconds(self) -> float:
        return math.fsum(self.shares.values())


def stage_name(share: Share) -> str:
    return NAMES.get(share, share)


def speed_bars(bars: Sequence[Bar], *, name: str = "Where the time goes, as run and at other writing speeds") -> str:
    """A bar for each way of running, all of one length, divided among the stages; the whole time stands at its end."""
    left, right, high = 160.0, 90.0, 30.0
    shown = sorted({s for bar in bars for s in bar.shares if bar.shares[s] > 0}, key=list(COLOURS).index)
    parts = [spectrum(shown, left)]
    for row, bar in enumerate(bars):
        y = 34.0 + row * high
        parts.append(words(left - 10, y + 15, bar.name, anchor="end"))
        parts += _stacked(bar, left, y, WIDTH - left - right, shown)
        parts.append(words(WIDTH - right + 10, y + 15, spoken(bar.seconds)))
    return picture(WIDTH, 40 + high * len(bars), f"{name}. {_heard(bars)}", *parts)


def speeds_chart(spans: Sequence[Span], *, tokens: int = 0) -> str:
    """The bars of a run: as run, and replayed at writing speeds from 100 to 1,000,000 tokens per second. `tokens` are
    those of drafts that were written before the run, whose writing is then put before it."""
    made = graph(tree(drafts_written(spans, [tokens] if tokens else [])))
    return speed_bars(bars(replay(made, Changes()), at_speeds(made)))


def curve_chart(spans: Sequence[Span], *, tokens: int = 0) -> str:
    """The curve of a run over writing speeds, as `speeds_chart` has its bars, with the floor that none gets below."""
    made = graph(tree(drafts_written(spans, [tokens] if tokens else [])))
    seconds = {speed: found.seconds for speed, found in at_speeds(made).items()}
    floor = replay(made, Changes(), infinitely_fast=True).seconds
    writes = any(step.streamed for step in made.steps)
    return flat_curve({"a writer of so much in all": seconds} if writes else {}, floor_seconds=floor)


def bars(as_run: Replay, speeds: Mapping[float, Replay]) -> list[Bar]:
    """As run, and at each speed in tokens per second."""
    at_speed = [Bar(f"{speed:,.0f} tokens/s", found.shares()) for speed, found in speeds.items()]
    return [Bar("as run", as_run.shares()), *at_speed]


def _stacked(bar: Bar, left: float, y: float, width: float, order: Sequence[Share]) -> list[str]:
    parts, x, total = [], left, bar.seconds
    for share in order:
        seconds = bar.shares.get(share, 0.0)
        if total <= 0 or seconds <= 0:
            continue
        wide = width * seconds / total
        said = f"{stage_name(share)}: {spoken(seconds)}, {seconds / total:.0%} of {spoken(total)} ({bar.name})"
        parts.append(tag("rect", title(said), x=x, y=y, width=max(wide, 0.5), height=22, fill=COLOURS[share]))
        x += wide
    return parts


def spectrum(shares: Sequence[Share], x: float) -> str:
    """Which colour is which stage, in a line at the top."""
    parts = []
    for share in shares:
        parts.append(tag("rect", x=x, y=6, width=12, height=12, fill=COLOURS[share]))
        parts.append(words(x + 17, 17, stage_name(share), size=12))
        x += 34 + 6.6 * len(stage_name(share))
    return "".join(parts)


def _heard(bars: Sequence[Bar]) -> str:
    return "; ".join(f"{bar.name} {spoken(bar.seconds)}" for bar in bars)


def flat_curve(
    series: Mapping[str, Mapping[float, float]],
    *,
    floor_seconds: float | None = None,
    flat_from: float | None = None,
    name: str = "Time from end to end over the writing speed",
) -> str:
    """Seconds from end to end by tokens per second, both logarithmic: a line for each way of being faster, the floor
    that none gets below, and where the first goes flat."""
    points = [(speed, seconds) for line in series.values() for speed, seconds in line.items() if seconds > 0]
    if not points:
        return picture(WIDTH, 30, f"{name}: nothing is written", words(10, 20, "nothing is written"))
    lows = [seconds for _, seconds in points] + ([floor_seconds] if floor_seconds else [])
    low, high = min(lows), max(seconds for _, seconds in points)
    room = max(1.3, (high / low) ** 0.12)  # below the floor, for its label
    plane = _Plane(
        speeds=(min(speed for speed, _ in points), max(speed for speed, _ in points)),
        seconds=(low / room, high * 1.3),
    )
    parts = plane.axes()
    if floor_seconds:
        y = plane.y(floor_seconds)
        parts.append(_rule(plane.left, y, plane.right, y))
        parts.append(words(plane.left + 6, y + 16, f"infinitely fast: {spoken(floor_seconds)}", size=12, dim=True))
    if flat_from is not None:
        x = plane.x(flat_from)
        parts.append(_rule(x, plane.top, x, plane.bottom))
        late = x > (plane.left + plane.right) / 2
        anchor, beside = ("end", x - 6) if late else ("start", x + 6)
        parts.append(words(beside, plane.top + 12, f"flat from {flat_from:,.0f} tokens/s", anchor=anchor, size=12))
    for number, (label, line) in enumerate(series.items()):
        parts += _line(plane, label, line, LINES[number % len(LINES)], number)
    said = "; ".join(
        f"{label}: " + ", ".join(f"{s:g} tokens/s {spoken(t)}" for s, t in sorted(line.items()))
        for label, line in series.items()
    )
    return picture(WIDTH, plane.bottom + 46, f"{name}. {said}", *parts)


class _Plane:
    """Where a speed and a time stand in the picture."""

    left, right, top, bottom = 90.0, WIDTH - 50, 40.0, 300.0

    def __init__(self, speeds: tuple[float, float], seconds: tuple[float, float]) -> None:
        self._speeds = [math.log10(speed) for speed in speeds]
        self._seconds = [math.log10(s) for s in seconds]

    def x(self, speed: float) -> float:
        low, high = self._speeds
        return self.left + (math.log10(speed) - low) / ((high - low) or 1.0) * (self.right - self.left)

    def y(self, seconds: float) -> float:
        low, high = self._seconds
        return self.bottom - (math.log10(seconds) - low) / ((high - low) or 1.0) * (self.bottom - self.top)

    def axes(self) -> list[str]:
        parts = [_rule(self.left, self.bottom, self.right, self.bottom, solid=True)]
        for power in range(math.ceil(self._speeds[0]), math.floor(self._speeds[1]) + 1):
            parts.append(words(self.x(10.0**power), self.bottom + 18, f"{10.0**power:,.0f}", anchor="middle", size=12))
        parts.append(
            words((self.left + self.right) / 2, self.bottom + 38, "tokens per second", anchor="middle", size=12)
        )
        for seconds in _ticks(10 ** self._seconds[0], 10 ** self._seconds[1]):
            parts.append(_rule(self.left, self.y(seconds), self.right, self.y(seconds), faint=True))
            parts.append(words(self.left - 8, self.y(seconds) + 4, spoken(seconds), anchor="end", size=12))
        return parts


def _ticks(low: float, high: float) -> list[float]:
    """Round times between the two, thinned out so that some six remain."""
    minute, hour, day = 60.0, 3600.0, 86_400.0
    small = [m * 10.0**k for k in range(-6, 2) for m in (1.0, 2.0, 5.0)]
    large = [n * minute for n in (1, 2, 5, 10, 20, 30)] + [n * hour for n in (1, 2, 5, 12)]
    large += [n * day for n in (1, 2, 4, 7, 14, 28, 56, 112, 182, 365, 730, 3650)]
    within = [s for s in sorted({*(s for s in small if s < minute), *large}) if low <= s <= high]
    return within[:: max(1, math.ceil(len(within) / 6))]


def _line(plane: _Plane, label: str, line: Mapping[float, float], colour: str, number: int) -> list[str]:
    points = [(plane.x(speed), plane.y(s), speed, s) for speed, s in sorted(line.items()) if s > 0]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y, _, _ in points)
    dashes = {} if number == 0 else {"stroke_dasharray": "7 4"}
    parts = [tag("polyline", points=path, fill="none", stroke=colour, stroke_width=2.5, **dashes)]
    for x, y, speed, seconds in points:
        said = f"{label}, {speed:,.0f} tokens/s: {spoken(seconds)}"
        parts.append(tag("circle", title(said), cx=x, cy=y, r=4, fill=colour))
    at = plane.left + number * 240
    parts.append(tag("line", x1=at, y1=16, x2=at + 24, y2=16, stroke=colour, stroke_width=2.5, **dashes))
    return [*parts, words(at + 30, 20, label, size=12)]


def _rule(x1: float, y1: float, x2: float, y2: float, *, solid: bool = False, faint: bool = False) -> str:
    dashes = {} if solid or faint else {"stroke_dasharray": "4 4"}
    opacity = 0.15 if faint else 0.6
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke="currentColor", opacity=opacity, **dashes)
