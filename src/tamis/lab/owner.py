"""A stand-in lab: a Python file with `measure(ideas: list[dict]) -> list[dict | None]`, for playing a campaign through.

Each answer has `value` (or one key a goal, where there are several) and perhaps `unit`, `synthesis`, `lab_batch`, and
`late`, the number of batches after which it comes. None is a failed run. The file is the user's own and runs in this
process; it is told nothing but the ideas.
"""

import importlib.util
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tamis.errors import CheckError, UsageError, boundary
from tamis.lab.campaign import Event, Row
from tamis.lab.ideas import Cells, Reader
from tamis.lab.numbers import NotANumber, plain_number
from tamis.lab.settings import Goal, LabSection
from tamis.lab.sheet import in_goal_unit, unit_column

Measure = Callable[[list[dict[str, object]]], list[dict[str, object] | None]]


class StandIn:
    """A lab that answers at once, or some batches later."""

    def __init__(self, measure: Measure, where: str, lab: LabSection) -> None:
        self._measure, self.where = measure, where
        reader = Reader(lab)
        self._elements = reader.elements
        self._numeric = (*reader.elements, *(one.name for one in reader.numbers))
        self._late: list[tuple[int, Event]] = []

    def results(
        self, batch: int, rows: Sequence[Row], cells: Mapping[str, Cells], goals: Sequence[Goal]
    ) -> list[Event]:
        """What comes back by the end of a batch: its own results and late ones. Raises CheckError where the file
        fails or answers in another shape."""
        ideas = [asked(row, cells.get(row.proposed.draft, {}), self._numeric, self._elements) for row in rows]
        with boundary(CheckError, f"measure() in {self.where}"):
            answers = list(self._measure(ideas))
        if len(answers) != len(ideas):
            raise CheckError(f"measure() in {self.where} was given {len(ideas)} ideas and answered {len(answers)}")
        for row, answer in zip(rows, answers, strict=True):
            late, event = self._event(row, answer, goals)
            self._late.append((batch + late, event))
        due = [event for when, event in self._late if when <= batch]
        self._late = [(when, event) for when, event in self._late if when > batch]
        return due

    def rest(self) -> list[Event]:
        """What is still to come when the last batch is over."""
        events, self._late = [event for _, event in self._late], []
        return events

    def _event(self, row: Row, answer: object, goals: Sequence[Goal]) -> tuple[int, Event]:
        name = row.proposed.row
        if answer is None:
            return 0, Event(row=name, kind="failed", why="the run failed", by=self.where)
        if not isinstance(answer, dict):
            raise CheckError(
                f"measure() in {self.where} answered {answer!r} for {row.proposed.name}; a dict or None is expected"
            )
        late = self._batches(answer.get("late", 0))
        try:
            values = {goal.name: _value(goal, answer, goals) for goal in goals}
        except NotANumber as error:
            # an impossible result is a run that can't be used, as it would be on a sheet
            return late, Event(row=name, kind="failed", why=str(error), by=self.where)
        return late, Event(
            row=name,
            kind="measured",
            values=values,
            by=self.where,
            synthesis=str(answer.get("synthesis", "")),
            lab_batch=str(answer.get("lab_batch", "")) or f"batch {row.batch}",
        )

    def _batches(self, late: object) -> int:
        """After how many batches a result comes. Raises CheckError where that is no such number."""
        try:
            count: int = int(late)  # type: ignore[call-overload]  # whatever it is, that is asked here
        except (TypeError, ValueError, OverflowError):
            count = -1
        if count < 0:
            raise CheckError(f"measure() in {self.where} answered late={late!r}; a number of batches is expected")
        return count


def asked(row: Row, cells: Cells, numeric: Collection[str], elements: Collection[str]) -> dict[str, object]:
    """The idea as the stand-in sees it: its own columns as its writer put them, those that hold numbers as numbers,
    and an element that it leaves out as 0.0."""
    idea: dict[str, object] = {**dict.fromkeys(elements, 0.0), **cells}
    for name in numeric:
        with suppress(NotANumber):
            idea[name] = plain_number(idea[name] if idea.get(name) != "" else 0.0)
    return {**idea, "name": row.proposed.name}


def stand_in(path: Path, lab: LabSection) -> StandIn:
    """The lab in that file. Raises UsageError where there is none, CheckError where it can't be loaded."""
    if not path.is_file():
        raise UsageError(f"--owner: there is no file {path}")
    spec = importlib.util.spec_from_file_location("tamis_stand_in_lab", path)
    if spec is None or spec.loader is None:
        raise UsageError(f"--owner: {path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    with boundary(CheckError, f"loading {path}"):
        spec.loader.exec_module(module)
    measure = getattr(module, "measure", None)
    if not callable(measure):
        raise UsageError(
            f"--owner: {path} has no function measure()",
            hint="def measure(ideas: list[dict]) -> list[dict | None]: ... each with a value, None for a failed run",
        )
    return StandIn(measure, path.name, lab)


def _value(goal: Goal, answer: Mapping[str, object], goals: Sequence[Goal]) -> float:
    key = "value" if len(goals) == 1 and goal.name not in answer else goal.name
    if key not in answer:
        raise CheckError(f"the stand-in lab answered {dict(answer)!r}; {key!r} is missing")
    unit = answer.get("unit", answer.get(unit_column(goal, goals), goal.unit or ""))
    return in_goal_unit(goal, plain_number(answer[key]), str(unit))
