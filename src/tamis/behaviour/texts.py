"""Texts. Edits of a text that drafts are likely to disagree on: a blank at the end, another case, a part twice, a
number one higher, pieces in another order. Pieces to put in come from the drafts' own constants."""

import random
import re
import string
from collections.abc import Callable, Sequence

WORDS = ("apple", "bob", "cat", "Dog", "a b", "hello world")
LONGEST = 200


class Texts:
    """Makes and edits texts. `pieces` are short texts of the drafts, `numbers` their whole numbers."""

    def __init__(self, pieces: Sequence[str], numbers: Sequence[int]) -> None:
        self._pieces = [t for t in pieces[:40] if " " not in t.strip() and len(t) <= 10] or list(WORDS)
        self._numbers = list(numbers[:16])
        self._edits: Sequence[Callable[[random.Random, str], str]] = (
            _cut, _doubled, self._pushed_in, _swapped, self._renumbered, _recased, self._joined,
        )  # fmt: skip

    def made(self, rng: random.Random) -> str:
        """A text of a few pieces."""
        pieces = [self.piece(rng) for _ in range(rng.choice((1, 2, 2, 3, 4)))]
        return rng.choice(("", "", " ", ",", "-", ":")).join(pieces)

    def piece(self, rng: random.Random) -> str:
        """A short text of the drafts, or one of their numbers, give or take one."""
        if rng.random() < 0.35:
            return str(rng.choice(self._numbers) + rng.choice((0, 0, 1, -1)))
        return rng.choice(self._pieces)

    def plain(self, rng: random.Random) -> str:
        """A text that owes nothing to the drafts."""
        if rng.random() < 0.4:
            return "".join(rng.choice("ab01 -.,A") for _ in range(rng.randrange(6)))
        return rng.choice(("", " ", *WORDS, "0", "-1", "1.5", "aA", "ab ba", "x" * 12))

    def edited(self, rng: random.Random, text: str) -> str:
        """The text with one or two edits."""
        for _ in range(rng.choice((1, 1, 2))):
            text = rng.choice(self._edits)(rng, text)[:LONGEST]
        return text

    def _pushed_in(self, rng: random.Random, text: str) -> str:
        at = rng.choice((0, len(text), rng.randrange(len(text) + 1)))
        return text[:at] + rng.choice((" ", self.piece(rng), rng.choice("-+.,:_0aZ\t"))) + text[at:]

    def _renumbered(self, rng: random.Random, text: str) -> str:
        found = list(re.finditer(r"\d+", text))
        if not found:
            return text + rng.choice(string.digits)
        m = rng.choice(found)
        old = int(m.group()[:9])
        new = rng.choice((old + 1, max(0, old - 1), 0, rng.choice(self._numbers), old * 10 % 10**7, 59, 60, 99, 100))
        zeros = "0" if rng.random() < 0.15 else ""
        return text[: m.start()] + zeros + str(new) + text[m.end() :]

    def _joined(self, rng: random.Random, text: str) -> str:
        return text + rng.choice(("", " ", ", ", "-")) + rng.choice((text, self.piece(rng)))


def _cut(rng: random.Random, text: str) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + text[at + rng.choice((1, 1, 2, 5)) :]


def _doubled(rng: random.Random, text: str) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + text[max(0, at - rng.choice((1, 1, 2, 4))) :]


def _swapped(rng: random.Random, text: str) -> str:
    """Two words, numbers or signs change places."""
    words = re.findall(r"\s+|\d+|[^\W\d]+|[^\w\s]", text)
    if len(words) < 2:
        return text[::-1]
    i, j = rng.randrange(len(words)), rng.randrange(len(words))
    words[i], words[j] = words[j], words[i]
    return "".join(words)


def _recased(rng: random.Random, text: str) -> str:
    return rng.choice((str.upper, str.lower, str.swapcase, str.title))(text)
