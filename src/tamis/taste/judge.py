"""A judge: anything that can say which of two texts is better, most often a model. Its word is one more feature whose
weight is learned from her answers; it never votes, and until she has answered, an order that rests on it is the
judge's and not hers.

A judge is asked every pair in both orders. From these doubled pairs come its own habits (its pull to the side shown
first, its pull to the longer text), with intervals; fewer than 200 of them say too little to be reported as settled.
"""

import re
from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from tamis.errors import CheckError
from tamis.records import Odds
from tamis.taste.answers import Heard
from tamis.taste.bank import Bank
from tamis.taste.features import Features
from tamis.taste.habits import share

ENOUGH_PAIRS = 200


class Judge(Protocol):
    """Takes texts in the order shown and returns the place of the best, None for "can't say"."""

    def prefer(self, texts: Sequence[str]) -> int | None: ...


class Doubled(msgspec.Struct, frozen=True, kw_only=True):
    """One pair asked in both orders: what was taken each time, as 0 for `pair[0]` and 1 for `pair[1]`, None for "can't
    say"."""

    pair: tuple[int, int]
    straight: int | None
    swapped: int | None


class JudgeHabits(msgspec.Struct, frozen=True, kw_only=True):
    """`left`: how often it takes the one shown first. `longer`: how often the longer of two. `consistent`: how often
    it says the same in both orders. `enough` is False below 200 doubled pairs."""

    left: Odds
    longer: Odds
    consistent: Odds
    enough: bool


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
    """What the judge's answers show of it. `lengths` are the texts' lengths in words."""
    first, longer, n_longer, n_first = 0, 0, 0, 0
    for one in doubled:
        for taken, shown_first in ((one.straight, 0), (one.swapped, 1)):
            if taken is None:
                continue
            n_first += 1
            first += taken == shown_first
            difference = lengths[one.pair[taken]] - lengths[one.pair[1 - taken]]
            n_longer += difference != 0
            longer += difference > 0
    both = [one for one in doubled if one.straight is not None and one.swapped is not None]
    same = sum(one.straight == one.swapped for one in both)
    return JudgeHabits(
        left=share(first, n_first, "judgements"),
        longer=share(longer, n_longer, "judgements of texts of different length"),
        consistent=share(same, len(both), "pairs asked in both orders"),
        enough=len(doubled) >= ENOUGH_PAIRS,
    )


def pairs_to_double(n_texts: int, rng: np.random.Generator, *, n_pairs: int = ENOUGH_PAIRS) -> list[tuple[int, int]]:
    """Different pairs that reach as many texts as they can."""
    wanted = min(n_pairs, n_texts * (n_texts - 1) // 2)
    found: dict[frozenset[int], tuple[int, int]] = {}
    while len(found) < wanted:
        order = rng.permutation(n_texts)
        for one, other in zip(order[::2], order[1::2], strict=False):
            found.setdefault(frozenset((int(one), int(other))), (int(one), int(other)))
    return list(found.values())[:wanted]


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
