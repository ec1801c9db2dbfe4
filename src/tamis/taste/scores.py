"""Scores that a judge gave elsewhere: a file with a number or several for each text, which become a feature as they
are. Whose they are and how they came about is not known here, so nothing is said of the judge's habits.
"""

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from tamis.errors import BriefError, boundary, nearest

SUFFIXES = (".csv", ".jsonl", ".ndjson")


class Scores(msgspec.Struct, frozen=True, kw_only=True):
    """`by_name` maps a text's name to its scores, in the order of `columns`; NaN where one is missing. `name` is the
    file's."""

    name: str
    columns: tuple[str, ...]
    by_name: Mapping[str, tuple[float, ...]]

    def of(self, names: Sequence[str]) -> NDArray[np.float64]:
        """The scores of these texts (texts × columns); NaN where there is none. Raises BriefError where none of them
        has any."""
        missing = (math.nan,) * len(self.columns)
        values = np.array([self.by_name.get(name, missing) for name in names], np.float64)
        if not np.isfinite(values).any():
            stranger = next(iter(self.by_name), "nothing")
            near = nearest(stranger, names)
            raise BriefError(
                f"{self.name} scores none of these texts; it names {stranger!r} first",
                hint=f"names are those that tamis shows, such as {near or names[0]!r}",
            )
        return values

    def note(self, names: Sequence[str]) -> str:
        """A sentence on texts without a score and scores without a text; empty where there are none."""
        without = sum(name not in self.by_name for name in names)
        strangers = [name for name in self.by_name if name not in set(names)]
        told = [f"{self.name} has no score for {without} of {len(names)} texts"] if without else []
        if strangers:
            told.append(f"{self.name} scores {len(strangers)} texts that are not compared here ({strangers[0]!r})")
        return "; ".join(told)


def is_scores(path: Path) -> bool:
    """Whether a file of that name holds scores."""
    return path.suffix.lower() in SUFFIXES


def read_scores(path: Path) -> Scores:
    """Scores from CSV or JSON lines: `name`, and every other column that holds numbers and nothing else. Raises
    BriefError where there are none."""
    with boundary(BriefError, f"reading the scores {path}", hint="it should hold a name and numbers for each text"):
        rows = _rows(path)
    if not rows or "name" not in rows[0]:
        raise BriefError(f"{path} names no texts", hint="one column, or key, is to be called name; others are scores")
    numbers = {key: [_number(row.get(key)) for row in rows] for key in rows[0] if key not in {"name", None}}
    columns = [key for key, values in numbers.items() if None not in values and any(map(math.isfinite, values))]  # type: ignore[arg-type]  # no None in them
    if not columns:
        raise BriefError(f"{path} holds no scores: no column of it is numbers throughout", hint="columns: name, score")
    by_name = {
        str(row["name"]): tuple(float(numbers[key][place] or 0.0) for key in columns) for place, row in enumerate(rows)
    }
    return Scores(name=path.name, columns=tuple(columns), by_name=by_name)


def _rows(path: Path) -> list[dict[str, object]]:
    text = path.read_text(encoding="utf-8-sig")
    if path.suffix.lower() == ".csv":
        return [dict(row) for row in csv.DictReader(text.splitlines())]
    return [msgspec.json.decode(line, type=dict[str, object]) for line in text.splitlines() if line.strip()]


def _number(value: object) -> float | None:
    """The number, NaN for what is empty, None for what is none."""
    if value is None or value == "":
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except ValueError:
        return None
