"""Which texts to show next: those whose comparison tells most about which texts are her ten best.

More than a hundred possible truths are drawn from what is believed (Thompson sampling draws two). A text that only
some of them put among the top k is one on which the answer to "which ten?" depends. Of such texts, the two are shown
whose comparison is expected to tell most about whether each of them is in: the information, in nats, that her answer
carries about their two places. So a text never shown is set against one near the edge that is known well, two that
she can hardly tell apart are let be, and what is settled is not shown again.

About one question in twenty is an earlier pair with its sides swapped, which is how her pull to one side and her
consistency are measured.
"""

from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from tamis.taste.bank import Bank
from tamis.taste.threads import on_one_thread

AGAIN = 0.05
"""The share of questions that are an earlier pair with sides swapped."""
AGAIN_AFTER = 10
"""... none before so many comparisons, and none of the last so many: she should not simply remember."""
DRAWS, CANDIDATES = 128, 40
"""From so many possible truths, so many texts whose place among the top differs most between them."""
LIKELIEST = 2_500
"""Of more texts than these, only so many that look best are drawn, which keeps a question quick."""


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """`shown` are places of texts, the first to stand on the left; `why` is what the question is for;
    "given" was asked elsewhere."""

    shown: tuple[int, ...]
    why: Literal["top", "again", "given"]


class NothingLeft(Exception):
    """Every pair that could tell something was shown."""


@on_one_thread
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
    top, options = min(top, n - 1), min(n_options, n)
    picked = _telling(bank, known, top, options, rng) or _unseen(bank, known, top, options, rng)
    return Ask(shown=tuple(picked[int(place)] for place in rng.permutation(options)), why="top")


def _telling(
    bank: Bank, known: set[frozenset[int]], top: int, options: int, rng: np.random.Generator
) -> tuple[int, ...] | None:
    """The candidates whose comparison tells most, of those not shown together yet; None where there are none."""
    pool = _pool(bank)
    drawn = bank.draw(DRAWS, rng, among=pool)
    inside = drawn >= np.partition(drawn, len(pool) - top, axis=0)[len(pool) - top]
    share = inside.mean(axis=1, dtype=np.float32)
    torn = share * (1 - share) + 1e-6 * rng.random(len(pool), np.float32)
    places = np.argsort(-torn)[:CANDIDATES]
    gain = information(drawn[places], inside[places])
    for best in np.argsort(-gain, axis=None)[: CANDIDATES**2 // 4]:
        picked = _joined(gain, divmod(int(best), len(places)), options)
        texts = tuple(int(pool[places[place]]) for place in picked)
        if len(set(texts)) == options and frozenset(texts) not in known:
            return texts
    return None


def _pool(bank: Bank) -> NDArray[np.int64]:
    """The texts that may be asked about."""
    n = bank.features.n_texts
    if n <= LIKELIEST:
        return np.arange(n)
    return np.sort(np.argpartition(-bank.utilities(), LIKELIEST)[:LIKELIEST]).astype(np.int64)


def information(drawn: NDArray[np.float32], inside: NDArray[np.bool_]) -> NDArray[np.float32]:
    """How much the answer to each pair is expected to tell of whether the two are among the top, in nats (texts ×
    texts), from draws of their utilities (texts × draws) and whether each draw puts them there."""
    strength = np.exp(np.clip(drawn - drawn.max(axis=0), -30, 0))
    taken = strength[:, None, :] / (strength[:, None, :] + strength[None, :, :])
    left = np.zeros(taken.shape[:2], np.float32)
    states = (inside.astype(np.float32), (~inside).astype(np.float32))
    for first in states:
        for second in states:
            n_draws = first @ second.T
            mean = np.einsum("ijd,id,jd->ij", taken, first, second) / np.maximum(n_draws, 1)
            left += n_draws / drawn.shape[1] * _entropy(mean)
    return np.asarray(_entropy(taken.mean(axis=2)) - left, np.float32)


def _joined(gain: NDArray[np.float32], pair: tuple[int, int], options: int) -> list[int]:
    """The pair, and as many more texts as there are options, each the one that tells most beside those before it."""
    picked = list(pair)
    while len(picked) < min(options, len(gain)):
        beside = gain[picked].sum(axis=0)
        beside[picked] = -np.inf
        picked.append(int(beside.argmax()))
    return picked


def _entropy(chance: NDArray[np.float32]) -> NDArray[np.float32]:
    """Of an event of that chance, in nats."""
    chance = np.clip(chance, 1e-6, 1 - 1e-6)
    return np.asarray(-chance * np.log(chance) - (1 - chance) * np.log1p(-chance))


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
