"""Several goals at once: which ideas no other beats in all of them, and how much of the space of trade-offs they fill.

The measure is the hypervolume above a reference point, worked out as the mean over random directions of how far the
front reaches in each (Zhang & Golovin 2020, eq. 5 and lemma 5): right in expectation, alike for two goals and for
six, and fast enough to ask for every idea and every draw. All values are such that more is better. A goal with a
threshold counts up to it: beyond what is good enough, better is no better.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import gamma, pi

import numpy as np
import numpy.typing as npt

from tamis.lab.gp import Floats

DIRECTIONS = 128
BELOW_WORST = 0.1
"""The reference lies so far below the worst of the front, as a share of the front's extent, so that its ends count."""

Truths = npt.NDArray[np.bool_]


def on_front(values: Floats) -> Truths:
    """Which rows of (n, goals) no other row beats: at least as good in every goal and better in one."""
    at_least = (values[:, None, :] >= values[None, :, :]).all(axis=2)
    better = (values[:, None, :] > values[None, :, :]).any(axis=2)
    return ~np.asarray((at_least & better).any(axis=0), dtype=bool)


@dataclass(frozen=True)
class Space:
    """The space of trade-offs: where it begins (`reference`), how long each goal is (`extent`), both (goals,), what is
    enough of each (`caps`, infinite where more is always better), and the `directions` (DIRECTIONS, goals)."""

    reference: Floats
    extent: Floats
    caps: Floats
    directions: Floats

    def scaled(self, values: Floats) -> Floats:
        """Values (..., goals) with the reference at 0 and the best seen of each goal at 1."""
        return np.asarray((np.minimum(values, self.caps) - self.reference) / self.extent)

    def reach(self, values: Floats) -> Floats:
        """How far each of (n, goals) reaches in each direction, (n, DIRECTIONS); its mean over directions of the best
        of several is their hypervolume, in units of the box from the reference to the best of each goal."""
        inside = np.maximum(self.scaled(values), 0.0)
        goals = inside.shape[-1]
        reach = np.full((*inside.shape[:-1], len(self.directions)), np.inf)
        for goal in range(goals):  # goal by goal: all at once would take memory for nothing
            np.minimum(reach, inside[..., goal, None] / self.directions[:, goal], out=reach)
        return np.asarray(_ball(goals) * reach**goals)

    def balance(self, values: Floats) -> Floats:
        """How good each of (n, goals) is in the goal in which it is worst, with a little for the others: the order
        among trade-offs that no person has settled."""
        scaled = self.scaled(values)
        return np.asarray(scaled.min(axis=-1) + 0.05 * scaled.mean(axis=-1))


def space_of(values: Floats, caps: Sequence[float | None]) -> Space:
    """The space that the results (n, goals) span: from a little below the worst of their front to the best of each."""
    enough = np.array([np.inf if cap is None else cap for cap in caps])
    front = np.minimum(values[on_front(np.minimum(values, enough))], enough)
    best, worst = front.max(axis=0), front.min(axis=0)
    spread = np.maximum(values.std(axis=0), 1e-12)
    extent = np.maximum(best - worst, 0.5 * spread)  # one idea best in everything: then all results tell how long
    reference = worst - BELOW_WORST * extent
    raw = np.abs(np.random.default_rng(0).standard_normal((DIRECTIONS, values.shape[1])))
    directions = np.maximum(raw / np.linalg.norm(raw, axis=1, keepdims=True), 1e-6)
    return Space(reference, np.maximum(best - reference, 1e-12), enough, directions)


def _ball(goals: int) -> float:
    """The volume of the ball's part where all goals are positive: it turns a mean reach into a volume."""
    return float(pi ** (goals / 2) / (2**goals * gamma(goals / 2 + 1)))
