"""Camps. Drafts that behave alike in every program tried form a camp. A camp's size is evidence, not proof: writers
share mistakes."""

from collections.abc import Iterable, Sequence

import numpy as np

from tamis.behaviour.matrix import Column, Matrix
from tamis.records import Record


class Camp(Record, frozen=True, kw_only=True):
    """Drafts alike on every stable cell, and their share of all drafts, in (0, 1]."""

    drafts: tuple[str, ...]
    share: float


class Partition:
    """Which drafts no program has parted so far, kept up to date program by program."""

    def __init__(self, drafts: int) -> None:
        self.groups = np.zeros(drafts, dtype=np.int64)
        self.count = min(1, drafts)

    def part(self, column: Column) -> int:
        """Parts what this program parts, and returns how many more groups there are. An unstable draft stays with
        the largest part of those it was with."""
        if len(column.seen) == 1:
            return 0
        labels = column.labels(len(self.groups)).astype(np.int64)
        for draft in sorted(column.unstable):
            labels[draft] = self._follows(draft, labels, column.unstable)
        mixed = self.groups * (int(labels.max()) + 1) + labels
        values, self.groups = np.unique(mixed, return_inverse=True)
        gained, self.count = len(values) - self.count, len(values)
        return gained

    def _follows(self, draft: int, labels: np.ndarray[tuple[int], np.dtype[np.int64]], unstable: Iterable[int]) -> int:
        others = [d for d in np.flatnonzero(self.groups == self.groups[draft]) if d not in set(unstable)]
        if not others:
            return int(labels[draft]) if draft == min(unstable) else int(labels[min(unstable)])
        values, counts = np.unique(labels[others], return_counts=True)
        return int(values[counts.argmax()])


def camps_of(matrix: Matrix) -> tuple[Camp, ...]:
    """The camps, heaviest first; among equals in the order of the drafts."""
    partition = Partition(len(matrix.drafts))
    for column in matrix.columns:
        partition.part(column)
    return named_camps(matrix.drafts, partition)


def named_camps(drafts: Sequence[str], partition: Partition) -> tuple[Camp, ...]:
    """The groups of a partition as camps."""
    by_group: dict[int, list[str]] = {}
    for draft, group in zip(drafts, partition.groups.tolist(), strict=True):
        by_group.setdefault(group, []).append(draft)
    heaviest = sorted(by_group.values(), key=len, reverse=True)
    return tuple(Camp(drafts=tuple(d), share=len(d) / len(drafts)) for d in heaviest)
