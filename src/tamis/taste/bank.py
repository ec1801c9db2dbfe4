"""A bank of beliefs with different priors, weighted by how well each foretold her answers so far.

No single prior is right for every reader and every set of texts: she may care about style only, about what the texts
say, or about nothing that can be counted; she may be sure or wavering. Claims that rested on one prior would be as
good as that guess. Beliefs that have fallen far behind are put to rest, which is what keeps a question quick.
"""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from tamis.taste.answers import Heard, Manner
from tamis.taste.features import Features
from tamis.taste.preference import Beliefs, Prior
from tamis.taste.threads import on_one_thread

OUTLIERS, OUTLIERS_WEIGHT = 0.1, 0.4
"""The share of outlying texts in the priors that have any, and how probable such priors are beside those without."""
INATTENTIVE, INATTENTIVE_WEIGHT = 0.3, 0.02
"""How often a reader answers without looking, in the priors for such readers, and how probable each of them is."""
ADDED_SHARE, ADDED_WEIGHT = 0.4, 2.0
"""The share of a utility's variance that a judge has in the mixes with one, and how probable such a mix is beside the
same without: who has a judge has a reason to."""
LEANING = {"judge": 0.6}
"""How much of a group's share is foreseen: that she, too, likes better what a judge scores higher. A judge whose
scores mean the opposite is found out after some more answers."""
REST_BELOW = 3e-3
"""A belief whose weight is less than this share of the best one's is put to rest, after REST_AFTER answers."""
REST_AFTER = 20


class Mix(msgspec.Struct, frozen=True, kw_only=True):
    """How a utility's variance may be made up: the share of each group of features; the rest is the text's own.
    `weight` is how probable that is beside the other mixes. With `outlying`, there are also priors in which some texts'
    own effects are far larger than the others'."""

    shares: dict[str, float]
    weight: float = 1.0
    outlying: bool = False


MIXES = (
    Mix(shares={}, weight=0.3, outlying=True),
    Mix(shares={"style": 0.5}),
    Mix(shares={"style": 0.45, "meaning": 0.1}, weight=2.0, outlying=True),
    Mix(shares={"style": 0.7, "meaning": 0.2}, weight=0.6),
    Mix(shares={"style": 0.2, "meaning": 0.6}, weight=0.3),
)
"""Most readers care somewhat for how a text is written and somewhat for what nobody can count; the others are found out
by their answers."""
SCALES = {1.0: 0.7, 2.0: 1.0, 4.0: 0.3}
"""Standard deviations of utilities, in log-odds, and how probable each is beside the others: from a reader who wavers
(right 68 % of the time on random pairs) to one who is sure (right 90 %)."""


class Bank:
    """The beliefs, as they are now."""

    def __init__(self, features: Features, *, priors: Sequence[Prior] | None = None) -> None:
        self.features = features
        self.beliefs = Beliefs(priors or default_priors(features), features)

    @on_one_thread
    def hear(self, heard: Heard) -> None:
        """Learns from one answer, and puts to rest the beliefs that it leaves far behind."""
        self.beliefs.hear(heard)
        if self.beliefs.n_heard >= REST_AFTER:
            weights = self.beliefs.weights()
            wanted = weights >= REST_BELOW * weights.max()
            if not wanted.all():
                self.beliefs.keep(wanted)

    def utilities(self) -> NDArray[np.float64]:
        """The mean utility of every text."""
        return self.beliefs.utilities()

    def draw(
        self,
        n_draws: int,
        rng: np.random.Generator,
        *,
        among: NDArray[np.int64] | None = None,
    ) -> NDArray[np.float32]:
        """Utilities of every text, or of those `among`, drawn from all beliefs by their weights: (texts × draws)."""
        return self.beliefs.draw(n_draws, rng, among=among)


def default_priors(features: Features) -> list[Prior]:
    """Every mix at every scale, over the groups that these features have. A judge's group takes its part in mixes of
    its own, beside those without it."""
    return [*_attentive(features), *_inattentive(features)]


def _attentive(features: Features) -> list[Prior]:
    """Readers who look before they answer."""
    return [
        msgspec.structs.replace(
            _prior(mix, scale),
            outliers=outliers,
            weight=mix.weight * weight * (OUTLIERS_WEIGHT if outliers else 1.0),
        )
        for mix in _mixes(features)
        for scale, weight in SCALES.items()
        for outliers in ((0.0, OUTLIERS) if mix.outlying and scale < max(SCALES) else (0.0,))
    ]


def _inattentive(features: Features) -> list[Prior]:
    """Readers who often answer without looking: with the left, with the right, or with either."""
    mix = next((mix for mix in _mixes(features) if len(mix.shares) > 1), _mixes(features)[-1])
    return [
        msgspec.structs.replace(
            _prior(mix, scale), weight=INATTENTIVE_WEIGHT, manner=Manner(careless=INATTENTIVE, first=first)
        )
        for scale in list(SCALES)[1:]
        for first in (0.9, 0.5, 0.1)
    ]


def _prior(mix: Mix, scale: float) -> Prior:
    """The prior of utilities that are so made up and have this standard deviation."""
    leaning = {name: LEANING.get(name, 0.0) * share for name, share in mix.shares.items()}
    return Prior(
        groups={name: scale * (share - leaning[name]) ** 0.5 for name, share in mix.shares.items()},
        leaning={name: scale * lean**0.5 for name, lean in leaning.items() if lean},
        text_sd=scale * (1 - sum(mix.shares.values())) ** 0.5,
    )


def _mixes(features: Features) -> list[Mix]:
    """The mixes over these features' groups, each once."""
    known: dict[tuple[tuple[str, float], ...], Mix] = {}
    for mix in MIXES:
        shares = {name: share for name, share in mix.shares.items() if name in features.groups}
        known.setdefault(tuple(sorted(shares.items())), msgspec.structs.replace(mix, shares=shares))
    mixes = list(known.values())
    for name in (name for name in features.groups if name not in {"style", "meaning"}):
        halved = [
            msgspec.structs.replace(
                mix,
                shares={**{group: share / 2 for group, share in mix.shares.items()}, name: ADDED_SHARE},
                weight=ADDED_WEIGHT * mix.weight,
                outlying=False,
            )
            for mix in mixes[:3]
        ]
        mixes += halved
    return mixes
