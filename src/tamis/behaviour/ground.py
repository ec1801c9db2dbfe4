"""Ground. The programs that can be asked about or shown, and what every draft does in each, call by call.

A draft is compared with one other, the base: where it first behaves differently is where a reader of the base's
outcomes would notice. What parts drafts from a base is summed up as `Departures`: the ways in which the truth could
differ from that base, as far as any draft shows one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np
import numpy.typing as npt

from tamis.behaviour.matrix import Keys, Matrix, outcomes_of
from tamis.behaviour.situations import Situation, ending, given_in, situations_of, weights_of
from tamis.behaviour.words import names_of, said
from tamis.sandbox import Program

Ints = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

Doing = tuple[str, str]
"""A method and how a call of it ends: the sort of value, or the exception and the reason that it gives."""

NEVER = 10_000
"""The step of a first difference that there is none of."""
UNTOLD = -2
"""Stands for an outcome of which nothing can be told. It is not like any other, nor different from it."""


@dataclass(frozen=True)
class Departures:
    """The ways in which drafts part from one base: row by row the drafts that first part there (ways × drafts), what
    the base does there (the method, and how it ends), and where it shows: `at[p]` lists (step, way) of program p in
    the order of the calls."""

    base: int
    away: Flags
    does: tuple[Doing, ...]
    at: Mapping[int, tuple[tuple[int, int], ...]]

    @property
    def ways(self) -> int:
        return len(self.does)


@dataclass(frozen=True)
class Situations:
    """The situations that programs show when one base runs: `at[p]` has, call by call, their numbers; `weights`
    (situations,) sum to 1."""

    at: Mapping[int, tuple[tuple[int, ...], ...]]
    numbers: Mapping[Situation, int]
    weights: Floats


@dataclass
class Ground:
    """`steps[p]` is (drafts, calls of program p): equal numbers are the same outcome, UNTOLD where a draft is unstable.
    `rans[p]` has what each draft did in p, as JSON. `setup[p]` is how many leading calls of p only prepare: nobody
    needs to read what they gave. `raw` has an outcome as JSON for every number. `unstable` are the drafts that were
    unstable anywhere by their own doing."""

    drafts: tuple[str, ...]
    keys: Keys
    unstable: frozenset[str] = frozenset()
    programs: list[Program] = field(default_factory=list)
    steps: list[Ints] = field(default_factory=list)
    rans: list[tuple[bytes, ...]] = field(default_factory=list)
    setup: list[int] = field(default_factory=list)
    raw: dict[int, bytes] = field(default_factory=dict)
    _seen: dict[bytes, int] = field(default_factory=dict)
    _departures: dict[int, Departures] = field(default_factory=dict)
    _shows: dict[tuple[int, bytes], tuple[tuple[Situation, ...], ...]] = field(default_factory=dict)
    _aside: set[int] = field(default_factory=set)
    _opened: dict[int, Ints] = field(default_factory=dict)
    waived: dict[tuple[int, int], Ints] = field(default_factory=dict)
    """Calls, by program and step, at which it does not matter what a draft gives: (drafts,), 0 or more for those that
    it does not matter for, below 0 for the others."""
    _ends: dict[tuple[int, bytes], tuple[str, ...]] = field(default_factory=dict)
    _joined: tuple[Ints, npt.NDArray[np.int64]] | None = None
    _texts: dict[int, tuple[str, ...]] = field(default_factory=dict)
    _given: dict[int, list[frozenset[Situation]]] = field(default_factory=dict)
    _situations: dict[int, Situations] = field(default_factory=dict)

    def add(self, program: Program, steps: Ints, rans: Sequence[bytes], *, preparing: int, aside: bool = False) -> int:
        """The place of the program, which is added where it is new. `steps` are (drafts, calls), `rans` what each draft
        did. One that stands `aside` is no place where the truth is looked for."""
        key = msgspec.json.encode(program)
        known = self._seen.get(key)
        if known is not None:
            return known
        self._seen[key] = len(self.programs)
        self.programs.append(program)
        self.steps.append(steps)
        self.rans.append(tuple(rans))
        self.setup.append(preparing)
        if aside:
            self._aside.add(len(self.programs) - 1)
        else:
            self._departures.clear()
            self._situations.clear()
        return len(self.programs) - 1

    def without(self, gone: Sequence[str]) -> "Ground":
        """The ground as it would be without some drafts. A program in which only those part from the rest goes too:
        it might not have been found without them."""
        keep = [d for d, name in enumerate(self.drafts) if name not in set(gone)]
        unstable = self.unstable - set(gone)
        rest = Ground(tuple(self.drafts[d] for d in keep), self.keys, unstable, raw=self.raw)  # numbers stay
        for program, steps, rans, setup in zip(self.programs, self.steps, self.rans, self.setup, strict=True):
            left = steps[keep]
            if parting(left) or not parting(steps):
                rest.add(program, left, [rans[d] for d in keep], preparing=setup)
        return rest

    def stands_aside(self, p: int) -> bool:
        return p in self._aside

    def waive(self, p: int, step: int, sides: Ints) -> None:
        """From now on it parts no drafts what they give at call `step` of program p, as far as they have a side."""
        self.waived[p, step] = sides
        self._departures.clear()

    def close(self, p: int, step: int) -> None:
        """From now on nothing is told of call `step` of program p and those after it."""
        self._opened.setdefault(p, self.steps[p])
        self.steps[p] = self.steps[p].copy()
        self.steps[p][:, step:] = UNTOLD
        self._joined = None
        self._departures.clear()
        self._situations.clear()

    def opened(self, p: int) -> Ints:
        """The steps of program p as they were before any of it was closed."""
        return self._opened.get(p, self.steps[p])

    def last_outcomes(self, p: int) -> Ints:
        """(drafts,): what each draft gives in the last call of p, by number: the same for all for whom that does not
        matter."""
        found, last = self.steps[p][:, -1], len(self.programs[p]) - 1
        sides = self.waived.get((p, last))
        if sides is None or not (sides >= 0).any():
            return found
        return np.where(sides >= 0, found[(sides >= 0).argmax()], found)

    def camps(self) -> list[tuple[int, ...]]:
        """Drafts that no program parts, by position. A unstable draft is by itself: it is not even like itself."""
        counted = [p for p in range(len(self.programs)) if p not in self._aside]
        whole = np.concatenate([np.zeros((len(self.drafts), 0), np.int32), *(self.steps[p] for p in counted)], axis=1)
        equal: dict[bytes, list[int]] = {}
        for d, name in enumerate(self.drafts):
            equal.setdefault(b"?" + name.encode() if name in self.unstable else whole[d].tobytes(), []).append(d)
        if not self.waived and not (whole == UNTOLD).any():
            return [tuple(camp) for camp in equal.values()]
        return self._merged(list(equal.values()), counted)

    def _merged(self, camps: Sequence[list[int]], counted: Sequence[int]) -> list[tuple[int, ...]]:
        """The camps, joined where nothing that can be told and that matters parts them: each with the first of those
        before it that it can be joined with."""
        found: list[list[int]] = []
        apart: list[Flags] = []
        for camp in camps:
            steady = self.drafts[camp[0]] not in self.unstable
            like = next((i for i, flags in enumerate(apart) if steady and not flags[camp].any()), None)
            if like is not None:
                found[like] += camp
                continue
            found.append(camp)
            here = (self._firsts(camp[0])[:, counted] < NEVER).any(axis=1)
            apart.append(np.asarray(here | (not steady), dtype=np.bool_))
        return [tuple(sorted(camp)) for camp in found]

    def place(self, program: Program) -> int | None:
        return self._seen.get(msgspec.json.encode(program))

    def beginning_with(self, program: Program) -> tuple[int, ...]:
        """The places of all programs that begin with this one; those that stand aside are left out."""
        calls = len(program)
        return tuple(p for p, other in enumerate(self.programs) if p not in self._aside and other[:calls] == program)

    def texts(self, p: int) -> tuple[str, ...]:
        """The calls of program p as they are read."""
        if p not in self._texts:
            program, names = self.programs[p], names_of(self.programs[p])
            self._texts[p] = tuple(said(program, i, names) for i in range(len(program)))
        return self._texts[p]

    def given(self, p: int) -> list[frozenset[Situation]]:
        """For each call of program p what it was given."""
        if p not in self._given:
            self._given[p] = given_in(self.programs[p])
        return self._given[p]

    def first_difference(self, p: int, base: int) -> Ints:
        """(drafts,): the first call of program p at which each draft differs from `base`, NEVER where it does not."""
        return first_difference(self.steps[p], self.steps[p][base])

    def departures(self, base: int) -> Departures:
        """All the ways in which drafts part from `base`; kept until a program is added."""
        found = self._departures.get(base)
        if found is None:
            found = self._departures[base] = self._all_departures(base)
        return found

    def situations(self, base: int) -> Situations:
        """The situations that programs show when `base` runs. Calls that only prepare show nothing."""
        found = self._situations.get(base)
        if found is None:
            numbers: dict[Situation, int] = {}
            at = {
                p: tuple(tuple(numbers.setdefault(s, len(numbers)) for s in step) for step in shown)
                for p in range(len(self.programs))
                if p not in self._aside and (shown := self._shown(p, base)[: self.told(p, base)])
            }
            found = self._situations[base] = Situations(at, numbers, np.array(weights_of(tuple(numbers))))
        return found

    def _shown(self, p: int, base: int) -> tuple[tuple[Situation, ...], ...]:
        """What program p shows, call by call; drafts that go the same way share the work."""
        key = (p, self.rans[p][base])
        if key not in self._shows:
            steps = situations_of(self.programs[p], self._endings(p, base))
            steps[: self.setup[p]] = [frozenset()] * self.setup[p]
            self._shows[key] = tuple(tuple(sorted(step)) for step in steps)
        return self._shows[key]

    def told(self, p: int, base: int) -> int:
        """How many leading calls of program p have an outcome of which something can be told, when `base` runs."""
        untold = self.steps[p][base] == UNTOLD
        return int(untold.argmax()) if untold.any() else len(untold)

    def showing(self, p: int, base: int, step: int) -> tuple[Flags, Doing, tuple[Situation, ...]]:
        """What call `step` of program p shows when `base` runs: the drafts (drafts,) that first part there, what the
        base does, and the situations."""
        against = first_difference(self.steps[p][:, : step + 1], self.steps[p][base, : step + 1]) == step
        situations = self._shown(p, base)[step] if step < self.told(p, base) else ()
        return against, self.doing(p, base, step), situations

    def _all_departures(self, base: int) -> Departures:
        places: dict[tuple[Doing, bytes], int] = {}
        at: dict[int, tuple[tuple[int, int], ...]] = {}
        rows: list[Flags] = []
        firsts = self._firsts(base)
        for p in np.flatnonzero((firsts < NEVER).any(axis=0)).tolist():
            if p in self._aside:
                continue
            first, here = firsts[:, p], []
            for step in sorted(set(first.tolist()) - {NEVER}):
                away = first == step
                key = (self.doing(p, base, step), away.tobytes())
                if key not in places:
                    places[key] = len(rows)
                    rows.append(away)
                here.append((step, places[key]))
            at[p] = tuple(here)
        table = np.array(rows, dtype=np.bool_).reshape(-1, len(self.drafts))
        return Departures(base, table, tuple(does for does, _ in places), at)

    def doing(self, p: int, base: int, step: int) -> Doing:
        """What `base` does in call `step` of program p."""
        return self.programs[p][step].name, self._endings(p, base)[step]

    def _endings(self, p: int, base: int) -> tuple[str, ...]:
        """How each call of program p ends in `base`."""
        key = (p, self.rans[p][base])
        if key not in self._ends:
            ends = [ending(outcome, self.programs[p]) for outcome in outcomes_of(self.rans[p][base])]
            self._ends[key] = tuple(ends + [""] * (len(self.programs[p]) - len(ends)))
        return self._ends[key]

    def _firsts(self, base: int) -> Ints:
        """(drafts, programs): `first_difference` of every program at once."""
        if not self.programs:
            return np.zeros((len(self.drafts), 0), dtype=np.int32)
        if self._joined is None or self._joined[1].shape[0] != len(self.programs):
            starts = np.cumsum([0, *(s.shape[1] for s in self.steps[:-1])])
            self._joined = np.concatenate(self.steps, axis=1), starts
        whole, starts = self._joined
        where = np.where(differing(whole, whole[base]), np.arange(whole.shape[1]), np.iinfo(np.int64).max)
        found = np.minimum(np.minimum.reduceat(where, starts, axis=1) - starts, NEVER).astype(np.int32)
        for (p, step), sides in self.waived.items():
            if sides[base] >= 0:
                found[(found[:, p] == step) & (sides >= 0), p] = NEVER
        return found


def differing(steps: Ints, of: Ints) -> Flags:
    """Where outcomes, by number, are known to be different."""
    return np.asarray((steps != of) & (steps != UNTOLD) & (of != UNTOLD), dtype=np.bool_)


def parting(steps: Ints) -> bool:
    """Whether any two rows differ anywhere."""
    highest = np.where(steps == UNTOLD, np.iinfo(np.int32).min, steps).max(axis=0)
    lowest = np.where(steps == UNTOLD, np.iinfo(np.int32).max, steps).min(axis=0)
    return bool((highest > lowest).any())


def first_difference(steps: Ints, of: Ints) -> Ints:
    """(rows,): the first column in which each row of `steps` differs from `of`, NEVER where none does."""
    differs = differing(steps, of)
    return np.where(differs.any(axis=1), differs.argmax(axis=1), NEVER).astype(np.int32)


def numbered(rans: Sequence[bytes], keys: Keys, calls: int) -> Ints:
    """(rows, calls): the outcomes of one program in several drafts, as numbers. What was not reached is −1."""
    rows = [[keys.of(o) for o in outcomes_of(ran)][:calls] for ran in rans]
    return np.array([row + [-1] * (calls - len(row)) for row in rows], dtype=np.int32).reshape(len(rows), calls)


def preparing(program: Program, steps: Ints, nothing: int) -> int:
    """How many leading calls of the program give nothing (the number of that outcome is `nothing`) or make an object,
    in all drafts alike; at least one call is always left to be read."""
    count = 0
    for i, call in enumerate(program[:-1]):
        here = np.unique(steps[:, i][steps[:, i] != UNTOLD])
        makes = call.on is None and any(later.on == i for later in program)
        if not (len(here) == 1 and (makes or int(here[0]) == nothing)):
            break
        count = i + 1
    return count


def ground_of(matrix: Matrix) -> Ground:
    """The programs of a matrix that the brief allows. What an unstable draft did is left untold; a program in which
    all are unstable is left out."""
    ground = Ground(matrix.drafts, matrix.keys, frozenset(matrix.unstable_drafts()))
    nothing = matrix.keys.of(b'["=",null]')
    for p, (program, column) in enumerate(zip(matrix.programs, matrix.columns, strict=True)):
        if matrix.inside[p] and not column.is_unsettled():
            steps = matrix.steps(p)
            steps[sorted(column.unstable)] = UNTOLD
            rans = [column.raw[row] for row in column.row.tolist()]
            ground.add(program, steps, rans, preparing=preparing(program, steps, nothing))
        for ran in column.raw:
            for outcome in outcomes_of(ran):
                ground.raw.setdefault(matrix.keys.of(outcome), outcome)
    return ground
