"""Folding: what is nearly the same is shown once, with its variants behind it. Nothing is dropped.

Two texts are nearly the same when they share most of their word triples (Jaccard). The answer is exact: a filter
first finds the only pairs that can reach the threshold (they must share one of their rarest triples; Chaudhuri et al.
2006), then each is counted out. The first of its kind stands for the others. Beyond some tens of thousands of texts
the filter is MinHash, which may miss a pair and never makes one up.
"""

from collections.abc import Sequence
from functools import partial

import msgspec
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tamis.checks.near import NearIndex, signatures
from tamis.checks.near import shingles as text_shingles
from tamis.records import digest
from tamis.taste.style import Shingles, distinct_shingles
from tamis.taste.words import Words, mixed

WIDTH = 3
SIMILARITY = 0.8
BLOCK_TEXTS = 2_000

Places = NDArray[np.int64]


class Folds(msgspec.Struct, frozen=True, kw_only=True):
    """`keeper[i]` is the text that stands for text i, itself where nothing earlier is nearly the same;
    `similarity[i]` is what the two share."""

    keeper: NDArray[np.int64]
    similarity: NDArray[np.float64]

    def keepers(self) -> list[int]:
        """The texts that stand for themselves, in order."""
        return [int(text) for text in np.flatnonzero(self.keeper == np.arange(len(self.keeper)))]

    def variants(self, text: int) -> list[int]:
        """The texts folded behind this one."""
        return [int(one) for one in np.flatnonzero(self.keeper == text) if one != text]


def fold(words: Words, *, similarity: float = SIMILARITY) -> Folds:
    """Folds texts that share at least `similarity` of their word triples."""
    return fold_shingles(whole_shingles(words, distinct_shingles(words, WIDTH)), similarity=similarity)


def fold_shingles(shingles: Shingles, *, similarity: float = SIMILARITY) -> Folds:
    """The same, from what the texts are compared by."""
    if not 0 < similarity <= 1:
        raise ValueError(f"similarity is {similarity}; a share between 0 and 1 was expected")
    sets = _shingle_sets(shingles)
    n_texts = len(sets.sizes)
    keeper, shared = np.arange(n_texts), np.ones(n_texts)
    firsts = _same_sets(sets, keeper)
    rest = _Sets(shared=sets.shared[firsts], sizes=sets.sizes[firsts])
    for text, other, value in _near_pairs(rest, similarity):
        # the pairs come by the later text, then by the earlier one, so the first keeper met is the earliest
        late, early = firsts[text], firsts[other]
        if keeper[late] == late and keeper[early] == early:
            keeper[late], shared[late] = early, value
    return _flat(keeper, shared)


def fold_many(texts: Sequence[str], *, similarity: float = SIMILARITY) -> Folds:
    """Folds any number of texts in bounded memory: MinHash proposes (rensa), the exact share of word triples decides.
    Nothing is folded that is not nearly the same; of what is, three in a thousand may be missed at 0.8."""
    index = NearIndex(similarity, lambda name: texts[int(name)])
    keeper, shared = np.arange(len(texts)), np.ones(len(texts))
    first: dict[str, int] = {}
    for start in range(0, len(texts), BLOCK_TEXTS):
        signed = signatures([text_shingles(text) for text in texts[start : start + BLOCK_TEXTS]])
        index.look_ahead(signed)
        for place, signature in enumerate(signed, start=start):
            same = first.setdefault(digest(texts[place]), place)
            near = index.nearest(partial(texts.__getitem__, place), signature) if same == place else None
            if same != place:
                keeper[place], shared[place] = keeper[same], shared[same]
            elif near is not None:
                keeper[place], shared[place] = int(near.text), near.similarity
            else:
                index.add(str(place), signature)
    return Folds(keeper=keeper, similarity=shared)


def whole_shingles(words: Words, triples: Shingles) -> Shingles:
    """The triples of every text; a text too short for one has its words in order as its only one."""
    short = np.flatnonzero(words.counts() < WIDTH)
    if not len(short):
        return triples
    whole = [_whole(words.hashes[words.word_starts[one] : words.word_starts[one + 1]]) for one in short]
    values = np.insert(triples.values, triples.starts[short], np.array(whole, np.uint64))
    added = np.zeros(words.n_texts, np.int64)
    added[short] = 1
    return Shingles(values=values, starts=triples.starts + np.concatenate([[0], np.cumsum(added)]))


def joined(blocks: Sequence[Shingles]) -> Shingles:
    """Those of all blocks of texts, in order."""
    offsets = np.concatenate([[0], np.cumsum([len(block.values) for block in blocks])]).astype(np.int64)
    starts = [block.starts[:-1] + offset for block, offset in zip(blocks, offsets, strict=False)]
    return Shingles(
        values=np.concatenate([np.zeros(0, np.uint64), *(block.values for block in blocks)]),
        starts=np.concatenate([*starts, offsets[-1:]]),
    )


class _Sets(msgspec.Struct, frozen=True, kw_only=True):
    """The different triples of each text. `shared` (texts × triples) has a 1 where the text has a triple that another
    text has too; `sizes` counts all that it has. A triple that one text alone has can't be shared, only counted."""

    shared: sp.csr_array
    sizes: Places


def _shingle_sets(shingles: Shingles) -> _Sets:
    sizes = np.diff(shingles.starts)
    n_texts = len(sizes)
    order = np.argsort(shingles.values)  # a text has each value once, so it does not matter how the same ones lie
    values = shingles.values[order]
    first = np.ones(len(values), bool)
    first[1:] = values[1:] != values[:-1]
    del values  # each of these arrays takes some kilobytes a text
    times = np.diff(np.append(np.flatnonzero(first), len(first)))
    # small numbers are sorted by their digits, several times quicker than by comparing
    numbers = np.arange(n_texts, dtype=np.uint16 if n_texts <= 1 << 16 else np.int64)
    text = np.repeat(numbers, sizes)[order[np.repeat(times > 1, times)]]
    column = np.repeat(np.arange(np.count_nonzero(times > 1), dtype=np.int32), times[times > 1])
    order = np.argsort(text, kind="stable")
    ends = np.searchsorted(text[order], np.arange(n_texts + 1))
    shape = (n_texts, int(column.max(initial=-1)) + 1)
    ones = np.ones(len(column), np.float32)
    return _Sets(shared=sp.csr_array((ones, column[order], ends), shape=shape), sizes=sizes)


def _whole(hashes: NDArray[np.uint64]) -> int:
    value = np.zeros(1, np.uint64)
    for one in hashes:
        value = mixed(value) + one
    return int(mixed(value)[0])


def _same_sets(sets: _Sets, keeper: Places) -> Places:
    """Points texts with the very same triples at the first of them; returns those that are the first."""
    first: dict[bytes, int] = {}
    ends = sets.shared.indptr
    for text in range(len(sets.sizes)):
        triples = sets.shared.indices[ends[text] : ends[text + 1]]
        # a text with a triple of its own is like no other
        key = triples.tobytes() if len(triples) == sets.sizes[text] else b"text %d" % text
        keeper[text] = first.setdefault(key, text)
    return np.array(list(first.values()), np.int64)


def _near_pairs(sets: _Sets, similarity: float) -> list[tuple[int, int, float]]:
    """All pairs (later, earlier, Jaccard) that reach the similarity."""
    sizes = sets.sizes
    prefixes = _prefixes(sets, similarity)
    across = prefixes.T.tocsr()
    found: list[tuple[int, int, float]] = []
    for start in range(0, len(sizes), BLOCK_TEXTS):
        together = (prefixes[start : start + BLOCK_TEXTS] @ across).tocoo()
        late, early = together.row + start, together.col
        fits = (early < late) & (sizes[early] >= similarity * sizes[late]) & (sizes[late] >= similarity * sizes[early])
        late, early = late[fits], early[fits]
        value = _jaccard(sets, late, early)
        reached = value >= similarity - 1e-9
        order = np.lexsort((early[reached], late[reached]))
        found += zip(
            late[reached][order].tolist(), early[reached][order].tolist(), value[reached][order].tolist(), strict=True
        )
    return found


def _prefixes(sets: _Sets, similarity: float) -> sp.csr_array:
    """Each text with its rarest triples only, as many as two texts that reach the similarity must share one of. Those
    that it alone has are the rarest; they count, but have no column."""
    shared = sets.shared
    n_shared = np.diff(shared.indptr)
    spread = np.bincount(shared.indices, minlength=shared.shape[1])
    text = np.repeat(np.arange(len(sets.sizes)), n_shared)
    columns = shared.indices[_rarest_first(text, spread[shared.indices], shared.indices.astype(np.int64))]
    rank = np.arange(len(columns)) - shared.indptr[:-1][text] + (sets.sizes - n_shared)[text]
    wanted = sets.sizes - np.ceil(similarity * sets.sizes - 1e-9).astype(np.int64) + 1
    keep = rank < wanted[text]
    starts = np.searchsorted(text[keep], np.arange(len(sets.sizes) + 1))
    return sp.csr_array((np.ones(int(keep.sum()), np.float32), columns[keep], starts), shape=shared.shape)


def _rarest_first(text: Places, spread: Places, column: Places) -> Places:
    """The order by text, and within a text by how many texts have the triple; ties in one order for all texts."""
    if len(text) and (int(text.max()) >= 1 << 20 or int(column.max()) >= 1 << 24):
        return np.lexsort((column, spread, text))
    # one number instead of three keys: the same order, but for triples that a million texts have, in half the time
    key = (text.astype(np.uint64) << np.uint64(44)) | (
        np.minimum(spread, (1 << 20) - 1).astype(np.uint64) << np.uint64(24)
    )
    return np.argsort(key | column.astype(np.uint64))


def _jaccard(sets: _Sets, late: Places, early: Places) -> NDArray[np.float64]:
    """The share of triples in common of each pair, counted out."""
    values = np.empty(len(late))
    for start in range(0, len(late), BLOCK_TEXTS):
        here = slice(start, start + BLOCK_TEXTS)
        common = np.asarray(sets.shared[late[here]].multiply(sets.shared[early[here]]).sum(axis=1)).ravel()
        values[here] = common / np.maximum(sets.sizes[late[here]] + sets.sizes[early[here]] - common, 1)
    return values


def _flat(keeper: Places, shared: NDArray[np.float64]) -> Folds:
    """A text whose twin was folded goes behind the twin's keeper."""
    twin = keeper
    keeper = keeper[twin]
    behind = (twin != np.arange(len(twin))) & (keeper != twin)
    shared = np.where(behind, shared[twin], shared)
    return Folds(keeper=keeper, similarity=shared)
