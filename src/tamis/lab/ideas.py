"""Ideas: drafts become rows with columns, each valid or refused with its reason, and the same idea twice is one.

An idea is a JSON object (a CSV row is one), or a text that `[lab] pattern` takes apart. What it says is read as its
column's kind in tamis.toml: fractions of elements or a formula, SMILES, a name, a number, text. Canonical forms
decide what is the same; what an idea's writer wrote is kept as it stands.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec
import numpy as np

from tamis.errors import BriefError
from tamis.lab.expressions import evaluated
from tamis.lab.features import Columns, Named, element_table
from tamis.lab.formulas import NotAFormula, shares
from tamis.lab.gp import Floats
from tamis.lab.numbers import NotANumber, number_in, plain_number
from tamis.lab.settings import LabSection, NumberField
from tamis.lab.units import converted

SUM_TOLERANCE = 0.02
"""Fractions rounded to two digits may sum to 0.98; what lies farther from 1 is not a composition."""

DIGITS = 4
"""Fractions and numbers alike to so many significant digits are the same idea."""

Cells = dict[str, object]


class Key(NamedTuple):
    """An idea in canonical form: shares of elements in their order, and the others in the order of the settings."""

    shares: tuple[tuple[str, float], ...]
    molecules: tuple[str, ...]
    names: tuple[str, ...]
    numbers: tuple[float, ...]
    texts: tuple[str, ...]


class Refused(ValueError):
    """Why an idea is not valid, as a sentence without its name."""


@dataclass(frozen=True)
class Idea:
    """A valid, distinct idea. `cells` is what its writer wrote, `key` its canonical form, `also` the drafts that say
    the same."""

    draft: str
    name: str
    cells: Cells
    key: Key
    also: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Ideas:
    """What came of the drafts. `refused` maps a draft to its reason, `folded` to the draft that stands for it."""

    ideas: list[Idea]
    columns: Columns
    costs: Floats | None
    refused: dict[str, str]
    folded: dict[str, str]

    def places(self) -> dict[str, int]:
        """Draft → the place of its idea, for those that stand for themselves."""
        return {idea.draft: place for place, idea in enumerate(self.ideas)}


class Reader:
    """Reads cells as `[lab]` says. Raises BriefError where `[lab]` itself can't be meant so."""

    def __init__(self, lab: LabSection) -> None:
        self.lab = lab
        self.formula, self.elements = _composition(lab)
        self.numbers = tuple(NumberField(name=one) if isinstance(one, str) else one for one in lab.number)
        if not (self.formula or self.elements or self.numbers or lab.smiles or lab.category or lab.text):
            raise BriefError(
                "[lab] says nothing of what an idea consists of",
                hint='name its columns: composition = ["Ni", "Fe"], smiles = [...], category = [...], number = [...]',
            )
        try:
            self._pattern = re.compile(lab.pattern) if lab.pattern else None
        except re.error as error:
            raise BriefError(f"[lab] pattern is no regular expression: {error}") from error

    def cells(self, content: bytes) -> Cells:
        """The idea's columns. Raises Refused."""
        try:
            found = msgspec.json.decode(content)
        except msgspec.DecodeError:
            return self._by_pattern(content)
        if not isinstance(found, dict):
            raise Refused("is no JSON object")
        return found

    def _by_pattern(self, content: bytes) -> Cells:
        if self._pattern is None:
            raise Refused("is neither a JSON object nor a row, and [lab] pattern does not say how to read it")
        found = self._pattern.search(content.decode("utf-8", "replace"))
        if found is None:
            raise Refused("does not match [lab] pattern")
        return {name: value for name, value in found.groupdict().items() if value is not None}

    def key(self, cells: Cells) -> Key:
        """The idea's canonical form. Raises Refused."""
        return Key(
            self._fractions(cells),
            tuple(_molecule(cells, name) for name in self.lab.smiles),
            tuple(_named(cells, name) for name in self.lab.category),
            tuple(_number(cells, one) for one in self.numbers),
            tuple(" ".join(_required(cells, name).split()) for name in self.lab.text),
        )

    def _fractions(self, cells: Cells) -> tuple[tuple[str, float], ...]:
        if self.formula:
            try:
                found = shares(_required(cells, self.formula))
            except NotAFormula as error:
                raise Refused(f"{self.formula} {error}") from error
        elif self.elements:
            found = self._element_columns(cells)
        else:
            return ()
        return tuple(sorted((element, round(share, DIGITS)) for element, share in found.items() if share > 0))

    def _element_columns(self, cells: Cells) -> dict[str, float]:
        found = {}
        for element in self.elements:
            given = cells.get(element)
            if given is None or given == "":
                continue
            try:
                found[element] = plain_number(given)
            except NotANumber as error:
                raise Refused(f"{element} {error}") from error
            if found[element] < 0:
                raise Refused(f"{element} is {found[element]:g}, and a fraction can't be negative")
        total = sum(found.values())
        whole = 100.0 if total > 50 else 1.0  # percent, where that is what they sum to
        if abs(total / whole - 1.0) > SUM_TOLERANCE:
            raise Refused(f"its fractions sum to {total:g}, not to 1")
        return {element: share / total for element, share in found.items()}


def read_ideas(drafts: Iterable[tuple[str, str, bytes]], lab: LabSection) -> Ideas:
    """Everything that (id, name, content) of the drafts say. Raises BriefError where no idea is valid."""
    reader = Reader(lab)
    first: dict[Key, Idea] = {}
    refused: dict[str, str] = {}
    folded: dict[str, str] = {}
    for draft, name, content in drafts:
        try:
            cells = reader.cells(content)
            key = reader.key(cells)
        except Refused as reason:
            refused[draft] = str(reason)
            continue
        if key in first:
            folded[draft] = first[key].draft
            first[key].also.append(draft)
        else:
            first[key] = Idea(draft, name, cells, key)
    ideas = list(first.values())
    columns = columns_of([idea.key for idea in ideas], reader)
    kept = _constrained(ideas, columns, lab, refused)
    if len(kept) < len(ideas):
        ideas = [ideas[place] for place in kept]
        columns = columns_of([idea.key for idea in ideas], reader)
    if not ideas:
        raise BriefError(f"none of {len(refused)} ideas is valid{_most_common(refused)}", hint=_HINT)
    costs = _costs(columns, lab)
    return Ideas(ideas, columns, costs, refused, folded)


_HINT = "`tamis show` lists each with its reason; do the columns under [lab] in tamis.toml fit the ideas?"


def columns_of(keys: list[Key], reader: Reader) -> Columns:
    """The ideas column by column, for the models."""
    lab = reader.lab
    fractions = [dict(key.shares) for key in keys]
    elements = reader.elements or tuple(sorted({element for one in fractions for element in one}))
    molecules = {name: _codes([key.molecules[j] for key in keys], molecules=True) for j, name in enumerate(lab.smiles)}
    names = {name: _codes([key.names[j] for key in keys], molecules=False) for j, name in enumerate(lab.category)}
    return Columns(
        count=len(keys),
        elements=elements,
        fractions=_matrix(fractions, elements) if elements else None,
        named={**molecules, **names},
        numbers={one.name: np.array([key.numbers[j] for key in keys]) for j, one in enumerate(reader.numbers)},
        texts={name: [key.texts[j] for key in keys] for j, name in enumerate(lab.text)},
    )


def numbers_by_column(columns: Columns) -> dict[str, Floats]:
    """What expressions may speak of: the fractions by element and the numbers by name."""
    by_name = dict(columns.numbers)
    if columns.fractions is not None:
        by_name |= {element: columns.fractions[:, j] for j, element in enumerate(columns.elements)}
    return by_name


def _matrix(fractions: list[dict[str, float]], elements: tuple[str, ...]) -> Floats:
    place = {element: j for j, element in enumerate(elements)}
    matrix = np.zeros((len(fractions), len(elements)))
    for i, one in enumerate(fractions):
        for element, share in one.items():
            matrix[i, place[element]] = share
    return np.asarray(matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1e-12), dtype=np.float64)


def _codes(values: list[str], *, molecules: bool) -> Named:
    levels = sorted(set(values))
    place = {level: code for code, level in enumerate(levels)}
    return Named(np.array([place[value] for value in values], dtype=np.intp), tuple(levels), molecules)


def _composition(lab: LabSection) -> tuple[str | None, tuple[str, ...]]:
    """The column of formulas, or the columns of fractions."""
    if lab.composition is None:
        return None, ()
    names = (lab.composition,) if isinstance(lab.composition, str) else lab.composition
    strange = [name for name in names if name not in element_table()]
    if not strange:
        return None, names
    if len(names) == 1:
        return names[0], ()
    raise BriefError(
        f"[lab] composition: there is no element {strange[0]!r}",
        hint='list element symbols that are columns, or the one column that holds a formula: composition = "formula"',
    )


def _constrained(ideas: list[Idea], columns: Columns, lab: LabSection, refused: dict[str, str]) -> list[int]:
    """The places of the ideas that fulfil every constraint; the others are refused."""
    fine = np.ones(len(ideas), dtype=bool)
    for text in lab.constraints if ideas else ():
        held = np.broadcast_to(evaluated(text, numbers_by_column(columns), where="[lab] constraints"), fine.shape) != 0
        for place in np.flatnonzero(fine & ~held):
            refused[ideas[place].draft] = f"breaks the constraint {text}"
        fine &= held
    return np.flatnonzero(fine).tolist()


def _costs(columns: Columns, lab: LabSection) -> Floats | None:
    if lab.cost is None:
        return None
    costs = np.broadcast_to(evaluated(lab.cost, numbers_by_column(columns), where="[lab] cost"), (columns.count,))
    if not (np.isfinite(costs) & (costs > 0)).all():
        raise BriefError(
            f"[lab] cost = {lab.cost!r} is not above 0 for every idea", hint='for instance: cost = "1 + 5 * La"'
        )
    return np.array(costs)


def _most_common(refused: Mapping[str, str]) -> str:
    if not refused:
        return ""
    reasons = list(refused.values())
    top = max(set(reasons), key=reasons.count)
    return f"; most often ({reasons.count(top)} times) because it {top}"


def _required(cells: Cells, name: str) -> str:
    given = cells.get(name)
    if given is None or not str(given).strip():
        raise Refused(f"has no {name}")
    return str(given).strip()


def _molecule(cells: Cells, name: str) -> str:
    from tamis.lab.molecules import canonical_smiles  # noqa: PLC0415  (RDKit is an extra)

    text = _required(cells, name)
    canonical = canonical_smiles(text)
    if canonical is None:
        raise Refused(f"{name} is {text!r}, which RDKit can't read as SMILES")
    return canonical


def _named(cells: Cells, name: str) -> str:
    return " ".join(_required(cells, name).split()).casefold()


def _number(cells: Cells, wanted: NumberField) -> float:
    given = cells.get(wanted.name)
    if given is None or given == "":
        raise Refused(f"has no {wanted.name}")
    try:
        value, unit = (plain_number(given), "") if not isinstance(given, str) else number_in(given)
    except NotANumber as error:
        raise Refused(f"{wanted.name} {error}") from error
    if unit:
        inside = converted(value, unit, wanted.unit) if wanted.unit else None
        if inside is None:
            raise Refused(f"{wanted.name} is {given!r}, and {wanted.unit or 'a number alone'} is wanted")
        value = inside
    _within(value, wanted)
    return float(f"{value:.{DIGITS + 2}g}")


def _within(value: float, wanted: NumberField) -> None:
    unit = f" {wanted.unit}" if wanted.unit else ""
    if wanted.low is not None and value < wanted.low:
        raise Refused(f"{wanted.name} is {value:g}{unit}, below {wanted.low:g}")
    if wanted.high is not None and value > wanted.high:
        raise Refused(f"{wanted.name} is {value:g}{unit}, above {wanted.high:g}")
    if wanted.step is not None:
        steps = (value - (wanted.low or 0.0)) / wanted.step
        if abs(steps - round(steps)) > 0.01:
            raise Refused(f"{wanted.name} is {value:g}{unit}, not on its grid of {wanted.step:g}")
