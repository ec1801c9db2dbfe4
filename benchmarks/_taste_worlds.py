"""Sets of texts with a hidden truth, and readers who answer by it: what the taste benchmark plays.

HANNA's stories and ratings are read from ../shared/data/taste. The made-up worlds put a utility of known make on the
same stories' features, or on no feature at all, so that claims can be checked where the model is right, wrong and
badly wrong.
"""

import csv
import functools
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from tamis.taste.features import Features, read_features

DATA = Path(__file__).parents[2] / "shared" / "data" / "taste"
RIGHT = 0.82
"""The share of random pairs on which the plain reader goes by the truth."""

Vector = NDArray[np.float64]
Says = Callable[[tuple[int, ...]], int]


class World(msgspec.Struct, frozen=True, kw_only=True):
    """`truth` is what counts as true, in `unit`; `utility` is the same in log-odds of the reader's choosing."""

    name: str
    features: Features
    truth: Vector
    utility: Vector
    unit: str


CRITERIA = ("relevance", "coherence", "empathy", "surprise", "engagement", "complexity")


class Hanna(msgspec.Struct, frozen=True, kw_only=True):
    """`rating` is the mean over the criteria in `by_criterion`."""

    stories: list[str]
    rating: Vector
    by_criterion: dict[str, Vector]
    by_machine: NDArray[np.bool_]
    judges: dict[str, Vector]


@functools.cache
def hanna() -> Hanna:
    """The stories with their mean ratings on six criteria by three readers, and what language models scored them."""
    with (DATA / "hanna_1056.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with (DATA / "hanna_llm_judge_scores.csv").open(encoding="utf-8", newline="") as file:
        scores = list(csv.DictReader(file))
    return Hanna(
        stories=[row["story"] for row in rows],
        rating=np.array([float(row["mean_rating"]) for row in rows]),
        by_criterion={name: np.array([float(row[name]) for row in rows]) for name in CRITERIA},
        by_machine=np.array([row["model"] != "Human" for row in rows]),
        judges={name: np.array([float(row[name]) for row in scores]) for name in scores[0] if name != "story_id"},
    )


@functools.cache
def hanna_world(
    which: str, *, judge: str | None = None, criterion: str | None = None, consistency: float = 1.0
) -> World:
    """HANNA's ratings as the truth, of "all" stories or of the "machine"-written alone. With a `criterion`, she goes by
    it, and by the mean of all where it leaves a tie. `consistency` multiplies the log-odds of the plain reader."""
    data = hanna()
    taken = np.flatnonzero(data.by_machine) if which == "machine" else np.arange(len(data.stories))
    features = read_features([data.stories[place] for place in taken])
    if judge is not None:
        features = features.with_group("judge", data.judges[judge][taken][:, None])
    rating = data.rating if criterion is None else data.by_criterion[criterion] + 0.3 * data.rating
    truth = rating[taken]
    slope = slope_for(truth, RIGHT) * consistency
    name = f"HANNA, {which}" + (f", judge {judge}" if judge else "") + (f", {criterion}" if criterion else "")
    return World(name=name, features=features, truth=truth, utility=slope * (truth - truth.mean()), unit="rating 1–5")


def made_world(kind: str, seed: int, features: Features) -> World:
    """A world whose truth is made: "linear" in the features, "unrelated" to them, "heavy"-tailed (Student t with three
    degrees of freedom per text), by "kinds" (she likes what is near one text), "mixed" (half by features), the same in
    "steps" of half a log-odd, or with twelve "gems" that nothing countable shows."""
    rng = np.random.default_rng([seed, 77])
    n, style, about = features.n_texts, features.groups["style"], features.groups["meaning"]
    by_style = style @ rng.standard_normal(style.shape[1])
    match kind:
        case "linear":
            utility = 1.4 * by_style + about @ rng.standard_normal(about.shape[1]) + 0.8 * rng.standard_normal(n)
        case "mixed" | "steps":
            by_about = about @ rng.standard_normal(about.shape[1])
            utility = 1.2 * by_style + 0.6 * by_about + 1.3 * rng.standard_normal(n)
            utility = utility if kind == "mixed" else np.round(2 * utility) / 2
        case "gems":
            utility = by_style + 0.8 * rng.standard_normal(n)
            utility[rng.choice(n, 12, replace=False)] += 5
        case "unrelated":
            utility = 2.0 * rng.standard_normal(n)
        case "heavy":
            utility = 1.2 * by_style + rng.standard_t(3, n)
        case "kinds":
            away = ((about - about[rng.integers(n)]) ** 2).sum(axis=1)
            near = np.exp(-away / np.quantile(away, 0.05))
            utility = 3 * near + 0.7 * by_style + 0.7 * rng.standard_normal(n)
        case _:
            raise ValueError(kind)
    utility = utility - utility.mean()
    return World(name=f"made, {kind}", features=features, truth=utility, utility=utility, unit="log-odds")


def slope_for(truth: Vector, right: float) -> float:
    """Log-odds per unit of truth at which a reader goes by the truth on this share of random pairs."""
    rng = np.random.default_rng(0)
    one, other = rng.integers(0, len(truth), (2, 40_000))
    apart = np.abs(truth[one] - truth[other])[one != other]
    found: float = brentq(lambda slope: (1 / (1 + np.exp(-slope * apart))).mean() - right, 1e-3, 1e3)
    return found


def reader(world: World, seed: int, *, left: float = 0.0, blind: float = 0.0) -> Says:
    """A reader by Bradley-Terry noise (Plackett-Luce, of several). `left` is her pull to the side shown first, in
    log-odds; with chance `blind` she takes it whatever stands there."""
    rng = np.random.default_rng([seed, 1000])

    def says(shown: tuple[int, ...]) -> int:
        if blind and rng.random() < blind:
            return 0
        heard = world.utility[list(shown)] + rng.gumbel(size=len(shown))
        heard[0] += left
        return int(heard.argmax())

    return says
