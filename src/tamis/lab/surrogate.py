"""Surrogates: a bank of models that guess a result before it is measured.

Four stand in it where the brief doesn't say others: a Gaussian process on the `main` view, extremely randomised trees,
the average of the two, and a Gaussian process on the `plain` view. None is best everywhere, so each is scored on every
result that comes back, by the guess that it made before it saw it; what they say together is weighted by those scores.

A fit that fails raises FitError, with the model's name. Nothing here chooses, and nothing here knows units: values
are such that more is better.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from scipy.linalg import solve_triangular
from sklearn import config_context
from sklearn.tree import ExtraTreeRegressor

from tamis.errors import boundary
from tamis.lab import gp
from tamis.lab.features import Features, View
from tamis.lab.gp import FitError, Floats, Ints
from tamis.lab.track import PRIOR

TREES = 100
CHUNK = 20_000
"""So many ideas are looked at together: the covariances of a chunk with a thousand results take 160 MB."""

ROUGH = 300
LITTLE = 0.2


@dataclass(frozen=True)
class Seen:
    """What was measured: `rows` (n,) are the ideas' places among all, `values` (n,) the mean of each one's results,
    `counts` (n,) how many those are."""

    rows: Ints
    values: Floats
    counts: Floats

    @property
    def constant(self) -> bool:
        return bool(np.ptp(self.values) <= 1e-12 * max(1.0, float(np.abs(self.values).max())))


@dataclass(frozen=True)
class Guess:
    """Mean and sd, (rows,) each, of the value that an idea truly has, without the noise of measuring it."""

    mean: Floats
    sd: Floats


class Fitted(Protocol):
    """A model that has learned. Its guesses are in the units of what it learned from."""

    def guess(self, rows: Ints) -> Guess: ...


class Surrogate(Protocol):
    """How a model of one's own takes part: it learns from what was seen and then guesses."""

    @property
    def name(self) -> str: ...

    def fit(self, features: Features, seen: Seen, rng: np.random.Generator) -> Fitted: ...


@dataclass(frozen=True)
class GpFitted:
    view: View
    model: gp.Gp
    learned: tuple[Floats, Floats, Floats]
    """Features, results and weights of the noise that it learned from."""

    def rough(self) -> "GpFitted":
        """The same process, having seen only the better half and every so many of the others, ROUGH in all."""
        x, y, weight = self.learned
        if len(y) <= ROUGH:
            return self
        order = np.argsort(-y)
        others = order[ROUGH // 2 :]
        some = np.concatenate([order[: ROUGH // 2], others[:: max(1, len(others) // (ROUGH // 2))][: ROUGH // 2]])
        return GpFitted(
            self.view, gp.condition(x[some], y[some], self.view.groups, self.model.theta, weight[some]), self.learned
        )

    def guess(self, rows: Ints) -> Guess:
        if not len(rows):
            return Guess(np.zeros(0), np.zeros(0))
        parts = [self.model.predict(self.view.x[rows[at : at + CHUNK]]) for at in range(0, len(rows), CHUNK)]
        return Guess(np.concatenate([mean for mean, _ in parts]), np.concatenate([sd for _, sd in parts]))


@dataclass(frozen=True)
class GpSurrogate:
    """A Gaussian process on one view."""

    name: str
    view: str

    def fit(self, features: Features, seen: Seen, rng: np.random.Generator) -> GpFitted:
        view = features.main if self.view == "main" else features.plain
        learned = (view.x[seen.rows], seen.values, 1.0 / seen.counts)
        with boundary(FitError, f"fitting {self.name}"):
            model = gp.fit(*learned[:2], view.groups, rng=rng, noise_weight=learned[2])
        return GpFitted(view, model, learned)


@dataclass(frozen=True)
class _TreesFitted:
    features: Features
    trees: Sequence[ExtraTreeRegressor]

    def guess(self, rows: Ints) -> Guess:
        if not len(rows):
            return Guess(np.zeros(0), np.zeros(0))
        x = self.features.tree[rows]
        total, squares = np.zeros(len(rows)), np.zeros(len(rows))
        for tree in self.trees:
            one = tree.tree_.predict(x)[:, 0]
            total += one
            squares += one * one
        mean = total / len(self.trees)
        return Guess(mean, np.sqrt(np.maximum(squares / len(self.trees) - mean**2, 1e-6)))


@dataclass(frozen=True)
class TreesSurrogate:
    """Extremely randomised trees (Geurts, Ernst & Wehenkel 2006); their disagreement is their sd. Single trees, and not
    scikit-learn's ensemble of them, which spends more time on making a hundred objects than on growing trees."""

    name: str = "trees"

    def fit(self, features: Features, seen: Seen, rng: np.random.Generator) -> _TreesFitted:
        x, y = np.ascontiguousarray(features.tree[seen.rows]), np.ascontiguousarray(seen.values[:, None])
        seeds = rng.integers(2**31, size=TREES).tolist()
        with boundary(FitError, "fitting the trees"), config_context(skip_parameter_validation=True):
            trees = [
                ExtraTreeRegressor(random_state=seed).fit(x, y, sample_weight=seen.counts, check_input=False)
                for seed in seeds
            ]
        return _TreesFitted(features, trees)


@dataclass(frozen=True)
class Bank:
    """The models that guess together, and what each one's word weighs before any result is in. Where there is an
    `average` in `prior`, it is that of `gp` and `trees`."""

    surrogates: tuple[Surrogate, ...] = (GpSurrogate("gp", "main"), TreesSurrogate(), GpSurrogate("gp plain", "plain"))
    prior: Mapping[str, float] = field(default_factory=lambda: PRIOR)


BASE = Bank()


@dataclass(frozen=True)
class Model:
    """The bank after learning. `centre` and `spread` bring its members' guesses back to the results' units. `process`
    says how alike ideas are, whether or not it is asked for its guess: what is held at one idea bears on others."""

    members: Mapping[str, Fitted]
    weights: Mapping[str, float]
    process: GpFitted
    centre: float
    spread: float
    noise_sd: float

    def by_member(self, rows: Ints) -> dict[str, Guess]:
        """What each says of these ideas, in the results' units."""
        raw = {name: fitted.guess(rows) for name, fitted in self.members.items()}
        if "average" in self.weights:
            raw["average"] = together([raw["gp"], raw["trees"]], [0.5, 0.5])
        return {name: Guess(self.centre + self.spread * one.mean, self.spread * one.sd) for name, one in raw.items()}

    def guess(self, rows: Ints) -> Guess:
        """What they say together."""
        said = self.by_member(rows)
        return together([said[name] for name in self.weights], list(self.weights.values()))

    def rough_guess(self, rows: Ints) -> Guess:
        """What they say together, for very many ideas: the processes look at no more than ROUGH results, and a model
        with little weight is not asked."""
        asked = [name for name, weight in self.weights.items() if weight >= LITTLE and name in self.members]
        said = [_rough(one).guess(rows) for one in [self.members[name] for name in asked] or [self.process]]
        shares = np.array([self.weights[name] for name in asked] or [1.0])
        mixed = together(said, (shares / shares.sum()).tolist())
        return Guess(self.centre + self.spread * mixed.mean, self.spread * mixed.sd)


def _rough(fitted: Fitted) -> Fitted:
    return fitted.rough() if isinstance(fitted, GpFitted) else fitted


def together(guesses: Sequence[Guess], weights: Sequence[float]) -> Guess:
    """Mean and sd of the mixture: where the models disagree, that is part of the doubt."""
    mean = sum(w * one.mean for w, one in zip(weights, guesses, strict=True))
    second = sum(w * (one.sd**2 + (one.mean - mean) ** 2) for w, one in zip(weights, guesses, strict=True))
    return Guess(np.asarray(mean), np.sqrt(np.asarray(second)))


def learn(
    features: Features,
    seen: Seen,
    weights: Mapping[str, float],
    *,
    rng: np.random.Generator,
    bank: Bank = BASE,
) -> Model:
    """The bank fitted to what was seen, its members weighted by `weights`. Raises FitError where a model can't be
    fitted, or all results are the same."""
    if seen.constant:
        raise FitError(
            f"all {len(seen.rows)} ideas measured have the same result: there is nothing to learn from yet",
            hint="is the instrument connected, and the right column read?",
        )
    centre, spread = float(seen.values.mean()), float(seen.values.std())
    scaled = Seen(seen.rows, (seen.values - centre) / spread, seen.counts)
    members = {one.name: one.fit(features, scaled, rng) for one in bank.surrogates}
    ours = [one for one in members.values() if isinstance(one, GpFitted)] or [
        GpSurrogate("gp", "main").fit(features, scaled, rng)
    ]
    noise_sd = float(np.mean([spread * one.model.noise**0.5 for one in ours]))
    return Model(members, weights, ours[0], centre, spread, noise_sd)


class Believer:
    """How much less is unknown once some ideas are held at their predicted means: the means stay, and each idea's sd
    shrinks by the factor that the model's process gives. Ideas are meant by their place in `rows`."""

    def __init__(self, model: Model, rows: Ints) -> None:
        self._process = process = model.process.model
        self._x = model.process.view.x[rows] * process.scale
        cross = gp.matern(gp.squared_distances(process.x, self._x), process.signal)
        self._half = solve_triangular(process.chol, cross, lower=True, check_finite=False)
        self._variance = np.maximum(process.signal - np.einsum("ij,ij->j", self._half, self._half), 1e-10)
        self._first = self._variance.copy()
        self.left = np.ones(len(rows))
        """The factor on each idea's sd, (rows,); 1 before anything is held."""

    def hold(self, place: int) -> None:
        process = self._process
        own = self._x[place : place + 1]
        cov = gp.matern(gp.squared_distances(self._x, own), process.signal)[:, 0] - self._half[:, place] @ self._half
        direction = cov / np.sqrt(self._variance[place] + process.noise)
        self._half = np.vstack([self._half, direction])
        self._variance = np.maximum(self._variance - direction**2, 1e-10)
        self.left = np.sqrt(self._variance / self._first)
