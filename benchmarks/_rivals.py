"""Other ways to choose, on the same matrix of drafts and programs: rules that ask nothing, and plainer ways to ask.

"majority" takes the largest camp; "MBR-Exec" the draft that agrees with most others over all programs; "CodeT" scores
camps by the square root of their size times the programs on which they are with the majority; "random survivor" any
draft that passed. Whoever asks plainly drops a draft at the first answer against it and takes the largest camp left."""

import random
from collections.abc import Callable, Sequence

import numpy as np
from _worlds import World

from tamis.behaviour.ground import Ints
from tamis.behaviour.matrix import outcomes_of

QUESTIONS = 10


def still(world: World, owners: Sequence[str]) -> dict[str, float]:
    """The share of owners whose draft each rule takes; ties are shared."""
    cells = _cells(world)
    size = np.array([len(world.alike(d)) for d in world.drafts], dtype=float)
    agreement = np.array([(cells == cells[d]).sum() for d in range(len(cells))], dtype=float)
    common = np.array([np.bincount(cells[:, p]).argmax() for p in range(cells.shape[1])])
    with_most = (cells == common).sum(axis=1)
    rules = {
        "majority": size,
        "MBR-Exec": agreement,
        "CodeT": np.sqrt(size) * with_most,
        "random survivor": np.ones(len(cells)),
    }
    return {name: _hits(world, owners, points) for name, points in rules.items()}


def _hits(world: World, owners: Sequence[str], points: np.ndarray) -> float:
    best = np.flatnonzero(points == points.max())
    hits = [np.mean([world.drafts[b] in world.alike(o) for b in best]) for o in owners]
    return float(np.mean(hits))


def _cells(world: World) -> Ints:
    """(drafts, programs): equal numbers in a column mean the same behaviour in the whole program."""
    columns = [np.unique(s, axis=0, return_inverse=True)[1].reshape(-1) for s in world.ground.steps]
    return np.stack(columns, axis=1).astype(np.int32)


Next = Callable[[list[Ints], np.ndarray], int]


def curves(world: World, owners: Sequence[str], rng: random.Random) -> dict[str, list[float]]:
    """For questions 0 to 10, the share of owners whose draft is taken; ties are shared."""
    return {
        "random": _curve(world, owners, lambda left, _: rng.randrange(len(left))),
        "entropy": _curve(world, owners, lambda left, alive: int(np.argmax([_entropy(c[alive]) for c in left]))),
    }


def _entropy(outcomes: Ints) -> float:
    shares = np.unique(outcomes, return_counts=True)[1] / max(1, len(outcomes))
    return float(-(shares * np.log2(shares)).sum()) if len(outcomes) else 0.0


def _curve(world: World, owners: Sequence[str], choose: Next) -> list[float]:
    asks = [_outcomes(world, i) for i, d in enumerate(world.decisions) if d.state == "open"]
    size = np.array([len(world.alike(d)) for d in world.drafts], dtype=float)
    shares = np.zeros(QUESTIONS + 1)
    for owner in owners:
        me, alike = world.drafts.index(owner), world.alike(owner)
        alive, left = np.ones(len(world.drafts), dtype=bool), list(asks)
        for k in range(QUESTIONS + 1):
            points = np.where(alive, size, 0)
            best = np.flatnonzero(points == points.max())
            shares[k] += np.mean([world.drafts[b] in alike for b in best])
            if left:
                column = left.pop(choose(left, alive))
                alive &= column == column[me]
    return (shares / len(owners)).tolist()


def _outcomes(world: World, at: int) -> Ints:
    """(drafts,): what each gives at the end of a decision's witness, by number."""
    ran = world.run(world.drafts, [world.decisions[at].witness])
    return np.array([world.ground.keys.of(outcomes_of(ran[d][0])[-1]) for d in world.drafts], dtype=np.int32)
