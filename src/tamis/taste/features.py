"""What a text is, in numbers, for learning what she likes: how it is written (style), what it is about (meaning) and,
where there is one, what a judge says of it.

A style number enters twice, as itself and squared: "long" can be good and "too long" bad. The columns of a group are
scaled so that weights of standard deviation 1 give utilities of standard deviation 1; how much each group matters is
for the bank of preference models to find out.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import msgspec
import numpy as np
from numpy.typing import NDArray

from tamis.taste.folding import joined, whole_shingles
from tamis.taste.meaning import AboutRows, Vocabulary
from tamis.taste.style import REPEATED_WORDS, Shingles, StyleRows, distinct_shingles, style_of, style_rows
from tamis.taste.words import read_words

BLOCK_CHARS, READ_AT_ONCE = 250_000, 2
EXACT_CHARS = 150_000_000
"""Texts of more characters together (thirty thousand of a thousand tokens) are not held for exact folding."""
CLIP_SD = 4.0
"""A number further out than this counts as this: one strange text must not rule a weight."""


class Features(msgspec.Struct, frozen=True, kw_only=True):
    """`groups` maps a group's name ("style", "meaning", "judge", or one's own) to its columns (texts × columns). A
    group without columns is not there. `notes` are sentences for the owner."""

    n_texts: int
    groups: Mapping[str, NDArray[np.float64]]
    notes: tuple[str, ...] = ()

    def with_group(self, name: str, values: NDArray[np.float64]) -> "Features":
        """With one more group: any numbers (texts × columns) that may say something about the texts; NaN where one is
        missing, which then counts as the middle."""
        if values.shape[0] != self.n_texts:
            raise ValueError(f"{values.shape[0]} rows of {name} for {self.n_texts} texts")
        columns = _scaled(np.asarray(values, np.float64).reshape(self.n_texts, -1))
        groups = {**self.groups, name: columns} if columns.shape[1] else dict(self.groups)
        return msgspec.structs.replace(self, groups=groups)

    def with_block(self, name: str, values: NDArray[np.float64]) -> "Features":
        """With one more group of centred columns whose spread says how much each matters."""
        columns = _spread(values)
        groups = {**self.groups, name: columns} if columns.shape[1] else dict(self.groups)
        return msgspec.structs.replace(self, groups=groups)


def read_features(texts: Sequence[str]) -> Features:
    """The features that the texts themselves give."""
    return read_texts(texts).features()


class ReadTexts(msgspec.Struct, frozen=True, kw_only=True):
    """Texts measured each by itself, not yet set against one another. `shingles` is what folding compares them by,
    None where they are more than EXACT_CHARS together."""

    n_texts: int
    style: Sequence[StyleRows]
    about: Sequence[AboutRows]
    vocabulary: Vocabulary
    shingles: Shingles | None

    def features(self, keep: Sequence[int] | None = None) -> Features:
        """The features of the texts at the places `keep`, of all where it is None."""
        places = np.arange(self.n_texts) if keep is None else np.asarray(keep, np.int64)
        if not len(places):
            return Features(n_texts=0, groups={})
        style, about = style_of(self.style), self.vocabulary.meaning(self.about, places)
        plain = _standard(style.values[places])
        groups = {"style": _scaled(np.column_stack([plain, plain**2])), "meaning": _spread(about.values)}
        return Features(
            n_texts=len(places),
            groups={name: columns for name, columns in groups.items() if columns.shape[1]},
            notes=style.notes + about.notes,
        )


def read_texts(texts: Sequence[str]) -> ReadTexts:
    """Reads the texts in blocks, some at once: it is arithmetic over arrays, which leaves the interpreter free. Memory
    is that of a few blocks and of what is kept of each text."""
    vocabulary = Vocabulary()
    exact = sum(map(len, texts)) <= EXACT_CHARS

    def measured(block: Sequence[str]) -> tuple[StyleRows, AboutRows, Shingles | None]:
        words = read_words(block)
        triples = distinct_shingles(words, REPEATED_WORDS)
        kept = whole_shingles(words, triples) if exact else None
        return style_rows(words, triples), vocabulary.about(words), kept

    with ThreadPoolExecutor(READ_AT_ONCE) as threads:
        found = list(threads.map(measured, _blocks(texts)))
    return ReadTexts(
        n_texts=len(texts),
        style=[style for style, _, _ in found],
        about=[about for _, about, _ in found],
        vocabulary=vocabulary,
        shingles=joined([kept for _, _, kept in found if kept is not None]) if exact else None,
    )


def _blocks(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """The texts in order, about BLOCK_CHARS at a time."""
    start, size = 0, 0
    for place, text in enumerate(texts):
        size += len(text) + 1
        if size >= BLOCK_CHARS:
            yield texts[start : place + 1]
            start, size = place + 1, 0
    if start < len(texts):
        yield texts[start:]


def _standard(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Columns of mean 0 and standard deviation 1, without those in which the texts don't differ. What is missing
    counts as the middle."""
    filled = np.where(np.isfinite(values), values, np.nan)
    seen = np.isfinite(filled).any(axis=0)
    filled = filled[:, seen]
    filled = np.where(np.isfinite(filled), filled, np.nanmean(filled, axis=0) if filled.size else 0.0)
    spread = filled.std(axis=0)
    varied = spread > 1e-9 * (1 + np.abs(filled).max(axis=0, initial=0.0))
    scaled = (filled[:, varied] - filled[:, varied].mean(axis=0)) / spread[varied]
    return np.asarray(np.clip(scaled, -CLIP_SD, CLIP_SD))


def _scaled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Standard columns that share a variance of 1 evenly."""
    columns = _standard(values)
    return np.asarray(columns / np.sqrt(max(columns.shape[1], 1)))


def _spread(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Centred columns scaled as one block, so that directions in which the texts differ more also matter more."""
    mean_square = float((values**2).sum(axis=1).mean()) if values.size else 0.0
    return values / np.sqrt(mean_square) if mean_square > 1e-12 else np.zeros((len(values), 0))
