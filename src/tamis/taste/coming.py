"""Texts measured while others still arrive: what each is by itself needs none of the others.

Measuring goes on in blocks, in whatever order texts come; a text's numbers are the same in any block. What is asked for
in the end is read off in the order asked for, and what did not come this way is measured then.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from tamis.taste.features import BLOCK_CHARS, EXACT_CHARS, ReadTexts
from tamis.taste.folding import whole_shingles
from tamis.taste.meaning import AboutRows, Vocabulary
from tamis.taste.style import REPEATED_WORDS, Shingles, StyleRows, distinct_shingles, style_rows
from tamis.taste.words import read_words


class Coming:
    """Texts by name. `add` gathers them into blocks; `read` gives those wanted as if they had been read at once."""

    def __init__(self) -> None:
        self._vocabulary = Vocabulary()
        self._places: dict[str, int] = {}
        self._waiting: dict[str, str] = {}
        self._waiting_chars = self._chars = 0
        self._style: list[StyleRows] = []
        self._about: list[AboutRows] = []
        self._shingles: list[Shingles] = []

    def add(self, name: str, text: str) -> None:
        """Measures a text, with others as soon as there is a block of them."""
        self._waiting[name] = text
        self._waiting_chars += len(text)
        if self._waiting_chars >= BLOCK_CHARS:
            self.measure()

    def measure(self) -> None:
        """Measures those that wait for others."""
        if not self._waiting:
            return
        block, self._waiting = self._waiting, {}
        self._chars += self._waiting_chars
        self._waiting_chars = 0
        words = read_words(list(block.values()))
        triples = distinct_shingles(words, REPEATED_WORDS)
        self._style.append(style_rows(words, triples))
        self._about.append(self._vocabulary.about(words))
        if self._chars <= EXACT_CHARS:
            self._shingles.append(whole_shingles(words, triples))
        else:
            self._shingles.clear()  # they will not be asked for
        for name in block:
            self._places[name] = len(self._places)

    def read(self, texts: Mapping[str, str]) -> tuple[ReadTexts, list[int]]:
        """All that was measured, these texts among it, with their places in it. Shingles are those of these texts
        alone, in their order."""
        for name, text in texts.items():
            if name not in self._places and name not in self._waiting:
                self.add(name, text)
        self.measure()
        places = [self._places[name] for name in texts]
        measured = ReadTexts(
            n_texts=len(self._places),
            style=self._style,
            about=self._about,
            vocabulary=self._vocabulary,
            shingles=_taken(self._shingles, places) if self._chars <= EXACT_CHARS else None,
        )
        return measured, places


def _taken(blocks: Sequence[Shingles], places: Sequence[int]) -> Shingles:
    """The shingles of the texts at these places, counted through all blocks, in this order."""
    firsts = np.cumsum([0, *(len(block.starts) - 1 for block in blocks)])
    which = np.searchsorted(firsts, places, side="right") - 1
    parts = []
    for number, place in zip(which.tolist(), places, strict=True):
        block, at = blocks[number], place - int(firsts[number])
        parts.append(block.values[block.starts[at] : block.starts[at + 1]])
    ends = np.cumsum([0, *map(len, parts)])
    return Shingles(values=np.concatenate([np.zeros(0, np.uint64), *parts]), starts=ends)
