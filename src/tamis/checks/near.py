"""Near-duplicates: which earlier text is nearly this one? MinHash proposes (Broder 1997), the exact share of word
triples in common decides, so nothing is called near that is not.

Memory and time stay bounded however many texts there are and however alike they all are. Of each text the index keeps
sixteen hashes, 12 bytes each; a bucket that many texts fall into keeps four of them; and at most eight candidates, the
likeliest, are compared exactly. That is why the index is our own: the library's takes 1.7 kB a text and hands back
whole buckets, which is quadratic where all texts follow one template.
"""

from array import array
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Sequence

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
    """The MinHash signature of each text's shingles: 64 numbers of 32 bits, the same on every machine."""
    if not texts:
        return []
    rows: list[Signature] = RMinHash.digest_matrix_from_token_sets(texts, BANDS * ROWS, SEED).to_rows()
    return rows


def jaccard(one: Shingles, other: Shingles) -> float:
    common = len(one & other)
    return common / (len(one) + len(other) - common) if one or other else 1.0


class NearIndex:
    """Texts added so far, by name. `text_of` gives a text added before, when it has to be compared again."""

    def __init__(self, similarity: float, text_of: Callable[[str], str]) -> None:
        self._similarity = similarity
        self._text_of = text_of
        self._names: list[str] = []
        self._bands = _BandTable()
        self._cache: OrderedDict[int, Shingles] = OrderedDict()
        self._cached = 0

    def nearest(self, own: Sequence[str], signature: Signature) -> Near | None:
        """The most similar of the texts added, None where none is similar enough."""
        votes = Counter(text for band in _bands(signature) for text in self._bands.find(band))
        likely = [text for text, bands in votes.most_common(COMPARED) if bands >= BANDS_IN_COMMON]
        if not likely:
            return None
        shingles_here = frozenset(own)
        best, text = max((jaccard(shingles_here, self._shingles(text)), -text) for text in likely)
        return Near(text=self._names[-text], similarity=best) if best >= self._similarity else None

    def add(self, name: str, signature: Signature) -> None:
        for band in _bands(signature):
            self._bands.add(band, len(self._names))
        self._names.append(name)

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


def _bands(signature: Signature) -> Iterator[int]:
    """Each band of a signature as a number below 2^64, never 0. Hashes of tuples of numbers are the same in every
    process, unlike those of texts."""
    for start in range(0, BANDS * ROWS, ROWS):
        yield (hash((start, *signature[start : start + ROWS])) & 0xFFFF_FFFF_FFFF_FFFF) or 1


class _BandTable:
    """A multimap from bands to texts: open addressing in two flat arrays, at most BUCKET_TEXTS texts a band."""

    def __init__(self) -> None:
        self._filled = 0
        self._resize(1 << 10)

    def find(self, band: int) -> Iterator[int]:
        slot = band & self._mask
        while stored := self._keys[slot]:
            if stored == band:
                yield self._texts[slot]
            slot = (slot + 1) & self._mask

    def add(self, band: int, text: int) -> None:
        slot, same = band & self._mask, 0
        while stored := self._keys[slot]:
            same += stored == band
            if same == BUCKET_TEXTS:
                return
            slot = (slot + 1) & self._mask
        self._keys[slot] = band
        self._texts[slot] = text
        self._filled += 1
        if 3 * self._filled > 2 * len(self._keys):
            self._grow()

    def _resize(self, slots: int) -> None:
        self._mask = slots - 1
        self._keys = array("Q", bytes(8 * slots))
        self._texts = array("I", bytes(4 * slots))

    def _grow(self) -> None:
        keys, texts = self._keys, self._texts
        self._resize(2 * len(keys))
        for old, band in enumerate(keys):
            if band:
                slot = band & self._mask
                while self._keys[slot]:
                    slot = (slot + 1) & self._mask
                self._keys[slot] = band
                self._texts[slot] = texts[old]
