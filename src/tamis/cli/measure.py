"""`tamis measure`: results come back from the lab, are checked row by row and recorded, and the next batch goes out."""

from pathlib import Path
from typing import Annotated

import typer

from tamis.brief import load_brief
from tamis.cli import show
from tamis.errors import UsageError
from tamis.lab.desk import SHEETS, LabDesk
from tamis.lab.people import who
from tamis.lab.settings import goals_of
from tamis.lab.story import lab_view
from tamis.lab.telling import read_told, told
from tamis.ledger import Ledger
from tamis.ledger.ledger import FOLDER
from tamis.report.page import write_report
from tamis.run import Run
from tamis.views import Kept, to_json

Paths = Annotated[
    list[Path],
    typer.Argument(help="sheets of results (.csv, .xlsx); a folder among them is the brief's", show_default=False),
]


def measure_command(
    paths: Paths,
    *,
    by: Annotated[str | None, typer.Option(metavar="NAME", help="who says so; else the user's name")] = None,
    sent: Annotated[int | None, typer.Option(metavar="BATCH", help="note that this batch has gone to the lab")] = None,
    withdraw: Annotated[list[str] | None, typer.Option(metavar="ROW", help="take back a row not measured yet")] = None,
    why: Annotated[str, typer.Option(help="the reason, with --withdraw")] = "",
    propose: Annotated[bool, typer.Option(help="propose the next batch when results have come")] = True,
    json: Annotated[str | None, typer.Option(metavar="PATH|-", help="write where the campaign stands as JSON")] = None,
) -> None:
    """Record what the lab measured, and propose what to measure next."""
    folder, sheets = _folder_and_sheets(paths)
    loaded = load_brief(folder)
    if loaded.brief.desk != "lab":
        raise UsageError(
            f"{folder} is a brief of the {loaded.brief.desk} desk, where nothing is measured",
            hint='a lab\'s brief says so: desk = "lab" under [brief] in its tamis.toml',
        )
    if not sheets and sent is None and not withdraw:
        raise UsageError(f"nothing to record in the campaign of {folder}", hint=_what_could_be(folder))
    lab, name = loaded.settings.lab, who(by)
    quiet = json == "-"
    with Ledger(loaded.folder) as ledger, show.Watching() as progress:
        run = Run(loaded, ledger, progress=progress)
        desk = LabDesk(run, lab)
        desk.require_sheets(sheets)
        if sent is not None:
            news = desk.sent(sent, by=name)
            show.say(f"batch {sent}: {news} rows noted as sent" if news else f"batch {sent} was noted as sent already")
        for row in withdraw or []:
            desk.withdraw(row, by=name, why=why)
            show.say(f"{row} withdrawn")
        reads = [(path, desk.take_sheet(path, by=name)) for path in sheets]
        # what a kill kept from being proposed is proposed when the same sheet comes again
        due = any(read.events for _, read in reads) or (bool(reads) and not desk.awaited())
        rows = desk.batch_to_measure() if propose and due else []
        standing = desk.standing(sheets=[desk.write_sheet(rows)] if rows else [])
        report = write_report(Kept(ledger), ledger, loaded.folder)
        view, lines = lab_view(standing, goals_of(lab)), list(told(standing, goals_of(lab), lab))
    for path, read in reads:
        for line in read_told(read, path.name):
            show.say(line)
    if json is not None:
        show.json_to(json, to_json(view))
    if not quiet:
        for line in lines:
            show.line(line)
        show.say(f"the report: {report}")
    raise typer.Exit(1 if any(read.bad for _, read in reads) else 0)


def _folder_and_sheets(paths: list[Path]) -> tuple[Path, list[Path]]:
    """The brief's folder and the sheets. Without a folder among the paths it is the nearest above the first sheet, or
    the current one, that has a ledger; a folder within a brief's, such as its batches, stands for the brief's."""
    folders = [path for path in paths if path.is_dir()]
    sheets = [path for path in paths if not path.is_dir()]
    if len(folders) > 1:
        raise UsageError(f"{folders[0]} and {folders[1]} are both folders; a campaign has one")
    for sheet in sheets:
        if not sheet.exists():
            raise UsageError(f"there is no file {sheet}", hint=_sheets_there(sheet, folders))
    if folders:
        return (folders[0] if _is_brief(folders[0]) else _above(folders[0]) or folders[0]), sheets
    found = _above(sheets[0].parent) or _above(Path())
    if found is None:
        raise UsageError(
            f"no campaign was found: no folder above {sheets[0]}, nor this one, has a ledger",
            hint="name the brief's folder: tamis measure FOLDER results.csv",
        )
    return found, sheets


def _is_brief(folder: Path) -> bool:
    return any((folder / name).exists() for name in (FOLDER, "BRIEF.md", "tamis.toml"))


def _above(start: Path) -> Path | None:
    """The nearest folder from `start` upwards that has a ledger."""
    whole, here = start.resolve(), Path.cwd()
    found = next((folder for folder in (whole, *whole.parents) if (folder / FOLDER).is_dir()), None)
    return found.relative_to(here) if found is not None and found.is_relative_to(here) else found


def _sheets_in(folder: Path) -> list[str]:
    """The sheets that went out, the newest first."""
    return sorted((str(path) for path in (folder / SHEETS).glob("batch-*.*")), reverse=True)


def _sheets_there(missing: Path, folders: list[Path]) -> str | None:
    """Where the sheet may be instead of where it was looked for."""
    folder = _above(folders[0] if folders else missing.parent) or _above(Path())
    there = _sheets_in(folder) if folder else []
    alike = [path for path in there if Path(path).name == missing.name]
    if not there:
        return None
    return f"is {alike[0]} meant?" if alike else f"the sheets that went out: {', '.join(there[:3])}"


def _what_could_be(folder: Path) -> str:
    there = _sheets_in(folder)
    sheet = (
        f"with its results filled in: tamis measure {there[0]}" if there else "name a sheet: tamis measure results.csv"
    )
    return f"{sheet}; or --sent BATCH; or --withdraw ROW"
