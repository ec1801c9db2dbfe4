"""The campaign told line by line, for a person. Nothing here prints."""

from collections.abc import Iterator, Sequence

from tamis.lab.calendar import Calendar, day_words, off_words
from tamis.lab.campaign import Row
from tamis.lab.desk import Standing
from tamis.lab.outlook import Best, amount
from tamis.lab.outlook import told as in_words
from tamis.lab.settings import Goal, LabSection
from tamis.lab.sheet import Read
from tamis.lab.story import ladder, reasons
from tamis.time.durations import spoken

MOST_TOLD = 10
FAST, SLOW = 1_000_000, 100
"""Tokens per second of the two writers that the calendar compares."""


def told(standing: Standing, goals: Sequence[Goal], lab: LabSection) -> Iterator[str]:
    """The campaign's story."""
    steps = ladder(standing)
    yield "  " + " > ".join(
        f"{count:,} {rung if rung != 'idea' else 'ideas'}" for rung, count in steps.items() if count
    )
    for reason, count in reasons(standing).items():
        yield f"    {count:,} refused: {reason}"
    yield from _batches_told(standing, goals)
    yield from _best_told(standing, goals)
    yield from _doubt_told(standing)
    for kind in standing.failing:
        yield f"  runs keep failing: {kind.name} ({kind.failed} of {kind.runs}); such ideas must promise more"
    if standing.calendar is not None:
        yield from _calendar_told(standing, standing.calendar, lab)
    for sheet in standing.sheets:
        yield f"  next: measure {sheet}, then: tamis measure {sheet}"


def _batches_told(standing: Standing, goals: Sequence[Goal]) -> Iterator[str]:
    best: dict[str, float] = {}
    for number, batch in enumerate(standing.campaign.batches, start=1):
        for goal in goals:
            values = [goal.sign * event.values[goal.name] for row in batch for event in row.results]
            before = [best[goal.name]] if goal.name in best else []
            if values or before:
                best[goal.name] = max(values + before)
        seen = ", ".join(
            f"{goal.name + ' ' if len(goals) > 1 else ''}{_with_unit(goal.sign * best[goal.name], goal)}"
            for goal in goals
            if goal.name in best
        )
        notes = _notes(batch)
        said = f"best {seen}" if seen else "no result yet"
        yield f"  batch {number:>3}   {len(batch)} places   {said}" + (f"   ({notes})" if notes else "")


def _notes(batch: Sequence[Row]) -> str:
    counts = (
        (sum(1 for row in batch if row.proposed.why == "repeat"), "repeated"),
        (sum(1 for row in batch if row.failed and not row.results), "failed"),
        (sum(1 for row in batch if row.waits), "awaited"),
    )
    return ", ".join(f"{count} {word}" for count, word in counts if count)


def _best_told(standing: Standing, goals: Sequence[Goal]) -> Iterator[str]:
    wanted = "; ".join(goal.words for goal in goals)
    if standing.outlook.best:
        yield f"  best so far ({wanted})" + ("; * no other is better in every goal" if len(goals) > 1 else "")
    for one in standing.outlook.best[:MOST_TOLD]:
        values = "   ".join(_value(one, goal, named=len(goals) > 1) for goal in goals)
        far = f"   {one.distance:.2f} from the nearest known" if one.distance is not None else ""
        verified = "verified: " if one.rung == "replicated" and not one.disagree else ""
        star = "* " if one.front and len(goals) > 1 else ""
        line = f"    {star + one.name:<16} {values}   {verified}{one.rung}"
        yield line + (f" ({one.measurements} times)" if one.measurements > 1 else "") + far
    for one in standing.outlook.disagreeing:
        yield f"    {one.name}: {one.disagree}"


def _value(one: Best, goal: Goal, *, named: bool) -> str:
    value = one.values[goal.name]
    name = f"{goal.name} " if named else ""
    return f"{name}{_with_unit(value.measured, goal)}   90% [{value.low:.4g}, {value.high:.4g}]"


def _with_unit(value: float, goal: Goal) -> str:
    return f"{value:.4g} {goal.unit or ''}".rstrip()


def _doubt_told(standing: Standing) -> Iterator[str]:
    said, rest = standing.outlook, standing.outlook.left
    if rest is not None:
        likely = f"something better is left with a probability of {in_words(rest.better)}"
        yield f"  expected regret {amount(rest.regret, rest)}; {likely}"
        if rest.meets is not None and said.best:
            yield f"  {said.best[0].name} meets what was asked with a probability of {in_words(rest.meets)}"
    if said.covered["90"] is not None and said.covered["50"] is not None:
        yield (
            f"  forecasts so far: {said.covered['50']:.0%} of results lay in the 50% intervals, "
            f"{said.covered['90']:.0%} in the 90% ones"
        )
    yield f"  {said.stop}"


def _calendar_told(standing: Standing, days: Calendar, lab: LabSection) -> Iterator[str]:
    """How the weeks go, and what a faster writer would change: the arithmetic shows that it is nothing."""
    bench = "1 bench" if lab.benches == 1 else f"{lab.benches} benches"
    each = "each" if lab.benches > 1 else "a day"
    states = (f"{days.done} done", f"{days.out} on the bench" if days.out else "", f"{days.to_go} to go")
    yield (
        f"  calendar: begun {day_words(days.begun)}; {bench}, {lab.batch} places {each}, {off_words(lab.days_off)}; "
        f"{_counted(days.planned, 'batch', 'batches')} take {_counted(days.working_days, 'working day')}"
    )
    yield f"    {', '.join(one for one in states if one)}; the last result comes on {day_words(days.ends)}"
    ideas, tokens = ladder(standing)["idea"], standing.tokens
    if tokens:
        yield (
            f"    a faster writer changes nothing here: the {ideas:,} ideas are {tokens:,} tokens, written in "
            f"{spoken(tokens / FAST)} at {FAST:,} tokens/s and in {spoken(tokens / SLOW)} at {SLOW}; "
            f"measuring takes {_counted(days.days, 'day')} either way"
        )


def _counted(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


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
