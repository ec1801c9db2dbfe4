"""`tamis demo`: the main job on an example that ships with tamis, in a fresh folder."""

import shutil
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from tamis.brief import load_brief
from tamis.cli import show
from tamis.cli.run import run_brief
from tamis.errors import BriefError, UsageError

EXAMPLES = ("lending",)


def demo_command(
    into: Annotated[Path, typer.Option(help="the folder to make; it must not hold anything else")] = Path("tamis-demo"),
    example: Annotated[str, typer.Option(help=f"which: {', '.join(EXAMPLES)}")] = "lending",
    json: Annotated[str | None, typer.Option(metavar="PATH|-", help="write the result as JSON")] = None,
) -> None:
    """Copy an example to a fresh folder and run it."""
    if example not in EXAMPLES:
        raise UsageError(f"no example called {example!r}. The examples: {', '.join(EXAMPLES)}")
    fresh = not into.exists() or (into.is_dir() and not any(into.iterdir()))
    if not fresh and not (into / "BRIEF.md").exists():
        raise UsageError(f"{into} exists and is no earlier demo", hint="name another folder with --into")
    if not fresh:
        show.say(f"{into} is there from an earlier demo: going on from its ledger")
    else:
        show.say(f"copying the {example} example to {into}")
    shutil.copytree(example_folder(example), into, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    choice, _ = run_brief(load_brief(into), owner="none", json=json)
    show.say(f"next: tamis show {into}, or the same with your answers: tamis run {into} --owner terminal")
    # open questions are no failure of a demo that asks nothing
    raise typer.Exit(0 if choice.draft is not None else 3)


def example_folder(example: str) -> Path:
    """Where the example lies: inside the installed package, or beside `src` in a checkout."""
    for folder in (Path(str(files("tamis"))) / "examples", Path(__file__).parents[3] / "examples"):
        if (folder / example / "BRIEF.md").exists():
            return folder / example
    raise BriefError(f"the example {example!r} is missing from this installation", hint="reinstall tamis")
