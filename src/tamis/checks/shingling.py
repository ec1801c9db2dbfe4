"""What is taken of a text when it comes: how long it is, and by what it is compared with others. It is all in plain
functions of the text alone, so that another process can do it as well.

Imported by the parser's process, so it imports little.
"""

import struct
from collections.abc import Sequence

from rensa import RMinHash

from tamis.tokens import count_tokens, count_words, spaced_words

SHINGLE_WORDS = 3
BANDS = 16
ROWS = 4
"""Texts of similarity s share at least two of the bands with probability 1 - (1 - s^4)^16 - 16 s^4 (1 - s^4)^15: 0.997
at 0.8, 0.26 at 0.5, 0.007 at 0.3."""
SEED = 1997
Triples = frozenset[tuple[str, ...]]
_COUNTS = struct.Struct("=qq")
MINIMA = BANDS * ROWS
_MINIMA = struct.Struct(f"={MINIMA}I")
MEASURE_BYTES = _COUNTS.size + _MINIMA.size


def shingles(text: str) -> list[str]:
    """Every three words in a row, small letters, however they are spaced; a shorter text as one."""
    words = spaced_words(text.lower())
    if len(words) < SHINGLE_WORDS:
        return [" ".join(words)] if words else []
    return list(map(" ".join, zip(*(words[start:] for start in range(SHINGLE_WORDS)), strict=False)))


def triples(text: str) -> Triples:
    """The same as they are compared with another text's: which there are, without joining each."""
    words = spaced_words(text.lower())
    if len(words) < SHINGLE_WORDS:
        return frozenset([tuple(words)] if words else [])
    return frozenset(zip(*(words[start:] for start in range(SHINGLE_WORDS)), strict=False))


def minima(texts: Sequence[Sequence[str]]) -> list[list[int]]:
    """The MinHash of each text's shingles, MINIMA numbers of 32 bits, the same on every machine."""
    rows: list[list[int]] = RMinHash.digest_matrix_from_token_sets(texts, MINIMA, SEED).to_rows() if texts else []
    return rows


def packed(contents: Sequence[bytes], uncounted: Sequence[int] = ()) -> bytes:
    """Tokens, words and minima of each text, MEASURE_BYTES for each. The tokens of those at the places `uncounted` are
    not wanted, and told as 0."""
    texts = [content.decode("utf-8", "replace") for content in contents]
    rows, known = minima([shingles(text) for text in texts]), frozenset(uncounted)
    tokens = (0 if place in known else count_tokens(text) for place, text in enumerate(texts))
    return b"".join(
        _COUNTS.pack(count, count_words(text)) + _MINIMA.pack(*row)
        for text, count, row in zip(texts, tokens, rows, strict=True)
    )


def split(content: bytes, sizes: Sequence[int]) -> list[bytes]:
    """Texts that were put together, apart again."""
    parts, at = [], 0
    for size in sizes:
        parts.append(content[at : at + size])
        at += size
    return parts
