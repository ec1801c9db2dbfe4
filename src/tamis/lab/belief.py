"""What is believed of the ideas' true values: for those measured, and in joint draws for those that may be better.

Regret and odds come from draws in which alike ideas rise and fall together, so that a hundred near-copies of one idea
aren't a hundred chances. They rest on the models, and are as good as the coverage printed beside them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve_triangular

from tamis.lab import gp
from tamis.lab.batch import ALL_AT_ONCE
from tamis.lab.gp import Floats, Ints
from tamis.lab.plan import Learned
from tamis.lab.surrogate import Guess
from tamis.lab.track import IMAGINED, width
from tamis.lab.trade import Trade

DRAWS = 4_000
DRAWS_OF_SEVERAL = 300
"""For several goals each draw has a front of its own, which costs."""
RIVALS = 250
"""So many ideas not measured, the best by mean + 2 sd, are drawn together."""
MEASURED = 50
HOPE = 2.0


@dataclass(frozen=True)
class Drawn:
    """Joint draws of true values, `values` (draws, rows, goals), of the ideas `rows`; the first `measured` of them were
    measured, the others are those not measured that promise the most."""

    values: Floats
    rows: Ints
    measured: int


def belief(learned: Learned, noises: Sequence[float | None]) -> list[Guess]:
    """Mean and sd of the true values of the measured ideas, for each goal. Where measuring is sharper than the models
    assume, the results speak; else the models, which have seen them too."""
    return [_belief(learned, k, noise) for k, noise in enumerate(noises)]


def _belief(learned: Learned, goal: int, noise: float | None) -> Guess:
    seen = learned.bench.seen[goal]
    own = seen.values
    if not learned.models:
        spread = noise if noise is not None else float(np.std(own)) or 1e-9
        return Guess(own, spread / np.sqrt(seen.counts))
    guess = learned.models[goal].guess(seen.rows)
    own_sd = max(noise or 0.0, 1e-9) / np.sqrt(seen.counts)
    sharp = own_sd < guess.sd
    return Guess(np.where(sharp, own, guess.mean), np.where(sharp, own_sd, guess.sd))


def drawn(learned: Learned, believed: Sequence[Guess]) -> Drawn:
    """The draws, always the same for the same models."""
    bench = learned.bench
    hopes = np.column_stack([one.mean + HOPE * one.sd for one in believed])
    top = np.argsort(-(bench.space.balance(hopes) if len(believed) > 1 else hopes[:, 0]), kind="stable")[:MEASURED]
    keep = _rivals(learned)
    shape = (DRAWS if len(believed) == 1 else DRAWS_OF_SEVERAL, len(top) + len(keep))
    rng = np.random.default_rng(0)
    values = [
        _draws(learned, k, Guess(one.mean[top], one.sd[top]), keep, rng.standard_normal(shape))
        for k, one in enumerate(believed)
    ]
    return Drawn(np.stack(values, axis=2), np.concatenate([bench.seen[0].rows[top], keep]), len(top))


def _rivals(learned: Learned) -> Ints:
    """The ideas not measured that promise the most, whatever they cost."""
    models, free = learned.models, learned.bench.free
    trade = Trade(replace(learned.bench, costs=None, chances=None), models, HOPE)
    if len(free) > ALL_AT_ONCE:
        rough = trade.value([model.rough_guess(free) for model in models], free)
        free = free[np.argpartition(-rough, ALL_AT_ONCE // 5)[: ALL_AT_ONCE // 5]]
    value = trade.value([model.guess(free) for model in models], free)
    return free[np.argsort(-value, kind="stable")[:RIVALS]]


def _draws(learned: Learned, goal: int, known: Guess, keep: Ints, normal: Floats) -> Floats:
    """Draws (draws, rows) for one goal: first of those measured, `known`, then of those to `keep`; `normal` are
    independent normal draws of that shape."""
    on_keep, past = learned.models[goal].guess(keep), learned.pasts[goal]
    scale = width(past, 0.683) if len(past) > IMAGINED else 1.0
    mean = np.concatenate([known.mean, on_keep.mean])
    sd = np.concatenate([known.sd, scale * on_keep.sd])
    together = _correlation(learned, goal, keep, len(known.mean))
    return np.asarray(mean + sd * (normal @ np.linalg.cholesky(together).T))


def _correlation(learned: Learned, goal: int, keep: Ints, measured: int) -> Floats:
    """How the doubts about these ideas hang together, by the main process; those of measured ones stand alone."""
    fitted = learned.models[goal].process
    out = np.eye(measured + len(keep))
    if len(keep):
        x = fitted.view.x[keep]
        process = fitted.model
        half = solve_triangular(process.chol, process.cross(x).T, lower=True, check_finite=False)
        prior = gp.matern(gp.squared_distances(x * process.scale, x * process.scale), process.signal)
        cov = prior - half.T @ half
        size = np.sqrt(np.maximum(np.diag(cov), 1e-12))
        out[measured:, measured:] = 0.999 * cov / np.outer(size, size)
        out[np.diag_indices(len(out))] = 1.0 + 1e-6
    return out
