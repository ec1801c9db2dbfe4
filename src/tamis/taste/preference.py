"""The model of her taste: what is believed about every text's utility after some comparisons.

A text's utility is weights · features plus an effect of its own; she takes a text with odds that grow as e to its
utility (Bradley & Terry 1952 for two, Plackett 1975 for the best of several, Davidson 1970 for "alike"). Utilities
are therefore in log-odds. A belief is one joint Gaussian over the weights, her pull to the side shown first, the bar
below which a text is bad, and the effects of only those texts that were shown, so that its cost grows with what she
has seen and not with how many texts there are.

Each answer moves a belief by moment matching (assumed-density filtering, Minka 2001): the mean and covariance of the
few contrasts it speaks of are computed by quadrature and carried over to everything else. The covariance is kept as a
square root, S Sᵀ, which makes drawing from it one product and keeps it a covariance whatever the rounding, so that
single precision is enough for it.

Several beliefs that differ only in their priors are held side by side, as the first axis of every array.
"""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import sger

from tamis.taste.answers import Contrast, Heard, Manner, contrasts, likelihood
from tamis.taste.features import Features

Vector = NDArray[np.float64]
Array = NDArray[np.float64]
"""Beliefs first, then whatever the name says."""


OUTLIER_TIMES = 5.0
"""How much wider the own effects of outlying texts are."""


class Prior(msgspec.Struct, frozen=True, kw_only=True):
    """What is believed before the first answer, as standard deviations in log-odds: of what each group of features
    contributes to a utility (`groups`), and of each text's own effect (`text_sd`). With `outliers`, so large a share
    of texts have own effects that are OUTLIER_TIMES as wide as those of the others. `manner` is how the reader
    answers."""

    groups: Mapping[str, float]
    text_sd: float
    leaning: Mapping[str, float] = {}
    """By how much a group of features is expected to raise a utility where all its columns are one standard deviation
    up, in log-odds; nothing where it is not named."""
    outliers: float = 0.0
    weight: float = 1.0
    """How probable this prior is beside the others, before the first answer."""
    manner: Manner = Manner()
    side_sd: float = 0.7
    bar_sd: float = 3.0


class Beliefs:
    """The joint Gaussians. Their dimensions are the weights, then side and bar, then the texts in the order first
    shown."""

    def __init__(self, priors: Sequence[Prior], features: Features) -> None:
        self.priors = sorted(priors, key=lambda prior: prior.outliers > 0)
        blocks = list(features.groups.values())
        self.columns = (
            np.concatenate(blocks, axis=1, dtype=np.float32) if blocks else np.zeros((features.n_texts, 0), np.float32)
        )
        self.n_weights = self.columns.shape[1]
        self.rows: dict[int, int] = {}
        """Text → dimension."""
        self.log_evidence = np.log([prior.weight for prior in self.priors])
        """The log of the prior's weight and of the probability given to each answer before it was heard, added up."""
        self._size = self.n_weights + 2
        self._mean = np.zeros((len(priors), self._size))
        self._root = np.zeros((len(priors), self._size, self._size), np.float32)
        for place, prior in enumerate(self.priors):
            means, sds = _weights_before(prior, features.groups)
            self._mean[place, : self.n_weights] = means
            np.fill_diagonal(self._root[place], np.concatenate([sds, [prior.side_sd, prior.bar_sd]]))
        self._text_sd = np.array([prior.text_sd for prior in self.priors])
        self._outliers = np.array([prior.outliers for prior in self.priors])
        self._own_precision = np.zeros((len(priors), self._size))
        """How narrow each text's own effect is taken to be before any answer, by dimension."""
        self.n_heard = 0

    def hear(self, heard: Heard) -> None:
        """Learns from one answer: matches the moments of its contrasts and carries them over to everything."""
        self._touch(heard.shown)
        image, mean = self._directions(contrasts(heard))
        covariance = image.swapaxes(1, 2) @ image
        log_mass, new_mean, new_covariance = self._moments(mean, covariance, heard)
        precision = _inverse(covariance)
        self._carry(image, _times(precision, new_mean - mean), precision @ new_covariance @ precision - precision)
        self.log_evidence += log_mass
        self.n_heard += 1
        for text in heard.shown:
            self._judge_outlier(self.rows[text])

    def keep(self, wanted: NDArray[np.bool_]) -> None:
        """Goes on with these beliefs only."""
        self.priors = [prior for prior, keep in zip(self.priors, wanted, strict=True) if keep]
        self.log_evidence, self._text_sd = self.log_evidence[wanted], self._text_sd[wanted]
        self._outliers, self._own_precision = self._outliers[wanted], self._own_precision[wanted]
        self._mean, self._root = self._mean[wanted], self._root[wanted]

    def weights(self) -> Vector:
        """The probability of each prior given all answers; all were equally probable before."""
        weights = np.exp(self.log_evidence - self.log_evidence.max())
        return np.asarray(weights / weights.sum())

    def side(self) -> tuple[float, float]:
        """Mean and standard deviation of her pull to the side shown first, in log-odds."""
        at, weights = self.n_weights, self.weights()
        means = self._mean[:, at]
        variances = (self._root[:, at, : self._size] ** 2).sum(axis=1)
        mean = weights @ means
        return float(mean), float(np.sqrt(weights @ (variances + (means - mean) ** 2)))

    def utilities(self) -> Vector:
        """The mean utility of every text."""
        state = self.weights() @ self._mean[:, : self._size]
        values = (self.columns @ state[: self.n_weights].astype(np.float32)).astype(np.float64)
        if self.rows:
            values[list(self.rows)] += state[list(self.rows.values())]
        return np.asarray(values)

    def draw(
        self,
        n_draws: int,
        rng: np.random.Generator,
        *,
        among: NDArray[np.int64] | None = None,
    ) -> NDArray[np.float32]:
        """Utilities of every text, or of those `among`, drawn from all beliefs by their weights: (texts × draws)."""
        which = np.sort(rng.choice(len(self.priors), n_draws, p=self.weights()))
        size = self._size
        state = np.empty((size, n_draws), np.float32)
        for place in np.unique(which):
            here = slice(*np.searchsorted(which, (place, place + 1)))
            noise = rng.standard_normal((size, here.stop - here.start), np.float32)
            state[:, here] = self._mean[place, :size, None] + self._root[place, :size, :size] @ noise
        columns = self.columns if among is None else self.columns[among]
        values = rng.standard_normal((len(columns), n_draws), np.float32)
        values *= _core_sd(self._text_sd, self._outliers)[which].astype(np.float32)
        if self._outliers.any():
            outlying = rng.random(values.shape, np.float32) < self._outliers[which].astype(np.float32)
            values[outlying] *= OUTLIER_TIMES
        places, rows = self._shown(among)
        values[places] = state[rows]
        values += columns @ state[: self.n_weights]
        return values[:, rng.permutation(n_draws)]

    def _shown(self, among: NDArray[np.int64] | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where texts shown so far stand among these, and their dimensions."""
        texts = np.fromiter(self.rows, np.int64, len(self.rows))
        rows = np.fromiter(self.rows.values(), np.int64, len(self.rows))
        if among is None:
            return texts, rows
        order = np.argsort(texts)
        at = np.searchsorted(texts[order], among)
        here = np.flatnonzero(at < len(texts))
        here = here[texts[order[at[here]]] == among[here]]
        return here, rows[order[at[here]]]

    def _touch(self, texts: Sequence[int]) -> None:
        """Makes room for the effects of texts shown for the first time."""
        new = [text for text in texts if text not in self.rows]
        size = self._size + len(new)
        if size > self._mean.shape[1]:
            room = size + max(32, size // 2)
            mean, root = np.zeros((len(self.priors), room)), np.zeros((len(self.priors), room, room), np.float32)
            mean[:, : self._size] = self._mean[:, : self._size]
            root[:, : self._size, : self._size] = self._root[:, : self._size, : self._size]
            self._mean, self._root = mean, root
            self._own_precision = np.pad(self._own_precision, ((0, 0), (0, room - self._own_precision.shape[1])))
        for row, text in enumerate(new, start=self._size):
            self.rows[text] = row
            self._root[:, row, row] = self._text_sd
            self._own_precision[:, row] = self._text_sd**-2
        self._size = size

    def _directions(self, speaks_of: Sequence[Contrast]) -> tuple[Array, Array]:
        """For each contrast x the image Sᵀx (beliefs × dimensions × contrasts) and the mean xᵀμ (beliefs ×
        contrasts)."""
        rows = sorted({self.rows[text] for contrast in speaks_of for text, _ in contrast.texts})
        used = [*range(self.n_weights + 2), *rows]
        along = np.zeros((len(speaks_of), len(used)))
        for place, contrast in enumerate(speaks_of):
            along[place, self.n_weights : self.n_weights + 2] = contrast.side, contrast.bar
            for text, sign in contrast.texts:
                along[place, : self.n_weights] += sign * self.columns[text]
                along[place, self.n_weights + 2 + rows.index(self.rows[text])] += sign
        image = along.astype(np.float32) @ self._root[:, used, : self._size]
        return image.swapaxes(1, 2).astype(np.float64), self._mean[:, used] @ along.T

    def _judge_outlier(self, row: int) -> None:
        """Takes the text's own effect for ordinary or outlying by what the answers say of it, as far as they say it,
        and narrows or widens what was believed of it before them accordingly."""
        first = int(np.searchsorted(self._outliers > 0, True))
        if first == len(self.priors):
            return
        prior = self._own_precision[first:, row]
        image = self._root[first:, row, : self._size, None].astype(np.float64)
        variance = (image[:, :, 0] ** 2).sum(axis=1)
        mean = self._mean[first:, row]
        told = np.maximum(1 / variance - prior, 1e-9)
        told_mean = mean / variance / told
        core = _core_sd(self._text_sd[first:], self._outliers[first:])
        share = self._outliers[first:]
        log_ordinary = np.log1p(-share) + _log_normal(told_mean, core**2 + 1 / told)
        log_outlying = np.log(share) + _log_normal(told_mean, (OUTLIER_TIMES * core) ** 2 + 1 / told)
        outlying = 1 / (1 + np.exp(np.clip(log_ordinary - log_outlying, -700, 700)))
        new = (1 - outlying) / core**2 + outlying / (OUTLIER_TIMES * core) ** 2
        new_variance = 1 / (told + new)
        self._own_precision[first:, row] = new
        step = (new_variance * told * told_mean - mean) / variance
        change = (new_variance - variance) / variance**2
        self._carry(image, step[:, None], change[:, None, None], first=first)

    def _carry(self, image: Array, step: Array, change: Array, *, first: int = 0) -> None:
        """Carries new moments of the contrasts over to everything, in the beliefs from `first` on: mean += Σ X step,
        Σ += Σ X change Xᵀ Σ."""
        root = self._root[first:, : self._size, : self._size]
        self._mean[first:, : self._size] += _times(root, _times(image, step).astype(np.float32))
        basis, triangle = np.linalg.qr(image)
        scale, turn = np.linalg.eigh(triangle @ change @ triangle.swapaxes(1, 2))
        directions = np.zeros((len(image), self._root.shape[2], image.shape[2]), np.float32)
        directions[:, : self._size] = basis @ turn
        factor = np.sqrt(np.maximum(1 + scale, 1e-12)) - 1
        moved = np.zeros_like(directions)
        moved[:, : self._size] = (root @ directions[:, : self._size]) * factor[:, None, :]
        for place in range(len(image)):
            for one in range(image.shape[2]):  # in place, since a product of all would be made beside the root first
                _add_product(self._root[first + place], moved[place, :, one], directions[place, :, one])

    def _moments(self, mean: Array, covariance: Array, heard: Heard) -> tuple[Vector, Array, Array]:
        """Log mass, mean and covariance of a Gaussian over the contrasts times the likelihood of what was heard."""
        nodes, weights = _GRIDS[mean.shape[1]]
        points = mean[:, None, :] + nodes @ np.linalg.cholesky(covariance).swapaxes(1, 2)
        mass = weights * likelihood(points, heard, [prior.manner for prior in self.priors])
        total = mass.sum(axis=1)
        share = mass / total[:, None]
        new_mean = (share[:, None, :] @ points)[:, 0]
        away = points - new_mean[:, None, :]
        return np.log(total), new_mean, (away * share[:, :, None]).swapaxes(1, 2) @ away


_NODES = {1: 24, 2: 11, 3: 9}


def _grid(n: int) -> tuple[Array, Vector]:
    """Gauss-Hermite nodes (points × n) and weights for a standard normal in n dimensions."""
    node, weight = np.polynomial.hermite_e.hermegauss(_NODES[n])
    nodes = np.stack(np.meshgrid(*[node] * n, indexing="ij"), axis=-1).reshape(-1, n)
    weights = np.prod(np.stack(np.meshgrid(*[weight] * n, indexing="ij"), axis=-1).reshape(-1, n), axis=1)
    return nodes, weights / weights.sum()


_GRIDS = {n: _grid(n) for n in _NODES}


def _weights_before(prior: Prior, groups: Mapping[str, Array]) -> tuple[Vector, Vector]:
    """Means and standard deviations of the weights of all columns before any answer."""
    means, sds = [np.zeros(0)], [np.zeros(0)]
    for name, columns in groups.items():
        up = columns.std(axis=0).sum()
        means.append(np.full(columns.shape[1], prior.leaning.get(name, 0.0) / up if up else 0.0))
        sds.append(np.full(columns.shape[1], prior.groups.get(name, 0.0)))
    return np.concatenate(means), np.concatenate(sds)


def _core_sd(text_sd: Vector, outliers: Vector) -> Vector:
    """The standard deviation of ordinary texts' own effects, where `text_sd` is that of all."""
    return text_sd / np.sqrt(1 - outliers + outliers * OUTLIER_TIMES**2)


def _log_normal(value: Vector, variance: Vector) -> Vector:
    """The log density of a normal around zero, but for a constant."""
    return np.asarray(-0.5 * (np.log(variance) + value**2 / variance))


def _add_product(to: NDArray[np.float32], column: NDArray[np.float32], row: NDArray[np.float32]) -> None:
    """Adds column × row in place, where `to` is contiguous (BLAS takes it for its own transpose)."""
    sger(1.0, row, column, a=to.T, overwrite_a=1)


def _times(matrix: Array, vector: Array) -> Array:
    """Matrix times vector, belief by belief."""
    return np.asarray((matrix @ vector[:, :, None])[:, :, 0])


def _inverse(matrices: Array) -> Array:
    return np.asarray(np.linalg.inv(matrices), np.float64)
