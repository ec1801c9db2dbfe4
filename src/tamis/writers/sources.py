"""Where the writer `files` looks: from "drafts/*.py" to the files themselves, in the order a person would list them.

Only names are looked at here; which branches a repository has is asked when they are read. Whatever a name leads to, a
folder, a dangling link or a pipe, is passed on, so that it is told as one bad draft; a source that leads nowhere at all
is the owner's slip and raises.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tamis.brief import SUFFIXES, is_draft_name
from tamis.errors import DraftsError, nearest
from tamis.records import Desk, Record
from tamis.writers.branches import GIT, Branches, branches_of

STDIN = "-"


Narrowed = Callable[[Path], Path]


class Source(Record, frozen=True, kw_only=True):
    """A file, and the name that its draft goes by. Standard input and a repository have no path; `branches` says what
    of a repository is meant."""

    name: str
    path: Path | None = None
    branches: Branches | None = None

    @property
    def is_stdin(self) -> bool:
        return self.path is None and self.branches is None


def find_sources(folder: Path, sources: Sequence[str], desk: Desk, *, narrowed: Narrowed) -> Iterator[Source]:
    """Every file that the sources lead to, once, in natural order within each source. Names are relative to what the
    source fixes (`drafts` in `drafts/*.py`), and longer only where two would be the same. `narrowed` says which part of
    a folder is meant."""
    seen: set[Path] = set()
    taken: set[str] = set()
    for source in sources:
        if source == STDIN:
            yield Source(name=STDIN)
            continue
        if source.startswith(GIT):
            yield Source(name=source, branches=branches_of(source))
            continue
        base, paths = _expanded(folder, source, desk, narrowed)
        for path in sorted(paths, key=lambda path: natural(path.relative_to(base).as_posix())):
            if path not in seen:
                seen.add(path)
                yield Source(name=free_name(_names(path, base, folder), taken), path=path)


def natural(name: str) -> list[tuple[int, int, str]]:
    """A key by which draft_2 comes before draft_10."""
    parts = re.split(r"([0-9]+)", name)
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part.casefold()) for part in parts] + [(2, 0, name)]


def free_name(wanted: Sequence[str], taken: set[str]) -> str:
    """The first of the wanted names that is not taken, else the last with a number; it is taken from then on."""
    name = next((name for name in wanted if name not in taken), None)
    number = 2
    while name is None:
        numbered = f"{wanted[-1]}#{number}"
        name = numbered if numbered not in taken else None
        number += 1
    taken.add(name)
    return name


def _names(path: Path, base: Path, folder: Path) -> tuple[str, ...]:
    return (path.relative_to(base).as_posix(), Path(os.path.relpath(path, folder)).as_posix())


def _expanded(folder: Path, source: str, desk: Desk, narrowed: Narrowed) -> tuple[Path, list[Path]]:
    """The folder that names are relative to, and the paths."""
    path = Path(os.path.normpath(folder / source))
    if path.is_dir():
        path = narrowed(path)
        found = [below for below in _below(path) if is_draft_name(below.name, desk)]
        if not found:
            kinds = ", ".join(SUFFIXES[desk])
            raise DraftsError(
                f"{path} holds no drafts: no file in it ends in {kinds}",
                hint='drafts of another kind are named by a glob: from = "drafts/*.cob"',
            )
        return path, found
    if re.search(r"[*?[]", source):
        base, pattern = _split_glob(folder, source)
        found = [match for match in base.glob(pattern) if "__pycache__" not in match.parts]
        if not found:
            raise DraftsError(f'nothing in {folder} matches "{source}", so there are no drafts{_instead(base)}')
        return base, found
    if not os.path.lexists(path):
        raise DraftsError(
            f'there is no "{source}" in {folder}, so there are no drafts{_instead(path.parent, path.name)}'
        )
    return path.parent, [path]


def _split_glob(folder: Path, source: str) -> tuple[Path, str]:
    """The fixed part of a glob as a folder, and the rest."""
    parts = Path(source).parts
    first = next(number for number, part in enumerate(parts) if re.search(r"[*?[]", part))
    return Path(os.path.normpath(folder.joinpath(*parts[:first]))), str(Path(*parts[first:]))


def _below(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__" and not name.startswith(".")]
        odd = [name for name in folders if Path(name).suffix in (".py", ".jsonl", ".md", ".txt")]
        for name in [*names, *odd]:  # a folder that is named like a draft is told, not walked into
            yield Path(root, name)
        folders[:] = [name for name in folders if name not in odd]


def _instead(folder: Path, missing: str | None = None) -> str:
    """What is there instead, for the end of a sentence."""
    if not folder.is_dir():
        return f": there is no folder {folder}"
    names = sorted((path.name for path in folder.iterdir() if not path.name.startswith(".")), key=natural)
    if missing and (near := nearest(missing, names)):
        return f"; did you mean '{near}'?"
    return f"; it holds {', '.join(names[:5])}{' and more' if len(names) > 5 else ''}" if names else "; it is empty"
