"""What is left to find: how much better the best idea may be than the leader, and whether it is worth another batch.

For several goals "better" is a wider front: the share by which the hypervolume of what was measured would grow.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tamis.lab.belief import Drawn
from tamis.lab.front import Space
from tamis.lab.gp import Floats
from tamis.lab.plan import Learned
from tamis.lab.settings import Goal, LabSection

WORTH = 0.01
"""What pays for a batch where nothing is said: this share of the range of results, or of the front's hypervolume."""


@dataclass(frozen=True)
class Left:
    """`regret` is how much better the best of all ideas is expected to be than the leader, `more` how much better the
    best that is not measured, `better` the probability that one not measured is better than all that are, `meets` that
    the leader meets every threshold (None without any), `leads` (rows,) that each of those drawn is the best of all,
    `worth` what pays for a batch. `unit` is the goal's, or says that these are shares of the front's hypervolume."""

    regret: float
    more: float
    better: float
    meets: float | None
    leads: Floats
    worth: float
    unit: str


def left(learned: Learned, goals: Sequence[Goal], lab: LabSection, drawn: Drawn, leader: int) -> Left:
    """`leader` is the leader's place among the rows drawn."""
    meets = _meets(drawn, goals, leader)
    if len(goals) > 1:
        return _of_several(learned.bench.space, lab, drawn, meets)
    draws, first = drawn.values[:, :, 0], drawn.measured
    unmeasured = draws[:, first:].max(axis=1) if draws.shape[1] > first else None
    gain = np.zeros(1) if unmeasured is None else np.maximum(0.0, unmeasured - draws[:, leader])
    return Left(
        regret=float((draws.max(axis=1) - draws[:, leader]).mean()),
        more=float(gain.mean()),
        better=0.0 if unmeasured is None else share(unmeasured > draws[:, :first].max(axis=1)),
        meets=meets,
        leads=_leads(draws),
        worth=lab.worth or WORTH * float(np.ptp(learned.bench.seen[0].values)),
        unit=goals[0].unit or "",
    )


def _of_several(space: Space, lab: LabSection, drawn: Drawn, meets: float | None) -> Left:
    worth = lab.worth or WORTH
    growth = np.array([_growth(space, one, drawn.measured) for one in drawn.values])
    return Left(
        regret=float(growth.mean()),
        more=float(growth.mean()),
        better=share(growth > worth),
        meets=meets,
        leads=_leads(space.balance(drawn.values)),
        worth=worth,
        unit="of the front's hypervolume",
    )


def _growth(space: Space, values: Floats, measured: int) -> float:
    """By what share all ideas (rows, goals) together have more hypervolume than the first `measured` of them."""
    reach = space.reach(values)
    before = float(reach[:measured].max(axis=0).mean())
    return float(reach.max(axis=0).mean()) / max(before, 1e-12) - 1.0


def _meets(drawn: Drawn, goals: Sequence[Goal], leader: int) -> float | None:
    asked = [(k, goal) for k, goal in enumerate(goals) if goal.threshold is not None]
    if not asked:
        return None
    met = [drawn.values[:, leader, k] >= goal.sign * (goal.threshold or 0.0) for k, goal in asked]
    return share(np.logical_and.reduce(met))


def _leads(draws: Floats) -> Floats:
    """How often each of (draws, rows) is the best, as `share` counts."""
    return (np.bincount(draws.argmax(axis=1), minlength=draws.shape[1]) + 1.0) / (len(draws) + 2)


def share(held: npt.NDArray[np.bool_]) -> float:
    """The share of draws, drawn away from 0 and 1 as far as their number can't tell them apart."""
    return float((held.sum() + 1) / (len(held) + 2))
