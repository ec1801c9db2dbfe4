"""`tamis check`: the checks alone (duplicates, syntax, the given tests), without behaviour and choice."""

import asyncio

import typer

from tamis.brief import load_brief
from tamis.cli import screens, show
from tamis.cli.desk import desk_of
from tamis.cli.options import Folder, Json
from tamis.ledger import Ledger
from tamis.sieve import Sieve
from tamis.views import Kept, run_view, to_json
from tamis.writers.together import Together


def check_command(folder: Folder, json: Json = None) -> None:
    """Check every draft and say where each stands."""
    loaded = load_brief(folder)
    with Ledger(loaded.folder) as ledger:
        with (
            show.Watching() as progress,
            Sieve(loaded, ledger, Together(loaded), desk_of("none"), progress=progress) as sieve,
        ):
            passed = asyncio.run(sieve.check())
        kept = Kept(ledger)
    if json is not None:
        show.json_to(json, to_json(run_view(kept)))
    if json != "-":
        screens.standings(kept)
    raise typer.Exit(0 if passed else 3)
