"""The waterfall: every span of a run as a bar on one axis of time, and under the bars the critical path.

A long run has more spans than a picture has room: then the parts of the run stay, and of the rest those that the
critical path spends longest in; the last line says how many were left out.
"""

from collections.abc import Sequence

import msgspec

from tamis.records import Span
from tamis.time.charts import COLOURS, WIDTH, spectrum, stage_name
from tamis.time.critical import Critical, Piece, critical_of
from tamis.time.durations import spoken
from tamis.time.graph import graph
from tamis.time.intervals import Interval, union
from tamis.time.svg import picture, tag, title, words
from tamis.time.tree import Tree, tree

LEFT, RIGHT, HIGH, TOP = 190.0, 70.0, 20.0, 56.0


class _Row(msgspec.Struct, frozen=True):
    span: Span
    depth: int
    pieces: tuple[Piece, ...]


def waterfall(spans: Tree, critical: Critical, *, most_rows: int = 40, name: str = "The run, span by span") -> str:
    """The picture. The time between runs is left out of the axis."""
    rows, left_out = _chosen(spans, critical, most_rows)
    axis = _Axis(union(spans.extent(root) for root in spans.roots))
    parts = [spectrum(sorted({row.span.stage for row in rows}, key=list(COLOURS).index), LEFT)]
    parts += [_mark(LEFT, LEFT + 18, 33.0), words(LEFT + 26, 37, "the critical path: what the end waited for", size=12)]
    for number, row in enumerate(rows):
        parts += _row(row, axis, TOP + number * HIGH)
    bottom = TOP + len(rows) * HIGH + 14
    parts += [words(LEFT, bottom, "0 s", size=12, dim=True)]
    parts += [words(WIDTH - RIGHT, bottom, spoken(axis.seconds), anchor="end", size=12, dim=True)]
    if left_out:
        what = f"{left_out:,} more spans, on which the path spends less"
        parts.append(words(WIDTH / 2, bottom, what, anchor="middle", size=12, dim=True))
    heard = "; ".join(f"{p.name} {spoken(p.seconds)}" for p in critical.pieces[:20])
    return picture(WIDTH, bottom + 10, f"{name}. Critical path: {heard}", *parts)


def waterfall_chart(spans: Sequence[Span], *, most_rows: int = 40) -> str:
    """The waterfall of a run, from its spans alone."""
    known = tree(spans)
    return waterfall(known, critical_of(graph(known)), most_rows=most_rows)


class _Axis:
    """From the clock to the picture, leaving out when nothing was under way."""

    def __init__(self, busy: Sequence[Interval]) -> None:
        self._busy = busy
        self.seconds = sum(end - start for start, end in busy)

    def at(self, clock: float) -> float:
        return self.after(sum(min(clock, end) - start for start, end in self._busy if start < clock))

    def after(self, seconds: float) -> float:
        """Where this many seconds of running have passed."""
        return LEFT + (WIDTH - LEFT - RIGHT) * (seconds / self.seconds if self.seconds else 0.0)


def _chosen(spans: Tree, critical: Critical, most_rows: int) -> tuple[list[_Row], int]:
    """The rows to show in the order of the run, and how many spans are left out."""
    of_span: dict[str, list[Piece]] = {}
    for piece in critical.pieces:
        of_span.setdefault(piece.span, []).append(piece)
    depths: dict[str, int] = {}
    rows: list[_Row] = []
    for span in spans.everything():
        depths[span.id] = depths[span.parent] + 1 if span.parent in depths else 0
        rows.append(_Row(span, depths[span.id], tuple(of_span.get(span.id, ()))))
    by_weight = sorted(rows, key=lambda row: (row.depth > 1, -sum(p.seconds for p in row.pieces), -row.span.seconds))
    kept = {row.span.id for row in by_weight[:most_rows]}
    return [row for row in rows if row.span.id in kept], len(rows) - len(kept)


def _row(row: _Row, axis: _Axis, y: float) -> list[str]:
    span = row.span
    x, end = axis.at(span.started), axis.at(span.ended)
    worked_from = axis.at(min(span.ended, span.started + span.waited))
    colour = COLOURS[span.stage]
    said = f"{span.name} ({stage_name(span.stage)}): {spoken(span.seconds)}"
    if span.waited:
        said += f", of which {spoken(span.waited)} waiting on {span.waited_on or 'unknown'}"
    faint = 0.3 if span.stage == "whole" else 0.9
    bars = [(x, worked_from, 0.35), (worked_from, end, faint)] if span.waited else [(x, end, faint)]
    parts = [words(6 + 10 * min(row.depth, 6), y + 11, _short(span.name, row.depth), size=12)]
    for left, right, opacity in bars:
        wide = max(right - left, 1.0)
        parts.append(tag("rect", title(said), x=left, y=y + 1, width=wide, height=12, fill=colour, opacity=opacity))
    parts += [_mark(axis.after(p.began), axis.after(p.began + p.seconds), y + 15) for p in row.pieces]
    parts.append(words(WIDTH - RIGHT + 8, y + 11, spoken(span.seconds), size=12, dim=True))
    return parts


def _mark(x: float, end: float, y: float) -> str:
    return tag("rect", x=x, y=y - 1.5, width=max(end - x, 1.0), height=3, fill="currentColor")


def _short(name: str, depth: int) -> str:
    room = 27 - 2 * min(depth, 6)
    return name if len(name) <= room else name[: room - 1] + "…"
