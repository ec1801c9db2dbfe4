"""Texts as one long array of code points with the words in it, made once and used by folding, style and meaning
alike.

Everything here is arithmetic over whole arrays: a thousand texts of a thousand tokens take a fraction of a second. A
word is a run of letters, marks and digits (an apostrophe between two letters belongs to it); a character of a script
that sets no spaces (Chinese, Japanese, Thai, ...) is a word of its own. Words are compared by a 64-bit hash of their
lower-case form; among a billion different words two would collide with a chance of about 3 %.
"""

import functools
import itertools
import unicodedata
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

LETTER, SPACE, END, COMMA, QUOTE_OPEN, QUOTE_CLOSE, QUOTE, VOWEL, UPPER, MARK, LINE, ALONE, LATIN, RIGHT_TO_LEFT = (
    1 << bit for bit in range(14)
)
"""What a code point is, as bits: a letter or digit, white space, the end of a sentence, a comma, an opening, a
closing or an undirected quotation mark, a Latin vowel, upper case, other punctuation, a line end, a word by itself,
Latin script, a script that runs from right to left."""

_TABLE_SIZE = 0x10000
_PRIME = np.uint64(0x9E3779B97F4A7C15)


class Distinct(msgspec.Struct, frozen=True, kw_only=True):
    """The different values of each text, sorted: text i has `values[starts[i]:starts[i + 1]]`, each so often as
    `times` says."""

    values: NDArray[np.uint64]
    starts: NDArray[np.int64]
    times: NDArray[np.int64]


class Words(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The words of n texts. `points` are the code points of all texts after one another and `classes` what each is;
    text i has `points[text_starts[i]:text_starts[i + 1]]`. Word j is `points[starts[j]:ends[j]]`, stands in text
    `text_of[j]` and has `hashes[j]`; text i has the words from `word_starts[i]` to `word_starts[i + 1]`."""

    points: NDArray[np.uint32]
    classes: NDArray[np.uint16]
    text_starts: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    text_of: NDArray[np.int64]
    hashes: NDArray[np.uint64]
    word_starts: NDArray[np.int64]

    @property
    def n_texts(self) -> int:
        return len(self.text_starts) - 1

    def counts(self) -> NDArray[np.int64]:
        """How many words each text has."""
        return np.diff(self.word_starts)

    @functools.cached_property
    def vocabulary(self) -> Distinct:
        """The different words of each text, by hash."""
        return distinct(self.hashes, self.word_starts)

    def spelled(self, word: int) -> str:
        """The word as it was written."""
        return self.points[self.starts[word] : self.ends[word]].tobytes().decode("utf-32-le", "replace")


def read_words(texts: Sequence[str]) -> Words:
    """The words of the texts, in order. Lone surrogates, which no file can hold, become question marks."""
    # a newline before each text, so that no word spans two
    encoded = [("\n" + text).encode("utf-32-le", "replace") for text in texts]
    lengths = np.fromiter((len(one) // 4 for one in encoded), np.int64, len(encoded))
    points = np.frombuffer(b"".join(encoded), np.uint32)
    text_starts = np.concatenate([[0], np.cumsum(lengths)])
    table, lower = _tables()
    where = points.astype(np.intp)  # once: by numbers of 32 bits each taking would make these itself
    classes, lowered = table.take(where, mode="clip"), lower.take(where, mode="clip")
    beyond = np.flatnonzero(points >= _TABLE_SIZE)
    if len(beyond):
        classes[beyond] = [_class_of(chr(point)) for point in points[beyond].tolist()]
        lowered[beyond] = points[beyond]
    starts, ends = _word_bounds(points, classes)
    text_of = np.searchsorted(text_starts, starts, side="right") - 1
    return Words(
        points=points,
        classes=classes,
        text_starts=text_starts,
        starts=starts,
        ends=ends,
        text_of=text_of,
        hashes=_run_hashes(lowered, starts, ends),
        word_starts=np.searchsorted(text_of, np.arange(len(encoded) + 1)),
    )


def _word_bounds(
    points: NDArray[np.uint32], classes: NDArray[np.uint16]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where words start and end. The first code point is a line end, so that none starts there."""
    inside = (classes & LETTER) != 0
    joint = np.flatnonzero((points == ord("'")) | (points == 0x2019))
    joint = joint[(joint > 0) & (joint < len(points) - 1)]
    joint = joint[inside[joint - 1] & inside[joint + 1]]
    inside[joint] = True
    alone = (classes & ALONE) != 0
    if alone.any():
        # a character that is a word by itself also ends the word before it and starts the one after it
        before, after = np.roll(inside, 1), np.roll(inside, -1)
        before[0] = after[-1] = False
        begins = inside & (~before | alone | np.roll(alone, 1))
        stops = inside & (~after | alone | np.roll(alone, -1))
        return np.flatnonzero(begins), np.flatnonzero(stops) + 1
    turns = np.flatnonzero(inside[1:] != inside[:-1]) + 1
    starts, ends = turns[::2], turns[1::2]
    return starts, ends if len(ends) == len(starts) else np.append(ends, len(points))


def _run_hashes(points: NDArray[np.uint32], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.uint64]:
    """A polynomial hash of each run, the sum of points[i] * p**(i - start) modulo 2**64, then mixed so that its low
    bits are as good as its high ones. It is the difference of two running sums over all points, divided by p**start:
    p is odd, so there is a number to multiply by instead."""
    powers, inverse = _powers(len(points))
    sums = np.empty(len(points) + 1, np.uint64)  # and everything in it: fresh memory costs more than the arithmetic
    sums[0] = 0
    np.add(points, np.uint64(1), out=sums[1:])
    sums[1:] *= powers
    np.cumsum(sums, out=sums)
    return mixed((sums[ends] - sums[starts]) * inverse[starts])


def distinct(values: NDArray[np.uint64], starts: NDArray[np.int64]) -> Distinct:
    """The different values of each text, of which text i has those from `starts[i]` to `starts[i + 1]`."""
    values = values.copy()
    for start, end in itertools.pairwise(starts.tolist()):
        values[start:end].sort()  # text by text, which is many times quicker than all of them by text and value
    new = np.ones(len(values), bool)
    new[1:] = values[1:] != values[:-1]
    new[starts[:-1][starts[:-1] < len(values)]] = True
    first = np.flatnonzero(new)
    return Distinct(
        values=values[first],
        starts=np.searchsorted(first, starts),
        times=np.diff(np.append(first, len(values))),
    )


def mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Each value scrambled one-to-one (the finaliser of SplitMix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _powers(n: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The first n powers of p, times a number that spreads the bits of code points, and of its inverse. Those of a
    block's length are made once."""
    powers, inverse = _some_powers(max(_BLOCK_POINTS, 1 << n.bit_length() if n > _BLOCK_POINTS else 0))
    return powers[:n], inverse[:n]


_BLOCK_POINTS = 1 << 20


@functools.lru_cache(maxsize=1)
def _some_powers(n: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    made = [np.full(n, base, np.uint64) for base in (_PRIME, np.uint64(pow(int(_PRIME), -1, 1 << 64)))]
    for powers in made:
        powers[0] = 1
        np.cumprod(powers, out=powers)
    made[0] *= np.uint64(0xBF58476D1CE4E5B9)
    return made[0], made[1]


@functools.cache
def _tables() -> tuple[NDArray[np.uint16], NDArray[np.uint32]]:
    """The class and the lower-case form of every code point of the basic plane."""
    classes = np.fromiter((_class_of(chr(point)) for point in range(_TABLE_SIZE)), np.uint16, _TABLE_SIZE)
    lower = np.arange(_TABLE_SIZE, dtype=np.uint32)
    for point in np.flatnonzero(classes & UPPER).tolist():
        small = chr(point).lower()
        lower[point] = ord(small) if len(small) == 1 else point
    lower[0x2019] = ord("'")
    return classes, lower


_ENDS = set(".!?…。！？｡؟۔।॥፧።")
_COMMAS = set(",;،؛、，；")
_UNSPACED = (
    # Thai and Lao, Burmese, Khmer, Japanese, Chinese
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x3040, 0x30FF),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F),
    (0x20000, 0x3FFFF),
)


def _class_of(char: str) -> int:
    category = unicodedata.category(char)
    point = ord(char)
    bits = 0
    if category[0] in "LN" or (category[0] == "M" and point > 0x2FF):
        bits |= LETTER
        if any(low <= point <= high for low, high in _UNSPACED):
            bits |= ALONE
        if category == "Lu":
            bits |= UPPER
        if point < 0x250 and category[0] == "L":
            bits |= LATIN
            if unicodedata.normalize("NFD", char)[0].lower() in "aeiouy":
                bits |= VOWEL
        if unicodedata.bidirectional(char) in {"R", "AL"}:
            bits |= RIGHT_TO_LEFT
    elif char.isspace():
        bits |= SPACE | (LINE if char in "\n\r\u2028\u2029" else 0)
    elif category[0] == "P":
        bits |= MARK
        bits |= END if char in _ENDS else COMMA if char in _COMMAS else 0
        if char == '"':
            bits |= QUOTE
        elif char in "“„«「『《":
            bits |= QUOTE_OPEN
        elif char in "”»」』》":
            bits |= QUOTE_CLOSE
    return bits
