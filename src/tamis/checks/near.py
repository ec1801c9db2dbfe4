"""Near-duplicates: which earlier text is nearly this one? MinHash proposes (Broder 1997), the exact share of word
triples in common decides, so nothing is called near that is not.

Memory and time stay bounded however many texts there are and however alike they all are. Of each text the index keeps
sixteen hashes of 8 bytes, 6 to 12 bytes for each to find it by, and a byte of each MinHash value; a bucket that many
texts fall into keeps four of them; a text whose bytes differ too often to be near is left out; and at most eight
candidates, the likeliest, are compared exactly. That is why the index is our own: the library's takes 1.7 kB a text and
hands back whole buckets, which is quadratic where all texts follow one template.
"""

import operator
from array import array
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.checks.shingling import BANDS, MINIMA, ROWS, SHINGLE_WORDS, Triples, minima, shingles, triples
from tamis.records import Record

__all__ = ["BANDS", "SHINGLE_WORDS", "Near", "NearIndex", "Signature", "jaccard", "shingles", "signatures"]

BANDS_IN_COMMON = 2
BUCKET_TEXTS = 4
COMPARED = 8
CACHED_TRIPLES = 50_000
SETTLED_AT_ONCE = 1_024
BAND_BYTES, LOW_BYTES = 8 * BANDS, MINIMA
MISSED_BY_BYTES = 1e-5
"""How many of the near texts that the bands propose may be lost by their bytes, where they are just similar enough. The
bands themselves miss three in a thousand at 0.8."""

Signature = bytes
"""What the index knows a text by: BANDS hashes of 64 bits, then the lowest byte of each MinHash value."""


class Near(Record, frozen=True, kw_only=True):
    """An earlier text, and the share of all word triples of both that they have in common (Jaccard), from 0 to 1."""

    text: str
    similarity: float


def signatures(texts: Sequence[Sequence[str]]) -> list[Signature]:
    """What the index knows each text by, from its shingles."""
    return signatures_of(np.array(minima(texts), np.uint32))


def signatures_of(rows: NDArray[np.uint32]) -> list[Signature]:
    """The same from its MinHash (texts × MINIMA)."""
    if not len(rows):
        return []
    mixed = (rows.reshape(-1, BANDS, ROWS) * _FACTORS).sum(axis=2, dtype=np.uint64) + _BAND_NUMBERS
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)  # SplitMix64's finaliser
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    whole = np.concatenate([mixed.view(np.uint8), rows.astype(np.uint8)], axis=1).tobytes()
    size = BAND_BYTES + LOW_BYTES
    return [whole[start : start + size] for start in range(0, len(whole), size)]


_FACTORS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93], np.uint64)
_BAND_NUMBERS = np.arange(1, BANDS + 1, dtype=np.uint64) * np.uint64(0xA0761D6478BD642F)


def jaccard(one: Triples, other: Triples) -> float:
    common = len(one & other)
    return common / (len(one) + len(other) - common) if one or other else 1.0


def least_in_common(similarity: float) -> int:
    """How many bytes two texts of this similarity have in common at least, if they share the bands that they must share
    to be looked at: all but MISSED_BY_BYTES of them. Each MinHash value is the same in both with a probability of just
    their similarity, so the others' number is binomial."""
    sure = BANDS_IN_COMMON * ROWS
    others, fewer = LOW_BYTES - sure, 0.0
    for more in range(others):
        fewer += comb(others, more) * similarity**more * (1 - similarity) ** (others - more)
        if fewer > MISSED_BY_BYTES:
            return sure + more
    return LOW_BYTES


class _Ahead(NamedTuple):
    """What the slots say about a text: how many texts in them have each of its bands, and which have enough in common
    with it, each after the number of its bands in common."""

    bands: list[int]
    held: list[int]
    likely: list[tuple[int, int]]


class NearIndex:
    """Texts added so far, by name, up to a quarter of a billion. `text_of` gives a text added before, when it has to be
    compared again.

    Bands are found by open addressing: a slot holds a place in `_bands`, where all bands of all texts stand. Slots are
    searched and filled for many texts at once; those added since stand in a dictionary meanwhile. What is
    found does not depend on when they move from there."""

    def __init__(self, similarity: float, text_of: Callable[[str], str]) -> None:
        self._similarity = similarity
        self._least = least_in_common(similarity)
        self._text_of = text_of
        self._names: list[str] = [""]
        self._bands = array("Q", bytes(BAND_BYTES))
        self._lows = bytearray(LOW_BYTES)
        self._slots = np.zeros(1 << 10, np.uint32)
        self._filled = 0
        self._placed = 1
        """From this text on they stand in no slot."""
        self._fresh: dict[int, tuple[int, ...]] = {}
        """Band → the texts that have it, of those in no slot."""
        self._ahead: dict[Signature, _Ahead] = {}
        self._cache: OrderedDict[int, Triples] = OrderedDict()
        self._cached = 0

    def look_ahead(self, signatures: Sequence[Signature]) -> None:
        """Searches the slots for all of these at once, which is a fraction of what it takes one by one. They are asked
        about next."""
        if len(self._names) - self._placed >= SETTLED_AT_ONCE:
            self._settle()
        self._ahead = dict(zip(signatures, self._in_slots(signatures), strict=True))

    def nearest(self, own: Callable[[], str], signature: Signature) -> Near | None:
        """The most similar of the texts added, None where none is similar enough. `own` gives the text, and is asked
        only where there is one that it may be near to."""
        likely = self._likely(signature)
        if not likely:
            return None
        here = triples(own())
        best, text = max((jaccard(here, self._triples(text)), -text) for text in likely)
        return Near(text=self._names[-text], similarity=best) if best >= self._similarity else None

    def add(self, name: str, signature: Signature) -> None:
        text, ahead, fresh = len(self._names), self._found_ahead(signature), self._fresh
        self._names.append(name)
        self._bands.frombytes(signature[:BAND_BYTES])
        self._lows += signature[BAND_BYTES:]
        if BUCKET_TEXTS not in ahead.held and fresh.keys().isdisjoint(ahead.bands):
            fresh.update(dict.fromkeys(ahead.bands, (text,)))
            return
        for band, held in zip(ahead.bands, ahead.held, strict=True):
            others = fresh.get(band, ())
            if held + len(others) < BUCKET_TEXTS:
                fresh[band] = (*others, text)

    def _likely(self, signature: Signature) -> list[int]:
        """The texts with most bands in common, of those that may be near."""
        ahead, fresh = self._found_ahead(signature), self._fresh
        likely = ahead.likely
        if not fresh.keys().isdisjoint(ahead.bands):
            votes = Counter(text for band in ahead.bands for text in fresh.get(band, ()))
            shared = ((n, text) for text, n in votes.items() if n >= BANDS_IN_COMMON)
            likely = likely + [(n, text) for n, text in shared if self._alike(signature, text)]
        return [text for _, text in sorted(likely, key=lambda one: (-one[0], one[1]))[:COMPARED]]

    def _alike(self, signature: Signature, text: int) -> bool:
        lows = self._lows[text * LOW_BYTES : (text + 1) * LOW_BYTES]
        same: int = sum(map(operator.eq, signature[BAND_BYTES:], lows))
        return same >= self._least

    def _found_ahead(self, signature: Signature) -> _Ahead:
        if signature not in self._ahead:
            self.look_ahead([signature])
        return self._ahead[signature]

    # the slots

    def _in_slots(self, signatures: Sequence[Signature]) -> list[_Ahead]:
        """What the slots say about each of these."""
        raw = np.frombuffer(b"".join(signatures), np.uint8).reshape(-1, BAND_BYTES + LOW_BYTES)
        bands = np.ascontiguousarray(raw[:, :BAND_BYTES]).view(np.uint64).reshape(-1)
        asked, texts = self._having(bands)
        held = np.bincount(asked, minlength=len(bands)).reshape(-1, BANDS).tolist()
        likely: list[list[tuple[int, int]]] = [[] for _ in signatures]
        pairs, votes = np.unique((asked // BANDS) << 32 | texts, return_counts=True)
        enough = votes >= BANDS_IN_COMMON
        pairs, votes = pairs[enough], votes[enough]
        asked, texts = pairs >> 32, pairs & 0xFFFFFFFF
        lows = np.frombuffer(self._lows, np.uint8).reshape(-1, LOW_BYTES)
        near = (raw[asked, BAND_BYTES:] == lows[texts]).sum(axis=1) >= self._least
        for at, count, text in zip(asked[near].tolist(), votes[near].tolist(), texts[near].tolist(), strict=True):
            likely[at].append((count, text))
        return list(map(_Ahead, bands.reshape(-1, BANDS).tolist(), held, likely))

    def _having(self, bands: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The places of the bands that some text in a slot has, and those texts, a place as often as there are any."""
        held, mask = np.frombuffer(self._bands, np.uint64), np.uint64(len(self._slots) - 1)
        which, slots = np.arange(len(bands)), bands & mask
        asked, texts = [which[:0]], [which[:0]]
        while len(which):
            stored = self._slots[slots]
            there = stored != 0
            which, slots, stored = which[there], slots[there], stored[there]
            same = held[stored] == bands[which]
            asked.append(which[same])
            texts.append((stored[same] // BANDS).astype(np.int64))
            slots = (slots + np.uint64(1)) & mask
        return np.concatenate(asked), np.concatenate(texts)

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

    def _triples(self, text: int) -> Triples:
        if text in self._cache:
            self._cache.move_to_end(text)
            return self._cache[text]
        found = triples(self._text_of(self._names[text]))
        self._cache[text] = found
        self._cached += len(found)
        while self._cached > CACHED_TRIPLES and len(self._cache) > 1:
            self._cached -= len(self._cache.popitem(last=False)[1])
        return found
