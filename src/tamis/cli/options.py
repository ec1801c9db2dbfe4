"""Options that several commands share."""

from pathlib import Path
from typing import Annotated, Literal

import typer

Folder = Annotated[Path, typer.Argument(help="the brief's folder", show_default=False)]
Json = Annotated[str | None, typer.Option(metavar="PATH|-", help="write the result as JSON")]
DeskName = Annotated[Literal["software", "prose", "lab"] | None, typer.Option(help="the desk; overrules tamis.toml")]
