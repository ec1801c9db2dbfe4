"""Two pictures of a measurement, as SVG text that stands inside a page: throughput and stream speed over streams at
once, and the time to first token over the prompt's length. Each says in words what its colours say."""

import math
from collections.abc import Callable, Sequence

from tamis.speed.inputs import Reads
from tamis.speed.throughput import Point
from tamis.speed.told import amount
from tamis.time.svg import picture, tag, title, words

WIDTH, HEIGHT = 640.0, 320.0
LEFT, RIGHT, TOP, BOTTOM = 90.0, 20.0, 40.0, 50.0
BLUE, ORANGE = "#0072B2", "#D55E00"

Place = Callable[[float], float]


def loads_picture(points: Sequence[Point]) -> str:
    """Throughput and stream speed, both on logarithmic axes: along one line they rise together, along two they part."""
    xs = [float(point.at_once) for point in points]
    together = [point.throughput for point in points]
    each = [point.stream_speed for point in points]
    across = _logarithmic(min(xs), max(xs), LEFT, WIDTH - RIGHT)
    up = _logarithmic(min(each + together), max(each + together), HEIGHT - BOTTOM, TOP)
    parts = [
        *_frame("streams at once", "tokens/s"),
        *(_mark_x(across(x), f"{x:,.0f}") for x in _few(xs)),
        *(_mark_y(up(y), amount(y, "tokens/s")) for y in _decades(min(each + together), max(each + together))),
        *_line([(across(x), up(y)) for x, y in zip(xs, together, strict=True)], together, BLUE, "throughput"),
        *_line([(across(x), up(y)) for x, y in zip(xs, each, strict=True)], each, ORANGE, "stream speed"),
        words(LEFT, 20, "blue: throughput, all streams together"),
        tag("circle", cx=LEFT - 12, cy=16, r=5, fill=BLUE),
        words(LEFT + 290, 20, "orange: stream speed, each"),
        tag("circle", cx=LEFT + 278, cy=16, r=5, fill=ORANGE),
    ]
    best = max(points, key=lambda point: point.throughput)
    most = amount(best.throughput, "tokens/s")
    name = f"Throughput and stream speed over streams at once: at most {most} tokens/s together"
    return picture(WIDTH, HEIGHT, name, *parts)


def first_token_picture(reads: Reads) -> str:
    """Each prompt a point; the line is the slope, where there is one."""
    xs = [float(point.uncached) for point in reads.points]
    ys = [point.seconds for point in reads.points]
    across = _linear(0.0, max(xs), LEFT, WIDTH - RIGHT)
    up = _linear(0.0, 1.1 * max(ys), HEIGHT - BOTTOM, TOP)
    dots = [tag("circle", cx=across(x), cy=up(y), r=3, fill=BLUE, opacity=0.6) for x, y in zip(xs, ys, strict=True)]
    parts = [
        *_frame("prompt tokens not read before", "time to first token"),
        *(_mark_x(across(share * max(xs)), f"{share * max(xs):,.0f}") for share in (0.0, 0.5, 1.0)),
        *(_mark_y(up(share * max(ys)), amount(share * max(ys), "s")) for share in (0.0, 0.5, 1.0)),
        *dots,
    ]
    if reads.input.value is None:
        return picture(WIDTH, HEIGHT, "Time to first token over the prompt's length: no slope", *parts)
    rise = [y - x / reads.input.value for x, y in zip(xs, ys, strict=True)]
    base = sorted(rise)[len(rise) // 2]
    ends = (base, base + max(xs) / reads.input.value)
    parts.append(tag("line", x1=across(0), y1=up(ends[0]), x2=across(max(xs)), y2=up(ends[1]), stroke=ORANGE))
    speed = amount(reads.input.value, "tokens/s")
    return picture(WIDTH, HEIGHT, f"Time to first token over the prompt's length: {speed} tokens/s", *parts)


def _frame(x_name: str, y_name: str) -> list[str]:
    return [
        tag("line", x1=LEFT, y1=HEIGHT - BOTTOM, x2=WIDTH - RIGHT, y2=HEIGHT - BOTTOM, stroke="currentColor"),
        tag("line", x1=LEFT, y1=TOP, x2=LEFT, y2=HEIGHT - BOTTOM, stroke="currentColor"),
        words((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, x_name, anchor="middle", dim=True),
        words(4, TOP - 8, y_name, dim=True, size=11),
    ]


def _line(places: Sequence[tuple[float, float]], values: Sequence[float], colour: str, name: str) -> list[str]:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dots = [
        tag("circle", title(f"{name}: {amount(value, 'tokens/s')} tokens/s"), cx=x, cy=y, r=4, fill=colour)
        for (x, y), value in zip(places, values, strict=True)
    ]
    return [tag("polyline", points=path, fill="none", stroke=colour, stroke_width=2), *dots]


def _mark_x(x: float, text: str) -> str:
    return words(x, HEIGHT - BOTTOM + 18, text, anchor="middle", size=11)


def _mark_y(y: float, text: str) -> str:
    return words(LEFT - 8, y + 4, text, anchor="end", size=11)


def _logarithmic(low: float, high: float, start: float, end: float) -> Place:
    span = math.log(high / low) or 1.0
    return lambda value: start + (end - start) * math.log(value / low) / span


def _linear(low: float, high: float, start: float, end: float) -> Place:
    span = (high - low) or 1.0
    return lambda value: start + (end - start) * (value - low) / span


def _few(values: Sequence[float]) -> list[float]:
    return list(values[:: max(1, len(values) // 8)])


def _decades(low: float, high: float) -> list[float]:
    """The ends, and the powers of ten between them that are not too near an end to be written beside it."""
    powers = [10.0**n for n in range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)]
    apart = (high / low) ** 0.1
    return [low, *(power for power in powers if low * apart < power < high / apart), high]
