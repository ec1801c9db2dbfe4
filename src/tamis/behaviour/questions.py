"""Questions. Which one to put next: the one that says most about which draft is nearest to the truth, for each second
of the owner's time that it takes to read and answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tamis.behaviour.decisions import Decision
from tamis.behaviour.ground import UNTOLD, Floats, Ground, Ints
from tamis.behaviour.odds import Fit, Posterior
from tamis.behaviour.words import outcome_said

OPENING_SECONDS = 4.0
CHARACTERS_A_SECOND = 18.0
OPTION_SECONDS = 1.5


@dataclass(frozen=True)
class Candidate:
    """A question that can be asked: the last call of the program at `place` in the ground. `outcomes` (drafts,) are
    what each draft gives there, by number, UNTOLD where that changes from run to run."""

    decision: str
    method: str
    place: int
    outcomes: Ints
    texts: tuple[str, ...]
    outcome_characters: int

    @property
    def options(self) -> list[int]:
        """The numbers of the outcomes to choose from, most drafts first."""
        values, counts = np.unique(self.outcomes[self.outcomes != UNTOLD], return_counts=True)
        return [int(values[i]) for i in np.argsort(-counts, kind="stable")]


def candidate(ground: Ground, decision: Decision, place: int) -> Candidate:
    texts = ground.texts(place)[ground.setup[place] :]
    return Candidate(
        decision=decision.id,
        method=decision.method,
        place=place,
        outcomes=ground.steps[place][:, -1],
        texts=texts,
        outcome_characters=sum(len(outcome_said(o.outcome)) for o in decision.options),
    )


def reading_seconds(ask: Candidate, read_before: frozenset[str]) -> float:
    """The owner's time for a question, as far as lengths tell: calls that she has read in an earlier question take half
    of it. The figures are a plain reading speed, not measured on owners."""
    characters = sum(len(t) * (0.5 if t in read_before else 1.0) for t in ask.texts) + ask.outcome_characters
    options = len(ask.options) + 4  # neither, either, never, don't know
    return OPENING_SECONDS + characters / CHARACTERS_A_SECOND + OPTION_SECONDS * float(np.log2(options))


def information(outcomes: Ints, belief: Posterior, fit: Fit) -> float:
    """The bits that the answer is expected to tell about which draft the truth is nearest to. The answer is what that
    draft gives, unless the owner slips or the truth departs from it just there. Of a draft whose outcome is untold
    there, no answer tells anything."""
    told_of = outcomes != UNTOLD
    base = belief.base[told_of]
    values, side = np.unique(outcomes[told_of], return_inverse=True)
    if len(values) < 2 or not base.any():
        return 0.0
    counts = np.bincount(side).astype(np.float64)
    else_where = np.append(counts, 1.0)  # the last is a value that nobody gave
    noise = _noise(belief, fit)[told_of]
    told: Floats = np.zeros((len(base), len(else_where)))
    for d, s in enumerate(side.tolist()):
        others = else_where.copy()
        others[s] = 0.0
        told[d] = noise[d] * others / others.sum()
        told[d, s] = 1 - noise[d]
    share = float(base.sum())
    whole = base @ told / share
    return max(0.0, share * _bits(whole) - float(base @ np.array([_bits(row) for row in told])))


def _noise(belief: Posterior, fit: Fit) -> Floats:
    slip = fit.slips / fit.slips_of
    departed = np.where(belief.base > 0, 1 - belief.right / np.maximum(belief.base, 1e-300), 1.0)
    return np.minimum(0.45, slip + departed * fit.departures * fit.here)


def _bits(chances: Floats) -> float:
    some = chances[chances > 0]
    return float(-(some * np.log2(some)).sum())


def most_telling(
    asks: Sequence[Candidate],
    belief: Posterior,
    fit: Fit,
    *,
    read_before: frozenset[str],
    vague: Mapping[str, int] | None = None,
) -> tuple[Candidate, float] | None:
    """The question with the most bits a second, and its bits; None where there is none left. `vague` counts, by method,
    the questions that she had no opinion on: each halves what another on that method is expected to tell."""
    best: tuple[float, Candidate, float] | None = None
    for ask in asks:
        bits = information(ask.outcomes, belief, fit) * 0.5 ** (vague or {}).get(ask.method.rpartition(".")[2], 0)
        worth = bits / reading_seconds(ask, read_before)
        if best is None or worth > best[0]:
            best = (worth, ask, bits)
    return (best[1], best[2]) if best else None
