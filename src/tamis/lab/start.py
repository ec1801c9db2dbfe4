"""The first batches: what to measure before there is anything to learn from.

The first ideas stand for all: those taken together resemble the whole as well as may be (support points, Mak & Joseph
2018). What must go out blind after them goes to the ideas farthest from all taken: the common is covered by then, and
edges say most about trends. Nothing here looks at results.
"""

import numpy as np
import numpy.typing as npt

from tamis.lab import gp
from tamis.lab.batch import Pick
from tamis.lab.features import Features
from tamis.lab.gp import Floats, Ints

STAND_FOR_ALL = 16
"""So many ideas stand for all, those after them are the farthest."""

CHUNK = 100_000
"""Rows whose distances are worked out together; all of a million at once would need several copies of the features."""

CANDIDATES = 20_000
SAMPLE = 2_000
"""Of more ideas, so many drawn at random may be taken to stand for all, and so many are what they must resemble."""


def spread(features: Features, taken: Ints, free: Ints, want: int, *, rng: np.random.Generator) -> list[Pick]:
    """`want` of the `free` ideas (fewer where they run out), knowing those `taken` before."""
    x = features.main.x
    standing = min(want, len(free), max(0, STAND_FOR_ALL - len(taken)))
    first = support_points(x, taken, free, standing, rng=rng)
    rest = np.setdiff1d(free, first)
    far = farthest(x, np.concatenate([taken, first]), rest, min(want - standing, len(rest)), rng=rng)
    return [Pick(row, "spread") for row in [*first.tolist(), *far.tolist()]]


def support_points(x: Floats, taken: Ints, free: Ints, want: int, *, rng: np.random.Generator) -> Ints:
    """`want` rows of `free`, found one by one: each brings the energy distance between all that are taken and all the
    ideas down the most. The very first is drawn."""
    if not want:
        return np.zeros(0, dtype=np.intp)
    candidates = _some(free, CANDIDATES, rng)
    sample = _some(np.arange(len(x)), SAMPLE, rng)
    near_all = np.concatenate([_distances(x, part, sample).mean(axis=1) for part in _chunks(candidates)])
    near_taken = np.zeros(len(candidates))
    for row in taken:
        near_taken += _distances(x, candidates, np.array([row]))[:, 0]
    open_ = np.ones(len(candidates), dtype=bool)
    chosen: list[int] = []
    while len(chosen) < min(want, len(candidates)):
        before = len(taken) + len(chosen)
        score = near_all - near_taken / (before + 1) if before else rng.random(len(candidates))
        place = int(np.argmin(np.where(open_, score, np.inf)))
        chosen.append(int(candidates[place]))
        open_[place] = False
        near_taken += _distances(x, candidates, candidates[place : place + 1])[:, 0]
    return np.asarray(chosen, dtype=np.intp)


def farthest(x: Floats, taken: Ints, free: Ints, want: int, *, rng: np.random.Generator) -> Ints:
    """`want` rows of `free`, each the farthest from all before it and from those taken."""
    near = np.full(len(free), np.inf)

    def take(row: int) -> None:
        for at in range(0, len(free), CHUNK):
            part = slice(at, at + CHUNK)
            near[part] = np.minimum(near[part], ((x[free[part]] - x[row]) ** 2).sum(axis=1))

    for row in taken:
        take(row)
    chosen: list[int] = []
    while len(chosen) < want:
        place = int(np.argmax(near)) if len(taken) or chosen else int(rng.integers(len(free)))
        chosen.append(int(free[place]))
        take(chosen[-1])
        near[place] = -1.0
    return np.asarray(chosen, dtype=np.intp)


def _some(rows: Ints, most: int, rng: np.random.Generator) -> Ints:
    return rows if len(rows) <= most else np.sort(rng.choice(rows, most, replace=False))


def _chunks(rows: Ints) -> list[npt.NDArray[np.intp]]:
    return np.array_split(rows, max(1, len(rows) // SAMPLE))


def _distances(x: Floats, rows: Ints, others: Ints) -> Floats:
    return np.sqrt(gp.squared_distances(x[rows], x[others]))
