"""`tamis new`: a small brief that runs at once."""

from pathlib import Path
from typing import Annotated

import typer

from tamis.cli import show
from tamis.errors import UsageError, nearest
from tamis.scaffold import DESKS, new_brief


def new_command(
    folder: Annotated[Path, typer.Argument(help="where to write it: a new or empty folder")],
    desk: Annotated[str, typer.Option(help="software, prose or lab")] = "software",
) -> None:
    """Write a small brief that runs."""
    if desk not in DESKS:
        near = nearest(desk, DESKS)
        raise UsageError(
            f"no desk called {desk!r}. The desks: {', '.join(DESKS)}",
            hint=f"did you mean --desk {near}?" if near else None,
        )
    new_brief(folder, desk)
    show.say(f"wrote {folder}: BRIEF.md says what is wanted, tamis.toml how it is sieved")
    show.say(f"next: tamis run {folder}")
