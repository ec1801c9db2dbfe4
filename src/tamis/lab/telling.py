"""The campaign told line by line, for a person. Nothing here prints."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from tamis.lab.calendar import Calendar, day_words, off_words
from tamis.lab.campaign import Campaign, Row
from tamis.lab.desk import Standing
from tamis.lab.outlook import Best, amount
from tamis.lab.outlook import told as in_words
from tamis.lab.page import LabPage
from tamis.lab.settings import Goal, LabSection
from tamis.lab.sheet import Bad, Read
from tamis.lab.story import ladder, reasons
from tamis.time.durations import spoken

MOST_TOLD = 10
NO_WIDTH = 1e-5
"""An interval narrower than this share of its value is no knowledge of anything."""
FAST, SLOW = 1_000_000, 100
"""Tokens per second of the two writers that the calendar compares."""


def told(standing: Standing, goals: Sequence[Goal], lab: LabSection) -> Iterator[str]:
    """The campaign's story."""
    yield from ladder_told(ladder(standing), reasons(standing))
    if standing.gone:
        some = ", ".join(standing.gone[:3]) + (f" and {len(standing.gone) - 3} more" if len(standing.gone) > 3 else "")
        yield f"  no longer among the ideas, so nothing is learned from their results: {some}"
    yield from batches_told(standing.campaign, goals)
    yield from _best_told(standing, goals)
    yield from _doubt_told(standing)
    for kind in standing.failing:
        yield f"  runs keep failing: {kind.name} ({kind.failed} of {kind.runs}); such ideas must promise more"
    if standing.calendar is not None:
        yield from _calendar_told(standing, standing.calendar, lab)
    for sheet in standing.sheets:
        yield f"  next: measure {sheet}, then: tamis measure {sheet}"


def ladder_told(steps: Mapping[str, int], refused: Mapping[str, int]) -> Iterator[str]:
    """How many ideas have come how far, and why those that did not come far were refused."""
    yield "  " + " > ".join(
        f"{count:,} {rung if rung != 'idea' else 'ideas'}" for rung, count in steps.items() if count
    )
    for reason, count in refused.items():
        yield f"    {count:,} refused: {reason}"


def batches_told(campaign: Campaign, goals: Sequence[Goal]) -> Iterator[str]:
    """A line for each batch: the best result by then, and what else there is to say of its rows."""
    best: dict[str, float] = {}
    failed = campaign.failed_before()
    for number, batch in enumerate(campaign.batches, start=1):
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
        notes = _notes(batch, failed)
        said = f"best {seen}" if seen else "no result yet"
        yield f"  batch {number:>3}   {len(batch)} places   {said}" + (f"   ({notes})" if notes else "")


def page_told(page: LabPage, campaign: Campaign, goals: Sequence[Goal]) -> Iterator[str]:
    """A campaign as the ledger alone tells it: its batches, and what was measured, with no model's opinion."""
    yield from batches_told(campaign, goals)
    if page.best:
        yield f"  measured ({'; '.join(goal.words for goal in goals)}), as it came, best first"
    for one in page.best[:MOST_TOLD]:
        values = "   ".join(
            f"{goal.name + ' ' if len(goals) > 1 else ''}{_with_unit(one.values[goal.name], goal)}" for goal in goals
        )
        runs = f"replicated, {one.runs} times, {_with_unit(one.spread, goals[0])} between them"
        yield f"    {one.name:<16} {values}   {runs if one.runs > 1 else 'measured once'}"


def _notes(batch: Sequence[Row], failed: Mapping[str, int]) -> str:
    counts = (
        (
            sum(1 for row in batch if row.proposed.row in failed and row.proposed.why != "repeat"),
            "failed before and tried again",
        ),
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
    # results that are all the same leave models nothing to tell how sure they are
    known = value.high - value.low > NO_WIDTH * abs(value.measured)
    between = f"90% [{value.low:.4g}, {value.high:.4g}]" if known else "90% not known"
    return f"{name}{_with_unit(value.measured, goal)}   {between}"


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
        f"{_counted(days.planned, 'batch', 'batches')} take{'s' if days.planned == 1 else ''} "
        f"{_counted(days.working_days, 'working day')}"
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
    for found in (read.notes, read.bad):
        for why, alike in groupby(found, key=lambda one: one.why):
            yield f"  {_where(list(alike))}: {why}"
    if read.bad:
        kept = "what was taken is recorded" if read.events else "nothing new was recorded"
        yield f"  {kept}; put the rest right and send the sheet again: no row counts twice for that"


def _where(rows: Sequence[Bad]) -> str:
    """The lines of which the same is said."""
    first, last = rows[0], rows[-1]
    row = f", {first.row}" if first.row and {one.row for one in rows} == {first.row} else ""
    if len(rows) == 1:
        return f"line {first.line}{row}"
    lines = [one.line for one in rows]
    together = len(rows) > 2 and lines == list(range(first.line, last.line + 1))
    return (f"lines {first.line} to {last.line}" if together else f"lines {', '.join(map(str, lines))}") + row
