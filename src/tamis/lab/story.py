"""The campaign told: lines for a person, and the same as a record for programs. Nothing here prints.

The keys of `LabView` are a promise: they are only ever added to.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import msgspec

from tamis.lab.calendar import last_day
from tamis.lab.campaign import Row
from tamis.lab.desk import Standing
from tamis.lab.outlook import RUNGS, Best, Rung
from tamis.lab.outlook import told as in_words
from tamis.lab.settings import Goal, LabSection
from tamis.lab.sheet import Read

MOST_TOLD = 10


class MeasuredView(msgspec.Struct, frozen=True):
    """One row of a batch. `value` is the mean of its results for the first goal, None while there is none."""

    name: str
    value: float | None
    row: str
    why: str
    state: str


class BestView(msgspec.Struct, frozen=True):
    """An idea near the top. `value` is measured; `low` and `high` bound its true value at 90 %."""

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


class RegretView(msgspec.Struct, frozen=True):
    """How much better the best idea of all is expected to be than the leader, in `unit`, and the probability that one
    not measured is better than all that are. None while nothing was learned."""

    expected: float | None
    better_left: float | None
    unit: str


class LabView(msgspec.Struct, frozen=True):
    batches: list[list[MeasuredView]]
    best: list[BestView]
    regret: RegretView
    coverage: dict[str, float | None]
    ladder: dict[str, int]
    refused: dict[str, int]
    stop: str
    sheet: str | None


def lab_view(standing: Standing, goals: Sequence[Goal]) -> LabView:
    """The whole of it; goes into `--json`."""
    said = standing.outlook
    return LabView(
        batches=[[_measured(row, goals[0]) for row in batch] for batch in standing.campaign.batches],
        best=[_best(one) for one in said.best],
        regret=RegretView(said.regret, said.better_left, goals[0].unit or ""),
        coverage=said.covered,
        ladder=ladder(standing),
        refused=reasons(standing),
        stop=said.stop,
        sheet=str(standing.sheet) if standing.sheet else None,
    )


def _measured(row: Row, goal: Goal) -> MeasuredView:
    values = [event.values[goal.name] for event in row.results]
    state = "measured" if values else "withdrawn" if row.withdrawn else "failed" if row.failed else "waits"
    value = sum(values) / len(values) if values else None
    return MeasuredView(row.proposed.name, value, row.proposed.row, row.proposed.why, state)


def _best(one: Best) -> BestView:
    return BestView(
        name=one.name,
        value=one.value,
        low=one.low,
        high=one.high,
        rung=one.rung,
        expected=one.expected,
        measurements=one.measurements,
        synthesis=list(one.synthesis),
        lab_batches=list(one.lab_batches),
        disagree=one.disagree,
        distance_to_known=one.distance,
    )


def ladder(standing: Standing) -> dict[str, int]:
    """How many ideas have come at least as far as each rung."""
    ideas, runs = standing.ideas, [len(events) for events in standing.campaign.measured().values()]
    distinct = len(ideas.ideas)
    counts = (
        distinct + len(ideas.folded) + len(ideas.refused),
        distinct + len(ideas.folded),
        distinct,
        distinct if standing.outlook.regret is not None else 0,
        len(runs),
        sum(1 for one in runs if one > 1),
    )
    return dict(zip(RUNGS, counts, strict=True))


def reasons(standing: Standing, most: int = 5) -> dict[str, int]:
    """The most common reasons for refusing an idea, numbers left out so that like ones count together."""
    counts: dict[str, int] = {}
    for reason in standing.ideas.refused.values():
        kind = " ".join("…" if any(c.isdigit() for c in word) else word for word in reason.split())
        counts[kind] = counts.get(kind, 0) + 1
    return dict(sorted(counts.items(), key=lambda one: -one[1])[:most])


def told(standing: Standing, goals: Sequence[Goal], lab: LabSection, *, now: float) -> Iterator[str]:
    """The campaign's story, line by line."""
    steps = ladder(standing)
    yield "  " + " > ".join(
        f"{count:,} {rung if rung != 'idea' else 'ideas'}" for rung, count in steps.items() if count
    )
    for reason, count in reasons(standing).items():
        yield f"    {count:,} refused: {reason}"
    yield from _batches_told(standing, goals[0])
    yield from _best_told(standing, goals[0])
    yield from _doubt_told(standing, goals[0])
    yield from _calendar_told(standing, lab, now)
    if standing.sheet is not None:
        yield f"  next: measure {standing.sheet}, then: tamis measure {standing.sheet}"


def _batches_told(standing: Standing, goal: Goal) -> Iterator[str]:
    unit = f" {goal.unit}" if goal.unit else ""
    best: float | None = None
    for number, batch in enumerate(standing.campaign.batches, start=1):
        values = [value for row in batch for value in (event.values[goal.name] for event in row.results)]
        failed = sum(1 for row in batch if row.failed and not row.results)
        waits = sum(1 for row in batch if row.waits)
        repeats = sum(1 for row in batch if row.proposed.why == "repeat")
        if values:
            top = goal.sign * max(goal.sign * value for value in values)
            best = top if best is None else goal.sign * max(goal.sign * best, goal.sign * top)
        notes = [
            f"{count} {word}"
            for count, word in ((repeats, "repeated"), (failed, "failed"), (waits, "awaited"))
            if count
        ]
        seen = f"best {best:.4g}{unit}" if best is not None else "no result yet"
        yield f"  batch {number:>3}   {len(batch)} places   {seen}" + (f"   ({', '.join(notes)})" if notes else "")


def _best_told(standing: Standing, goal: Goal) -> Iterator[str]:
    unit = f" {goal.unit}" if goal.unit else ""
    if standing.outlook.best:
        yield f"  best so far ({goal.words})"
    for one in standing.outlook.best[:MOST_TOLD]:
        far = f"   {one.distance:.2f} from the nearest known" if one.distance is not None else ""
        verified = "verified: " if one.rung == "replicated" and not one.disagree else ""
        line = f"    {one.name:<16} {one.value:.4g}{unit}   90% [{one.low:.4g}, {one.high:.4g}]   {verified}{one.rung}"
        yield line + (f" ({one.measurements} times)" if one.measurements > 1 else "") + far
    for one in standing.outlook.disagreeing:
        yield f"    {one.name}: {one.disagree}"


def _doubt_told(standing: Standing, goal: Goal) -> Iterator[str]:
    said = standing.outlook
    unit = f" {goal.unit}" if goal.unit else ""
    if said.regret is not None and said.better_left is not None:
        left = f"something better is left with a probability of {in_words(said.better_left)}"
        yield f"  expected regret {said.regret:.2g}{unit}; {left}"
    if said.covered["90"] is not None and said.covered["50"] is not None:
        yield (
            f"  forecasts so far: {said.covered['50']:.0%} of results lay in the 50% intervals, "
            f"{said.covered['90']:.0%} in the 90% ones"
        )
    yield f"  {said.stop}"


def _calendar_told(standing: Standing, lab: LabSection, now: float) -> Iterator[str]:
    """How the weeks go. Ideas are written in seconds, so what a faster writer saves is nothing that shows here."""
    batches = len(standing.campaign.batches)
    today = datetime.fromtimestamp(now, tz=UTC).date()
    last = last_day(today, batches, lab)
    if not batches or last is None:
        return
    places = lab.batch * lab.benches
    yield (
        f"  the bench sets the pace: {places} places a day, {', '.join(lab.days_off) or 'no days'} off; "
        f"{batches} batches begun on {today} end on {last}. A faster writer changes nothing here."
    )


def read_told(read: Read, file: str) -> Iterator[str]:
    """What became of an uploaded sheet, row by row where there is something to say."""
    counts = {
        kind: sum(1 for event in read.events if event.kind == kind)
        for kind in ("measured", "corrected", "failed", "withdrawn")
    }
    words = [f"{count} {kind}" for kind, count in counts.items() if count]
    words += [f"{read.again} recorded already"] if read.again else []
    words += [f"{read.blank} not measured yet"] if read.blank else []
    words += [f"{len(read.bad)} not taken"] if read.bad else []
    yield f"{file}: {', '.join(words) or 'no rows'}"
    for one in (*read.notes, *read.bad):
        yield f"  line {one.line}: {one.row + ' ' if one.row else ''}{one.why}"
