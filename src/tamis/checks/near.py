"""Near-duplicates: which earlier text is nearly this one? MinHash proposes (Broder 1997), the exact share of word
triples in common decides, so nothing is called near that is not.

Memory and time stay bounded however many texts there are and however alike they all are. Of each text the index keeps
sixteen hashes of 8 bytes, and 6 to 12 bytes for each to find it by; a bucket that many texts fall into keeps four of
them; and at most eight candidates, the likeliest, are compared exactly. That is why the index is our own: the library's
takes 1.7 kB a text and hands back whole buckets, which is quadratic where all texts follow one template.
"""

from array import array
from collections import OrderedDict
from collections.abc import Callable, Sequence

import numpy as np
from rensa import RMinHash

from tamis.records import Record
from tamis.tokens import spaced_words

SHINGLE_WORDS = 3
BANDS = 16
ROWS = 4
"""Texts of similarity s share at least two of the bands with probability 1 - (1 - s^4)^16 - 16 s^4 (1 - s^4)^15: 0.997
at 0.8, 0.26 at 0.5, 0.007 at 0.3."""
BANDS_IN_COMMON = 2
BUCKET_TEXTS = 4
COMPARED = 8
SEED = 1997
CACHED_SHINGLES = 200_000

Signature = Sequence[int]
Shingles = frozenset[str]


class Near(Record, frozen=True, kw_only=True):
    """An earlier text, and the share of all word triples of both that they have in common (Jaccard), from 0 to 1."""

    text: str
    similarity: float


def shingles(text: str) -> list[str]:
    """Every three words in a row, small letters, however they are spaced; a shorter text as one."""
    words = spaced_words(text.lower())
    if len(words) < SHINGLE_WORDS:
        return [" ".join(words)] if words else []
    return list(map(" ".join, zip(*(words[start:] for start in range(SHINGLE_WORDS)), strict=False)))


def signatures(texts: Sequence[Sequence[str]]) -> list[Signature]:
    """What the index knows each text by: a hash of 64 bits for each band of its shingles' MinHash, the same on every
    machine."""
    if not texts:
        return []
    rows = RMinHash.digest_matrix_from_token_sets(texts, BANDS * ROWS, SEED).to_rows()
    minima = np.array(rows, np.uint64).reshape(len(texts), BANDS, ROWS)
    mixed = (minima * _FACTORS).sum(axis=2, dtype=np.uint64) + _BAND_NUMBERS
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)  # SplitMix64's finaliser
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    bands: list[Signature] = (mixed ^ (mixed >> np.uint64(31))).tolist()
    return bands


_FACTORS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93], np.uint64)
_BAND_NUMBERS = np.arange(1, BANDS + 1, dtype=np.uint64) * np.uint64(0xA0761D6478BD642F)


def jaccard(one: Shingles, other: Shingles) -> float:
    common = len(one & other)
    return common / (len(one) + len(other) - common) if one or other else 1.0


class NearIndex:
    """Texts added so far, by name. `text_of` gives a text added before, when it has to be compared again.

    Bands are found by open addressing: a slot holds a text's number, from 1, and what its band is stands in `_bands`.
    """

    def __init__(self, similarity: float, text_of: Callable[[str], str]) -> None:
        self._similarity = similarity
        self._text_of = text_of
        self._names: list[str] = [""]
        self._bands = array("Q", bytes(8 * BANDS))
        self._slots = array("I", bytes(4 << 10))
        self._filled = 0
        self._cache: OrderedDict[int, Shingles] = OrderedDict()
        self._cached = 0

    def nearest(self, own: Sequence[str], signature: Signature) -> Near | None:
        """The most similar of the texts added, None where none is similar enough."""
        likely = self._likely(signature)
        if not likely:
            return None
        shingles_here = frozenset(own)
        best, text = max((jaccard(shingles_here, self._shingles(text)), -text) for text in likely)
        return Near(text=self._names[-text], similarity=best) if best >= self._similarity else None

    def add(self, name: str, signature: Signature) -> None:
        text = len(self._names)
        self._names.append(name)
        self._bands.extend(signature)
        self._find_room(text, signature)
        if 3 * self._filled > 2 * len(self._slots):
            self._grow()

    def _find_room(self, text: int, signature: Signature) -> None:
        slots, bands, mask = self._slots, self._bands, len(self._slots) - 1
        for number, band in enumerate(signature):
            slot, same = band & mask, set[int]()
            while stored := slots[slot]:
                if bands[stored * BANDS + number] == band:
                    same.add(stored)  # it may be met twice, by another of its bands too
                    if len(same) == BUCKET_TEXTS:
                        break
                slot = (slot + 1) & mask
            else:
                slots[slot] = text
                self._filled += 1

    def _likely(self, signature: Signature) -> list[int]:
        """The texts with most bands in common."""
        slots, bands, mask = self._slots, self._bands, len(self._slots) - 1
        shared: dict[int, int] = {}
        """Text → a bit for each band in common: a text may be met twice in one search, by another of its bands."""
        for number, band in enumerate(signature):
            slot = band & mask
            while stored := slots[slot]:
                if bands[stored * BANDS + number] == band:
                    shared[stored] = shared.get(stored, 0) | 1 << number
                slot = (slot + 1) & mask
        votes = {text: bits.bit_count() for text, bits in shared.items()}
        likely = [text for text, count in votes.items() if count >= BANDS_IN_COMMON]
        return sorted(likely, key=lambda text: (-votes[text], text))[:COMPARED]

    def _shingles(self, text: int) -> Shingles:
        if text in self._cache:
            self._cache.move_to_end(text)
            return self._cache[text]
        found = frozenset(shingles(self._text_of(self._names[text])))
        self._cache[text] = found
        self._cached += len(found)
        while self._cached > CACHED_SHINGLES and len(self._cache) > 1:
            self._cached -= len(self._cache.popitem(last=False)[1])
        return found

    def _grow(self) -> None:
        """Twice the slots, filled again from the bands that each text was added with, in the same order."""
        self._slots = array("I", bytes(8 * len(self._slots)))
        self._filled = 0
        for text in range(1, len(self._names)):
            self._find_room(text, self._bands[text * BANDS : (text + 1) * BANDS])
