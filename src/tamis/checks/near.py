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
from numpy.typing import NDArray

from tamis.checks.shingling import BANDS, ROWS, SHINGLE_WORDS, minima, shingles
from tamis.records import Record

__all__ = ["BANDS", "SHINGLE_WORDS", "Near", "NearIndex", "Signature", "jaccard", "shingles", "signatures"]

BANDS_IN_COMMON = 2
BUCKET_TEXTS = 4
COMPARED = 8
CACHED_SHINGLES = 200_000
SETTLED_AT_ONCE = 1_024

Signature = Sequence[int]
Shingles = frozenset[str]


class Near(Record, frozen=True, kw_only=True):
    """An earlier text, and the share of all word triples of both that they have in common (Jaccard), from 0 to 1."""

    text: str
    similarity: float


def signatures(texts: Sequence[Sequence[str]]) -> list[Signature]:
    """What the index knows each text by, from its shingles."""
    return bands_of(np.array(minima(texts), np.uint64))


def bands_of(rows: NDArray[np.uint64]) -> list[Signature]:
    """The same from its MinHash (texts × BANDS * ROWS): a hash of 64 bits for each band."""
    if not len(rows):
        return []
    mixed = (rows.reshape(-1, BANDS, ROWS) * _FACTORS).sum(axis=2, dtype=np.uint64) + _BAND_NUMBERS
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
    """Texts added so far, by name, up to a quarter of a billion. `text_of` gives a text added before, when it has to be
    compared again.

    Bands are found by open addressing: a slot holds a place in `_bands`, where all bands of all texts stand. Slots are
    searched and filled for many texts at once; those added since stand in a dictionary meanwhile. What is
    found does not depend on when they move from there."""

    def __init__(self, similarity: float, text_of: Callable[[str], str]) -> None:
        self._similarity = similarity
        self._text_of = text_of
        self._names: list[str] = [""]
        self._bands = array("Q", bytes(8 * BANDS))
        self._slots = np.zeros(1 << 10, np.uint32)
        self._filled = 0
        self._placed = 1
        """From this text on they stand in no slot."""
        self._fresh: dict[int, tuple[int, ...]] = {}
        """Band → the texts that have it, of those in no slot."""
        self._ahead: dict[int, _Shared] = {}
        self._cache: OrderedDict[int, Shingles] = OrderedDict()
        self._cached = 0

    def look_ahead(self, signatures: Sequence[Signature]) -> None:
        """Searches the slots for all of these at once, which is a fraction of what it takes one by one. They are asked
        about next, each by the very object given here."""
        if len(self._names) - self._placed >= SETTLED_AT_ONCE:
            self._settle()
        self._ahead = dict(zip(map(id, signatures), self._in_slots(signatures), strict=True))

    def nearest(self, own: Callable[[], Sequence[str]], signature: Signature) -> Near | None:
        """The most similar of the texts added, None where none is similar enough. `own` gives the text's shingles, and
        is asked only where there is one that it may be near to."""
        likely = self._likely(signature)
        if not likely:
            return None
        shingles_here = frozenset(own())
        best, text = max((jaccard(shingles_here, self._shingles(text)), -text) for text in likely)
        return Near(text=self._names[-text], similarity=best) if best >= self._similarity else None

    def add(self, name: str, signature: Signature) -> None:
        text, shared = len(self._names), self._found_ahead(signature)
        self._names.append(name)
        self._bands.extend(signature)
        if not shared and self._fresh.keys().isdisjoint(signature):
            self._fresh.update(dict.fromkeys(signature, (text,)))
            return
        for number, band in enumerate(signature):
            others = self._fresh.get(band, ())
            same = sum(bits >> number & 1 for bits in shared.values())
            if same + len(others) < BUCKET_TEXTS:
                self._fresh[band] = (*others, text)

    def _likely(self, signature: Signature) -> list[int]:
        """The texts with most bands in common."""
        shared, fresh = self._found_ahead(signature), self._fresh
        if fresh and not fresh.keys().isdisjoint(signature):
            shared = dict(shared)
            for number, band in enumerate(signature):
                for text in fresh.get(band, ()):
                    shared[text] = shared.get(text, 0) | 1 << number
        votes = {text: bits.bit_count() for text, bits in shared.items()}
        likely = [text for text, count in votes.items() if count >= BANDS_IN_COMMON]
        return sorted(likely, key=lambda text: (-votes[text], text))[:COMPARED]

    def _found_ahead(self, signature: Signature) -> "_Shared":
        if id(signature) not in self._ahead:
            self.look_ahead([signature])
        return self._ahead[id(signature)]

    # the slots

    def _in_slots(self, signatures: Sequence[Signature]) -> "list[_Shared]":
        """For each, the texts in the slots that share bands with it, with a bit for each band in common."""
        shared: list[_Shared] = [{} for _ in signatures]
        bands = np.array(signatures, np.uint64).reshape(-1)
        held, mask = np.frombuffer(self._bands, np.uint64), np.uint64(len(self._slots) - 1)
        which, slots = np.arange(len(bands)), bands & mask
        while len(which):
            stored = self._slots[slots]
            there = stored != 0
            which, slots, stored = which[there], slots[there], stored[there]
            same = held[stored] == bands[which]
            for at, text in zip(which[same].tolist(), (stored[same] // BANDS).tolist(), strict=True):
                found = shared[at // BANDS]
                found[text] = found.get(text, 0) | 1 << at % BANDS
            slots = (slots + np.uint64(1)) & mask
        return shared

    def _settle(self) -> None:
        """Moves all texts into slots."""
        self._fresh = {}
        while 3 * (self._filled + BANDS * (len(self._names) - self._placed)) > 2 * len(self._slots):
            # twice as many, filled again from the bands that each text was added with, in the same order
            self._slots = np.zeros(2 * len(self._slots), np.uint32)
            self._filled, self._placed = 0, 1
        while self._placed < len(self._names):
            until = min(len(self._names), self._placed + SETTLED_AT_ONCE)
            self._fill(self._placed, until)
            self._placed = until

    def _fill(self, first: int, until: int) -> None:
        """Puts the bands of these texts into slots, those of earlier texts first; the fifth of the same is left out."""
        held, mask = np.frombuffer(self._bands, np.uint64), np.uint64(len(self._slots) - 1)
        which = np.arange(first * BANDS, until * BANDS)
        slots, met = held[which] & mask, np.zeros(len(which), np.int8)
        while len(which):
            free = np.flatnonzero(self._slots[slots] == 0)
            _, firsts = np.unique(slots[free], return_index=True)  # of those that want the same one, the first has it
            taken = free[firsts]
            self._slots[slots[taken]] = which[taken]
            self._filled += len(taken)
            left = np.ones(len(which), bool)
            left[taken] = False
            # whoever lost a slot finds it taken now, and goes on from it like all others
            which, slots, met = which[left], slots[left], met[left]
            met += held[self._slots[slots]] == held[which]
            room = met < BUCKET_TEXTS
            which, slots, met = which[room], (slots[room] + np.uint64(1)) & mask, met[room]

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


_Shared = dict[int, int]
"""Text → a bit for each band in common."""
