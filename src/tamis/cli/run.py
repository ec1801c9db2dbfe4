"""`tamis run`: the whole path, from the drafts as they are to one choice, or as far as it gets today."""

import asyncio
import sys
from collections.abc import Iterator
from typing import Annotated

import msgspec
import typer

from tamis.behaviour import answers, next_round
from tamis.brief import TESTS_FOLDER, LoadedBrief, load_brief
from tamis.cli import screens, show
from tamis.cli.desk import desk_of, seen
from tamis.cli.options import DeskName, Folder, Json
from tamis.cli.writing import Count, WriterName, how_it_ended, overruled, writer_of
from tamis.ledger import Ledger
from tamis.programs import ANSWER
from tamis.records import Choice
from tamis.report import write_report
from tamis.sieve import Sieve
from tamis.views import Kept, to_json
from tamis.writers.base import Writer
from tamis.writers.together import Together

OwnerName = Annotated[
    str | None,
    typer.Option(
        metavar="FILE.py|none|terminal",
        help="who answers, compares or measures: a file of Python, nobody, or you here (which is the default where "
        "there is a terminal)",
    ),
]
Budget = Annotated[
    int | None, typer.Option(min=0, help="at most so many questions, or comparisons; overrules tamis.toml")
]
Odds = Annotated[float | None, typer.Option(min=0.01, max=0.999, help="when to stop asking; overrules tamis.toml")]
Batches = Annotated[int | None, typer.Option(min=1, help="play a lab's campaign until it has so many batches")]

CHOSEN, OPEN = 0, 3


def run_command(
    folder: Folder,
    *,
    owner: OwnerName = None,
    budget: Budget = None,
    odds: Odds = None,
    desk: DeskName = None,
    batches: Batches = None,
    writer: WriterName = None,
    n: Count = None,
    json: Json = None,
) -> None:
    """Take the drafts of a brief to one choice, or none, and say where the time went. Where a writer is named, or
    stands in tamis.toml, it writes what is missing."""
    loaded = overruled(_with_choices(load_brief(folder, desk=desk), budget=budget, odds=odds), n=n)
    made = writer_of(loaded, writer)
    choice, still_open = run_brief(loaded, owner=_owner(owner, json), batches=batches, writer=made, json=json)
    raise typer.Exit(OPEN if still_open or choice.draft is None else CHOSEN)


def run_brief(
    loaded: LoadedBrief,
    *,
    owner: str,
    batches: int | None = None,
    writer: Writer | None = None,
    json: str | None = None,
) -> tuple[Choice, bool]:
    """Runs what is missing, prints the account and writes the report beside the ledger. Returns the choice, and
    whether something is left that nobody answered or measured."""
    for note in loaded.notes:
        show.say(f"note: {note}")
    with Ledger(loaded.folder) as ledger:
        with (
            show.Watching() as progress,
            Sieve(
                loaded, ledger, Together(loaded, writer), desk_of(owner, batches=batches), progress=progress
            ) as sieve,
        ):
            choice = asyncio.run(sieve.run())
        kept = Kept(ledger)
        report = write_report(kept, ledger, loaded.folder)
        view, lines = seen(kept, ledger, sieve.desk)
    for note in how_it_ended(writer):
        show.say(f"note: {note}")
    if json is not None:
        show.json_to(json, to_json(view))
    if json != "-":
        screens.told(kept, lines) if lines else screens.run(kept)
        show.say(f"the report: {report}")
        for line in _kept_for_the_owner(loaded, kept):
            show.say(line)
    return choice, sieve.desk.open


def _kept_for_the_owner(loaded: LoadedBrief, kept: Kept) -> Iterator[str]:
    """What the software desk wrote beside the brief: her answers as tests and, where no draft is right, the brief of
    the next round."""
    if not kept.said or loaded.brief.desk != "software" or kept.choice is None:
        return
    tests = loaded.tests or loaded.folder / TESTS_FOLDER
    if (tests / answers.FILE_NAME).exists():
        yield f"your answers are kept as tests, to be run and edited: {tests / answers.FILE_NAME}"
    elif any(tests.glob(f"{ANSWER}*")):
        yield f"your answers are kept as cases, to be run and edited: {tests / ANSWER}*"
    ahead = loaded.folder / next_round.FILE_NAME
    if kept.choice.draft is None and ahead.exists():
        yield f"no draft is right; the brief for the next round, with what is settled: {ahead}"


def _with_choices(loaded: LoadedBrief, *, budget: int | None, odds: float | None) -> LoadedBrief:
    """The brief with what the command line overrules."""
    settings = loaded.settings
    choose = msgspec.structs.replace(
        settings.choose,
        budget=settings.choose.budget if budget is None else budget,
        odds=settings.choose.odds if odds is None else odds,
    )
    taste = settings.taste if budget is None else msgspec.structs.replace(settings.taste, budget=budget)
    return msgspec.structs.replace(loaded, settings=msgspec.structs.replace(settings, choose=choose, taste=taste))


def _owner(name: str | None, json: str | None) -> str:
    if name is not None:
        return name
    return "terminal" if sys.stdin.isatty() and sys.stdout.isatty() and json != "-" else "none"
