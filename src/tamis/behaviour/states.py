"""States. Beginnings of programs that most drafts go through alike, and what is worth trying from there.

Where drafts have parted, every later difference may only follow from it. So the ground that exploration builds on is
quiet: sequences of calls that succeeded and on which most drafts agree, without the calls that only read. From such a
state one call more shows a split plainly. A state is looked at once: first what each reader says of it, over many
days or names in one program, since reading changes nothing; then each call that changes something, on days on which a
reader's answer turned; then, along its last number, where what can be done next turns.
"""

import datetime
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from tamis.behaviour.edges import LINE_COST, Line, last_line
from tamis.behaviour.inputs import Maker
from tamis.behaviour.matrix import Column, outcomes_of
from tamis.behaviour.programs import backwards, day_of, key_of, on_day, picked
from tamis.behaviour.surface import Signature
from tamis.sandbox import Program, decode

QUIET = 0.8
"""The share of drafts that must go the same way for a beginning to be built upon; all but three will do, too."""
WALK = (0, 1, 2, 4, 6)
"""How many calls may come between a state and the last call of a walk."""
AGAIN = 4
"""How many calls longer a state may be and still come before one of a kind that was looked at already."""
TURNS = 2
"""On how many of the days on which a reader's answer turned each call is tried."""
ACTS_BEHIND = 6
"""Calls put behind a state to see what its last number changes."""


class _Failed:
    """Stands for what a call gave that raised or did not end."""


FAILED = _Failed()


def returned_of(column: Column, calls: int) -> list[object]:
    """The values that the first calls gave where most drafts went the same way, FAILED for those that gave none."""
    way = max(range(len(column.members)), key=lambda w: len(column.members[w]))
    raw = column.raw[column.row[column.members[way][0]]]
    return [_plain(o) for o in outcomes_of(raw)[:calls]]


def _plain(outcome: bytes) -> object:
    parts = msgspec.json.decode(outcome)
    if parts[0] != "=":
        return FAILED
    try:
        value: object = decode(parts[1])
    except (ValueError, TypeError, LookupError, ArithmeticError):
        return None
    return value


@dataclass(eq=False)
class State:
    """A quiet beginning: what its calls gave, and how often it was built upon. `kind` names what was done, whatever
    the order; `looks` says how far it was looked at, `turning` are the days on which a reader's answer about it turns
    or parts drafts."""

    program: Program
    returned: list[object]
    kind: str
    looks: int = 0
    walks: int = 0
    turning: list[datetime.date] = field(default_factory=list)


class States:
    """The states of one exploration."""

    def __init__(self, maker: Maker, rng: random.Random, *, drafts: int, longest: int) -> None:
        self._maker = maker
        self._rng = rng
        self._drafts = drafts
        self._longest = longest
        self._by_shape: dict[str, State] = {}
        self._sweeps: dict[bytes, State] = {}
        self._looked: Counter[str] = Counter()
        self._made: Counter[str] = Counter()
        self._parted: Counter[str] = Counter()
        reading = any(reader.params for reader in maker.readers)
        self._probes = [] if reading else [a for a in maker.acts if len(a.params) == 1 and a.returns.name != "none"]

    def __len__(self) -> int:
        return len(self._by_shape)

    def learn(self, program: Program, column: Column) -> None:
        """Takes up what a program showed: its quiet beginning is a state; of each shape the shortest stays. Where it
        was a look at a state, the days on which answers turned."""
        if not self._maker.surface.classes:
            return
        self._note_turns(program, column)
        enough = min(QUIET * self._drafts, max(2, self._drafts - 3))
        loud = next((p.step for p in column.partings() if len(p.sides[0]) < enough), len(program))
        self._made.update(call.name for call in program[: loud + 1])
        self._parted.update(call.name for call in program[loud : loud + 1])
        returned = returned_of(column, loud)
        good = [i for i in range(loud) if returned[i] is not FAILED]
        good = [good[i] for i in self._maker.lean(picked(program, good))]
        beginning = picked(program, good)
        if 0 < len(beginning) < self._longest and len(beginning) == len(good) and not backwards(beginning):
            self._keep(beginning, [returned[i] for i in good])

    def _keep(self, program: Program, returned: list[object]) -> None:
        gave = [str(bool(r)) if isinstance(r, int) else "" for r in returned]
        shape = f"{self._maker.shape(program)} {gave}"
        known = self._by_shape.get(shape)
        if known is None or len(known.program) > len(program):
            self._by_shape[shape] = State(program, returned, self._kind(program, gave))

    def _kind(self, program: Program, gave: Sequence[str]) -> str:
        """What was done, whatever the order: the calls, how many different names they are about, and how objects were
        made."""
        acts = [i for i in range(len(program)) if not self._maker.sets_up(program, i)]
        names = {a for i in acts for a in program[i].args if isinstance(a, str)}
        made = [str(c.args) for c in program if c.on is None and not c.get and c.args]
        return " ".join([*made, str(len(names)), *sorted(program[i].name + gave[i] for i in acts)])

    # looking at states

    def looked_at(self, calls: int) -> list[Program]:
        """Programs of about so many calls in all that look at states: the shortest first, and those of a kind that
        was looked at before later."""
        batch: list[Program] = []
        waiting = [s for s in self._by_shape.values() if s.looks < 2]
        while waiting and calls > 0:
            state = min(waiting, key=lambda s: len(s.program) + AGAIN * self._looked[s.kind])
            waiting.remove(state)
            fresh = self._read(state) if state.looks == 0 else self._acted(state)
            state.looks += 1
            self._looked[state.kind] += state.looks == 2
            batch += fresh
            calls -= sum(map(len, fresh))
        return batch

    def _read(self, state: State) -> list[Program]:
        """What each reader says of the state."""
        programs = [self._swept(state, reader) for reader in self._maker.readers]
        self._sweeps.update((key_of(p), state) for p in programs)
        return programs

    def _swept(self, state: State, reader: Signature) -> Program:
        """The state, and then one reader with several values: its date goes on from the last one by the drafts' own
        spans."""
        rng, returned = self._rng, state.returned
        longer = self._maker.extended(rng, state.program, returned, signature=reader, introduce=False)
        if len(longer) == len(state.program):
            return longer
        days = self._maker.later_dates(longer[:-1], longer[-1])
        if days:
            return (*longer[:-1], *days)
        for _ in range(2 if reader.params else 0):
            longer = self._maker.extended(rng, longer, returned, signature=reader, introduce=False)
        return longer

    def _acted(self, state: State) -> list[Program]:
        """Each call that changes something, and then one more, on days on which a reader's answer turned, and on one
        as drawn."""
        found = []
        for act in self._maker.acts:
            days: list[datetime.date | None] = [*state.turning[:TURNS]]
            if len(days) < TURNS or self._rng.random() < 0.5:
                days.append(None)
            tried: set[tuple[str, ...]] = set()
            for day in days:
                program = self._otherwise(state, act, tried)
                if day is not None and len(program) > len(state.program):
                    program = (*program[:-1], on_day(program[-1], day))
                other = self._rng.choice(self._maker.acts)
                found.append(self._probed(self._maker.extended(self._rng, program, state.returned, signature=other)))
        return found

    def _otherwise(self, state: State, act: Signature, tried: set[tuple[str, ...]]) -> Program:
        """The state with one call of this kind, about other names than those in `tried` where three draws bring any."""
        program = state.program
        for _ in range(3):
            program = self._maker.extended(self._rng, state.program, state.returned, signature=act)
            names = tuple(a for a in program[-1].args if isinstance(a, str))
            if names not in tried:
                tried.add(names)
                break
        return program

    def _probed(self, program: Program) -> Program:
        """Where no reader takes a name: the program, and what a call that gives something says of each name in it, in
        an order drawn."""
        if not self._probes:
            return program
        probe = self._rng.choice(self._probes)
        names = self._maker.near(program).by_param.get(probe.params[0].name, [])
        some = list({repr(n): n for n in names}.values())[:4]
        return self._maker.asked(program, probe, self._rng.sample(some, k=len(some)))

    def _note_turns(self, program: Program, column: Column) -> None:
        """Keeps the days on which answers parted drafts, then those on which they turned."""
        state = self._sweeps.pop(key_of(program), None)
        if state is None:
            return
        start = len(state.program)
        parted = {p.step for p in column.partings()}
        calls = column.seen[max(range(len(column.members)), key=lambda w: len(column.members[w]))]
        turned = {i for i in range(start + 1, len(program)) if calls[i] != calls[i - 1]}
        for step in [*sorted(s for s in parted if s >= start), *sorted(turned - parted)]:
            day = next((d for d in map(day_of, program[step].args) if d), None)
            if day is not None and day not in state.turning:
                state.turning.append(day)

    def lines(self, calls: float) -> list[Line]:
        """Lines along the last number of states that were looked at, with a call of each kind behind it to see what
        that number changes: one at least, and more while `calls` last, by what a line costs about."""
        found: list[Line] = []
        for state in [s for s in self._by_shape.values() if s.looks == 2]:
            if calls <= 0:
                break
            state.looks = 3
            program = state.program
            acts = self._rng.sample(self._maker.acts, k=len(self._maker.acts))
            for act in [*acts[:ACTS_BEHIND], *self._maker.readers[:1]]:
                program = self._maker.extended(self._rng, program, state.returned, signature=act)
            line = last_line(program, len(state.program))
            found += [line] if line is not None else []
            calls -= LINE_COST * len(program)
        return found

    # walking on

    def further(self) -> Program:
        """A state, short ones and those walked from less more often, with a few calls more: first such as seldom part
        drafts, then any."""
        states = list(self._by_shape.values())
        weights = [1.0 / (1.0 + s.walks) / (4.0 + len(s.program)) ** 1.5 for s in states]
        state = self._rng.choices(states, weights)[0]
        state.walks += 1
        calm = {name: 0.1 + (1.0 - self._parted[name] / (made + 2)) ** 2 for name, made in self._made.items()}
        program = state.program
        for _ in range(self._rng.choice(WALK)):
            program = self._maker.extended(self._rng, program, state.returned, calm=calm)
        return self._probed(self._maker.extended(self._rng, program, state.returned))
