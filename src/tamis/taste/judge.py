"""A judge: anything that can say which of two texts is better, most often a model. Its word is one more feature whose
weight is learned from her answers; it never votes, and until she has answered, an order that rests on it is the
judge's and not hers.

A judge is asked every pair in both orders. From these doubled pairs come its own habits (its pull to the side shown
first, its pull to the longer text), with intervals; fewer than 200 of them say too little to be reported as settled.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from tamis.errors import CheckError
from tamis.records import Fault, Odds
from tamis.taste.answers import Heard
from tamis.taste.bank import Bank
from tamis.taste.features import Features
from tamis.taste.habits import LEVEL, share

ENOUGH_PAIRS = 200


class Judge(Protocol):
    """Takes texts in the order shown and returns the place of the best, None for "can't say". Raises Silent where no
    answer is to be had."""

    def prefer(self, texts: Sequence[str]) -> int | None: ...


class Silent(Exception):
    """The judge gave no answer, and why; whose doing it was stands in `fault`."""

    def __init__(self, why: str, *, fault: Fault = "check") -> None:
        super().__init__(why)
        self.fault: Fault = fault


class Doubled(msgspec.Struct, frozen=True, kw_only=True):
    """One pair asked in both orders: what was taken each time, as 0 for `pair[0]` and 1 for `pair[1]`, None for "can't
    say"."""

    pair: tuple[int, int]
    straight: int | None
    swapped: int | None


class JudgeHabits(msgspec.Struct, frozen=True, kw_only=True):
    """`left`: how often it takes the one shown first. `longer`: how often the longer of two. `consistent`: how often
    it says the same in both orders. `n_pairs` were answered in both orders; `enough` is False below 200 of them."""

    left: Odds
    longer: Odds
    consistent: Odds
    n_pairs: int

    @property
    def enough(self) -> bool:
        return self.n_pairs >= ENOUGH_PAIRS


def ask_doubled(judge: Judge, texts: Sequence[str], pair: tuple[int, int]) -> Doubled:
    """Puts one pair to the judge in both orders."""
    straight = _place(judge, [texts[pair[0]], texts[pair[1]]])
    swapped = _place(judge, [texts[pair[1]], texts[pair[0]]])
    return Doubled(pair=pair, straight=straight, swapped=None if swapped is None else 1 - swapped)


def _place(judge: Judge, shown: Sequence[str]) -> int | None:
    place = judge.prefer(shown)
    if place is not None and place not in range(len(shown)):
        raise CheckError(f"the judge answered {place!r}; 0, 1 or None was expected", hint="0 is the text shown first")
    return place


def judge_habits(doubled: Sequence[Doubled], lengths: Sequence[int]) -> JudgeHabits:
    """What the judge's answers show of it. `lengths` are the texts' lengths in words. Only pairs answered in both
    orders count: of one order alone there is no telling the side from the text."""
    both = [one for one in doubled if one.straight is not None and one.swapped is not None]
    firsts = [int(one.straight == 0) + int(one.swapped == 1) for one in both]
    uneven = [one for one in both if lengths[one.pair[0]] != lengths[one.pair[1]]]
    longer = [int(lengths[one.pair[1]] > lengths[one.pair[0]]) for one in uneven]
    longers = [(one.straight == at) + (one.swapped == at) for one, at in zip(uneven, longer, strict=True)]
    same = sum(one.straight == one.swapped for one in both)
    return JudgeHabits(
        left=_twice_share(firsts, "pairs asked in both orders"),
        longer=_twice_share(longers, "pairs of different length asked in both orders"),
        consistent=share(same, len(both), "pairs asked in both orders"),
        n_pairs=len(both),
    )


def _twice_share(times: Sequence[int], what: str) -> Odds:
    """The share of answers of a kind, of pairs that gave it 0, 1 or 2 times. The two answers on a pair hang together,
    so the interval is of pairs: the posterior of how common each of the three is, which knew nothing before."""
    if not times:
        return Odds(p=None, basis=f"no {what} yet")
    counts = np.bincount(times, minlength=3)
    drawn = np.random.default_rng(0).dirichlet(counts + 0.5, 4_000) @ np.array([0.0, 0.5, 1.0])
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    p = sum(times) / (2 * len(times))
    return Odds(p=p, low=min(float(low), p), high=max(float(high), p), level=LEVEL, basis=f"{len(times)} {what}")


def pairs_to_double(
    n_texts: int,
    rng: np.random.Generator,
    *,
    n_pairs: int = ENOUGH_PAIRS,
    known: Iterable[tuple[int, int]] = (),
) -> list[tuple[int, int]]:
    """Different pairs that reach as many texts as they can, beside those that are `known`: so many that there are
    `n_pairs` with them."""
    seen = {frozenset(pair) for pair in known}
    wanted = min(n_pairs, n_texts * (n_texts - 1) // 2)
    found: list[tuple[int, int]] = []
    while len(seen) < wanted:
        order = rng.permutation(n_texts)
        for one, other in zip(order[::2].tolist(), order[1::2].tolist(), strict=False):
            if len(seen) < wanted and frozenset((one, other)) not in seen:
                seen.add(frozenset((one, other)))
                found.append((one, other))
    return found


def judged_utilities(features: Features, doubled: Sequence[Doubled]) -> NDArray[np.float64]:
    """What the judge seems to think of every text, from its answers in both orders: the feature. Learned as her taste
    is, so that it reaches texts that the judge never saw."""
    bank = Bank(features)
    for one in doubled:
        for taken, shown in ((one.straight, one.pair), (one.swapped, one.pair[::-1])):
            bank.hear(Heard(shown=shown, said="alike" if taken is None else shown.index(one.pair[taken])))
    return bank.utilities()


class AskingJudge:
    """A judge made from anything that answers a prompt with a text, for instance a model behind a server. `rubric`
    says what to judge by."""

    def __init__(self, answer: Callable[[str], str], *, rubric: str | None = None) -> None:
        self._answer = answer
        self._rubric = rubric

    def prefer(self, texts: Sequence[str]) -> int | None:
        return read_verdict(self._answer(judge_prompt(texts, self._rubric)), len(texts))


def judge_prompt(texts: Sequence[str], rubric: str | None = None) -> str:
    """What a judging model is asked."""
    parts = ["Which of these texts is the best? Read all of them first."]
    if rubric:
        parts.append(f"Judge by this:\n{rubric.strip()}")
    parts += [f"--- Text {_letter(place)} ---\n{text.strip()}" for place, text in enumerate(texts)]
    letters = ", ".join(_letter(place) for place in range(len(texts)))
    parts.append(f"Answer with one letter and nothing else ({letters}), or with = if you can't say.")
    return "\n\n".join(parts)


def read_verdict(answer: str, n_texts: int) -> int | None:
    """The place that the answer names: the only letter it names, else the last; None where it names none."""
    letters = "".join(_letter(place) for place in range(n_texts))
    named = re.findall(rf"(?<![A-Za-z])([{letters}])(?![A-Za-z'’])", answer)
    return letters.index(named[-1]) if named else None


def _letter(place: int) -> str:
    return chr(ord("A") + place)
