"""What she can answer, and how probable each answer is.

An answer speaks of contrasts, differences of utilities. Of two texts there is one contrast, of four there are three,
and one click is one observation. "Alike" and "none is good" are answers of their own kind, not halves of a choice. A
reader may have a pull to the side shown first, and may at times answer without looking; both are part of the
likelihood, so that they are not taken for taste.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

MOST_SHOWN = 4


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """One observation. `shown` are places of texts, the one shown first in front; `said` is the place within `shown`
    of the one taken, or "alike". With "above" or "below", one text is told to be above or below the bar of what is
    good."""

    shown: tuple[int, ...]
    said: int | Literal["alike", "above", "below"]


class Manner(msgspec.Struct, frozen=True, kw_only=True):
    """How a reader answers. `careless` is the share of answers given without looking, of which the share `first` goes
    to the side shown first. `alike` says how ready she is to call two equal texts alike: probability alike / (alike +
    2)."""

    careless: float = 0.01
    first: float = 0.5
    alike: float = 0.1


class Contrast(msgspec.Struct, frozen=True, kw_only=True):
    """Signed texts, and how the side shown first and the bar enter."""

    texts: tuple[tuple[int, float], ...]
    side: float = 0.0
    bar: float = 0.0


def contrasts(heard: Heard) -> tuple[Contrast, ...]:
    """The differences that the answer speaks of: of the one taken (of the first, where they are alike) to each
    other."""
    if heard.said in {"above", "below"}:
        return (Contrast(texts=((heard.shown[0], 1.0),), bar=-1.0),)
    taken = 0 if heard.said == "alike" else int(heard.said)
    return tuple(
        Contrast(
            texts=((heard.shown[taken], 1.0), (heard.shown[other], -1.0)),
            side=float(taken == 0) - float(other == 0),
        )
        for other in range(len(heard.shown))
        if other != taken
    )


def likelihood(points: NDArray[np.float64], heard: Heard, manners: Sequence[Manner]) -> NDArray[np.float64]:
    """The probability of what was heard, for each manner at each point: `points` is (manners × points × contrasts)."""
    careless, first, ready = (
        np.array([getattr(manner, name) for manner in manners])[:, None] for name in ("careless", "first", "alike")
    )
    n_shown = points.shape[2] + 1
    away = np.exp(np.clip(-points, -300, 300)).sum(axis=2)
    tie = ready * np.exp(np.clip(-points.sum(axis=2) / n_shown, -300, 300))
    match heard.said:
        case "above":
            return np.asarray(1 / (1 + away))
        case "below":
            return np.asarray(away / (1 + away))
        case "alike":
            return np.asarray((1 - careless) * tie / (1 + away + tie) + 1e-9)
        case taken:
            blind = first if taken == 0 else (1 - first) / (n_shown - 1)
            return np.asarray((1 - careless) / (1 + away + tie) + careless * blind)
