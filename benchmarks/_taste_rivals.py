"""What else one could do, on the same readers: pairs at random with a Bradley-Terry fit, and asking where one is
least sure of anything rather than of the top."""

from collections.abc import Sequence

import choix
import numpy as np
from _taste_worlds import Says, Vector, World

from tamis.taste.answers import Heard
from tamis.taste.bank import Bank
from tamis.taste.features import Features
from tamis.taste.preference import Prior

CANDIDATES = 200


def random_choix(world: World, says: Says, seed: int, marks: Sequence[int]) -> list[Vector]:
    """What is estimated of every text at each mark, from random pairs by regularised Bradley-Terry (choix)."""
    rng = np.random.default_rng(seed)
    n = len(world.truth)
    won: list[tuple[int, int]] = []
    found = []
    for asked in range(1, max(marks) + 1):
        pair = tuple(int(one) for one in rng.choice(n, 2, replace=False))
        taken = says(pair)
        won.append((pair[taken], pair[1 - taken]))
        if asked in marks:
            found.append(np.asarray(choix.ilsr_pairwise(n, won, alpha=0.01)))
    return found


def most_uncertain(world: World, says: Says, seed: int, marks: Sequence[int]) -> list[Vector]:
    """What is estimated at each mark, asking the pair (of some at random) whose difference is least known."""
    rng = np.random.default_rng(seed)
    n = len(world.truth)
    bank = Bank(Features(n_texts=n, groups={}), priors=[Prior(groups={}, text_sd=2.0)])
    found = []
    for asked in range(1, max(marks) + 1):
        drawn = bank.draw(24, rng)
        one, other = rng.integers(0, n, (2, CANDIDATES))
        spread = (drawn[one] - drawn[other]).var(axis=1) - 1e9 * (one == other)
        pair = (int(one[spread.argmax()]), int(other[spread.argmax()]))
        bank.hear(Heard(shown=pair, said=says(pair)))
        if asked in marks:
            found.append(bank.utilities())
    return found
