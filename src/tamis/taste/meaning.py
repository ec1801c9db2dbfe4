"""What texts are about, as vectors: wordllama's token table where it is installed, else the texts' own word
statistics.

Both work offline and from the words already found: each different word is looked up once, and a text is the average
of its words, so the cost grows with the vocabulary and not with the number of texts. Texts may come in blocks, from
several threads at once. wordllama's weights and tokenizer are read from its own package folder; its loader, which may
try a download, is never called.
"""

import functools
import importlib.util
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import msgspec
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from tamis.taste.words import Words

WIDTH = 32
"""Dimensions kept for wordllama, in the order of how much the texts differ along them."""
OWN_WIDTH = 32
FOLDER_WEIGHTS, FOLDER_TOKENIZER = "weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer_config.json"


class Meaning(msgspec.Struct, frozen=True, kw_only=True):
    """`values` is (texts × dimensions), centred, largest spread first; `source` names what made them; `notes` are
    sentences for the owner."""

    values: NDArray[np.float64]
    source: str
    notes: tuple[str, ...] = ()


class AboutRows(msgspec.Struct, frozen=True, kw_only=True):
    """What some texts are about, before they are set against the others: the mean vector of each (texts × dimensions),
    or, without a word table, how often each word of the vocabulary stands in each (texts × vocabulary)."""

    pooled: NDArray[np.float32] | None = None
    counts: sp.csr_array | None = None


def meaning(words: Words) -> Meaning:
    """Vectors of what the texts are about."""
    vocabulary = Vocabulary()
    return vocabulary.meaning([vocabulary.about(words)], np.arange(words.n_texts))


class Vocabulary:
    """The different words met so far, each looked up once in the word table, where there is one."""

    def __init__(self) -> None:
        self._table = word_table()
        self._lock = threading.Lock()
        self._hashes = np.zeros(0, np.uint64)
        """Sorted, and for each its row."""
        self._rows = np.zeros(0, np.int64)
        self._vectors = np.zeros((0, 0), np.float32)
        self._n_tokens = np.zeros(0, np.float32)

    def about(self, words: Words) -> AboutRows:
        """What these texts are about. Any thread may ask."""
        found = words.vocabulary
        rows = self._met(words, found.values)
        shape = words.n_texts, int(rows.max(initial=-1)) + 1  # without a word, none
        counts = sp.csr_array((found.times.astype(np.float32), rows, found.starts), shape=shape)
        if self._table is None:
            return AboutRows(counts=counts)
        with self._lock:
            vectors, n_tokens = self._vectors[: shape[1]], self._n_tokens[: shape[1]]
        n = np.maximum(counts @ n_tokens, 1)
        return AboutRows(pooled=np.asarray((counts @ vectors) / n[:, None], np.float32))

    def meaning(self, blocks: Sequence[AboutRows], keep: NDArray[np.int64]) -> Meaning:
        """The vectors of the texts at the places `keep`, of all blocks in order."""
        if self._table is None:
            note = "wordllama is not installed: texts are compared by their words alone (pip install 'tamis[prose]')"
            found = [block.counts for block in blocks if block.counts is not None]
            parts = [(one.data, one.indices, one.indptr) for one in found]
            wide = [sp.csr_array(part, shape=(len(part[2]) - 1, len(self._hashes))) for part in parts]
            together = sp.vstack(wide, format="csr")[keep] if wide else sp.csr_array((0, 0))
            return Meaning(values=_own_statistics(together), source="words of these texts", notes=(note,))
        width = self._vectors.shape[1]
        rows = [block.pooled for block in blocks if block.pooled is not None]
        # what was read before any word was met has no width of its own
        pooled = np.concatenate([one if one.shape[1] else np.zeros((len(one), width), np.float32) for one in rows])
        return Meaning(values=principal(_unit_rows(pooled[keep]), WIDTH), source=self._table.name)

    def _met(self, words: Words, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The rows of some words of these texts; new ones are taken up, in the order of their hashes."""
        with self._lock:
            new = np.unique(hashes[~_among(hashes, self._hashes)])
            if len(new):
                n = len(self._hashes)
                if self._table is not None:
                    self._grow(n, *self._table.vectors(_spelled(words, new)))
                together = np.append(self._hashes, new)
                order = np.argsort(together, kind="stable")
                self._hashes = together[order]
                self._rows = np.append(self._rows, n + np.arange(len(new)))[order]
            known, rows = self._hashes, self._rows
        return rows[np.searchsorted(known, hashes)]

    def _grow(self, n: int, vectors: NDArray[np.float32], n_tokens: NDArray[np.float32]) -> None:
        """Takes up vectors from row `n` on; room doubles, so that all blocks together copy little."""
        needed = n + len(vectors)
        if needed > len(self._vectors):
            room = max(needed, 2 * len(self._vectors))
            wider, counts = np.zeros((room, vectors.shape[1]), np.float32), np.zeros(room, np.float32)
            wider[:n], counts[:n] = self._vectors[:n] if n else 0, self._n_tokens[:n]
            self._vectors, self._n_tokens = wider, counts
        self._vectors[n:needed], self._n_tokens[n:needed] = vectors, n_tokens


def _among(hashes: NDArray[np.uint64], known: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which of these are among the known ones, which are sorted."""
    if not len(known):
        return np.zeros(len(hashes), bool)
    return np.asarray(known[np.minimum(np.searchsorted(known, hashes), len(known) - 1)] == hashes)


def _spelled(words: Words, hashes: NDArray[np.uint64]) -> list[str]:
    """How each of these words is written where it stands first; `hashes` are sorted."""
    place = np.minimum(np.searchsorted(hashes, words.hashes), len(hashes) - 1)
    here = np.flatnonzero(hashes[place] == words.hashes)[::-1]
    first = np.empty(len(hashes), np.int64)
    first[place[here]] = here  # from the last to the first, so that the first stays
    return [words.spelled(one) for one in first.tolist()]


def principal(values: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    """The values along the directions in which they differ most; at most `width` of them, fewer where there are no
    more. Their spread is kept as it is."""
    if not values.shape[1]:
        return np.zeros((len(values), 0))
    centred = values - values.mean(axis=0, dtype=np.float64)
    with threadpool_limits(1, "blas"):  # too small to be shared: on a busy machine its threads wait for one another
        spread, directions = np.linalg.eigh(centred.T @ centred)
    keep = np.flatnonzero(spread > 1e-9 * max(spread[-1], 1e-12))[::-1][:width]
    return np.asarray(centred @ directions[:, keep], np.float64)


class WordTable(Protocol):
    @property
    def name(self) -> str: ...

    def vectors(self, words: list[str]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """For each word the sum of its tokens' vectors, and how many tokens it has."""
        ...


@functools.cache
def word_table() -> WordTable | None:
    """wordllama's table, or None where it is not installed."""
    found = importlib.util.find_spec("wordllama")
    folders = [Path(place) for place in (found.submodule_search_locations or ())] if found else []
    for folder in folders:
        if (folder / FOLDER_WEIGHTS).is_file() and (folder / FOLDER_TOKENIZER).is_file():
            return _WordLlama(folder)
    return None


class _WordLlama:
    def __init__(self, folder: Path) -> None:
        from safetensors.numpy import load_file  # noqa: PLC0415 - comes with wordllama, which is optional
        from tokenizers import Tokenizer  # noqa: PLC0415

        self.name = "wordllama l2_supercat_256"
        self._tokenizer = Tokenizer.from_file(str(folder / FOLDER_TOKENIZER))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        (self._table,) = load_file(folder / FOLDER_WEIGHTS).values()

    def vectors(self, words: list[str]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        encoded = [one.ids for one in self._tokenizer.encode_batch_fast(words, add_special_tokens=False)]
        n_tokens = np.fromiter(map(len, encoded), np.int64, len(encoded))
        flat = np.fromiter((token for ids in encoded for token in ids), np.int64, int(n_tokens.sum()))
        starts = np.concatenate([[0], np.cumsum(n_tokens)])
        used, column = np.unique(flat, return_inverse=True)
        pick = sp.csr_array((np.ones(len(flat), np.float32), column, starts), shape=(len(words), len(used)))
        return np.asarray(pick @ self._table[used].astype(np.float32)), n_tokens.astype(np.float32)


def _own_statistics(counts: sp.csr_array) -> NDArray[np.float64]:
    """Latent semantic analysis: log counts, weighted by how rare a word is, projected on the directions in which the
    texts differ most (a randomised range finder with a fixed seed, so that the same texts give the same vectors)."""
    n_texts = counts.shape[0]
    in_texts = np.bincount(counts.indices, minlength=counts.shape[1])
    wanted = np.flatnonzero((in_texts >= 2) & (in_texts <= 0.8 * n_texts))
    if n_texts < 3 or len(wanted) < 2:
        return np.zeros((n_texts, 0))
    weighted = counts[:, wanted].astype(np.float64)
    weighted.data = np.log1p(weighted.data)
    weighted = weighted @ sp.diags_array(np.log(n_texts / in_texts[wanted]))
    weighted = sp.diags_array(1 / np.maximum(np.sqrt((weighted**2).sum(axis=1)), 1e-12)) @ weighted
    probe = np.random.default_rng(0).standard_normal((weighted.shape[1], 2 * OWN_WIDTH))
    for _ in range(2):
        basis, _ = np.linalg.qr(weighted @ probe)
        probe = weighted.T @ basis
    return principal(np.asarray(weighted @ np.linalg.qr(probe)[0]), OWN_WIDTH)


def _unit_rows(values: NDArray[np.float32]) -> NDArray[np.float64]:
    lengths = np.linalg.norm(values, axis=1, keepdims=True)
    return np.asarray(values / np.maximum(lengths, 1e-12), np.float64)
