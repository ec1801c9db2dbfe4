"""The critical path: the chain of stretches that the end waited for, one beginning where the one before it ended.

Its pieces add up to the whole run. What is not on it has slack: the time by which it could have taken longer without
anything ending later, with all else as it was. A place that somebody else held counts as something waited for.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal

from tamis.records import Record, Span, Stage
from tamis.time.graph import Graph, Kind, graph
from tamis.time.network import Played, Player
from tamis.time.tree import tree

Share = Stage | Literal["unknown"]
"""A stage on the path; "whole" is what a run did between its stages, "unknown" a lag that nothing explains."""


class Piece(Record, frozen=True, kw_only=True):
    """A stretch of the critical path. `began` counts seconds from the start of the first run, the time between runs
    left out; `on` is what a wait was for; `within` names what the span belongs to."""

    span: str
    name: str
    within: str | None
    stage: Stage
    kind: Kind
    began: float
    seconds: float
    on: str | None = None


class Critical(Record, frozen=True, kw_only=True):
    """The path's pieces, first to last; `slack` in seconds by span; the longest chain of tokens of which each depends
    on those before, against all tokens."""

    pieces: tuple[Piece, ...]
    total_seconds: float
    slack: Mapping[str, float]
    chain_tokens: int
    all_tokens: int

    def shares(self) -> dict[Share, float]:
        """Seconds of the path by stage, the largest first; they add up to the total."""
        return shares(self.pieces)


def critical_path(spans: Sequence[Span]) -> Critical:
    """The critical path of a run that happened."""
    return critical_of(graph(tree(spans)))


def critical_of(made: Graph) -> Critical:
    played = Player(made.network).play(made.work())
    return Critical(
        pieces=pieces(made, played),
        total_seconds=played.seconds,
        slack=_slack(made, played),
        chain_tokens=round(_longest_chain(made, played)),
        all_tokens=sum(span.tokens_out for span in made.spans.values() if span.stage == "writing"),
    )


def shares(path: Sequence[Piece]) -> dict[Share, float]:
    seconds: dict[Share, float] = defaultdict(float)
    for piece in path:
        seconds["unknown" if piece.kind == "lag" else piece.stage] += piece.seconds
    return dict(sorted(seconds.items(), key=lambda item: -item[1]))


def pieces(made: Graph, played: Played) -> tuple[Piece, ...]:
    """The critical path of one playing; stretches of one span that follow each other are one piece."""
    path: list[Piece] = []
    for at in played.path():
        entry, step = played.entries[at], made.steps[played.entries[at].step]
        seconds = played.ended[at] - entry.began
        if seconds <= 0:
            continue
        last = path[-1] if path else None
        if last and (last.span, last.kind, last.on) == (step.span, step.kind, step.on):
            path[-1] = _piece(made, entry.step, last.began, last.seconds + seconds)
        else:
            path.append(_piece(made, entry.step, entry.began, seconds))
    return tuple(path)


def _piece(made: Graph, number: int, began: float, seconds: float) -> Piece:
    step = made.steps[number]
    span = made.spans[step.span]
    parent = made.spans.get(span.parent or "")
    return Piece(
        span=span.id,
        name=span.name,
        within=parent.name if parent else None,
        stage=step.stage,
        kind=step.kind,
        began=began,
        seconds=seconds,
        on=step.on,
    )


def _slack(made: Graph, played: Played) -> dict[str, float]:
    """By span, the least slack of its steps: a backward pass over what waited for what, and over who freed places."""
    latest = {entry.step: played.seconds for entry in played.entries}
    for at in range(len(played.entries) - 1, -1, -1):
        entry = played.entries[at]
        latest_begin = latest[entry.step] - (played.ended[at] - entry.began)
        freed_by = [played.entries[entry.cause].step] if entry.cause >= 0 else []
        for earlier in (*made.network.after[entry.step], *freed_by):
            latest[earlier] = min(latest[earlier], latest_begin)
    slack: dict[str, float] = {}
    for at, entry in enumerate(played.entries):
        step = made.steps[entry.step]
        if step.kind in ("work", "wait"):
            left = max(0.0, latest[entry.step] - played.ended[at])
            slack[step.span] = min(left, slack.get(step.span, left))
    return slack


def _longest_chain(made: Graph, played: Played) -> float:
    longest = [0.0] * len(made.steps)
    for entry in played.entries:
        before = max((longest[earlier] for earlier in made.network.after[entry.step]), default=0.0)
        longest[entry.step] = before + made.steps[entry.step].tokens
    return max(longest, default=0.0)
