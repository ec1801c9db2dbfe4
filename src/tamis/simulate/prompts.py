"""Reading the prompt: how many tokens it has, how many of them were read before, and how long the rest takes.

A prompt is cached in blocks of 16 tokens, each block named by itself and all before it, as in vLLM's prefix caching.
"""

from collections import OrderedDict
from collections.abc import Sequence

BLOCK = 16
BLOCKS_KEPT = 1_000_000


class PrefixCache:
    """Which beginnings of prompts were read before; the least recently used are forgotten."""

    def __init__(self, blocks_kept: int = BLOCKS_KEPT) -> None:
        self._blocks: OrderedDict[int, None] = OrderedDict()
        self._kept = blocks_kept

    def read(self, tokens: Sequence[int]) -> int:
        """Remember this prompt; how many tokens at its beginning were known. The last token is never: a model has to
        see one to write the next."""
        known, unbroken, name = 0, True, 0
        for start in range(0, len(tokens) - BLOCK, BLOCK):
            name = hash((name, *tokens[start : start + BLOCK]))
            if name in self._blocks:
                self._blocks.move_to_end(name)
                known += BLOCK if unbroken else 0
            else:
                unbroken = False
                self._blocks[name] = None
        while len(self._blocks) > self._kept:
            self._blocks.popitem(last=False)
        return known
