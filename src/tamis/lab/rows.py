"""Ideas as columns that grow while ideas still come: numbers in arrays, names once each, some tens of bytes an idea.

What is held is what the models look at; the columns of any of the rows can be read off at any time.
"""

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tamis.lab.features import Columns, Named
from tamis.lab.gp import Floats, Ints
from tamis.lab.settings import LabSection, NumberField

if TYPE_CHECKING:
    from tamis.lab.ideas import Key

AT_ONCE = 1 << 16
"""Rows whose shares are laid out together: memory for all of them at once would be several times what is kept."""


class _Named:
    """A column of names, each name held once."""

    def __init__(self) -> None:
        self._codes = array("i")
        self._levels: dict[str, int] = {}

    def add(self, value: str) -> None:
        self._codes.append(self._levels.setdefault(value, len(self._levels)))

    def column(self, rows: Ints, *, molecules: bool) -> Named:
        """With the names that these rows have, in the order of the alphabet."""
        codes, levels = np.array(self._codes, np.intc)[rows], list(self._levels)
        used = np.unique(codes)
        order = sorted(range(len(used)), key=lambda place: levels[used[place]])
        code_of = np.empty(len(used), np.intp)
        code_of[order] = np.arange(len(used))
        names = tuple(levels[used[place]] for place in order)
        return Named(code_of[np.searchsorted(used, codes)], names, molecules)


class Rows:
    """Ideas as columns that grow, some tens of bytes each."""

    def __init__(self, lab: LabSection, elements: Sequence[str], numbers: Sequence[NumberField]) -> None:
        """`elements` are the columns of fractions, empty where they are those of the formulas that come."""
        self._lab = lab
        self._wanted = tuple(elements)
        self._fields = tuple(numbers)
        self._elements: dict[str, int] = {}
        self._which, self._shares, self._ends = array("H"), array("d"), array("q", [0])
        self._molecules, self._names = [_Named() for _ in lab.smiles], [_Named() for _ in lab.category]
        self._numbers = [array("d") for _ in numbers]
        self._texts: list[list[str]] = [[] for _ in lab.text]

    def add(self, key: "Key") -> int:
        """The number of the row."""
        for element, share in key.shares:
            self._which.append(self._elements.setdefault(element, len(self._elements)))
            self._shares.append(share)
        self._ends.append(len(self._shares))
        for column, value in zip(self._molecules + self._names, key.molecules + key.names, strict=True):
            column.add(value)
        for numbers, number in zip(self._numbers, key.numbers, strict=True):
            numbers.append(number)
        for texts, text in zip(self._texts, key.texts, strict=True):
            texts.append(text)
        return len(self._ends) - 2

    def columns(self, rows: Ints) -> Columns:
        lab = self._lab
        elements, fractions = self._fractions(rows)
        molecules = {
            name: column.column(rows, molecules=True) for name, column in zip(lab.smiles, self._molecules, strict=True)
        }
        names = {
            name: column.column(rows, molecules=False) for name, column in zip(lab.category, self._names, strict=True)
        }
        numbers = zip(self._fields, self._numbers, strict=True)
        return Columns(
            count=len(rows),
            elements=elements,
            fractions=fractions,
            named={**molecules, **names},
            numbers={one.name: np.array(values, np.float64)[rows] for one, values in numbers},
            texts={
                name: [texts[row] for row in rows.tolist()] for name, texts in zip(lab.text, self._texts, strict=True)
            },
        )

    def _fractions(self, rows: Ints) -> tuple[tuple[str, ...], Floats | None]:
        known = list(self._elements)
        ends, which = np.frombuffer(self._ends, np.int64), np.frombuffer(self._which or array("H", [0]), np.uint16)
        used = self._used(ends, which, rows) if known and not self._wanted else ()
        elements = self._wanted or tuple(sorted(known[code] for code in used))
        if not elements:
            return (), None
        shares = np.frombuffer(self._shares or array("d", [0.0]), np.float64)
        place = np.array([elements.index(element) if element in elements else 0 for element in known], np.intp)
        matrix = np.zeros((len(rows), len(elements)))
        for start in range(0, len(rows), AT_ONCE):
            row, where = _stretches(ends, rows[start : start + AT_ONCE])
            matrix[start + row, place[which[where]]] = shares[where]
        matrix /= np.maximum(matrix.sum(axis=1, keepdims=True), 1e-12)
        return elements, matrix

    def _used(self, ends: Ints, which: npt.NDArray[np.uint16], rows: Ints) -> list[int]:
        """The codes of the elements that these rows have."""
        used = np.zeros(len(self._elements), bool)
        for start in range(0, len(rows), AT_ONCE):
            used[which[_stretches(ends, rows[start : start + AT_ONCE])[1]]] = True
        return np.flatnonzero(used).tolist()


def _stretches(ends: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """For each share of these rows, the place of its row among them and where it stands."""
    starts, counts = ends[rows], ends[rows + 1] - ends[rows]
    row = np.repeat(np.arange(len(rows)), counts)
    return row, np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts - starts, counts)
