"""A Gaussian process for tens to thousands of measurements: Matérn 5/2 over groups of features.

Features come in groups (a category's one-hot columns, a molecule's fingerprint, each number by itself), and each
group has one length. All of a model's numbers (lengths, signal, noise) are found together as the most probable ones
under priors that suit features of unit spread, by L-BFGS with exact gradients; that is why it stands here and is not
scikit-learn's, which knows no priors and overfits a length per feature at twenty measurements.

What it promises: the same inputs give the same model; a fit that fails raises `FitError`. It knows nothing of ideas,
units or goals.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.linalg import LinAlgError, cho_solve, cholesky, solve_triangular
from scipy.optimize import minimize

from tamis.errors import CheckError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]

SQRT5 = 5.0**0.5
MOST_TO_FIT = 400
"""Above so many measurements the lengths are found on a part of them: the cost of each step grows with their cube."""


class FitError(CheckError):
    """A model could not be fitted to the measurements. The batch is not chosen by chance instead; the owner is told."""


@dataclass(frozen=True)
class Prior:
    """Normal priors on the logarithms. Lengths after Hvarfner, Hellsten & Nardi 2024 (their √2 + log √d, √3), signal
    and noise in units of the results' variance."""

    length_sd: float = 3.0**0.5
    apart: float = 0.2
    """How far the logarithms of single lengths may lie from their common one."""
    signal: tuple[float, float] = (1.2, 0.7)
    noise: tuple[float, float] = (-3.0, 1.0)


@dataclass(frozen=True)
class Gp:
    """A fitted process. `x` is (n, d), already divided by the lengths; `weights` and `chol` answer predictions."""

    x: Floats
    scale: Floats
    signal: float
    noise: float
    mean: float
    chol: Floats
    weights: Floats
    log_posterior: float
    theta: Floats

    def predict(self, features: Floats) -> tuple[Floats, Floats]:
        """Mean and sd of the underlying value (without the noise of measuring it) for each row."""
        cross = self.cross(features)
        half = solve_triangular(self.chol, cross.T, lower=True, check_finite=False)
        variance = self.signal - np.einsum("ij,ij->j", half, half)
        return self.mean + cross @ self.weights, np.sqrt(np.maximum(variance, 1e-12))

    def cross(self, features: Floats) -> Floats:
        """Prior covariance between each row and each measurement, (rows, n)."""
        return matern(squared_distances(features * self.scale, self.x), self.signal)


def squared_distances(a: Floats, b: Floats) -> Floats:
    squared = -2.0 * (a @ b.T)
    squared += np.einsum("ij,ij->i", a, a)[:, None]
    squared += np.einsum("ij,ij->i", b, b)[None, :]
    return np.maximum(squared, 0.0, out=squared)


def matern(squared: Floats, signal: float) -> Floats:
    """Matérn 5/2 of squared scaled distances; Rasmussen & Williams 2006, eq. 4.17."""
    r = np.sqrt(squared)
    r *= SQRT5
    out = np.exp(-r)
    out *= signal * (1.0 + r + squared * (5.0 / 3.0))
    return out


def fit(
    x: Floats,
    y: Floats,
    groups: Ints,
    *,
    rng: np.random.Generator,
    prior: Prior | None = None,
    start: Floats | None = None,
    noise_weight: Floats | None = None,
    steps: int = 60,
) -> Gp:
    """The process for results `y` (n,), of about unit spread, at features `x` (n, d) whose columns belong to `groups`
    (d,). `start` are an earlier model's logarithms, `noise_weight` (n,) multiplies the noise of single results (a mean
    of two has 0.5). Raises FitError."""
    prior = prior or Prior()
    weight = np.ones(len(y)) if noise_weight is None else noise_weight
    count = int(groups.max()) + 1 if len(groups) else 0
    some = np.arange(len(y)) if len(y) <= MOST_TO_FIT else rng.choice(len(y), MOST_TO_FIT, replace=False)
    length_mean = 2.0**0.5 + 0.5 * np.log(max(count, 1)) if count else 0.0
    parts = [squared_distances(x[some][:, groups == g], x[some][:, groups == g]) for g in range(count)]
    loss = _Loss(
        np.stack(parts) if parts else np.zeros((0, len(some), len(some))), y[some], weight[some], prior, length_mean
    )
    default = np.concatenate([np.full(count, length_mean - 1.0), [prior.signal[0], prior.noise[0]]])
    best: tuple[float, Floats] | None = None
    for first in [default] if start is None else [start, default]:
        found = minimize(loss, first, jac=True, method="L-BFGS-B", bounds=_bounds(count), options={"maxiter": steps})
        if np.isfinite(found.fun) and (best is None or found.fun < best[0]):
            best = (float(found.fun), np.asarray(found.x))
    if best is None:
        raise FitError("the Gaussian process found no lengths that explain the results")
    return condition(x, y, groups, best[1], weight, log_posterior=-best[0])


def condition(x: Floats, y: Floats, groups: Ints, theta: Floats, weight: Floats, *, log_posterior: float = 0.0) -> Gp:
    """The process with the numbers `theta` (logarithms of lengths, signal and noise) that has seen `y`."""
    count = len(theta) - 2
    signal, noise = float(np.exp(theta[-2])), float(np.exp(theta[-1]))
    scale = np.exp(-theta[:count])[groups] if count else np.zeros(0)
    scaled = x * scale
    cov = matern(squared_distances(scaled, scaled), signal)
    cov[np.diag_indices_from(cov)] += noise * weight + 1e-8
    try:
        chol = cholesky(cov, lower=True, check_finite=False)
    except LinAlgError as error:
        raise FitError(f"the Gaussian process can't be solved for {len(y)} results: {error}") from error
    ones = cho_solve((chol, True), np.ones(len(y)))
    # the mean is what generalised least squares says, drawn to 0 as a normal of unit variance would
    mean = float(ones @ y / (ones.sum() + 1.0))
    weights = cho_solve((chol, True), y - mean)
    return Gp(scaled, scale, signal, noise, mean, chol, weights, log_posterior, theta)


class _Loss:
    """Minus the log posterior and its gradient in the logarithms of lengths, signal and noise."""

    def __init__(self, parts: Floats, y: Floats, weight: Floats, prior: Prior, length_mean: float) -> None:
        self.parts, self.y, self.weight, self.prior = parts, y, weight, prior
        count = len(parts)
        self.means = np.concatenate([np.full(count, length_mean), [prior.signal[0], prior.noise[0]]])
        self.precision = _precision(count, prior)

    def __call__(self, theta: Floats) -> tuple[float, Floats]:
        count, n = len(theta) - 2, len(self.y)
        inverse = np.exp(-2.0 * theta[:count])
        signal, noise = np.exp(theta[-2]), np.exp(theta[-1])
        squared = np.tensordot(inverse, self.parts, axes=1) if count else np.zeros((n, n))
        r = SQRT5 * np.sqrt(squared)
        decay = signal * np.exp(-r)
        kernel = decay * (1.0 + r + squared * (5.0 / 3.0))
        cov = kernel.copy()
        cov[np.diag_indices(n)] += noise * self.weight + 1e-8
        # the mean is integrated out under its unit normal prior
        cov += 1.0
        try:
            chol = cholesky(cov, lower=True, check_finite=False)
        except LinAlgError:
            return 1e25, np.zeros_like(theta)
        alpha = cho_solve((chol, True), self.y, check_finite=False)
        value = 0.5 * float(self.y @ alpha) + float(np.log(np.diag(chol)).sum())
        inner = np.outer(alpha, alpha) - cho_solve((chol, True), np.eye(n), check_finite=False)
        # dk/d log length_g = (5/3) signal exp(-r) (1 + r) · squared_g / length_g²
        slope = inner * decay * (1.0 + r) * (5.0 / 3.0)
        gradient = np.empty_like(theta)
        for g in range(count):
            gradient[g] = -0.5 * inverse[g] * float(np.vdot(slope, self.parts[g]))
        gradient[-2] = -0.5 * float(np.vdot(inner, kernel))
        gradient[-1] = -0.5 * noise * float(np.diag(inner) @ self.weight)
        pull, pull_gradient = self._priors(theta)
        return value + pull, gradient + pull_gradient

    def _priors(self, theta: Floats) -> tuple[float, Floats]:
        away = theta - self.means
        pull = self.precision @ away
        return 0.5 * float(away @ pull), pull


def _precision(count: int, prior: Prior) -> Floats:
    """Lengths share a wide prior on their common size and a narrow one on each one's own."""
    cov = np.zeros((count + 2, count + 2))
    cov[:count, :count] = prior.length_sd**2 + np.eye(count) * prior.apart**2
    cov[-2, -2], cov[-1, -1] = prior.signal[1] ** 2, prior.noise[1] ** 2
    return np.asarray(np.linalg.inv(cov), dtype=np.float64)


def _bounds(count: int) -> Sequence[tuple[float, float]]:
    return [(-4.0, 7.0)] * count + [(-4.0, 4.0), (-12.0, 2.0)]
