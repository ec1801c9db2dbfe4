"""Features: what a model sees of the ideas, as numbers.

The same ideas are seen in three ways, because no one way is best everywhere: `main` (square roots of fractions,
in which the step from none to a little is as large as it is in chemistry; one-hot with descriptors for molecules),
`plain` (fractions as they are, everything named one-hot), and `tree` (columns with a meaning each, for trees, which
ask about one at a time). Columns come in groups that share one length; a whole group has unit variance, so that one
prior on lengths suits all.

It looks at ideas only, never at results, so it is the same before and after measuring.
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

import numpy as np
import numpy.typing as npt

from tamis.lab.gp import Floats, Ints

ELEMENT_PROPERTIES = ("group", "period", "electronegativity", "radius_pm", "valence_electrons", "ionization_eV")
MOST_MOLECULE_AXES = 16
MOST_TEXT_AXES = 8
SAMPLED_FOR_AXES = 2_000


@dataclass(frozen=True)
class Named:
    """A column of names: `codes` (n,) index `levels`. `molecules` says that the levels are canonical SMILES."""

    codes: Ints
    levels: tuple[str, ...]
    molecules: bool = False


@dataclass(frozen=True)
class Columns:
    """Valid, distinct ideas by column. `fractions` is (n, elements), rows sum to 1; numbers are (n,), in their
    fields' units."""

    count: int
    elements: tuple[str, ...] = ()
    fractions: Floats | None = None
    named: Mapping[str, Named] = field(default_factory=dict)
    numbers: Mapping[str, Floats] = field(default_factory=dict)
    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class View:
    """One way of seeing the ideas: `x` is (n, d), and column j belongs to group `groups[j]`."""

    x: Floats
    groups: Ints


@dataclass(frozen=True)
class Features:
    main: View
    plain: View
    tree: npt.NDArray[np.float32]

    @property
    def count(self) -> int:
        return len(self.tree)


def features_of(columns: Columns, *, seed: int = 0) -> Features:
    """The three views of the ideas. Equal ideas give equal features; `seed` draws the sample on which the axes of
    molecules and texts are found, where there are very many."""
    rng = np.random.default_rng(seed)
    main, plain, tree = _Blocks(), _Blocks(), [np.zeros((columns.count, 0))]
    if columns.fractions is not None:
        described = _element_means(columns.elements, columns.fractions)
        main.add(np.sqrt(columns.fractions), together=False)
        plain.add(columns.fractions, together=False)
        tree += [columns.fractions, described]
    for column in columns.named.values():
        hot = _one_hot(column)
        main.add(hot, together=True)
        plain.add(hot, together=True)
        tree.append(hot)
        if column.molecules:
            described = _molecule_axes(column, rng)
            main.add(described, together=True)
            tree.append(described)
    for values in columns.numbers.values():
        main.add(values[:, None], together=False)
        plain.add(values[:, None], together=False)
        tree.append(values[:, None])
    for texts in columns.texts.values():
        axes = _text_axes(texts, rng)
        main.add(axes, together=True)
        tree.append(axes)
    return Features(main.view(), plain.view() if plain.blocks else main.view(), _as_tree(tree))


class _Blocks:
    """Collects blocks of columns, each scaled to the variance of its number of lengths, and numbers their groups."""

    def __init__(self) -> None:
        self.blocks: list[Floats] = []
        self.groups: list[int] = []

    def add(self, block: Floats, *, together: bool) -> None:
        """`together`: the columns share one length; else each has its own."""
        block = block - block.mean(axis=0)
        lengths = 1 if together else block.shape[1]
        spread = float(np.sqrt((block**2).sum(axis=1).mean() / max(lengths, 1)))
        if spread < 1e-9:  # the same for every idea: it tells nothing
            return
        first = self.groups[-1] + 1 if self.groups else 0
        self.blocks.append(block * (NAMED_SPREAD if together else 1.0) / spread)
        self.groups += [first if together else first + j for j in range(block.shape[1])]

    def view(self) -> View:
        if not self.blocks:
            raise ValueError("the ideas don't differ in anything that a model could see")
        return View(np.ascontiguousarray(np.hstack(self.blocks)), np.asarray(self.groups, dtype=np.intp))


NAMED_SPREAD = 1.5
"""How far apart named things lie, against numbers: two ligands say less about each other than two temperatures do."""


def _as_tree(blocks: Sequence[Floats]) -> npt.NDArray[np.float32]:
    return np.ascontiguousarray(np.hstack(blocks), dtype=np.float32)


def _one_hot(column: Named) -> Floats:
    hot = np.zeros((len(column.codes), len(column.levels)))
    hot[np.arange(len(column.codes)), column.codes] = 1.0
    return hot


@cache
def element_table() -> Mapping[str, tuple[float | None, ...]]:
    """Symbol → ELEMENT_PROPERTIES. Radii are covalent (Cordero et al. 2008, spin states averaged), electronegativities
    Pauling's and ionisation energies the first, both from the CRC Handbook; valence electrons and groups as in the
    package mendeleev 1.3 (lanthanides and actinides are given group 3)."""
    text = resources.files(__package__).joinpath("elements.csv").read_text(encoding="utf-8")
    return {
        row["symbol"]: tuple(float(row[name]) if row[name] else None for name in ELEMENT_PROPERTIES)
        for row in csv.DictReader(text.splitlines())
    }


def _element_means(elements: Sequence[str], fractions: Floats) -> Floats:
    """Weighted mean of each property, (n, properties). A property that an element lacks is taken as the mean of the
    others'."""
    table = element_table()
    raw = np.array(
        [[np.nan if value is None else value for value in table[symbol]] for symbol in elements], dtype=float
    )
    middle = np.array([column[~np.isnan(column)].mean() if (~np.isnan(column)).any() else 0.0 for column in raw.T])
    return fractions @ np.where(np.isnan(raw), middle, raw)


def _molecule_axes(column: Named, rng: np.random.Generator) -> Floats:
    from tamis.lab.molecules import described  # noqa: PLC0415  (RDKit is an extra)

    some = rng.choice(len(column.levels), min(len(column.levels), SAMPLED_FOR_AXES), replace=False)
    axes = _principal(described(column.levels), some, MOST_MOLECULE_AXES)
    return axes[column.codes]


def _text_axes(texts: Sequence[str], rng: np.random.Generator) -> Floats:
    from tamis.lab.texts import embedded  # noqa: PLC0415  (the word table is an extra)

    some = rng.choice(len(texts), min(len(texts), SAMPLED_FOR_AXES), replace=False)
    return _principal(embedded(texts), some, MOST_TEXT_AXES)


def _principal(x: Floats, some: Ints, most: int) -> Floats:
    """The strongest axes of `x`, found on the rows `some`, their variances kept."""
    centred = x - x[some].mean(axis=0)
    _, sizes, axes = np.linalg.svd(centred[some], full_matrices=False)
    keep = min(most, int((sizes > 1e-8 * max(float(sizes[0]), 1e-12)).sum()))
    return np.asarray(centred @ axes[:keep].T)
