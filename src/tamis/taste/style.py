"""Style numbers: a dozen and a half plain measures of how a text is written, which say more about what a reader likes
than one expects.

Each is made comparable between texts of different lengths, and those that depend on a script (capitals, syllables)
are left out where most letters are of another; the notes say so once.
"""

import itertools
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from tamis.taste import words as kinds
from tamis.taste.words import Words, distinct, mixed

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
    count, ends = _Counter(words), _Ends(words)
    n_words = np.maximum(words.counts(), 1).astype(np.float64)
    letters, lines = count.of(kinds.LETTER), count.of(kinds.LINE)
    characters = np.maximum(letters, 1)
    length_mean, length_sd, n_sentences = _sentences(words, ends)
    syllables = count.vowel_groups() / n_words
    n_triples = np.maximum(words.counts() - REPEATED_WORDS + 1, 0)
    commas = count.of(kinds.COMMA)
    numbers = (
        np.log(n_words + 1),
        np.log1p(n_sentences),
        np.log(length_mean + 1),
        np.log(length_sd + 1),
        characters / n_words,
        _richness(words),
        np.where(n_triples > 0, 1 - np.diff(triples.starts) / np.maximum(n_triples, 1), 0.0),
        _quoted_share(words),
        commas / n_words,
        ends.of(0x21, 0x3F, 0xFF01, 0xFF1F, 0x61F) / n_words,
        (count.of(kinds.MARK) - ends.count() - commas) / n_words,
        np.log1p(100 * ends.of(0x2026) / n_words + 100 * ends.dots() / n_words),
        np.log1p(lines - 1),
        _long_share(words),
        count.of(kinds.UPPER) / characters,
        syllables,
        206.835 - 1.015 * length_mean - 84.6 * syllables,  # Flesch 1948
    )
    n_letters = int(letters.sum())
    return StyleRows(values=np.column_stack(numbers), letters=n_letters, not_latin=_not_latin(words, n_letters))


class _Counter:
    """Counts of classes of code points, by text."""

    def __init__(self, words: Words) -> None:
        self._classes = words.classes
        self._texts = list(itertools.pairwise(words.text_starts.tolist()))

    def where(self, flags: NDArray[np.bool_]) -> NDArray[np.float64]:
        # a call for each text, and still several times quicker than adding the flags up in one
        return np.array([np.count_nonzero(flags[start:end]) for start, end in self._texts], np.float64)

    def of(self, kind: int) -> NDArray[np.float64]:
        return self.where((self._classes & kind) != 0)

    def vowel_groups(self) -> NDArray[np.float64]:
        """How many runs of vowels. A text begins with a line end, so that no run spans two."""
        vowel = (self._classes & kinds.VOWEL) != 0
        vowel[1:] &= ~vowel[:-1]  # numpy reads what it overwrites first
        return self.where(vowel)


class _Ends:
    """The marks that end a sentence: where each stands and in which text. They are few, so what is to be known of them
    is asked of them alone."""

    def __init__(self, words: Words) -> None:
        self.places = np.flatnonzero((words.classes & kinds.END) != 0)
        self._points = words.points[self.places]
        self._text = np.searchsorted(words.text_starts, self.places, side="right") - 1
        self._n_texts = words.n_texts

    def count(self, which: NDArray[np.bool_] | None = None) -> NDArray[np.float64]:
        text = self._text if which is None else self._text[which]
        return np.bincount(text, minlength=self._n_texts).astype(np.float64)

    def of(self, *points: int) -> NDArray[np.float64]:
        return self.count(np.isin(self._points, points))

    def dots(self) -> NDArray[np.float64]:
        """How many full stops stand right behind another."""
        dot = self._points == ord(".")
        behind = np.zeros(len(dot), bool)
        behind[1:] = dot[1:] & dot[:-1] & (np.diff(self.places) == 1)
        return self.count(behind)


def _sentences(words: Words, ends: _Ends) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation of the sentence lengths in words, and how many sentences, by text. A text without a
    full stop is one sentence."""
    # words between the same two ends, in the same text
    sentence = np.searchsorted(ends.places, words.starts) + words.text_of
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
    distinct = np.diff(words.vocabulary.starts)
    return np.asarray(np.log1p(distinct) / np.log1p(np.maximum(n, 1)))


def distinct_shingles(words: Words, width: int) -> Shingles:
    """Every different run of `width` words as a hash, by text. A text of fewer words has none."""
    counts = np.maximum(words.counts() - width + 1, 0)
    starts = np.concatenate([[0], np.cumsum(counts)])
    n = len(words.hashes) - width + 1
    if n <= 0:
        return Shingles(values=np.zeros(0, np.uint64), starts=starts)
    value = words.hashes[:n].copy()
    for place in range(1, width):
        value = mixed(value) + words.hashes[place : place + n]
    whole = words.text_of[:n] == words.text_of[width - 1 :]
    found = distinct(mixed(value)[whole], starts)
    return Shingles(values=found.values, starts=found.starts)


def _quoted_share(words: Words) -> NDArray[np.float64]:
    """The share of characters within quotation marks, by text. An undirected mark opens and closes in turn; a mark that
    is never closed reaches to the end of its line."""
    lines, straight, curly, closing = (
        np.flatnonzero((words.classes & kind) != 0)
        for kind in (kinds.LINE, kinds.QUOTE, kinds.QUOTE_OPEN, kinds.QUOTE_CLOSE)
    )
    line_of = np.searchsorted(lines, straight)
    turn = np.arange(len(straight)) - np.searchsorted(line_of, line_of)
    opening = straight[turn % 2 == 0]
    within = np.zeros(words.n_texts)
    for opens, closes in ((opening, straight), (curly, np.union1d(curly, closing))):
        ends = np.append(np.union1d(closes, lines), len(words.classes))
        reach = ends[np.searchsorted(ends, opens, side="right")] - opens
        text = np.searchsorted(words.text_starts, opens, side="right") - 1
        within += np.bincount(text, reach, words.n_texts)
    return within / np.maximum(np.diff(words.text_starts), 1)


def _long_share(words: Words) -> NDArray[np.float64]:
    long = (words.ends - words.starts) >= 7
    return np.bincount(words.text_of[long], minlength=words.n_texts) / np.maximum(words.counts(), 1)


def _not_latin(words: Words, letters: int) -> int:
    """How many letters are of other scripts than Latin. Digits are of every script."""
    latin = int(np.count_nonzero(words.classes & kinds.LATIN))
    digits = int(np.count_nonzero((words.points >= ord("0")) & (words.points <= ord("9"))))
    return max(letters - latin - digits, 0)
