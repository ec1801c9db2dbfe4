"""Matrix. What every draft did in every program that was run: drafts × programs, and within a cell, call by call.

Equal numbers in a column mean the same behaviour, by type and value; the words of an exception's message don't count.
Drafts that behave alike in a program share what is stored, so a matrix costs memory by the behaviours seen, not by
its cells. A cell that differs between two runs under two hash seeds is unstable, and never parts drafts: it tells
nothing of the draft there. Where all drafts are unstable in a program, that is the program's doing, elsewhere theirs.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import msgspec
import numpy as np
import numpy.typing as npt

from tamis.sandbox import Call, Program, outcome_key

Ints = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]

Runner = Callable[[Sequence[str], Sequence[Program]], Mapping[str, tuple[bytes, ...]]]
"""Runs programs in drafts (by id): for each draft, what it did in each program, as JSON."""

_calls = msgspec.json.Decoder(tuple[msgspec.Raw, ...])


def outcomes_of(ran: bytes) -> tuple[bytes, ...]:
    """The outcome of each call, as JSON, of what one draft did in one program."""
    return tuple(bytes(raw) for raw in _calls.decode(ran))


class Keys:
    """Numbers for behaviours: equal numbers where `outcome_key` says that two outcomes are the same."""

    def __init__(self) -> None:
        self._by_outcome: dict[bytes, int] = {}
        self._by_key: dict[bytes, int] = {}

    def of(self, outcome: bytes) -> int:
        known = self._by_outcome.get(outcome)
        if known is None:
            known = self._by_key.setdefault(outcome_key(b"[" + outcome + b"]"), len(self._by_key))
            if len(self._by_outcome) < 1_000_000:
                self._by_outcome[outcome] = known
        return known


class Column:
    """One program's behaviours. `seen` are the different ways that drafts went, each with its raw outcomes, the
    numbers of its calls and the positions of the drafts that went that way, in the order of the first of them.
    `second` has, by position, what drafts did in another run that was not the same."""

    __slots__ = ("members", "raw", "row", "second", "seen")

    def __init__(self, rans: Sequence[bytes], keys: Keys) -> None:
        by_raw: dict[bytes, tuple[int, ...]] = {}
        by_keys: dict[tuple[int, ...], int] = {}
        self.raw: tuple[bytes, ...] = tuple(dict.fromkeys(rans))
        for ran in self.raw:
            by_raw[ran] = tuple(keys.of(o) for o in outcomes_of(ran))
        place = {ran: i for i, ran in enumerate(self.raw)}
        self.row = np.array([place[r] for r in rans], dtype=np.int32)
        self.seen: list[tuple[int, ...]] = []
        self.members: list[list[int]] = []
        for i, ran in enumerate(rans):
            way = by_raw[ran]
            at = by_keys.setdefault(way, len(by_keys))
            if at == len(self.seen):
                self.seen.append(way)
                self.members.append([])
            self.members[at].append(i)
        self.second: dict[int, bytes] = {}

    @property
    def unstable(self) -> frozenset[int]:
        """The positions of the drafts that did not do the same in another run."""
        return frozenset(self.second)

    def is_unsettled(self) -> bool:
        """Whether it is the program that makes drafts unstable: all are, so none of them is to blame."""
        return len(self.second) == len(self.row)

    def run_again(self, rans: Mapping[int, bytes], keys: Keys) -> None:
        """Takes another run in some drafts, by position: those that behave otherwise in it are unstable."""
        for draft, ran in rans.items():
            first = self.raw[int(self.row[draft])]
            if ran != first and [*map(keys.of, outcomes_of(ran))] != [*map(keys.of, outcomes_of(first))]:
                self.second[draft] = ran

    def labels(self, drafts: int) -> Ints:
        """One number a draft, equal where drafts behaved alike in the whole program."""
        out = np.zeros(drafts, dtype=np.int32)
        for label, members in enumerate(self.members):
            out[members] = label
        return out

    def partings(self) -> Iterator["Parting"]:
        """Every point at which drafts that had gone the same way so far part, in the order of the calls."""
        if len(self.seen) == 1:
            return
        together = [list(range(len(self.seen)))]
        for step in range(max(map(len, self.seen))):
            after: list[list[int]] = []
            for ways in together:
                groups: dict[int, list[int]] = {}
                for way in ways:
                    calls = self.seen[way]
                    groups.setdefault(calls[step] if step < len(calls) else -1, []).append(way)
                if len(groups) > 1:
                    sides = tuple(self._drafts(g) for g in groups.values())
                    if sum(map(bool, sides)) > 1:
                        yield Parting(step, tuple(s for s in sides if s))
                after += [g for g in groups.values() if len(g) > 1]
            together = after
            if not together:
                return

    def _drafts(self, ways: Iterable[int]) -> tuple[int, ...]:
        return tuple(sorted(d for w in ways for d in self.members[w] if d not in self.unstable))


class Parting:
    """At call `step`, drafts that had behaved alike up to there went these ways: `sides` are positions of drafts."""

    __slots__ = ("sides", "step")

    def __init__(self, step: int, sides: tuple[tuple[int, ...], ...]) -> None:
        self.step = step
        self.sides = tuple(sorted(sides, key=lambda s: (-len(s), s)))

    @property
    def drafts(self) -> int:
        return sum(map(len, self.sides))


class Matrix:
    """What drafts did. Grown by `add`; everything else only reads."""

    def __init__(self, drafts: Sequence[str]) -> None:
        self.drafts: tuple[str, ...] = tuple(drafts)
        self.columns: list[Column] = []
        self._programs: list[Program] = []
        self._inside: list[bool] = []
        self.keys = Keys()

    def add(self, program: Program, rans: Mapping[str, bytes], *, inside: bool) -> Column:
        """One more program, with what each draft did in it."""
        column = Column([rans[d] for d in self.drafts], self.keys)
        self.columns.append(column)
        self._programs.append(program)
        self._inside.append(inside)
        self.__dict__.pop("cells", None)
        return column

    @property
    def programs(self) -> tuple[Program, ...]:
        return tuple(self._programs)

    @property
    def inside(self) -> tuple[bool, ...]:
        """For each program, whether the brief plausibly allows all of it."""
        return tuple(self._inside)

    @cached_property
    def cells(self) -> Ints:
        """(drafts, programs); equal numbers in a column mean the same behaviour over the whole program."""
        columns = [c.labels(len(self.drafts)) for c in self.columns]
        return np.stack(columns, axis=1) if columns else np.zeros((len(self.drafts), 0), dtype=np.int32)

    def steps(self, p: int) -> Ints:
        """(drafts, calls of program p); equal numbers anywhere in the matrix mean the same outcome of a call."""
        column = self.columns[p]
        width = len(self._programs[p])
        ways = np.array([(*w, *([-1] * width))[:width] for w in column.seen], dtype=np.int32).reshape(-1, width)
        return ways[column.labels(len(self.drafts))]

    def outcome(self, draft: str, p: int) -> tuple[bytes, ...]:
        """What the draft did in program p, one JSON text a call."""
        column = self.columns[p]
        return outcomes_of(column.raw[column.row[self.drafts.index(draft)]])

    @property
    def unstable(self) -> Flags:
        """(drafts, programs); where two runs differed."""
        out = np.zeros((len(self.drafts), len(self.columns)), dtype=np.bool_)
        for p, column in enumerate(self.columns):
            out[sorted(column.unstable), p] = True
        return out

    def is_unsettled(self) -> bool:
        """Whether all drafts do one thing in a run and another in the next in most programs: what is left tells little
        of them."""
        return 2 * sum(column.is_unsettled() for column in self.columns) > len(self.columns)

    def unstable_drafts(self) -> dict[str, tuple[int, ...]]:
        """The drafts that are unstable by their own doing, with the programs in which they are."""
        found: dict[str, list[int]] = {}
        for p, column in enumerate(self.columns):
            if not column.is_unsettled():
                for d in sorted(column.second):
                    if not _ran_out(column.second[d]) and not _ran_out(column.raw[int(column.row[d])]):
                        found.setdefault(self.drafts[d], []).append(p)
        return {draft: tuple(places) for draft, places in found.items()}

    def calls(self) -> int:
        """The calls run, over all drafts."""
        return len(self.drafts) * sum(map(len, self._programs))


def _ran_out(ran: bytes) -> bool:
    """Whether it ended for want of time or memory, which a busy machine can bring about."""
    return any(mark in ran for mark in (b'"timed out"', b'"out of memory"', b'"not reached"'))


def cut(program: Sequence[Call], step: int) -> Program:
    """The program up to and with call `step`."""
    return tuple(program[: step + 1])
