"""When to stop: how much the shown texts are expected to fall short of her true best, over all texts.

Both the odds of each shown text to be among her true top k and the regret come from the same draws of what is
believed. Regret is in log-odds of her choosing; `preferred_share` says it in her terms: how often she would take one
of her true best over what is shown instead.
"""

import math

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2

from tamis.taste.bank import Bank
from tamis.taste.features import Features
from tamis.taste.threads import on_one_thread

DRAWS = 256
MANY_TEXTS, DRAWS_OF_MANY = 20_000, 64
LIKELIEST, LIKELIEST_DRAWS = 500, 64
"""So many of the likeliest texts are looked at first, with so many draws, which takes some milliseconds."""
BLOCK_VALUES = 8_000_000
"""Draws are made in blocks of about so many numbers, so that memory does not grow with the number of texts."""


class Shortlist(msgspec.Struct, frozen=True, kw_only=True):
    """`texts` best first, with the odds of each to be in the true top k; `regret` is the expected mean shortfall of
    the texts against the true top k in log-odds, `regret_low` and `regret_high` hold 90 % of the draws."""

    texts: tuple[int, ...]
    odds: tuple[float, ...]
    regret: float
    regret_low: float
    regret_high: float
    n_draws: int

    @property
    def preferred_share(self) -> float:
        """How often she would take one of her true best over the shown text in its place: 0.5 where nothing is
        lost."""
        return float(1 / (1 + np.exp(-self.regret)))


@on_one_thread
def shortlist(
    bank: Bank,
    *,
    top: int,
    rng: np.random.Generator,
    n_draws: int | None = None,
    kinds: NDArray[np.int64] | None = None,
    per_kind: int = 0,
) -> Shortlist:
    """The best `top` texts by what is believed, with odds and regret. With `kinds`, at most `per_kind` of one kind;
    the regret is then still against her true best of any kind, so it also says what the variety costs."""
    n = bank.features.n_texts
    top = min(top, n)
    n_draws = n_draws or (DRAWS if n <= MANY_TEXTS else DRAWS_OF_MANY)
    order = np.argsort(-bank.utilities(), kind="stable")
    best = order[:top] if kinds is None or per_kind < 1 else _varied(order, kinds, top, per_kind)
    inside = np.zeros(len(best))
    regrets: list[NDArray[np.float32]] = []
    done = 0
    while done < n_draws:
        block = min(n_draws - done, max(1, BLOCK_VALUES // max(n, 1)))
        drawn = bank.draw(block, rng)
        tops = np.partition(drawn, n - top, axis=0)[n - top :]
        inside += (drawn[best] >= tops.min(axis=0)).sum(axis=1)
        regrets.append(tops.mean(axis=0) - drawn[best].mean(axis=0))
        done += block
    regret = np.concatenate(regrets)
    return Shortlist(
        texts=tuple(int(one) for one in best),
        odds=tuple(float(one) for one in inside / n_draws),
        regret=float(regret.mean()),
        regret_low=float(np.quantile(regret, 0.05)),
        regret_high=float(np.quantile(regret, 0.95)),
        n_draws=n_draws,
    )


@on_one_thread
def is_open(bank: Bank, *, top: int, settled_share: float, rng: np.random.Generator) -> bool:
    """Whether the list is surely not settled, told quickly: her true best of some of the texts are no better than those
    of all, so a regret against some that is too large is too large. False says nothing."""
    n = bank.features.n_texts
    if n <= LIKELIEST:
        return False
    utilities = bank.utilities()
    order = np.argpartition(-utilities, LIKELIEST)[:LIKELIEST].astype(np.int64)
    drawn = bank.draw(LIKELIEST_DRAWS, rng, among=order)
    best = np.argpartition(-utilities[order], min(top, len(order) - 1))[:top]
    regret = np.partition(drawn, len(order) - top, axis=0)[-top:].mean() - drawn[best].mean()
    return bool(1 / (1 + np.exp(-regret)) > settled_share + 0.02)


def unknown(texts: tuple[int, ...]) -> Shortlist:
    """A list in an order that is not hers: nothing is claimed of it."""
    return Shortlist(texts=texts, odds=(0.0,) * len(texts), regret=0.0, regret_low=0.0, regret_high=0.0, n_draws=0)


def comparisons_to_settle(best: Shortlist, n_heard: int, settled_share: float) -> int:
    """About how many more comparisons would bring the regret below what counts as settled. Regret fell about as one
    over the number of comparisons wherever it was measured (docs/explanation/taste.md)."""
    wanted = math.log(settled_share / (1 - settled_share))
    more = n_heard * (best.regret / wanted - 1)
    return max(10, int(math.ceil(more / 10) * 10))


def kinds_of(features: Features) -> NDArray[np.int64] | None:
    """Which texts are of one kind by what they are about: groups of about twenty, at most thirty of them. None where
    nothing is known of what they are about."""
    about = features.groups.get("meaning")
    n_kinds = min(30, features.n_texts // 20)
    if about is None or n_kinds < 2:
        return None
    _, kinds = kmeans2(about, n_kinds, minit="++", rng=np.random.default_rng(0))
    return np.asarray(kinds, np.int64)


def _varied(order: NDArray[np.int64], kinds: NDArray[np.int64], top: int, per_kind: int) -> NDArray[np.int64]:
    """The best, no more than `per_kind` of a kind; filled up with the best left over where kinds run out."""
    counts: dict[int, int] = {}
    picked: list[int] = []
    for text in order.tolist():
        kind = int(kinds[text])
        if len(picked) < top and counts.get(kind, 0) < per_kind:
            counts[kind] = counts.get(kind, 0) + 1
            picked.append(text)
    rest = [text for text in order.tolist() if text not in set(picked)]
    return np.array(picked + rest[: top - len(picked)], np.int64)
