"""A campaign as a picture, in SVG: for each goal every result beside what was forecast of it and the best so far, and
below, batch by batch, how many results lay in the intervals that were given before them.

A pure function of the campaign. Nothing is told by colour alone: what lay outside its interval is hollow.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tamis.lab.campaign import Campaign, Row
from tamis.lab.plan import past_in
from tamis.lab.settings import Goal
from tamis.lab.track import Past, width
from tamis.time.svg import picture, tag, title, words

WIDTH, LEFT, RIGHT = 760.0, 74.0, 16.0
HIGH, LOW, GAP = 230.0, 110.0, 76.0
LEVELS = (0.5, 0.9)
BLUE, ORANGE, GREY = "#2b83ba", "#d95f02", "#8a93a0"
"""In the middle of light and dark, so that they stand on either; told apart by the colour-blind."""


@dataclass(frozen=True)
class _Result:
    """A row with its result: `across` is its place, 0 to 1 over the campaign, `value` in the goal's unit."""

    row: Row
    across: float
    value: float
    past: Past | None


def campaign_picture(campaign: Campaign, goals: Sequence[Goal]) -> str:
    """The whole picture, as the text of an SVG element."""
    parts: list[str] = []
    top = 34.0
    for goal in goals:
        results = list(_results(campaign, goal))
        parts += _results_panel(top, results, goal, len(campaign.batches))
        top += HIGH + GAP
    pasts = [[one.past for one in _results(campaign, goal) if one.past] for goal in goals]
    parts += _coverage_panel(top, pasts, len(campaign.batches))
    return picture(WIDTH, top + LOW + 30, "The campaign: results, forecasts and how honest they were", *parts)


def _results(campaign: Campaign, goal: Goal) -> Iterator[_Result]:
    batches = max(len(campaign.batches), 1)
    for number, batch in enumerate(campaign.batches):
        for place, row in enumerate(batch):
            if row.results:
                value = sum(event.values[goal.name] for event in row.results) / len(row.results)
                yield _Result(row, (number + (place + 0.5) / len(batch)) / batches, value, past_in(row, goal))


def _results_panel(top: float, results: Sequence[_Result], goal: Goal, batches: int) -> list[str]:
    unit = f" ({goal.unit})" if goal.unit else ""
    parts = [words(LEFT, top - 16, f"{goal.words}{'' if goal.threshold is not None else unit}", size=14)]
    if not results:
        return [*parts, words(LEFT, top + 20, "no result yet", dim=True)]
    pasts = [one.past for one in results if one.past]
    low, high = _bounds(results, goal)
    axis = _Axis(top, HIGH, low, high)
    parts += [*axis.frame(batches), *_goal_line(goal, axis)]
    for one in results:
        parts += _interval(one, goal, pasts, axis)
        parts.append(_dot(one, goal, pasts, axis))
    return [*parts, *_best_line(results, goal, axis), *_legend(top)]


def _bounds(results: Sequence[_Result], goal: Goal) -> tuple[float, float]:
    """All results and most of the intervals; a forecast's wild interval may leave the frame."""
    values = [one.value for one in results] + ([] if goal.threshold is None else [goal.threshold])
    low, high = min(values), max(values)
    room = 0.12 * (high - low) or 0.5 * abs(high) or 0.5
    return low - room, high + room


@dataclass(frozen=True)
class _Axis:
    top: float
    height: float
    low: float
    high: float

    def x(self, across: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * across

    def y(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self.top + self.height * (1.0 - min(max(share, 0.0), 1.0))

    def frame(self, batches: int) -> list[str]:
        """The ends of the scale, and a stroke between batches with the number of some of them."""
        bottom = self.top + self.height
        parts = [
            tag("rect", x=LEFT, y=self.top, width=WIDTH - LEFT - RIGHT, height=self.height, fill="none", stroke=GREY)
        ]
        for value in (self.low, (self.low + self.high) / 2, self.high):
            parts.append(words(LEFT - 8, self.y(value) + 4, f"{value:.3g}", anchor="end", size=12, dim=True))
        step = max(1, -(-batches // 15))
        for number in range(1, batches + 1):
            at = self.x((number - 1) / batches)
            if number > 1:
                parts.append(tag("line", x1=at, x2=at, y1=self.top, y2=bottom, stroke=GREY, stroke_opacity=0.25))
            if (number - 1) % step == 0:
                middle = self.x((number - 0.5) / batches)
                parts.append(words(middle, bottom + 16, str(number), anchor="middle", size=12, dim=True))
        return [*parts, words(WIDTH - RIGHT, bottom + 32, "batch", anchor="end", size=12, dim=True)]


def _goal_line(goal: Goal, axis: _Axis) -> list[str]:
    if goal.threshold is None:
        return []
    y = axis.y(goal.threshold)
    return [tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y, stroke=ORANGE, stroke_dasharray="6 4")]


def _reach(past: Past, pasts: Sequence[Past], level: float) -> float:
    """Half the interval that was given before the result, as wide as experience said by then."""
    return width([other for other in pasts if other.batch < past.batch], level) * past.sd


def _interval(one: _Result, goal: Goal, pasts: Sequence[Past], axis: _Axis) -> list[str]:
    if one.past is None:
        return []
    x, middle = axis.x(one.across), goal.sign * one.past.mean
    parts = []
    for level, stroke in zip(LEVELS, (4.0, 1.2), strict=True):
        reach = _reach(one.past, pasts, level)
        ends = axis.y(middle - reach), axis.y(middle + reach)
        parts.append(
            tag("line", x1=x, x2=x, y1=ends[0], y2=ends[1], stroke=BLUE, stroke_width=stroke, stroke_opacity=0.55)
        )
    return parts


def _dot(one: _Result, goal: Goal, pasts: Sequence[Past], axis: _Axis) -> str:
    said = f"batch {one.row.batch}, {one.row.proposed.name}: measured {one.value:.4g}"
    inside = True
    if one.past is not None:
        said += f", forecast {goal.sign * one.past.mean:.4g}"
        inside = abs(one.past.result - one.past.mean) <= _reach(one.past, pasts, 0.9)
    colour = GREY if one.past is None else BLUE if inside else ORANGE
    fill = colour if inside else "none"
    x, y = axis.x(one.across), axis.y(one.value)
    return tag("circle", title(said), cx=x, cy=y, r=3.0, fill=fill, stroke=colour, stroke_width=1.6)


def _best_line(results: Sequence[_Result], goal: Goal, axis: _Axis) -> list[str]:
    points: list[tuple[float, float]] = []
    best: float | None = None
    for one in results:
        better = one.value if best is None else goal.sign * max(goal.sign * best, goal.sign * one.value)
        points += [] if best is None else [(one.across, best)]
        points.append((one.across, better))
        best = better
    points += [(1.0, points[-1][1])]
    path = " ".join(f"{axis.x(across):.1f},{axis.y(value):.1f}" for across, value in points)
    return [tag("polyline", points=path, fill="none", stroke="currentColor", stroke_width=1.8)]


def _legend(top: float) -> list[str]:
    y, parts, x = top - 16, [], WIDTH - RIGHT - 428
    parts += [tag("line", x1=x, x2=x + 20, y1=y - 4, y2=y - 4, stroke="currentColor", stroke_width=1.8)]
    parts += [words(x + 26, y, "best so far", size=12)]
    marks = (
        (112, BLUE, BLUE, "as forecast"),
        (212, ORANGE, "none", "outside its 90 %"),
        (344, GREY, GREY, "no forecast"),
    )
    for right, colour, fill, name in marks:
        parts.append(tag("circle", cx=x + right, cy=y - 4, r=3.0, fill=fill, stroke=colour, stroke_width=1.6))
        parts.append(words(x + right + 9, y, name, size=12))
    return parts


def _coverage_panel(top: float, pasts: Sequence[Sequence[Past]], batches: int) -> list[str]:
    """The share of all results so far that lay in their intervals, against what the intervals promise."""
    parts = [words(LEFT, top - 16, "results so far that lay in their intervals", size=14)]
    if not any(pasts):
        return [*parts, words(LEFT, top + 20, "no forecast has come back yet", dim=True)]
    axis = _Axis(top, LOW, 0.0, 1.0)
    frame = tag("rect", x=LEFT, y=top, width=WIDTH - LEFT - RIGHT, height=LOW, fill="none", stroke=GREY)
    parts.append(frame)
    for level, colour in zip(LEVELS, (BLUE, ORANGE), strict=True):
        y = axis.y(level)
        parts.append(tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y, stroke=colour, stroke_dasharray="3 4"))
        parts.append(words(LEFT - 8, y + 4, f"{level:.0%}", anchor="end", size=12, dim=True))
        points = list(covered_by_batch(pasts, level))
        path = " ".join(f"{axis.x((batch - 0.5) / batches):.1f},{axis.y(share):.1f}" for batch, share in points)
        parts.append(tag("polyline", points=path, fill="none", stroke=colour, stroke_width=2))
        last = points[-1]
        said = f"{last[1]:.0%} in the {level:.0%} intervals"
        parts.append(words(WIDTH - RIGHT - (0 if level > 0.5 else 190), top - 16, said, anchor="end", size=12))
        parts += [
            tag(
                "circle",
                title(f"batch {batch}: {share:.0%}"),
                cx=axis.x((batch - 0.5) / batches),
                cy=axis.y(share),
                r=2.4,
                fill=colour,
            )
            for batch, share in points
        ]
    return parts


def covered_by_batch(pasts: Sequence[Sequence[Past]], level: float) -> Iterator[tuple[int, float]]:
    """After each batch, the share of all results so far that lay in the intervals given before them, over all goals."""
    inside = total = 0
    for batch in sorted({one.batch for past in pasts for one in past}):
        for past in pasts:
            here = [abs(one.surprise) <= _reach(one, past, level) / one.sd for one in past if one.batch == batch]
            inside, total = inside + sum(here), total + len(here)
        yield batch, inside / total
