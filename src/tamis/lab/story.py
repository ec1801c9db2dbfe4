"""Where a campaign stands, as a record for programs: what `--json` and the report show. The lines for a person are in
`telling`.

The keys of `LabView` are a promise: they are only ever added to.
"""

from collections.abc import Iterable, Sequence

import msgspec

from tamis.lab.batches import MeasuredView, rows_of
from tamis.lab.calendar import Calendar
from tamis.lab.desk import Standing
from tamis.lab.outlook import RUNGS, Best, Rung
from tamis.lab.settings import Goal


class ValueView(msgspec.Struct, frozen=True):
    """An idea in one goal: what was measured (the mean), and the bounds of its true value at 90 %."""

    value: float
    low: float
    high: float


class BestView(msgspec.Struct, frozen=True):
    """An idea near the top. `value` is measured, for the first goal; `low` and `high` bound its true value at 90 %.
    `values` says the same for every goal. `on_front`: no other idea beats it in all of them."""

    name: str
    value: float
    low: float
    high: float
    rung: Rung
    expected: float
    measurements: int
    synthesis: list[str]
    lab_batches: list[str]
    disagree: str
    distance_to_known: float | None
    values: dict[str, ValueView]
    on_front: bool


class RegretView(msgspec.Struct, frozen=True):
    """How much better the best idea of all is expected to be than the leader, in `unit`, and the probability that one
    not measured is better than all that are. With several goals: by what share the front's hypervolume would grow. None
    while nothing was learned."""

    expected: float | None
    better_left: float | None
    unit: str


class FailingView(msgspec.Struct, frozen=True):
    """A kind of idea whose runs keep failing."""

    kind: str
    failed: int
    runs: int


class CalendarView(msgspec.Struct, frozen=True):
    """Days as YYYY-MM-DD; batches as counts."""

    begun: str
    ends: str
    planned: int
    done: int
    out: int
    to_go: int
    working_days: int


class LabView(msgspec.Struct, frozen=True):
    batches: list[list[MeasuredView]]
    best: list[BestView]
    regret: RegretView
    coverage: dict[str, float | None]
    ladder: dict[str, int]
    refused: dict[str, int]
    stop: str
    sheet: str | None
    sheets: list[str]
    failing: list[FailingView]
    calendar: CalendarView | None


def lab_view(standing: Standing, goals: Sequence[Goal]) -> LabView:
    """The whole of it; goes into `--json`."""
    said, sheets = standing.outlook, [str(sheet) for sheet in standing.sheets]
    rest = said.left
    return LabView(
        batches=rows_of(standing.campaign, goals[0]),
        best=[_best(one) for one in said.best],
        regret=RegretView(rest.regret, rest.better, rest.unit) if rest else RegretView(None, None, goals[0].unit or ""),
        coverage=said.covered,
        ladder=ladder(standing),
        refused=reasons(standing),
        stop=said.stop,
        sheet=sheets[-1] if sheets else None,
        sheets=sheets,
        failing=[FailingView(one.name, one.failed, one.runs) for one in standing.failing],
        calendar=_calendar(standing.calendar) if standing.calendar else None,
    )


def _calendar(days: Calendar) -> CalendarView:
    counts = (days.planned, days.done, days.out, days.to_go, days.working_days)
    return CalendarView(days.begun.isoformat(), days.ends.isoformat(), *counts)


def _best(one: Best) -> BestView:
    return BestView(
        name=one.name,
        value=one.first.measured,
        low=one.first.low,
        high=one.first.high,
        rung=one.rung,
        expected=one.first.expected,
        measurements=one.measurements,
        synthesis=list(one.synthesis),
        lab_batches=list(one.lab_batches),
        disagree=one.disagree,
        distance_to_known=one.distance,
        values={name: ValueView(v.measured, v.low, v.high) for name, v in one.values.items()},
        on_front=one.front,
    )


def ladder(standing: Standing) -> dict[str, int]:
    """How many ideas have come at least as far as each rung."""
    ideas, runs = standing.ideas, [len(events) for events in standing.campaign.measured().values()]
    distinct = len(ideas.ideas)
    counts = (
        distinct + len(ideas.folded) + len(ideas.refused),
        distinct + len(ideas.folded),
        distinct,
        distinct if standing.outlook.left is not None else 0,
        len(runs),
        sum(1 for one in runs if one > 1),
    )
    return dict(zip(RUNGS, counts, strict=True))


def reasons(standing: Standing, most: int = 5) -> dict[str, int]:
    """The most common reasons for refusing an idea."""
    return like_reasons(standing.ideas.refused.values(), most)


def like_reasons(refused: Iterable[str], most: int = 5) -> dict[str, int]:
    """The most common of these reasons, numbers left out so that like ones count together."""
    counts: dict[str, int] = {}
    for reason in refused:
        kind = " ".join("…" if any(c.isdigit() for c in word) else word for word in reason.split())
        counts[kind] = counts.get(kind, 0) + 1
    return dict(sorted(counts.items(), key=lambda one: -one[1])[:most])
