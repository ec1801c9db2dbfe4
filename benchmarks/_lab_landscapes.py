"""Landscapes made up from a seed, so that a policy is not judged by three sets alone: compositions with peaks,
interactions and an element that must be absent; names and numbers with many zeros; numbers with several peaks. The last
three kinds are made to be hard: oxides, of which each has much of its own; traps, with a broad lesser peak; and pairs
of names that work together or not at all."""

import itertools

import msgspec
import numpy as np
from _lab_replay import Replay

from tamis.lab.features import features_of
from tamis.lab.gp import Floats
from tamis.lab.ideas import read_ideas
from tamis.lab.settings import LabSection

LANDSCAPES = tuple(
    f"{kind} {number}" for kind in ("mixture", "names", "numbers", "oxides", "traps", "pairs") for number in range(3)
)
ELEMENTS = ("Ni", "Fe", "Co", "Cu", "Mn", "Zn")


def landscape(name: str) -> Replay:
    """The landscape of that name, always the same."""
    kind, number = name.split()
    rng = np.random.default_rng(77 + int(number))
    make = {
        "mixture": _mixture,
        "names": _names,
        "numbers": _numbers,
        "oxides": _oxides,
        "traps": _traps,
        "pairs": _pairs,
    }[kind]
    rows, worth, lab = make(rng)
    drafts = [(str(k), str(k), msgspec.json.encode(row)) for k, row in enumerate(rows)]
    ideas = read_ideas(drafts, lab)
    own = np.array([worth[int(idea.draft)] for idea in ideas.ideas])
    return Replay(name, lab, ideas, features_of(ideas.columns), [rows[int(i.draft)] for i in ideas.ideas], own, "")


def _mixture(rng: np.random.Generator) -> tuple[list[dict[str, object]], Floats, LabSection]:
    tenths = [t for t in itertools.product(range(11), repeat=6) if sum(t) == 10 and sum(p > 0 for p in t) <= 4]
    shares = np.array(tenths) / 10
    worth = shares @ rng.normal(size=6)
    for _ in range(4):
        i, j = rng.choice(6, 2, replace=False)
        worth += 4 * rng.normal() * shares[:, i] * shares[:, j]
    for _ in range(3):
        peak = rng.dirichlet(np.full(6, 0.7))
        worth += 1.2 * rng.random() * np.exp(-((shares - peak) ** 2).sum(axis=1) / (2 * 0.12**2))
    worth -= 0.5 * (shares[:, rng.integers(6)] > 0)
    worth += 0.1 * worth.std() * rng.normal(size=len(worth))
    rows = [dict(zip(ELEMENTS, row, strict=True)) for row in shares.tolist()]
    return rows, worth, LabSection(goal="maximize y", composition=ELEMENTS)


def _names(rng: np.random.Generator) -> tuple[list[dict[str, object]], Floats, LabSection]:
    sizes = (10, 8, 5)
    grid = list(itertools.product(*map(range, sizes), (0.0, 0.5, 1.0), (0.0, 0.5, 1.0)))
    code, number = np.array([g[:3] for g in grid]), np.array([g[3:] for g in grid])
    effect = sum(rng.normal(size=size)[code[:, k]] for k, size in enumerate(sizes))
    effect = effect + 0.7 * rng.normal(size=sizes[:2])[code[:, 0], code[:, 1]]
    effect += 0.5 * rng.normal(size=(sizes[0], sizes[2]))[code[:, 0], code[:, 2]]
    effect += rng.normal() * number[:, 0] - 2 * (number[:, 1] - rng.random()) ** 2 + 0.15 * rng.normal(size=len(grid))
    worth = np.maximum(0.0, 100 / (1 + np.exp(-1.3 * (effect - np.percentile(effect, 90)))) - 8)
    rows = [{"a": f"a{g[0]}", "b": f"b{g[1]}", "c": f"c{g[2]}", "x": g[3], "z": g[4]} for g in grid]
    return rows, worth, LabSection(goal="maximize y", category=("a", "b", "c"), number=("x", "z"))


def _numbers(rng: np.random.Generator) -> tuple[list[dict[str, object]], Floats, LabSection]:
    grid = np.array(list(itertools.product(np.linspace(0, 1, 7), repeat=4)))
    worth = np.zeros(len(grid))
    for _ in range(6):
        peak, width = rng.random(4), rng.uniform(0.15, 0.6, 4)
        width[3] *= 4
        worth += rng.uniform(0.3, 1) * np.exp(-(((grid - peak) / width) ** 2).sum(axis=1) / 2)
    worth += 0.03 * worth.std() * rng.normal(size=len(grid))
    names = ("p", "q", "r", "s")
    return (
        [dict(zip(names, row, strict=True)) for row in grid.tolist()],
        worth,
        LabSection(goal="maximize y", number=names),
    )


def _oxides(rng: np.random.Generator) -> tuple[list[dict[str, object]], Floats, LabSection]:
    """Mixtures in which every idea has much of its own (impurities, a drop that spread badly), as real plates do."""
    tenths = [t for t in itertools.product(range(11), repeat=6) if sum(t) == 10 and sum(p > 0 for p in t) <= 4]
    shares = np.array(tenths) / 10
    effect = shares @ rng.normal(size=6)
    for _ in range(4):
        i, j = rng.choice(6, 2, replace=False)
        effect += 4 * rng.normal() * shares[:, i] * shares[:, j]
    for _ in range(3):
        peak = rng.dirichlet(np.full(6, 0.7))
        effect += 1.2 * rng.random() * np.exp(-((shares - peak) ** 2).sum(axis=1) / (2 * 0.15**2))
    effect -= 0.3 * (shares[:, rng.integers(6)] > 0)
    worth = effect + 0.45 * effect.std() * rng.standard_t(4, size=len(effect))
    rows = [dict(zip(ELEMENTS, row, strict=True)) for row in shares.tolist()]
    return rows, worth, LabSection(goal="maximize y", composition=ELEMENTS)


def _traps(rng: np.random.Generator) -> tuple[list[dict[str, object]], Floats, LabSection]:
    """A broad lesser peak, and a narrow better one in another place."""
    grid = np.array(list(itertools.product(np.linspace(0, 1, 7), repeat=4)))
    low, high = rng.uniform(0.1, 0.9, 4), rng.uniform(0.1, 0.9, 4)
    while np.abs(low - high).max() < 0.5:
        high = rng.uniform(0.1, 0.9, 4)
    worth = np.exp(-((grid - low) ** 2).sum(axis=1) / (2 * 0.45**2))
    worth += 1.3 * np.exp(-((grid - high) ** 2).sum(axis=1) / (2 * 0.2**2))
    worth += 0.05 * worth.std() * rng.normal(size=len(grid))
    names = ("p", "q", "r", "s")
    return (
        [dict(zip(names, row, strict=True)) for row in grid.tolist()],
        worth,
        LabSection(goal="maximize y", number=names),
    )


def _pairs(rng: np.random.Generator) -> tuple[list[dict[str, object]], Floats, LabSection]:
    """Names of which only certain pairs work at all, some of them with a third only: most results are near zero."""
    sizes = (12, 10, 4)
    grid = list(itertools.product(*map(range, sizes), (0.0, 0.5, 1.0), (0.0, 0.5, 1.0)))
    code, number = np.array([g[:3] for g in grid]), np.array([g[3:] for g in grid])
    hidden = [rng.normal(size=(size, 3)) for size in sizes]
    a, b, c = (h[code[:, k]] for k, h in enumerate(hidden))
    effect = (a * b).sum(axis=1) + 0.7 * (a * c).sum(axis=1) + rng.normal(size=sizes[0])[code[:, 0]]
    effect += 0.8 * number[:, 0] - 1.5 * (number[:, 1] - rng.random()) ** 2 + 0.3 * rng.normal(size=len(grid))
    worth = 100 / (1 + np.exp(-1.5 * (effect - np.percentile(effect, 88))))
    rows = [{"a": f"a{g[0]}", "b": f"b{g[1]}", "c": f"c{g[2]}", "x": g[3], "z": g[4]} for g in grid]
    return rows, worth, LabSection(goal="maximize y", category=("a", "b", "c"), number=("x", "z"))
