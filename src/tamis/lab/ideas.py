"""Ideas: drafts become rows with columns, each valid or refused with its reason, and the same idea twice is one.

An idea is a JSON object (a CSV row is one), or a text that `[lab] pattern` takes apart. What it says is read as its
column's kind in tamis.toml: fractions of elements or a formula, SMILES, a name, a number, text. Canonical forms
decide what is the same; what an idea's writer wrote stays where it stands, and is read again when someone wants to see
it: of a million ideas, only what the models look at is held.
"""

import hashlib
import re
import sys
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import msgspec
import numpy as np

from tamis.errors import BriefError
from tamis.lab.expressions import evaluated
from tamis.lab.features import Columns, element_table
from tamis.lab.formulas import NotAFormula, shares
from tamis.lab.gp import Floats, Ints
from tamis.lab.numbers import NotANumber, number_in, plain_number
from tamis.lab.rows import Rows
from tamis.lab.settings import LabSection, NumberField
from tamis.lab.units import converted

SUM_TOLERANCE = 0.02
"""Fractions rounded to two digits may sum to 0.98; what lies farther from 1 is not a composition."""

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""What is neither printed nor a blank, a tab or the end of a line."""

DIGITS = 4
"""Fractions and numbers alike to so many significant digits are the same idea."""

MOST_NAME, MOST_FORMULA, MOST_SMILES, MOST_TEXT = 200, 1_000, 10_000, 100_000
"""Characters that a cell of each kind may have; what is longer is no such thing, whatever wrote it."""
MOST_REASON = 300
"""Characters of a reason: what it quotes may be long."""

Cells = dict[str, object]
T = TypeVar("T")


class Key(NamedTuple):
    """An idea in canonical form: shares of elements in their order, and the others in the order of the settings."""

    shares: tuple[tuple[str, float], ...]
    molecules: tuple[str, ...]
    names: tuple[str, ...]
    numbers: tuple[float, ...]
    texts: tuple[str, ...]


class Refused(ValueError):
    """Why an idea is not valid, as a sentence without its name."""

    def __str__(self) -> str:
        reason = super().__str__()
        return reason if len(reason) <= MOST_REASON else f"{reason[: MOST_REASON - 1]}…"


class NoneValid(BriefError):
    """No idea is valid. `refused` maps each draft to its reason."""

    def __init__(self, refused: Mapping[str, str], first: bytes) -> None:
        self.refused = refused
        begins = " ".join(first.decode("utf-8", "replace")[:80].split())
        super().__init__(
            f"none of {len(refused)} ideas is valid{_most_common(refused)}. The first begins: {begins}", hint=_HINT
        )


@dataclass(frozen=True, slots=True)
class Idea:
    """A valid, distinct idea; `also` are the drafts that say the same."""

    draft: str
    name: str
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class Listed:
    """Drafts in their order, each as its id and name, and where what it says can be read."""

    drafts: Iterable[tuple[str, str]]
    content: Callable[[str], bytes]


@dataclass(frozen=True)
class Ideas:
    """What came of the drafts. `refused` maps a draft to its reason, `folded` to the draft that stands for it. `says`
    gives the canonical form of a draft, and its cells as its writer wrote them."""

    ideas: list[Idea]
    columns: Columns
    costs: Floats | None
    refused: Mapping[str, str]
    folded: Mapping[str, str]
    says: "Callable[[str], tuple[Key, Cells]]"

    def places(self) -> dict[str, int]:
        """Draft → the place of its idea, for those that stand for themselves."""
        return {idea.draft: place for place, idea in enumerate(self.ideas)}

    def key(self, draft: str) -> Key:
        return self.says(draft)[0]

    def cells(self, draft: str) -> Cells:
        return self.says(draft)[1]


class Each(Mapping[str, T]):
    """Something of each idea by its draft, worked out when it is asked for."""

    def __init__(self, ideas: Ideas, of: Callable[[str], T]) -> None:
        self._ideas = ideas.ideas
        self._of = of

    def __getitem__(self, draft: str) -> T:
        return self._of(draft)

    def __iter__(self) -> Iterator[str]:
        return (idea.draft for idea in self._ideas)

    def __len__(self) -> int:
        return len(self._ideas)


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
            tuple(" ".join(_required(cells, name, MOST_TEXT).split()) for name in self.lab.text),
        )

    def _fractions(self, cells: Cells) -> tuple[tuple[str, float], ...]:
        if self.formula:
            try:
                found = shares(_required(cells, self.formula, MOST_FORMULA))
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


class Coming:
    """Ideas read while others still arrive, in whatever order they come. Of each different one its columns are held,
    of each draft which one it says, until they are asked for: then it is empty again, whoever still holds it."""

    def __init__(self, lab: LabSection) -> None:
        self.lab = lab
        self.reader = Reader(lab)
        self._row_of: dict[bytes, int] = {}
        self._said: dict[str, int | str] = {}
        """Draft → the row of what it says, or why it is refused."""
        self._rows = Rows(lab, self.reader.elements, self.reader.numbers)

    def add(self, draft: str, content: bytes) -> None:
        """Reads a draft."""
        try:
            key = self.reader.key(self.reader.cells(content))
        except Refused as reason:
            self._said[draft] = sys.intern(str(reason))
            return
        name = hashlib.blake2b(msgspec.msgpack.encode(key), digest_size=16).digest()
        row = self._row_of.get(name)
        self._said[draft] = row if row is not None else self._row_of.setdefault(name, self._rows.add(key))

    def ideas(self, drafts: Listed) -> Ideas:
        """What the drafts say, of two that say the same the first. Those that did not come this way are read now.
        Raises BriefError where no idea is valid."""
        places = array("i")
        """Row → the place of its idea, -1 before there is one."""
        rows = array("q")
        ideas: list[Idea] = []
        refused, folded, also = dict[str, str](), dict[str, str](), dict[int, list[str]]()
        for draft, name in drafts.drafts:
            if draft not in self._said:
                self.add(draft, drafts.content(draft))
            said = self._said[draft]
            if isinstance(said, str):
                refused[draft] = said
                continue
            places.extend([-1] * (said + 1 - len(places)))
            place = places[said]
            if place >= 0:
                folded[draft] = ideas[place].draft
                also.setdefault(place, []).append(draft)
            else:
                places[said] = len(ideas)
                rows.append(said)
                ideas.append(Idea(draft, name))
        for place, others in also.items():
            ideas[place] = replace(ideas[place], also=tuple(others))
        self._row_of, self._said = {}, {}  # of a million ideas they are as much as all that is kept of them
        found = self._kept(drafts, ideas, np.array(rows, np.intp), refused, folded)
        self._rows = Rows(self.lab, self.reader.elements, self.reader.numbers)
        return found

    def _kept(
        self, drafts: Listed, ideas: list[Idea], rows: Ints, refused: dict[str, str], folded: dict[str, str]
    ) -> Ideas:
        """Those that fulfil the constraints too."""
        columns = self._rows.columns(rows)
        kept = _constrained(ideas, columns, self.lab, refused)
        if len(kept) < len(ideas):
            ideas = [ideas[place] for place in kept]
            columns = self._rows.columns(rows[kept])
        if not ideas:
            raise NoneValid(refused, drafts.content(next(iter(refused))) if refused else b"")

        reader = self.reader  # and not all that was read

        def says(draft: str) -> tuple[Key, Cells]:
            cells = reader.cells(drafts.content(draft))
            return reader.key(cells), cells

        return Ideas(ideas, columns, _costs(columns, self.lab), refused, folded, says)


def read_ideas(drafts: Iterable[tuple[str, str, bytes]], lab: LabSection) -> Ideas:
    """Everything that (id, name, content) of the drafts say. Raises BriefError where no idea is valid."""
    return Coming(lab).ideas(listed(drafts))


def listed(drafts: Iterable[tuple[str, str, bytes]]) -> Listed:
    """Drafts that are held as they are."""
    held = {draft: (name, content) for draft, name, content in drafts}
    return Listed([(draft, name) for draft, (name, _) in held.items()], lambda draft: held[draft][1])


_HINT = "do the columns under [lab] in tamis.toml fit the ideas? `tamis check` lists each with its reason"


def columns_of(keys: Sequence[Key], reader: Reader) -> Columns:
    """Ideas column by column, for the models."""
    rows = Rows(reader.lab, reader.elements, reader.numbers)
    for key in keys:
        rows.add(key)
    return rows.columns(np.arange(len(keys)))


def numbers_by_column(columns: Columns) -> dict[str, Floats]:
    """What expressions may speak of: the fractions by element and the numbers by name."""
    by_name = dict(columns.numbers)
    if columns.fractions is not None:
        by_name |= {element: columns.fractions[:, j] for j, element in enumerate(columns.elements)}
    return by_name


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
    (top, count), *_ = Counter(refused.values()).most_common(1)
    return f"; most often ({count} times) because it {top}"


def _required(cells: Cells, name: str, most: int) -> str:
    """The text of a cell, of at most so many characters. Raises Refused where it is none: a list is no name, and what
    a program wrote by mistake is no text."""
    given = cells.get(name)
    if isinstance(given, list | dict):
        raise Refused(f"{name} is a {'list' if isinstance(given, list) else 'JSON object'}, and a text is wanted")
    text = "" if given is None else str(given).strip()
    if not text:
        raise Refused(f"has no {name}")
    if len(text) > most:
        raise Refused(f"{name} is {len(text):,} characters long, and at most {most:,} are read")
    if odd := _CONTROL.search(text):
        raise Refused(f"{name} holds the control character U+{ord(odd[0]):04X}, which no text has")
    return text


def _molecule(cells: Cells, name: str) -> str:
    from tamis.lab.molecules import canonical_smiles  # noqa: PLC0415  (RDKit is an extra)

    text = _required(cells, name, MOST_SMILES)
    canonical = canonical_smiles(text)
    if canonical is None:
        raise Refused(f"{name} is {text!r}, which RDKit can't read as SMILES")
    return canonical


def _named(cells: Cells, name: str) -> str:
    return " ".join(_required(cells, name, MOST_NAME).split()).casefold()


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
    return float(f"{value:.{DIGITS + 2}g}") + 0.0  # which makes 0 of -0


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
