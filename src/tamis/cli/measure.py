"""`tamis measure`: results come back from the lab, are checked row by row and recorded, and the next batch goes out."""

from pathlib import Path
from typing import Annotated

import typer

from tamis.brief import load_brief
from tamis.cli import show
from tamis.errors import UsageError
from tamis.lab.desk import LabDesk
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
    if not sheets and sent is None and not withdraw:
        raise UsageError("nothing to record", hint="tamis measure results.csv, or --sent BATCH, or --withdraw ROW")
    loaded = load_brief(folder)
    lab, name = loaded.settings.lab, who(by)
    quiet = json == "-"
    with Ledger(loaded.folder) as ledger, show.Watching() as progress:
        run = Run(loaded, ledger, progress=progress)
        desk = LabDesk(run, lab)
        if sent is not None:
            show.say(f"batch {sent}: {desk.sent(sent, by=name)} rows noted as sent")
        for row in withdraw or []:
            desk.withdraw(row, by=name, why=why)
            show.say(f"{row} withdrawn")
        reads = [(path, desk.take_sheet(path, by=name)) for path in sheets]
        news = any(read.events for _, read in reads)
        rows = desk.next_batch() if propose and news else []
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
    the current one, that has a ledger."""
    folders = [path for path in paths if path.is_dir()]
    sheets = [path for path in paths if not path.is_dir()]
    if len(folders) > 1:
        raise UsageError(f"{folders[0]} and {folders[1]} are both folders; a campaign has one")
    if folders:
        return folders[0], sheets
    for start in (sheets[0].resolve().parent, Path.cwd()):
        for folder in (start, *start.parents):
            if (folder / FOLDER).is_dir():
                return folder, sheets
    raise UsageError(
        f"no brief with a ledger was found above {sheets[0]} or here",
        hint="name its folder: tamis measure FOLDER results.csv",
    )
