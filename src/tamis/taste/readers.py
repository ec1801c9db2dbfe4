"""Who compares: anything that is shown texts and says which it would take. A person at a terminal, a file of Python
that stands in for one, or a file of choices made elsewhere.
"""

import csv
import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, Protocol

import msgspec

from tamis.errors import BriefError, CheckError, boundary, nearest


class Screen(msgspec.Struct, frozen=True, kw_only=True):
    """What a reader is shown: the texts in their order, their names, how many comparisons were answered and how many
    are planned at most, and how many variants stand behind each text."""

    texts: tuple[str, ...]
    names: tuple[str, ...]
    answered: int
    budget: int
    variants: tuple[int, ...]


Word = Literal["alike", "none good", "skip", "undo", "quit"]
Said = int | Word
"""The place of the text taken, or a word: "alike" (can't choose between them), "none good", "skip" (don't ask me
this), "undo" (take back my last answer), "quit" (enough for now)."""


class Reader(Protocol):
    """`name` keeps the answers of several readers apart."""

    @property
    def name(self) -> str: ...

    def compare(self, screen: Screen) -> Said: ...


class FileReader:
    """A file of Python that defines `prefer(texts: list[str]) -> int | None`: the place of the best of the texts, None
    for "can't say", which counts as "alike". Raises BriefError where the file defines no such thing."""

    def __init__(self, path: Path) -> None:
        self.name = path.stem
        self._path = path
        self._prefer = load_prefer(path)

    def compare(self, screen: Screen) -> Said:
        with boundary(CheckError, f"asking {self._path} which of {len(screen.texts)} texts it prefers"):
            answer = self._prefer(list(screen.texts))
        if answer is None:
            return "alike"
        if isinstance(answer, bool) or not isinstance(answer, int) or not 0 <= answer < len(screen.texts):
            raise CheckError(
                f"{self._path}: prefer() answered {answer!r} of {len(screen.texts)} texts",
                hint=f'it is to return the place of the best, 0 to {len(screen.texts) - 1}, or None for "can\'t say"',
            )
        return answer


def load_prefer(path: Path) -> Callable[[list[str]], object]:
    """The file's prefer(). Raises BriefError where it has none."""
    if not path.is_file():
        raise BriefError(f"there is no file {path} to ask", hint="--owner takes a file of Python that defines prefer()")
    spec = importlib.util.spec_from_file_location(f"tamis_reader_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise BriefError(f"{path} is not a file of Python", hint="it should end in .py and define prefer()")
    module = importlib.util.module_from_spec(spec)
    with boundary(BriefError, f"reading {path}"):
        spec.loader.exec_module(module)
    prefer = getattr(module, "prefer", None)
    if not callable(prefer):
        raise BriefError(
            f"{path} defines no prefer()",
            hint="write: def prefer(texts: list[str]) -> int | None, the place of the best",
        )
    found: Callable[[list[str]], object] = prefer
    return found


class ChoicesFile:
    """A file of choices made elsewhere, as `read_choices` reads it: nothing is asked, all of them are learned from."""

    def __init__(self, path: Path) -> None:
        self.name = path.stem
        self.path = path


def reader_in(path: Path) -> FileReader | ChoicesFile:
    """The reader that a file is: choices where it is CSV, else Python that is asked."""
    return ChoicesFile(path) if path.suffix.lower() == ".csv" else FileReader(path)


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """One choice from a file: names of texts in the order shown, and the place of the one taken, None for alike."""

    shown: tuple[str, ...]
    taken: int | None


class Choices(msgspec.Struct, frozen=True, kw_only=True):
    """A file of choices: those that can be used, and a sentence about those that can't."""

    given: tuple[Given, ...]
    notes: tuple[str, ...] = ()


def read_choices(path: Path, names: Sequence[str]) -> Choices:
    """Choices from CSV with the columns `first`, `second` (`third`, `fourth`) and `taken`: names of texts, the one
    taken by its name, empty for alike. Rows that name texts that aren't there are left out and told. Raises
    BriefError where the columns are missing or no row can be used."""
    with boundary(BriefError, f"reading {path}", hint="it should be CSV with the columns first, second, taken"):
        rows = list(csv.DictReader(path.read_text(encoding="utf-8-sig").splitlines()))
    if not rows or not {"first", "second", "taken"} <= rows[0].keys():
        columns = ", ".join(rows[0]) if rows else "none"
        raise BriefError(f"{path} lacks columns: it has {columns}", hint="needed are first, second and taken")
    known, given, unknown, odd = set(names), [], [], 0
    for row in rows:
        shown = tuple(row[key] for key in ("first", "second", "third", "fourth") if row.get(key))
        strangers = [name for name in shown if name not in known]
        taken = row["taken"] or None
        if strangers:
            unknown += strangers
        elif len(set(shown)) < 2 or len(set(shown)) < len(shown) or (taken is not None and taken not in shown):
            odd += 1
        else:
            given.append(Given(shown=shown, taken=None if taken is None else shown.index(taken)))
    notes = _notes(path, unknown, odd, names)
    if not given:
        raise BriefError(f"{path} holds no usable choice: {' '.join(notes)}")
    return Choices(given=tuple(given), notes=notes)


def _notes(path: Path, unknown: Sequence[str], odd: int, names: Sequence[str]) -> tuple[str, ...]:
    notes = []
    if unknown:
        near = nearest(unknown[0], names)
        guess = f"; did it mean {near!r}?" if near else ""
        notes.append(
            f"{path} names {len(set(unknown))} texts that are not here, for instance {unknown[0]!r}{guess}; "
            "the choices with them are left out."
        )
    if odd:
        notes.append(f"{odd} rows of {path} are left out: they take a text that they don't show, or show one twice.")
    return tuple(notes)
