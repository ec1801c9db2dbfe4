"""Texts measured by another process while this one goes on: counting tokens and hashing triples of words keep Python's
interpreter to themselves, so on one interpreter they would share a core with all that reads, folds and records.

What comes out does not depend on who measured, nor on how many processes there are. A batch whose process dies on it
twice is measured here. So are the first texts, until there are enough of them to start a process for, batches that
would take longer to hand over, and those that come while enough are on their way.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

import msgspec
import numpy as np

from tamis.checks.near import Signature, signatures_of
from tamis.checks.parser_pool import Job, Parsed, ParserPool
from tamis.checks.shingling import MEASURE_BYTES, MINIMA, packed
from tamis.errors import SandboxFault

T = TypeVar("T")
WORTH_BYTES = 50_000
"""So much text takes about as long as a process takes to start."""
BATCH_BYTES = 4_000
"""A smaller batch takes less than handing it over and back."""
MOST_BYTES = 4_000_000
"""A text that large is measured here: what it may cost there is bounded."""
WAITING_EACH = 4
"""So many batches may be on their way for each process: it has fallen behind then, and others are measured here."""


class Measure(msgspec.Struct, frozen=True, gc=False):
    """Of one text: its tokens, its words, and what the index of near-duplicates knows it by."""

    tokens: int
    """0 where they were known."""
    words: int
    signature: Signature


Batch = tuple[Sequence[T], Sequence[Measure]]


class Measuring(Generic[T]):
    """Batches in, the same batches with their measures out, in order. Without a `pool` all is measured here."""

    def __init__(self, pool: ParserPool | None) -> None:
        self._pool = pool
        self._most = WAITING_EACH * pool.size if pool else 0
        self._batches: deque[tuple[Sequence[T], Sequence[bytes], Future[Parsed] | bytes]] = deque()
        self._away = 0
        self._seen_bytes = 0

    def put(self, items: Sequence[T], texts: Sequence[bytes], *, uncounted: Sequence[int] = ()) -> None:
        """`texts` are those of the items, one each; the tokens of those at the places `uncounted` are known."""
        size = sum(map(len, texts))
        self._seen_bytes += size
        worth = self._seen_bytes >= WORTH_BYTES and BATCH_BYTES <= size <= MOST_BYTES
        if self._pool is None or self._away >= self._most or not worth:
            self._batches.append((items, texts, packed(texts, uncounted)))
            return
        sizes = tuple(map(len, texts))
        job = Job(language="texts", content=b"".join(texts), sizes=sizes, uncounted=tuple(uncounted))
        self._batches.append((items, texts, self._pool.submit(job)))
        self._away += 1

    def done(self, *, wait: bool = False) -> Iterator[Batch[T]]:
        """The batches that are measured by now, up to the first that is not; all of them, where one is to `wait`."""
        while self._batches:
            items, texts, found = self._batches[0]
            if isinstance(found, Future):
                if not wait and not found.done():
                    return
                found = self._of(found, texts)
                self._away -= 1
            self._batches.popleft()
            yield items, _measures(found)

    def _of(self, found: "Future[Parsed]", texts: Sequence[bytes]) -> bytes:
        try:
            said = found.result().marshalled
        except SandboxFault:  # no process can be started, which is no reason to stop
            said = b""
        return said if len(said) == MEASURE_BYTES * len(texts) else packed(texts)


def _measures(found: bytes) -> list[Measure]:
    rows = np.frombuffer(found, _ROW)
    counts, signatures = rows["counts"].tolist(), signatures_of(rows["minima"])
    return [Measure(tokens, words, one) for (tokens, words), one in zip(counts, signatures, strict=True)]


_ROW = np.dtype([("counts", np.int64, 2), ("minima", np.uint32, MINIMA)])
"""As `tamis.checks.shingling` packs a text's measures."""
