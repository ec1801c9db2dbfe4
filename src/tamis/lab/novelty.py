"""Novelty is a distance to something named: to the nearest idea that was measured, or to the nearest entry of a list
that tamis.toml names. There is no "new" by itself."""

from pathlib import Path

import numpy as np

from tamis.errors import BriefError
from tamis.lab.features import View, features_of
from tamis.lab.gp import Floats, Ints, squared_distances
from tamis.lab.ideas import Ideas, Key, Reader, Refused, columns_of
from tamis.lab.settings import LabSection
from tamis.lab.sheet import cells_of


def distances(view: View, rows: Ints, to: Ints) -> Floats:
    """From each of `rows` to the nearest of `to`, in units of the spread of the ideas; infinite where there is none."""
    if not len(to):
        return np.full(len(rows), np.inf)
    near = np.empty(len(rows))
    for at in range(0, len(rows), 5_000):
        near[at : at + 5_000] = squared_distances(view.x[rows[at : at + 5_000]], view.x[to]).min(axis=1)
    return np.asarray(np.sqrt(near / max(view.x.shape[1], 1)), dtype=np.float64)


def distances_to(lab: LabSection, folder: Path, ideas: Ideas) -> Floats | None:
    """From each idea to the nearest entry of the lists named under `[lab] known`, (ideas,); None where none is named.
    Raises BriefError where a list can't be read as the ideas are."""
    if not lab.known:
        return None
    reader = Reader(lab)
    keys = [key for name in lab.known for key in _keys(folder / name, reader)]
    if not keys:
        raise BriefError(f"no entry of {', '.join(lab.known)} can be read with the columns under [lab]")
    every = [ideas.key(idea.draft) for idea in ideas.ideas] + keys
    # seen together, so that names and elements that only the list has are told apart too
    view = features_of(columns_of(every, reader), seed=lab.seed).main
    own = np.arange(len(ideas.ideas))
    return distances(view, own, np.arange(len(ideas.ideas), len(every)))


def _keys(path: Path, reader: Reader) -> list[Key]:
    lines = cells_of(path)
    header = [name.strip() for name in lines[0][1]] if lines else []
    found = []
    for _, cells in lines[1:]:
        try:
            found.append(reader.key(dict(zip(header, cells, strict=False))))
        except Refused:
            continue  # a list from elsewhere may hold entries of another kind
    return found
