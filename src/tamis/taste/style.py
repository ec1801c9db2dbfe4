"""Style numbers: a dozen and a half plain measures of how a text is written, which say more about what a reader likes
than one expects.

Each is made comparable between texts of different lengths, and those that depend on a script (capitals, syllables)
are left out where most letters are of another; the notes say so once.
"""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from tamis.taste import words as kinds
from tamis.taste.words import Words, mixed

MOST_NON_LATIN = 0.2
"""From this share of non-Latin letters on, numbers that count Latin letters are left out."""
REPEATED_WORDS = 3
"""Repetition is that of runs of so many words."""


class Style(msgspec.Struct, frozen=True, kw_only=True):
    """`values` is (texts × numbers), unscaled; `names` says what each number is; `notes` are sentences for the
    owner."""

    values: NDArray[np.float64]
    names: tuple[str, ...]
    notes: tuple[str, ...] = ()


class StyleRows(msgspec.Struct, frozen=True, kw_only=True):
    """All numbers of some texts (texts × NAMES), and how many letters they have, of how many other scripts than
    Latin. Texts may be measured in blocks: each is measured alike whatever stands beside it."""

    values: NDArray[np.float64]
    letters: int
    not_latin: int


class Shingles(msgspec.Struct, frozen=True, kw_only=True):
    """Different values of each text: text i has `values[starts[i]:starts[i + 1]]`."""

    values: NDArray[np.uint64]
    starts: NDArray[np.int64]


LATIN_NAMES = ("capitals", "syllables", "readability")
NAMES = (
    "length",
    "sentences",
    "sentence length",
    "sentence variety",
    "word length",
    "distinct words",
    "repetition",
    "dialogue",
    "commas",
    "questions and exclamations",
    "other marks",
    "ellipses",
    "lines",
    "long words",
    *LATIN_NAMES,
)


def style_numbers(words: Words) -> Style:
    """The style numbers of every text."""
    return style_of([style_rows(words, distinct_shingles(words, REPEATED_WORDS))])


def style_of(blocks: Sequence[StyleRows]) -> Style:
    """The numbers of texts measured in blocks, without those that their script has no use for."""
    values = np.concatenate([block.values for block in blocks])
    letters, others = (sum(getattr(block, name) for block in blocks) for name in ("letters", "not_latin"))
    if others < MOST_NON_LATIN * letters or not letters:
        return Style(values=values, names=NAMES)
    note = "capitals, syllables and readability are left out: most of these texts are not in Latin script"
    n = len(NAMES) - len(LATIN_NAMES)
    return Style(values=values[:, :n], names=NAMES[:n], notes=(note,))


def style_rows(words: Words, triples: Shingles) -> StyleRows:
    """The numbers of every text. `triples` are its runs of REPEATED_WORDS words."""
    count = _Counter(words)
    n_words = np.maximum(words.counts(), 1).astype(np.float64)
    characters = np.maximum(count.of(kinds.LETTER), 1)
    length_mean, length_sd, n_sentences = _sentences(words)
    syllables = count.vowel_groups() / n_words
    n_triples = np.maximum(words.counts() - REPEATED_WORDS + 1, 0)
    numbers = (
        np.log(n_words + 1),
        np.log1p(n_sentences),
        np.log(length_mean + 1),
        np.log(length_sd + 1),
        characters / n_words,
        _richness(words),
        np.where(n_triples > 0, 1 - np.diff(triples.starts) / np.maximum(n_triples, 1), 0.0),
        _quoted_share(words),
        count.of(kinds.COMMA) / n_words,
        count.of_points(0x21, 0x3F, 0xFF01, 0xFF1F, 0x61F) / n_words,
        (count.of(kinds.MARK) - count.of(kinds.END) - count.of(kinds.COMMA)) / n_words,
        np.log1p(100 * count.of_points(0x2026) / n_words + 100 * count.dots() / n_words),
        np.log1p(count.of(kinds.LINE) - 1),
        _long_share(words),
        count.of(kinds.UPPER) / characters,
        syllables,
        206.835 - 1.015 * length_mean - 84.6 * syllables,  # Flesch 1948
    )
    letters, others = _letters(words)
    return StyleRows(values=np.column_stack(numbers), letters=letters, not_latin=others)


class _Counter:
    """Counts of classes of code points, by text."""

    def __init__(self, words: Words) -> None:
        self._words = words

    def where(self, flags: NDArray[np.bool_]) -> NDArray[np.float64]:
        if not self._words.n_texts:
            return np.zeros(0)
        # every text has at least the line end put before it, so no stretch is empty
        return np.add.reduceat(flags.view(np.uint8), self._words.text_starts[:-1], dtype=np.int64).astype(np.float64)

    def of(self, kind: int) -> NDArray[np.float64]:
        return self.where((self._words.classes & kind) != 0)

    def of_points(self, *points: int) -> NDArray[np.float64]:
        flags = self._words.points == points[0]
        for point in points[1:]:
            flags |= self._words.points == point
        return self.where(flags)

    def dots(self) -> NDArray[np.float64]:
        dot = self._words.points == ord(".")
        return self.where(dot & np.roll(dot, 1))

    def vowel_groups(self) -> NDArray[np.float64]:
        vowel = (self._words.classes & kinds.VOWEL) != 0
        return self.where(vowel & ~np.roll(vowel, 1))


def _sentences(words: Words) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation of the sentence lengths in words, and how many sentences, by text. A text without a
    full stop is one sentence."""
    end = (words.classes & kinds.END) != 0
    cuts = np.cumsum(end, dtype=np.int64)
    sentence = cuts[words.starts] + words.text_of  # words between the same two ends, in the same text
    new = np.flatnonzero(np.diff(sentence, prepend=-1))
    lengths = np.diff(np.append(new, len(sentence))).astype(np.float64)
    text = words.text_of[new]
    n = np.bincount(text, minlength=words.n_texts).astype(np.float64)
    total = np.bincount(text, lengths, words.n_texts)
    mean = total / np.maximum(n, 1)
    square = np.bincount(text, lengths**2, words.n_texts) / np.maximum(n, 1)
    return mean, np.sqrt(np.maximum(square - mean**2, 0)), n


def _richness(words: Words) -> NDArray[np.float64]:
    """How rich the words are, corrected for length (Herdan's C: log distinct / log all)."""
    n = words.counts().astype(np.float64)
    distinct = np.diff(_distinct(words.text_of, words.hashes, words.n_texts).starts)
    return np.asarray(np.log1p(distinct) / np.log1p(np.maximum(n, 1)))


def distinct_shingles(words: Words, width: int) -> Shingles:
    """Every different run of `width` words as a hash, by text. A text of fewer words has none."""
    n = len(words.hashes) - width + 1
    if n <= 0:
        return Shingles(values=np.zeros(0, np.uint64), starts=np.zeros(words.n_texts + 1, np.int64))
    value = words.hashes[:n].copy()
    for place in range(1, width):
        value = mixed(value) + words.hashes[place : place + n]
    whole = words.text_of[:n] == words.text_of[width - 1 :]
    return _distinct(words.text_of[:n][whole], mixed(value)[whole], words.n_texts)


def _distinct(text: NDArray[np.int64], values: NDArray[np.uint64], n_texts: int) -> Shingles:
    """The different values of each text."""
    order = np.lexsort((values, text)) if len(values) < 1000 else np.argsort(_keyed(text, values))
    text, values = text[order], values[order]
    new = np.ones(len(values), bool)
    new[1:] = (values[1:] != values[:-1]) | (text[1:] != text[:-1])
    return Shingles(values=values[new], starts=np.searchsorted(text[new], np.arange(n_texts + 1)))


def _keyed(text: NDArray[np.int64], values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """One key that sorts by text and then by value; the value keeps its upper bits."""
    bits = np.uint64(max(int(text.max(initial=0)).bit_length(), 1))
    return (text.astype(np.uint64) << (np.uint64(64) - bits)) | (values >> bits)


def _quoted_share(words: Words) -> NDArray[np.float64]:
    """The share of characters within quotation marks, by text. An undirected mark opens and closes in turn; a mark that
    is never closed reaches to the end of its line."""
    classes = words.classes
    lines = np.flatnonzero(classes & kinds.LINE)
    straight = np.flatnonzero(classes & kinds.QUOTE)
    line_of = np.searchsorted(lines, straight)
    turn = np.arange(len(straight)) - np.searchsorted(line_of, line_of)
    opening = straight[turn % 2 == 0]
    curly = np.flatnonzero(classes & kinds.QUOTE_OPEN)
    closing = np.flatnonzero(classes & kinds.QUOTE_CLOSE)
    within = np.zeros(words.n_texts)
    for opens, closes in ((opening, straight), (curly, np.union1d(curly, closing))):
        ends = np.append(np.union1d(closes, lines), len(classes))
        reach = ends[np.searchsorted(ends, opens, side="right")] - opens
        text = np.searchsorted(words.text_starts, opens, side="right") - 1
        within += np.bincount(text, reach, words.n_texts)
    return within / np.maximum(np.diff(words.text_starts), 1)


def _long_share(words: Words) -> NDArray[np.float64]:
    long = (words.ends - words.starts) >= 7
    return np.bincount(words.text_of[long], minlength=words.n_texts) / np.maximum(words.counts(), 1)


def _letters(words: Words) -> tuple[int, int]:
    """How many letters, and how many of them of other scripts than Latin. Digits are of every script."""
    letters = int(((words.classes & kinds.LETTER) != 0).sum())
    latin = int(((words.classes & kinds.LATIN) != 0).sum())
    digits = int(((words.points >= ord("0")) & (words.points <= ord("9"))).sum())
    return letters, max(letters - latin - digits, 0)
