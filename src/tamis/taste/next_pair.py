"""Which texts to show next: top-k two-sample Thompson.

Two sets of utilities are drawn from what is believed. A text that only one of the two draws puts among the top k is a
text on which the answer to "which ten?" depends; it is shown against one that only the other draw puts there. About
one question in twenty is an earlier pair with its sides swapped, which is how her pull to one side and her
consistency are measured.
"""

from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from tamis.taste.bank import Bank

AGAIN = 0.05
"""The share of questions that are an earlier pair with sides swapped."""
AGAIN_AFTER = 10
"""... none before so many comparisons, and none of the last so many: she should not simply remember."""
DRAWS, PICKS = 4, 4
CURIOSITY = 0.7
"""How much of the spread of texts never shown counts when asking. With all of it, a thousand unknown texts crowd out
those that look good already, and a reader of a few hundred glances never gets to compare them; with half of it, too few
are ever looked at."""


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """`shown` are places of texts, the first to stand on the left; `why` is what the question is for;
    "given" was asked elsewhere."""

    shown: tuple[int, ...]
    why: Literal["top", "again", "given"]


class NothingLeft(Exception):
    """Every pair that could tell something was shown."""


def next_ask(
    bank: Bank,
    shown: list[tuple[int, ...]],
    *,
    top: int,
    rng: np.random.Generator,
    n_options: int = 2,
    may_repeat: bool = True,
) -> Ask:
    """The next question. `shown` holds what was shown so far, in order; no set of texts is asked about twice, except
    once with its sides swapped. Raises NothingLeft."""
    n = bank.features.n_texts
    if n < 2:
        raise NothingLeft
    if may_repeat and len(shown) >= AGAIN_AFTER and rng.random() < AGAIN:
        again = _again(shown, rng)
        if again is not None:
            return Ask(shown=again, why="again")
    known = {frozenset(one) for one in shown}
    options = min(n_options, n)
    for _ in range(DRAWS):
        drawn = bank.draw(2, rng, curiosity=CURIOSITY)
        contested = _contested(drawn, min(top, n - 1))
        for _ in range(PICKS):
            picked = _picked(contested, drawn[:, 0], min(top, n - 1), options, rng)
            if frozenset(picked) not in known:
                return Ask(shown=_either_way(picked, rng), why="top")
    return Ask(shown=_either_way(_unseen(bank, known, min(top, n - 1), options, rng), rng), why="top")


def _contested(drawn: NDArray[np.float32], top: int) -> tuple[list[int], list[int]]:
    """The texts that only the first of two draws puts into the top, and those that only the second does."""
    tops = [set(np.argpartition(-drawn[:, place], top - 1)[:top].tolist()) for place in (0, 1)]
    return sorted(tops[0] - tops[1]), sorted(tops[1] - tops[0])


def _picked(
    contested: tuple[list[int], list[int]],
    drawn: NDArray[np.float32],
    top: int,
    options: int,
    rng: np.random.Generator,
) -> tuple[int, ...]:
    """Contested texts from both sides in turn, at random; where there are too few, those nearest to the edge of the
    top, as one draw has them."""
    sides = [[side[int(place)] for place in rng.permutation(len(side))] for side in contested]
    picked = [text for both in zip(*sides, strict=False) for text in both][:options]
    if len(picked) < options:
        edge = np.argpartition(np.abs(drawn - np.partition(drawn, -top)[-top]), min(4 * options, len(drawn) - 1))
        near = [int(text) for text in rng.permutation(edge[: 4 * options]) if int(text) not in picked]
        picked += near[: options - len(picked)]
    return tuple(picked)


def _unseen(
    bank: Bank, known: set[frozenset[int]], top: int, options: int, rng: np.random.Generator
) -> tuple[int, ...]:
    """Any set not shown yet, the best texts first. Raises NothingLeft where all were shown."""
    best = np.argsort(-bank.draw(1, rng)[:, 0])
    reach = min(len(best), top + 50)
    for far in range(options - 1, reach):
        for near in range(far):
            picked = {int(best[near]), int(best[far]), *(int(one) for one in best[: options - 2])}
            if len(picked) == options and frozenset(picked) not in known:
                return tuple(picked)
    raise NothingLeft


def _again(shown: list[tuple[int, ...]], rng: np.random.Generator) -> tuple[int, ...] | None:
    """A pair of some time ago that was shown once, with its sides swapped; None where there is none."""
    times: dict[frozenset[int], int] = {}
    for one in shown:
        times[frozenset(one)] = times.get(frozenset(one), 0) + 1
    once = [one for one in shown[: -(AGAIN_AFTER - 1) or None] if len(one) == 2 and times[frozenset(one)] == 1]
    return once[int(rng.integers(len(once)))][::-1] if once else None


def _either_way(picked: tuple[int, ...], rng: np.random.Generator) -> tuple[int, ...]:
    return tuple(picked[int(place)] for place in rng.permutation(len(picked)))
