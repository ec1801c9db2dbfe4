"""What one stream will write, decided before its first token: the tokens, how many, in which events, and how it ends.

Deciding early is what lets the writing be nothing but joining bytes at the right moment.
"""

import random
from collections.abc import Iterator
from itertools import accumulate, chain, islice

from tamis.simulate.settings import Speculation
from tamis.simulate.speculative import bursts, tokens_per_pass
from tamis.simulate.text import Tokens, as_text, escaped
from tamis.simulate.wire import Ending


class Script:
    """`count` tokens from `tokens`, of which the first `reasoning` come as reasoning."""

    def __init__(self, tokens: Iterator[Tokens], count: int, ending: Ending, *, stopped_by: str | None = None) -> None:
        self.count, self.ending, self.stopped_by = count, ending, stopped_by
        self._tokens = tokens
        self._ready: Tokens = []
        self._taken = 0

    def take(self, count: int) -> Tokens:
        """The next tokens."""
        while len(self._ready) - self._taken < count:
            if self._taken > 1 << 16:
                del self._ready[: self._taken]
                self._taken = 0
            self._ready.extend(next(self._tokens))
        start, self._taken = self._taken, self._taken + count
        return self._ready[start : self._taken]


def stopping(script: Script, stop: tuple[str, ...]) -> Script:
    """The script cut before the first stop sequence in it, or itself where none occurs."""
    tokens = script.take(script.count)
    text = as_text(tokens)
    found = [(at, one) for one in stop if (at := text.find(one)) >= 0]
    if not found:
        return Script(iter([tokens]), script.count, script.ending)
    at, which = min(found)
    kept: Tokens = []
    left = at
    for token in tokens:
        if left <= 0:
            break
        piece = as_text([token])[:left]
        left -= len(piece)
        kept.append(escaped(piece))
    return Script(iter([kept]), len(kept), "sequence", stopped_by=which)


class Events:
    """How a script's tokens are spread over events, and which pass of the model completes each event.

    Without speculation a pass is one token and an event holds `size` of them; with it, each event is one pass's burst.
    """

    def __init__(self, count: int, *, size: int, spec: Speculation | None, rng: random.Random) -> None:
        self.sizes = _burst_sizes(count, spec, rng) if spec else None
        self._count, self._size = count, size
        self.total = len(self.sizes) if self.sizes is not None else -(-count // size)
        self.passes = self.total if self.sizes is not None else count
        self.accepted = count - self.total if spec else None
        self.rejected = self.total * spec.draft_length - (count - self.total) if spec else None

    def after(self, passes: int) -> int:
        """How many events are complete after so many passes."""
        if passes >= self.passes:
            return self.total
        return passes if self.sizes is not None else passes // self._size

    def pass_of(self, event: int) -> int:
        """The pass, from 1, that completes event number `event`, from 0."""
        return event + 1 if self.sizes is not None else min((event + 1) * self._size, self._count)

    def holding(self, tokens: int) -> tuple[int, int]:
        """The fewest events that hold `tokens`, and how many tokens those are."""
        if tokens <= 0:
            return 0, 0
        if self.sizes is None:
            events = min(-(-tokens // self._size), self.total)
            return events, min(events * self._size, self._count)
        for events, sum_so_far in enumerate(accumulate(self.sizes), 1):
            if sum_so_far >= tokens:
                return events, sum_so_far
        return self.total, self._count

    def grouped(self, script: Script, start: int, end: int) -> Tokens:
        """The events from `start` to before `end`, each as the bytes of its tokens. Events are taken in order."""
        if self.sizes is not None:
            return [b"".join(script.take(size)) for size in self.sizes[start:end]]
        tokens = script.take(max(0, min(end * self._size, self._count) - start * self._size))
        if self._size == 1:
            return tokens
        return [b"".join(tokens[at : at + self._size]) for at in range(0, len(tokens), self._size)]


def _burst_sizes(count: int, spec: Speculation, rng: random.Random) -> list[int]:
    """Bursts that make up `count` tokens. The first token comes out of the prefill alone; the last burst is cut."""
    sizes = [1]
    left = count - 1
    while left > 0:
        for size in bursts(spec, int(left / tokens_per_pass(spec)) + 16, rng):
            sizes.append(min(size, left))
            left -= size
            if left <= 0:
                break
    return sizes


def endless(tokens: Tokens, then: Iterator[Tokens]) -> Iterator[Tokens]:
    """These tokens first, then those: a replayed text goes on with a generated one when more is asked of it."""
    return chain([tokens], then)


def first_of(tokens: Iterator[Tokens], count: int) -> Tokens:
    """The first `count` tokens."""
    return list(islice(chain.from_iterable(tokens), count))
