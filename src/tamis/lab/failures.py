"""Failures: kinds of ideas whose runs keep failing.

A failed run says nothing of how good its idea is, but many together say what the bench can't make. Kinds are looked
for that a person can name (a level of a column, an element present, a number from some value on), and one is believed
only where its failures are far more than chance would give it (Fisher's exact test, one-sided, corrected for the number
of kinds looked at). One run in ten that fails anyhow stays what it is: bad luck, and the idea may be tried again.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import hypergeom

from tamis.lab.features import Columns
from tamis.lab.gp import Floats, Ints

Truths = npt.NDArray[np.bool_]

CHANCE = 0.01
"""A kind is believed where the odds of its failures by chance, times the kinds looked at, are below this."""
LEAST = 3
MOST_KINDS = 5
IMAGINED = 2.0
"""So many runs of a kind are imagined to have gone as all the others do."""


@dataclass(frozen=True)
class Failing:
    """A kind of idea that keeps failing: its name, which of all ideas are of it (ideas,), how many of its `runs`
    `failed`, and the chance that a run of it succeeds, 0 to 1."""

    name: str
    ideas: Truths
    failed: int
    runs: int
    chance: float


def failing_kinds(columns: Columns, rows: Ints, failed: Truths) -> list[Failing]:
    """The kinds that keep failing, the plainest first. `rows` (runs,) is the idea of each run, `failed` (runs,) how it
    ended. Runs explained by one kind are not counted for the next."""
    found: list[Failing] = []
    left = np.ones(len(rows), dtype=bool)
    while len(found) < MOST_KINDS and failed[left].sum() >= LEAST:
        worst = _worst(columns, rows[left], failed[left])
        if worst is None:
            break
        name, ideas = worst
        inside = left & ideas[rows]
        others = left & ~inside
        usual = float((failed[others].sum() + 1) / (others.sum() + 2))
        count, bad = int(inside.sum()), int(failed[inside].sum())
        found.append(Failing(name, ideas, bad, count, 1.0 - (bad + IMAGINED * usual) / (count + IMAGINED)))
        left &= ~inside
    return found


def chances(kinds: Sequence[Failing], count: int) -> Floats | None:
    """The chance of each of `count` ideas that a run of it succeeds, relative to those of no failing kind; None where
    there is no such kind."""
    if not kinds:
        return None
    chance = np.ones(count)
    for kind in kinds:
        chance[kind.ideas] = np.minimum(chance[kind.ideas], kind.chance)
    return chance


def _worst(columns: Columns, rows: Ints, failed: Truths) -> tuple[str, Truths] | None:
    kinds = list(_kinds(columns, rows))
    all_failed = int(failed.sum())
    best: tuple[float, _Kind] | None = None
    for kind in kinds:
        inside = kind.holds(kind.values[rows], kind.limit)
        count, bad = int(inside.sum()), int(failed[inside].sum())
        if bad < LEAST or bad < count / 2:
            continue
        by_chance = float(hypergeom.sf(bad - 1, len(rows), all_failed, count)) * len(kinds)
        if by_chance < CHANCE and (best is None or by_chance < best[0]):
            best = (by_chance, kind)
    return None if best is None else (best[1].name, best[1].holds(best[1].values, best[1].limit))


@dataclass(frozen=True)
class _Kind:
    """The ideas whose value in a column is equal to, above or below a limit. It is looked up for the runs, and only for
    the kind that is believed also for all ideas, of which there may be a million."""

    name: str
    values: Floats | Ints
    holds: Callable[[Floats | Ints, float], Truths]
    limit: float


def _kinds(columns: Columns, rows: Ints) -> Iterator[_Kind]:
    """Every kind that some runs belong to and others don't."""
    for name, column in columns.named.items():
        for code in np.unique(column.codes[rows]).tolist():
            yield _Kind(f"{name} = {column.levels[code]}", column.codes, np.equal, code)
    numbers = dict(columns.numbers)
    if columns.fractions is not None:
        shares = {element: columns.fractions[:, j] for j, element in enumerate(columns.elements)}
        for element, share in shares.items():
            yield _Kind(f"with {element}", share, np.greater, 0.0)
        numbers |= shares
    for name, values in numbers.items():
        seen = np.unique(values[rows])
        for low, high in zip(seen[:-1].tolist(), seen[1:].tolist(), strict=True):
            yield _Kind(f"{name} from {high:g} on", values, np.greater, (low + high) / 2)
            yield _Kind(f"{name} up to {low:g}", values, np.less, (low + high) / 2)
