"""A campaign as a picture, in SVG: the best so far batch by batch, and how honest the forecasts were, beside what their
intervals promised."""

from collections.abc import Sequence
from xml.sax.saxutils import escape

from tamis.lab.campaign import Campaign
from tamis.lab.settings import Goal
from tamis.lab.track import Past, width

WIDTH, HEIGHT, LEFT, TOP, GAP = 720, 460, 70, 34, 60
PANEL = (HEIGHT - TOP - 2 * GAP) / 2
LEVELS = (0.5, 0.9)
COLOURS = {0.5: "#2a7f9e", 0.9: "#b5562b"}

Point = tuple[float, float]


def best_by_batch(campaign: Campaign, goal: Goal) -> list[tuple[int, float]]:
    """After each batch with a result, the best single result so far."""
    found: list[tuple[int, float]] = []
    for number, batch in enumerate(campaign.batches, start=1):
        values = [goal.sign * event.values[goal.name] for row in batch for event in row.results]
        before = [goal.sign * found[-1][1]] if found else []
        if values:
            found.append((number, goal.sign * max(values + before)))
    return found


def covered_by_batch(past: Sequence[Past], level: float) -> list[tuple[int, float]]:
    """After each batch, the share of all results so far that lay in the intervals given before them."""
    found: list[tuple[int, float]] = []
    inside = total = 0
    for batch in sorted({one.batch for one in past}):
        reach = width([one for one in past if one.batch < batch], level)
        here = [abs(one.surprise) <= reach for one in past if one.batch == batch]
        inside, total = inside + sum(here), total + len(here)
        found.append((batch, inside / total))
    return found


def picture(campaign: Campaign, past: Sequence[Past], goal: Goal) -> str:
    """The whole picture, as the text of an SVG file."""
    last = max(len(campaign.batches), 1)
    best = best_by_batch(campaign, goal)
    unit = f" ({goal.unit})" if goal.unit else ""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"',
        '  font-family="sans-serif" font-size="12">',
        *_panel(TOP, f"best {escape(goal.name)}{escape(unit)} so far", [(best, "#333333", "")], last, _bounds(best)),
    ]
    lines = [(covered_by_batch(past, level), COLOURS[level], f"{level:.0%} intervals") for level in LEVELS]
    parts += _panel(TOP + PANEL + GAP, "share of results inside their intervals", lines, last, (0.0, 1.0), marks=LEVELS)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(
    top: float,
    title: str,
    lines: Sequence[tuple[Sequence[tuple[int, float]], str, str]],
    last: int,
    bounds: tuple[float, float],
    *,
    marks: Sequence[float] = (),
) -> list[str]:
    low, high = bounds

    def at(batch: float, value: float) -> Point:
        across = LEFT + (WIDTH - LEFT - 20) * (batch - 1) / max(last - 1, 1)
        return across, top + PANEL * (1.0 - (value - low) / (high - low))

    parts = [f'<text x="{LEFT}" y="{top - 10:.1f}" font-weight="bold">{title}</text>']
    for value in (low, high):
        parts.append(f'<text x="{LEFT - 8}" y="{at(1, value)[1] + 4:.1f}" text-anchor="end">{value:.3g}</text>')
    for mark in marks:
        y = at(1, mark)[1]
        parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - 20}" y1="{y:.1f}" y2="{y:.1f}" stroke="#bbbbbb" stroke-dasharray="4 4"/>'
        )
    for place, (points, colour, label) in enumerate(lines):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(batch, value) for batch, value in points))
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        if label:
            x = WIDTH - 20 - 130 * (len(lines) - place - 1)
            parts.append(f'<text x="{x}" y="{top - 10:.1f}" fill="{colour}" text-anchor="end">{label}</text>')
    bottom = top + PANEL + 18
    parts.append(f'<text x="{LEFT}" y="{bottom:.1f}">batch 1</text>')
    parts.append(f'<text x="{WIDTH - 20}" y="{bottom:.1f}" text-anchor="end">batch {last}</text>')
    return parts


def _bounds(points: Sequence[tuple[int, float]]) -> tuple[float, float]:
    values = [value for _, value in points] or [0.0, 1.0]
    low, high = min(values), max(values)
    return (low, high) if high > low else (low - 0.5, high + 0.5)
