"""`tamis new`: a small brief that runs at once, to look at, run, and then write over.

Each desk's is a folder of templates beside this file. Their drafts differ on something that their brief leaves open,
so that a first run has something to show.
"""

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath
from typing import get_args

from tamis.errors import BriefError, UsageError, boundary
from tamis.records import Desk

DESKS: tuple[Desk, ...] = get_args(Desk)
_SUFFIX = ".tmpl"


def new_brief(folder: Path, desk: Desk = "software") -> tuple[Path, ...]:
    """Writes the brief and returns the files written. `folder` must be new or empty: nothing is ever overwritten.
    Raises UsageError where it is not, BriefError where it can't be written."""
    if folder.is_file():
        raise UsageError(f"{folder} is a file; a brief is a folder", hint=f"try {folder.with_suffix('')}-brief")
    if folder.is_dir() and any(folder.iterdir()):
        raise UsageError(
            f"the folder {folder} is not empty, and nothing in it should be overwritten", hint="name a new one"
        )
    written = []
    with boundary(BriefError, f"writing a new brief to {folder}"):
        for name, content in _templates(files("tamis") / "templates" / desk, PurePosixPath()):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            written.append(path)
    return tuple(written)


def _templates(place: Traversable, below: PurePosixPath) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Every template below a place, by the name it is written as."""
    for entry in sorted(place.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _templates(entry, below / entry.name)
        elif entry.name.endswith(_SUFFIX):
            yield below / entry.name.removesuffix(_SUFFIX), entry.read_bytes()
