"""The sheet that goes to the lab and comes back: CSV or .xlsx.

Out: a row for each place, with its id, the hash of the idea's content and the campaign, so that what comes back can be
told apart from anything else. In: row by row. Good rows become events; each bad one is told with its line and reason;
nothing is recorded here.

Spreadsheets save what they please: semicolons or tabs, decimal commas, a mark before the first byte, dates for
fractions. The first four are read as what they are, the last is refused.
"""

import csv
import difflib
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import ModuleType
from zipfile import BadZipFile

from tamis.errors import BriefError, DraftsError, boundary, nearest
from tamis.lab.campaign import Campaign, Event, Row
from tamis.lab.ideas import Cells
from tamis.lab.numbers import NotANumber, number_in
from tamis.lab.settings import Goal
from tamis.lab.units import converted, is_unit

FIXED = ("row", "idea")
AFTER = ("synthesis", "lab_batch", "measured_at", "measured_by", "status", "note")
LAST = ("hash", "campaign")
FAILED = {"failed", "fail", "broken", "x"}
WITHDRAWN = {"withdrawn", "cancelled", "canceled"}
CORRECTED = {"corrected", "correction"}
MOST_BYTES = 50_000_000
A_SLIP = 0.85
"""From this likeness on (`difflib`'s, 0 to 1) a row's id may be another one with a character typed wrongly."""


@dataclass(frozen=True)
class Bad:
    """A row that was not taken: its line in the file (from 1, the header is 1) and why."""

    line: int
    row: str
    why: str


@dataclass
class Read:
    """What an uploaded sheet holds. `notes` are things taken that its sender should know of; `blank` counts rows not
    measured yet."""

    events: list[Event] = field(default_factory=list)
    bad: list[Bad] = field(default_factory=list)
    notes: list[Bad] = field(default_factory=list)
    blank: int = 0
    again: int = 0


def unit_column(goal: Goal, goals: Sequence[Goal]) -> str:
    return "unit" if len(goals) == 1 else f"unit of {goal.name}"


def table(
    rows: Sequence[Row], cells: Mapping[str, Cells], goals: Sequence[Goal], fields: Sequence[str], campaign: Campaign
) -> list[list[str]]:
    """The sheet's cells, header first. `cells` are each draft's own, `fields` the columns that describe an idea."""
    failed = campaign.failed_before()
    results = [name for goal in goals for name in (goal.name, unit_column(goal, goals))]
    lines = [[*FIXED, *fields, "why", *results, *AFTER, *LAST]]
    for row in rows:
        idea = cells.get(row.proposed.draft, {})  # its idea may be gone from the file meanwhile
        asked = [value for goal in goals for value in ("", goal.unit or "")]
        described = [str(idea.get(name, "")) for name in fields]
        tail = [""] * len(AFTER) + [row.proposed.hash, mark_of(campaign.id)]
        why = "; ".join(one for one in (row.proposed.why, tried_again(failed.get(row.proposed.row, 0))) if one)
        lines.append([row.proposed.row, row.proposed.name, *described, why, *asked, *tail])
    return lines


def require_columns(fields: Sequence[str], goals: Sequence[Goal]) -> None:
    """Raises BriefError where a column that describes ideas, or a goal, is called like another column of the sheet."""
    own = [*FIXED, "why", *AFTER, *LAST, *(unit_column(goal, goals) for goal in goals)]
    taken = {name.lower() for name in own}
    for name in (*fields, *(goal.name for goal in goals)):
        if name.lower() in taken:
            raise BriefError(
                f"a sheet has a column {name!r} of its own or of another meaning, so ideas and goals can't have one",
                hint="call it otherwise in the file of ideas and in [lab]",
            )
        taken.add(name.lower())


def tried_again(failed: int) -> str:
    """What is said of a row whose idea failed so often before; nothing where it never did."""
    if failed == 0:
        return ""
    return f"failed {'once' if failed == 1 else f'{failed} times'} before, tried again"


def mark_of(campaign: str) -> str:
    """What names the campaign on a sheet; the letter keeps spreadsheets from reading a number."""
    return f"c{campaign[:12]}"


def as_csv(lines: Sequence[Sequence[str]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([[_harmless(cell) for cell in line] for line in lines])
    return out.getvalue()


def write_xlsx(path: Path, lines: Sequence[Sequence[str]]) -> None:
    book = _openpyxl().Workbook(write_only=True)
    sheet = book.create_sheet("batch")
    for line in lines:
        sheet.append([_harmless(cell) for cell in line])
    book.save(path)


def _openpyxl() -> ModuleType:
    try:
        return import_module("openpyxl")
    except ImportError as error:
        raise DraftsError(
            "an .xlsx workbook needs openpyxl, which is not installed",
            hint="pip install 'tamis[xlsx]', or save the sheet as CSV",
        ) from error


def _harmless(cell: str) -> str:
    """A cell that a spreadsheet would run as a formula gets a mark before it: ideas are written by models."""
    return f"'{cell}" if cell[:1] in {"=", "+", "@", "\t", "\r"} or (cell[:1] == "-" and not _is_number(cell)) else cell


def _is_number(text: str) -> bool:
    try:
        return not number_in(text)[1]
    except NotANumber:
        return False


def cells_of(path: Path) -> list[tuple[int, list[str]]]:
    """Every row that is not empty, with its line. Raises DraftsError where the file can't be read as a sheet."""
    if not path.is_file():
        raise DraftsError(f"there is no file {path}")
    if path.stat().st_size > MOST_BYTES:
        raise DraftsError(f"{path} is {path.stat().st_size / 1e6:,.0f} MB; a sheet of results has at most 50")
    found = _xlsx(path) if path.suffix.lower() in {".xlsx", ".xlsm"} else _csv(path)
    return [(line, cells) for line, cells in found if any(cell.strip() for cell in cells)]


def _csv(path: Path) -> Iterable[tuple[int, list[str]]]:
    raw = path.read_bytes()
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = raw.decode("utf-16", "replace")
    elif b"\0" in raw:
        raise DraftsError(
            f"{path} is no text, so it is no CSV{_what_it_is(raw)}", hint="save the sheet as CSV or .xlsx"
        )
    else:
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = raw.decode("cp1252", "replace")  # what older spreadsheets save
    if text.lower().startswith("sep="):
        text = text.partition("\n")[2]
    first = text.lstrip("\n").partition("\n")[0]
    delimiter = max(";\t,", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=None), delimiter=delimiter)  # old ones end lines with \r alone
    try:
        yield from ((reader.line_num, cells) for cells in reader)
    except csv.Error as error:
        raise DraftsError(f"{path} line {reader.line_num} can't be read as CSV: {error}") from error


def _what_it_is(raw: bytes) -> str:
    kinds = {b"PK": "a workbook or a zip archive", b"\x1f\x8b": "a gzip archive", b"\xd0\xcf\x11\xe0": "an old .xls"}
    line = raw[: raw.index(b"\0")].count(b"\n") + 1
    looks = next((f"it looks like {kind}" for start, kind in kinds.items() if raw.startswith(start)), None)
    return f": {looks or f'line {line} holds a byte 0'}"


def _xlsx(path: Path) -> Iterable[tuple[int, list[str]]]:
    load = _openpyxl().load_workbook
    try:
        book = load(path, read_only=True, data_only=True)
    except (BadZipFile, KeyError, ValueError, OSError) as error:
        raise DraftsError(f"{path} is not an .xlsx workbook: {error}", hint="save it as .xlsx or as CSV") from error
    sheet = next((one for one in book.worksheets if one.title == "batch"), book.worksheets[0])
    for line, cells in enumerate(sheet.iter_rows(values_only=True), start=1):
        yield line, ["" if cell is None else str(cell) for cell in cells]


def read_results(path: Path, campaign: Campaign, goals: Sequence[Goal], *, by: str, at: str) -> Read:
    """What the sheet says of the campaign's rows. Raises DraftsError where it is no such sheet at all."""
    header, lines = read_cells(path, goals)
    found = Read()
    reader = _RowReader(campaign, goals, path.name, by, at)
    for line, cells in lines:
        padded = cells + [""] * (len(header) - len(cells))
        reader.take(line, {name: cell.strip() for name, cell in zip(header, padded, strict=False)}, found)
    _drop_contradictions(found)
    return found


def read_cells(path: Path, goals: Sequence[Goal]) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The header in small letters, and the rows below it with their lines. Raises DraftsError where it is no sheet of
    such goals, which can be asked before anything is recorded."""
    with boundary(DraftsError, f"reading {path}"):
        lines = cells_of(path)
    if not lines:
        raise DraftsError(f"{path} is empty")
    header = [name.strip().lower() for name in lines[0][1]]
    _require_columns(path, header, goals)
    return header, lines[1:]


def _require_columns(path: Path, header: Sequence[str], goals: Sequence[Goal]) -> None:
    for name in ("row", *(goal.name for goal in goals)):
        if name.lower() not in header:
            near = nearest(name.lower(), header)
            raise DraftsError(
                f"{path} has no column {name!r}" + (f"; is {near!r} meant to be it?" if near else ""),
                hint="fill in the sheet that `tamis run` wrote, and leave its columns as they are",
            )


class _RowReader:
    """Reads one row after the other, knowing those before it."""

    def __init__(self, campaign: Campaign, goals: Sequence[Goal], file: str, by: str, at: str) -> None:
        self._campaign, self._goals, self._file, self._by, self._at = campaign, goals, file, by, at
        self._rows = campaign.by_id()

    def take(self, line: int, cells: Mapping[str, str], found: Read) -> None:
        row_id = cells.get("row", "")
        why = self._not_ours(row_id, cells)
        if why:
            found.bad.append(Bad(line, row_id, why))
            return
        status = cells.get("status", "").lower()
        try:
            event = self._event(line, row_id, cells, status)
        except NotANumber as error:
            found.bad.append(Bad(line, row_id, str(error)))
            return
        if event is None:
            found.blank += 1
            return
        self._file_away(line, self._rows[row_id], event, found)

    def _not_ours(self, row_id: str, cells: Mapping[str, str]) -> str | None:
        campaign = cells.get("campaign", "")
        if campaign and campaign != mark_of(self._campaign.id):
            mine = mark_of(self._campaign.id)
            return f"belongs to another campaign ({campaign}; this one is {mine}): name its own folder before the sheet"
        if not row_id:
            return "has no row id"
        if row_id not in self._rows:
            return f"no such row was ever proposed here{self._meant(row_id, cells.get('hash', ''))}"
        wanted = self._rows[row_id].proposed.hash
        if cells.get("hash", wanted) not in {wanted, ""}:
            also = [row for row, other in self._rows.items() if other.proposed.hash == cells["hash"]]
            whose = f", it is that of {' and '.join(also)}" if also else ""
            return f"its hash is {cells['hash']}{whose}; the idea proposed in this row has {wanted}"
        return None

    def _meant(self, row_id: str, its_hash: str) -> str:
        """Which row an unknown id may mean: by the hash beside it, which says what idea that is, else by its letters
        where all but a slip agree. Rows of one batch are alike in most letters, and their likeness says nothing."""
        same = [row for row, other in self._rows.items() if other.proposed.hash == its_hash]
        close = difflib.get_close_matches(row_id, list(self._rows), n=2, cutoff=A_SLIP)
        if same:
            return f"; its hash is that of {' and '.join(same)}"
        if len(close) == 1 and not its_hash:
            return f"; is {close[0]} meant?"
        known = list(self._rows)
        return f"; this campaign's rows are {known[0]} to {known[-1]}" if known else "; no batch went out yet"

    def _event(self, line: int, row_id: str, cells: Mapping[str, str], status: str) -> Event | None:
        """None where nothing was filled in. Raises NotANumber with what is wrong."""
        said = [cells.get(goal.name.lower(), "") for goal in self._goals]
        if status and status not in FAILED | WITHDRAWN | CORRECTED and not any(said):
            raise NotANumber(f"has no result, and its status {status!r} is none of failed, withdrawn and corrected")
        kind: str = "corrected" if status in CORRECTED else "measured"
        if status in FAILED or any(one.lower() in FAILED for one in said):
            kind = "failed"
        elif status in WITHDRAWN:
            kind = "withdrawn"
        elif not any(said):
            return None
        values = {}
        if kind in {"measured", "corrected"}:
            values = {goal.name: self._value(goal, text, cells) for goal, text in zip(self._goals, said, strict=True)}
        return Event(
            row=row_id,
            kind=kind,  # type: ignore[arg-type]  # one of the four set above
            values=values,
            why=cells.get("note", ""),
            at=cells.get("measured_at", ""),
            by=cells.get("measured_by", "") or self._by,
            synthesis=cells.get("synthesis", ""),
            lab_batch=cells.get("lab_batch", ""),
            file=self._file,
            line=line,
        )

    def _value(self, goal: Goal, text: str, cells: Mapping[str, str]) -> float:
        try:
            value, unit = number_in(text)
        except NotANumber as error:
            raise NotANumber(f"{goal.name} {error}") from error
        unit = unit or cells.get(unit_column(goal, self._goals).lower(), "")
        return in_goal_unit(goal, value, unit)

    def _file_away(self, line: int, row: Row, event: Event, found: Read) -> None:
        """A new event, one told before, or a further measurement of a row that has some."""
        known = [one for one in (*row.results, *row.failed) if _alike(one, event)]
        if known or (event.kind == "withdrawn" and row.withdrawn):
            found.again += 1
            found.notes.append(Bad(line, event.row, "is recorded already; nothing changed"))
            return
        if event.kind == "withdrawn" and row.results:
            found.bad.append(
                Bad(line, event.row, "was measured, so it can't be withdrawn; send status = corrected to change it")
            )
            return
        if event.kind == "corrected":
            if not (row.results or row.failed):
                found.bad.append(Bad(line, event.row, "has no result yet that could be corrected"))
                return
            newest = (row.results or row.failed)[-1]
            event = Event(
                **{**{name: getattr(event, name) for name in event.__struct_fields__}, "corrects": newest.key}
            )
            found.notes.append(Bad(line, event.row, f"corrects {_told(newest)}"))
        elif event.kind == "measured" and row.results:
            told = f"was measured already ({_told(row.results[-1])}); taken as a replicate"
            found.notes.append(Bad(line, event.row, f"{told} (status = corrected replaces a result instead)"))
        found.events.append(event)


def in_goal_unit(goal: Goal, value: float, unit: str) -> float:
    """The value in the goal's unit, checked against what is possible. Raises NotANumber with what is wrong."""
    if goal.unit and not unit:
        raise NotANumber(
            f"{goal.name} is {value:g} without a unit ({goal.unit} is expected; write it into the unit column)"
        )
    if goal.unit:
        inside = converted(value, unit, goal.unit)
        if inside is None:
            known = f"{unit} can't be turned into {goal.unit}" if is_unit(unit) else f"there is no unit {unit!r}"
            raise NotANumber(f"{goal.name} is {value:g} {unit}: {known}")
        value = inside
    elif unit:
        raise NotANumber(f"{goal.name} is {value:g} {unit}, and [lab] unit says that it has none")
    low, high = goal.low, goal.high
    if (low is not None and value < low) or (high is not None and value > high):
        between = f"between {low:g} and {high:g}" if low is not None and high is not None else "in its range"
        raise NotANumber(
            f"{goal.name} is {value:g} {goal.unit or ''}, which is not {between}: out of what is physically possible"
        )
    return value


def _alike(one: Event, other: Event) -> bool:
    """Whether both tell the same thing, perhaps in another unit. What only one of them says of when and in which batch
    tells nothing apart: it may have been filled in later."""
    same = one.values.keys() == other.values.keys() and all(
        math.isclose(value, other.values[goal], rel_tol=1e-9) for goal, value in one.values.items()
    )
    where = ((one.at, other.at), (one.lab_batch, other.lab_batch))
    return (
        same and (one.kind == "failed") == (other.kind == "failed") and all(a == b or not (a and b) for a, b in where)
    )


def _told(event: Event) -> str:
    if event.kind == "failed":
        return "failed"
    return ", ".join(f"{name} {value:g}" for name, value in event.values.items())


def _drop_contradictions(found: Read) -> None:
    """A row told twice in one file counts once; told in two ways with nothing that tells two runs apart, not at all."""
    by_run: dict[tuple[str, str, str], list[Event]] = {}
    for event in found.events:
        by_run.setdefault((event.row, event.at, event.lab_batch), []).append(event)
    for events in by_run.values():
        if len(events) == 1:
            continue
        agree = all(_alike(events[0], event) for event in events)
        for event in events[1:] if agree else events:
            found.events.remove(event)
            if agree:
                found.again += 1
                found.notes.append(
                    Bad(event.line or 0, event.row, f"says the same as line {events[0].line}; it counts once")
                )
                continue
            why = "is told in different ways, so none was taken; give two runs of it a measured_at or lab_batch each"
            found.bad.append(Bad(event.line or 0, event.row, why))
