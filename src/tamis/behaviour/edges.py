"""Edges. Searches along one number of a program for the places where behaviour turns.

Somewhere between a fee of nothing and a fee of ten dollars a member can't borrow any more; drafts that are off by one
part exactly there. A few drafts stand for the rest: the number is tried on a coarse scale, and wherever what they do
looks different between two neighbours, the gap is halved until they are one apart. Both sides of the edge are then
worth running in all drafts. Numbers are whole numbers, days between calls, numbers within texts and lists.
"""

import datetime
import math
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise

from msgspec.structs import replace

from tamis.behaviour.matrix import Runner
from tamis.behaviour.programs import key_of, refs_in, unique
from tamis.behaviour.sights import Sight, Sights
from tamis.sandbox import Call, Program, Value, decode, encode

Trace = tuple[tuple[Sight, ...], ...]

DAYS = (0, 1, 2, 3, 5, 8, 13, 21, 34, 62)
WHOLE = (-1, 0, 1, 2, 5, 10, 20, 50, 100, 500, 1_000, 5_000)
TEXTUAL = (0, 1, 2, 5, 10, 23, 31, 59, 99, 366, 1_000)
LINE_COST = 20
"""Programs that a line takes, about."""
HALVINGS = 13
"""Runs along a line: the coarse scale, and enough to halve its widest gap down to one."""
MOST = 3
"""Edges followed along one number."""


@dataclass(eq=False)
class Line:
    """A number that can be moved: `at(n)` is the program with it at n."""

    at: Callable[[int], Program | None]
    scale: Sequence[int]
    seen: dict[int, Trace] = field(default_factory=dict)
    programs: dict[int, Program] = field(default_factory=dict)

    def wanted(self) -> list[int]:
        """Where to look next: the scale first, then the middles of the gaps across which behaviour turns."""
        if not self.seen:
            return list(self.scale)
        return [(a + b) // 2 for a, b in self.turns() if b - a > 1][:MOST]

    def turns(self) -> list[tuple[int, int]]:
        known = sorted(self.seen)
        return [(a, b) for a, b in pairwise(known) if self.seen[a] != self.seen[b]]

    def edges(self) -> list[Program]:
        """The programs right before and behind each place where behaviour turns."""
        pairs = [(a, b) for a, b in self.turns() if b - a == 1][:MOST]
        return [self.programs[n] for pair in pairs for n in pair]


def edges_along(lines: Sequence[Line], drafts: Sequence[str], run: Runner, sights: Sights) -> tuple[list[Program], int]:
    """The programs at the edges along these lines, and the calls run for that, per draft of `drafts`."""
    spent = 0
    for _ in range(HALVINGS):
        asked: list[tuple[Line, int, Program]] = []
        for line in lines:
            for n in line.wanted():
                program = line.at(n)
                if program is not None:
                    asked.append((line, n, program))
        programs = unique([p for _, _, p in asked])
        if not programs:
            break
        spent += sum(map(len, programs))
        ran = run(drafts, programs)
        place = {key_of(p): i for i, p in enumerate(programs)}
        for line, n, program in asked:
            i = place[key_of(program)]
            line.programs[n] = program
            line.seen[n] = tuple(sights.of(ran[d][i], program) for d in drafts)
    return unique([p for line in lines for p in line.edges()]), spent


def line_of(rng: random.Random, program: Program) -> Line | None:
    """A line along one of the program's numbers, chosen by chance; None where it has none."""
    found = _lines(program)
    return rng.choice(found) if found else None


def last_line(program: Program, before: int) -> Line | None:
    """The line along the last number in the program's first `before` calls."""
    found = _lines(program, before)
    return found[-1] if found else None


def _lines(program: Program, before: int | None = None) -> list[Line]:
    found: list[Line] = []
    dates: list[datetime.date] = []
    for i, call in enumerate(program[:before]):
        for j, value in enumerate(call.args):
            if refs_in(value):
                continue
            plain = decode(value)
            line = _line(program, i, j, plain, dates)
            if line is not None:
                found.append(line)
            if type(plain) is datetime.date:
                dates.append(plain)
    return found


def _line(program: Program, i: int, j: int, plain: object, before: Sequence[datetime.date]) -> Line | None:  # noqa: PLR0911 (one answer for each kind)
    match plain:
        case bool():
            return None
        case int():
            scale = sorted({*WHOLE, plain, plain + 1, plain // 2, plain * 2})
            return Line(lambda n: _with(program, i, j, n), scale)
        case float() if math.isfinite(plain):
            return Line(lambda n: _with(program, i, j, float(n)), sorted({*WHOLE, round(plain), round(plain) + 1}))
        case Decimal() if plain.is_finite():
            return Line(lambda n: _with(program, i, j, Decimal(n)), sorted({*WHOLE, round(plain), round(plain) + 1}))
        case datetime.datetime():
            return None
        case datetime.date() if before:
            last = before[-1]
            return Line(lambda n: _later(program, i, plain, last, n), DAYS)
        case str() if re.search(r"\d", plain):
            return Line(lambda n: _with(program, i, j, re.sub(r"\d+", str(n), plain, count=1)), TEXTUAL)
        case list() if any(type(v) is int for v in plain):
            at = next(k for k, v in enumerate(plain) if type(v) is int)
            scale = sorted({*WHOLE[:9], *(v for v in plain if type(v) is int)})
            return Line(lambda n: _with(program, i, j, [*plain[:at], n, *plain[at + 1 :]]), scale)
    return None


def _with(program: Program, i: int, j: int, value: object) -> Program:
    call = program[i]
    return (*program[:i], replace(call, args=(*call.args[:j], encode(value), *call.args[j + 1 :])), *program[i + 1 :])


def _later(program: Program, i: int, day: datetime.date, before: datetime.date, n: int) -> Program | None:
    """The program with call i that many days after the date before it, and all later dates moved along."""
    by = datetime.timedelta(days=n - (day - before).days)
    try:
        return (*program[:i], *(_moved(c, by) for c in program[i:]))
    except OverflowError:
        return None


def _moved(call: Call, by: datetime.timedelta) -> Call:
    def at(value: Value) -> Value:
        if isinstance(value, list) and len(value) == 2 and value[0] == "date":
            return encode(datetime.date.fromisoformat(str(value[1])) + by)
        return value

    return replace(call, args=tuple(map(at, call.args)), kwargs={k: at(v) for k, v in call.kwargs.items()})
