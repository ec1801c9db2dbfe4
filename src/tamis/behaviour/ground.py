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
from tamis.behaviour.situations import Situation, ending, situations_of, weights_of
from tamis.behaviour.words import names_of, said
from tamis.sandbox import Program

Ints = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

Doing = tuple[str, str]
"""A method and how a call of it ends: the sort of value, or the exception and the reason that it gives."""

NEVER = 10_000
"""The step of a first difference that there is none of."""


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
    """`steps[p]` is (drafts, calls of program p): equal numbers are the same outcome. `rans[p]` has what each draft did
    in p, as JSON. `setup[p]` is how many leading calls of p only prepare: nobody needs to read what they gave. `raw`
    has an outcome as JSON for every number."""

    drafts: tuple[str, ...]
    keys: Keys
    programs: list[Program] = field(default_factory=list)
    steps: list[Ints] = field(default_factory=list)
    rans: list[tuple[bytes, ...]] = field(default_factory=list)
    setup: list[int] = field(default_factory=list)
    raw: dict[int, bytes] = field(default_factory=dict)
    _seen: dict[bytes, int] = field(default_factory=dict)
    _departures: dict[int, Departures] = field(default_factory=dict)
    _shows: dict[tuple[int, bytes], tuple[tuple[Situation, ...], ...]] = field(default_factory=dict)
    _aside: set[int] = field(default_factory=set)
    _ends: dict[tuple[int, bytes], tuple[str, ...]] = field(default_factory=dict)
    _joined: tuple[Ints, npt.NDArray[np.int64]] | None = None
    _texts: dict[int, tuple[str, ...]] = field(default_factory=dict)
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
        rest = Ground(tuple(self.drafts[d] for d in keep), self.keys, raw=self.raw)  # numbers go on as they are
        for program, steps, rans, setup in zip(self.programs, self.steps, self.rans, self.setup, strict=True):
            left = steps[keep]
            if (left != left[0]).any() or not (steps != steps[0]).any():
                rest.add(program, left, [rans[d] for d in keep], preparing=setup)
        return rest

    def stands_aside(self, p: int) -> bool:
        return p in self._aside

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
                p: tuple(tuple(numbers.setdefault(s, len(numbers)) for s in step) for step in self._shown(p, base))
                for p in range(len(self.programs))
                if p not in self._aside
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

    def showing(self, p: int, base: int, step: int) -> tuple[Flags, Doing, tuple[Situation, ...]]:
        """What call `step` of program p shows when `base` runs: the drafts (drafts,) that first part there, what the
        base does, and the situations."""
        against = first_difference(self.steps[p][:, : step + 1], self.steps[p][base, : step + 1]) == step
        return against, self.doing(p, base, step), self._shown(p, base)[step]

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
        where = np.where(whole != whole[base], np.arange(whole.shape[1]), np.iinfo(np.int64).max)
        found = np.minimum.reduceat(where, starts, axis=1) - starts
        return np.minimum(found, NEVER).astype(np.int32)


def first_difference(steps: Ints, of: Ints) -> Ints:
    """(rows,): the first column in which each row of `steps` differs from `of`, NEVER where none does."""
    differs = steps != of
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
        plain = (steps[:, i] == steps[0, i]).all()
        makes = call.on is None and any(later.on == i for later in program)
        if not (plain and (makes or int(steps[0, i]) == nothing)):
            break
        count = i + 1
    return count


def ground_of(matrix: Matrix) -> Ground:
    """The programs of a matrix that the brief allows and that ran alike twice."""
    ground = Ground(matrix.drafts, matrix.keys)
    nothing = matrix.keys.of(b'["=",null]')
    for p, (program, column) in enumerate(zip(matrix.programs, matrix.columns, strict=True)):
        if matrix.inside[p] and not column.unstable:
            steps = matrix.steps(p)
            rans = [column.raw[row] for row in column.row.tolist()]
            ground.add(program, steps, rans, preparing=preparing(program, steps, nothing))
        for ran in column.raw:
            for outcome in outcomes_of(ran):
                ground.raw.setdefault(matrix.keys.of(outcome), outcome)
    return ground
