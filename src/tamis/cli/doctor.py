"""`tamis doctor`: what this machine allows, layer by layer, and what its lack would mean."""

import os
import platform
import sys
from typing import Annotated

import msgspec
import typer

from tamis import __version__
from tamis.cli import show
from tamis.sandbox import protections


def doctor_command(
    json: Annotated[str | None, typer.Option(metavar="PATH|-", help="write it as JSON")] = None,
) -> None:
    """Say what this machine allows."""
    found = protections()
    if json is not None:
        show.json_to(json, msgspec.json.encode(found))
        return
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    show.line(f"tamis {__version__} · Python {platform.python_version()} · {platform.platform()} · {cores} cores")
    show.line(f"python    {sys.executable}")
    show.line("the box for drafts:")
    for layer, state in found.layers.items():
        show.line(f"  {layer:<12}{state}")
    if found.advice:
        show.line(found.advice)
    if found.fault:
        show.line(f"the box does not start: {found.fault}")
        raise typer.Exit(1)
