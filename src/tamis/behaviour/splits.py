"""Splits. The points at which drafts that had behaved alike part, and when two of them are the same decision.

A split is attributed to the call where it first shows: up to there the drafts concerned went the same way, so that
call, or something hidden before it, is where they differ. Two splits are one decision if the same drafts part in the
same way in the same method, end alike (a value, or which exception), and, where they raise, mostly say the same: a
draft's own words tell one of its reasons from another.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import msgspec
import numpy as np

from tamis.behaviour.inputs import Maker
from tamis.behaviour.matrix import Column, Flags, Ints, Matrix, Parting, cut, outcomes_of
from tamis.behaviour.programs import key_of
from tamis.behaviour.shrink import cost, tag_of
from tamis.behaviour.sights import masked
from tamis.sandbox import Program

APART = -1
"""The side of a draft that had gone another way before."""
ENOUGH = 0.8
"""The share of a split's drafts that a decision must be about to explain it."""
MOST = 0.9
"""The share of all drafts that must be at a split for it to be looked at early."""


@dataclass(eq=False)
class Split:
    """A point at which drafts part: the last call of `program`. `side` is each draft's, the largest side 0, APART for
    those that had parted before; `tags` say how each ended, `words` what each said when it raised. `weight` is the
    number of programs that showed it, `also` other programs that do."""

    method: str
    program: Program
    side: Ints
    tags: tuple[str, ...]
    words: Ints
    inside: bool
    plainness: float
    weight: int = 1
    also: list[Program] = field(default_factory=list)

    @cached_property
    def parted(self) -> Flags:
        """(drafts, drafts); which pairs this parts."""
        here = self.side >= 0
        differ: Flags = self.side[:, None] != self.side[None, :]
        return differ & here[:, None] & here[None, :]

    @property
    def off(self) -> Flags:
        """The drafts that are not on the largest side."""
        flags: Flags = self.side > 0
        return flags

    @property
    def here(self) -> int:
        """How many drafts had not parted before."""
        return int((self.side >= 0).sum())

    @property
    def sides(self) -> int:
        return int(self.side.max()) + 1

    @property
    def pairs(self) -> int:
        """How many pairs of drafts this parts."""
        return int(self.parted.sum()) // 2

    @cached_property
    def methods(self) -> frozenset[str]:
        """What the program calls; which attributes it reads does not count."""
        return frozenset(c.name for c in self.program if not (c.get and c.on is not None))


class Reading:
    """Reads splits from what drafts did."""

    def __init__(self, matrix: Matrix, maker: Maker) -> None:
        self.matrix = matrix
        self.maker = maker
        self._words: dict[str, int] = {}

    def splits(self) -> list[Split]:
        """Every different way of parting, each with the shortest program that shows it: those in which most drafts are
        concerned, with two sides and short programs, first; those outside the brief last."""
        best: dict[tuple[object, ...], Split] = {}
        for program, column in zip(self.matrix.programs, self.matrix.columns, strict=True):
            for parting in column.partings():
                split = self.split(cut(program, parting.step), column, parting)
                key = (split.method, parting.sides, split.tags)
                known = best.get(key)
                if known is None:
                    best[key] = split
                    continue
                known.weight += 1
                if (split.inside, -len(split.program)) > (known.inside, -len(known.program)):
                    split.weight = known.weight
                    best[key] = split
        few = MOST * len(self.matrix.drafts)
        return sorted(
            best.values(),
            key=lambda s: (
                (not s.inside, s.here < few, s.sides > 2, len(s.program), -s.pairs, s.plainness, key_of(s.program))
            ),
        )

    def split(self, program: Program, column: Column, parting: Parting) -> Split:
        """The split at the last call of `program`, the beginning of the column's program."""
        n = len(self.matrix.drafts)
        side, words, tags = np.full(n, APART, np.int32), np.full(n, APART, np.int32), [""] * n
        outcomes = [outcomes_of(raw)[parting.step] for raw in column.raw]
        ended = [tag_of(o) for o in outcomes]
        said = [self._said(o, program) for o in outcomes]
        for number, drafts in enumerate(parting.sides):
            for draft in drafts:
                raw = int(column.row[draft])
                side[draft], words[draft], tags[draft] = number, said[raw], ended[raw]
        inside, plainness = self.maker.inside(program), cost(program, self.maker)[0]
        return Split(self._method(program), program, side, tuple(tags), words, inside, plainness)

    def _method(self, program: Program) -> str:
        """What the last call calls, like "LendingDesk.renew"."""
        signature = self.maker.signature_at(program, len(program) - 1)
        return signature.qualname if signature is not None else program[-1].name

    def _said(self, outcome: bytes, program: Program) -> int:
        """A number for what an exception says, APART for what raises none."""
        parts = msgspec.json.decode(outcome)
        if parts[0] != "!":
            return APART
        return self._words.setdefault(masked(str(parts[3]), program), len(self._words))


def same_parting(a: Ints, b: Ints) -> bool:
    """Whether two ways of parting agree on the drafts that both are about, and those are most of what `b` is about."""
    both = (a >= 0) & (b >= 0)
    if both.sum() < ENOUGH * (b >= 0).sum():
        return False
    pairs = {(int(x), int(y)) for x, y in zip(a[both], b[both], strict=True)}
    return len(pairs) > 1 and len(pairs) == len({x for x, _ in pairs}) == len({y for _, y in pairs})


def _same_ends(a: Split, b: Split) -> bool:
    return all(x == y for x, y in zip(a.tags, b.tags, strict=True) if x and y)


def _same_words(a: Split, b: Split) -> bool:
    """Whether most drafts that raise in both say the same."""
    both = (a.words >= 0) & (b.words >= 0)
    return not both.any() or float((a.words[both] == b.words[both]).mean()) >= 0.5


def explains(decision: Split, split: Split) -> bool:
    """Whether the split is only another sight of the decision."""
    return (
        decision.method == split.method
        and decision.inside >= split.inside
        and decision.methods <= split.methods
        and same_parting(decision.side, split.side)
        and _same_ends(decision, split)
        and _same_words(decision, split)
    )


def is_several(split: Split, found: Iterable[Split]) -> bool:
    """Whether the split is two or more plainer decisions of the method at once. One with many sides is, when plainer
    ones part all the pairs that it parts; one with two sides is, when each of several plainer ones sets some of the
    same drafts off against the rest, and together all of them."""
    plainer = [
        d for d in found if d.method == split.method and d.plainness < split.plainness and d.inside >= split.inside
    ]
    if any(same_parting(d.side, split.side) and _same_ends(d, split) for d in plainer):
        return False
    if split.sides > 2:
        left = split.parted.copy()
        for decision in plainer:
            left &= ~decision.parted
        return not left.any()
    off, others = split.off.copy(), ~split.off & (split.side >= 0)
    for decision in plainer:
        if not (decision.off & others).any():
            off &= ~decision.off
    return not off.any()


def is_known(split: Split, found: Sequence[Split]) -> bool:
    """Whether decisions found already say what the split shows."""
    return any(explains(d, split) for d in found) or is_several(split, found)
