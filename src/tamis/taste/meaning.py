"""What texts are about, as vectors: wordllama's token table where it is installed, else the texts' own word
statistics.

Both work offline and from the words already found: each different word is looked up once, and a text is the average
of its words, so the cost grows with the vocabulary and not with the number of texts. wordllama's weights and
tokenizer are read from its own package folder; its loader, which may try a download, is never called.
"""

import functools
import importlib.util
from pathlib import Path
from typing import Protocol

import msgspec
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

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


def meaning(words: Words) -> Meaning:
    """Vectors of what the texts are about."""
    table = word_table()
    counts, examples = word_counts(words)
    if table is None:
        note = "wordllama is not installed: texts are compared by their words alone (pip install 'tamis[prose]')"
        return Meaning(values=_own_statistics(counts), source="words of these texts", notes=(note,))
    vectors, n_tokens = table.vectors([words.spelled(one) for one in examples])
    total = counts @ n_tokens
    pooled = (counts @ vectors) / np.maximum(total, 1)[:, None]
    return Meaning(values=principal(_unit_rows(pooled), WIDTH), source=table.name)


def word_counts(words: Words) -> tuple[sp.csr_array, NDArray[np.int64]]:
    """How often each different word stands in each text (texts × vocabulary), and one place where each word stands."""
    order = np.argsort(words.hashes, kind="stable")
    new = np.diff(words.hashes[order], prepend=np.uint64(0)) != 0
    if len(new):
        new[0] = True
    column = np.empty(len(order), np.int64)
    column[order] = np.cumsum(new) - 1
    ones = np.ones(len(column), np.float32)
    counts = sp.csr_array((ones, column, words.word_starts), shape=(words.n_texts, int(new.sum())))
    return counts, order[new]


def principal(values: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    """The values along the directions in which they differ most; at most `width` of them, fewer where there are no
    more. Their spread is kept as it is."""
    centred = values - values.mean(axis=0, dtype=np.float64)
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
        pick = sp.csr_array((np.ones(len(flat), np.float32), flat, starts), shape=(len(words), len(self._table)))
        return np.asarray(pick @ self._table.astype(np.float32)), n_tokens.astype(np.float32)


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
