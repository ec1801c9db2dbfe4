"""Grow. Explores what can be called until drafts that can be parted are parted, within a budget of calls.

It begins with what the tests do and with plain sequences, runs all drafts on them, and goes on in rounds. A round looks
at states not looked at yet, searches edges along numbers, walks on from states that drafts agree on, and changes
programs that parted drafts as none did before. Everything is a function of `rng` and of what the drafts did: run again
with the same outcomes, the same programs are made, so what already ran need not run twice. Budgets count calls, not
seconds, for the same reason.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from tamis.behaviour.camps import Partition
from tamis.behaviour.changes import changed
from tamis.behaviour.edges import LINE_COST, edges_along, line_of
from tamis.behaviour.hints import Hints
from tamis.behaviour.inputs import Maker
from tamis.behaviour.matrix import Column, Matrix, Parting, Runner, cut
from tamis.behaviour.programs import key_of
from tamis.behaviour.sights import Sights
from tamis.behaviour.states import States, returned_of
from tamis.behaviour.surface import Surface
from tamis.records import Record
from tamis.sandbox import Program

Progress = Callable[[int, int, int], None]
"""Told after each round: programs run, groups of drafts parted so far, calls run in all drafts together."""

FEW = 5
"""Drafts in which edges are searched before their programs are run in all."""
EDGES = 0.25
"""The share of a round that may go into searching edges."""
LOOKING = 0.7
"""The share of a round that goes to states that were not looked at yet, where there are any."""
WALKING = 0.7
"""The share of what is grown that walks on from a state; the rest changes programs that parted drafts."""
TELLING = 0.5
"""The share of drafts that must be at a split for it to be worth growing from, where it parts no camp."""


class Budget(Record, frozen=True, kw_only=True):
    """How far to explore. `calls` is the number of calls per draft in all, `round_calls` that of one round (about a
    second of work), `dry_rounds` after how many rounds that bring nothing it stops, `longest` the longest program."""

    calls: int = 12_000
    round_calls: int = 1_500
    dry_rounds: int = 6
    longest: int = 24


@dataclass(eq=False)
class Entry:
    """A program that parted drafts as none did before, cut behind the call that did: what its calls gave where most
    drafts went the same way, and how often it was changed."""

    program: Program
    returned: list[object]
    worth: float
    grown: int = 0


@dataclass(eq=False)
class _Search:
    """One exploration: what was run, what was seen, what is worth growing."""

    maker: Maker
    matrix: Matrix
    states: States
    rng: random.Random
    budget: Budget
    partition: Partition
    sights: Sights = field(default_factory=Sights)
    known: set[bytes] = field(default_factory=set)
    seen: set[tuple[str, tuple[tuple[int, ...], ...]]] = field(default_factory=set)
    entries: list[Entry] = field(default_factory=list)
    few: tuple[str, ...] = ()
    spent: float = 0.0


def explore(
    surface: Surface,
    hints: Hints,
    drafts: Sequence[str],
    run: Runner,
    *,
    rng: random.Random,
    budget: Budget | None = None,
    again: Runner | None = None,
    progress: Progress | None = None,
) -> Matrix:
    """Runs ever more programs in all drafts and gives what they did. `again` runs programs under another hash seed:
    what parts drafts is run a second time, and cells that differ are unstable."""
    budget, maker = budget or Budget(), Maker(surface, hints)
    states = States(maker, rng, drafts=len(drafts), longest=budget.longest)
    search = _Search(maker, Matrix(drafts), states, rng, budget, Partition(len(drafts)))
    if not drafts or not maker.callable:
        return search.matrix
    batch, dry = _first(search), 0
    while batch and search.spent < budget.calls and dry < budget.dry_rounds:
        brought = _round(search, batch, run, again)
        dry = 0 if brought else dry + 1
        if progress is not None:
            progress(len(search.matrix.columns), search.partition.count, round(search.spent * len(drafts)))
        search.few = search.few or _representatives(search.matrix)
        batch = _next(search, run)
    if again is not None:
        look_again(search.matrix, again)
    return search.matrix


def look_again(matrix: Matrix, again: Runner) -> None:
    """Runs all programs once more in the drafts that were found unstable: what such a draft did in a program that told
    nothing new was seen once only."""
    place = {draft: at for at, draft in enumerate(matrix.drafts)}
    unstable = tuple(matrix.unstable_drafts())
    ran = again(unstable, matrix.programs) if unstable else {}
    for i, column in enumerate(matrix.columns):
        column.run_again({place[draft]: ran[draft][i] for draft in unstable}, matrix.keys)


def _representatives(matrix: Matrix) -> tuple[str, ...]:
    """A few drafts, each as different from those before it as can be; all where there are few anyway."""
    if len(matrix.drafts) <= FEW:
        return matrix.drafts
    cells, chosen = matrix.cells, [0]
    while len(chosen) < FEW:
        apart = np.min([(cells != cells[c]).sum(axis=1) for c in chosen], axis=0)
        chosen.append(int(apart.argmax()))
    return tuple(matrix.drafts[c] for c in chosen)


# one round


def _round(search: _Search, batch: Sequence[Program], run: Runner, again: Runner | None) -> bool:
    """Runs a batch in all drafts; whether it brought a way of parting that was not seen."""
    matrix = search.matrix
    ran = run(matrix.drafts, batch)
    search.spent += sum(map(len, batch))
    columns = [
        matrix.add(program, {d: ran[d][i] for d in matrix.drafts}, inside=search.maker.inside(program))
        for i, program in enumerate(batch)
    ]
    telling = [(p, c) for p, c in zip(batch, columns, strict=True) if _tells(search, p, c)]
    if again is not None and telling:
        second = again(matrix.drafts, [program for program, _ in telling])
        for i, (_, column) in enumerate(telling):
            column.run_again({at: second[d][i] for at, d in enumerate(matrix.drafts)}, matrix.keys)
    brought = False
    for program, column in telling:
        brought |= _learn(search, program, column)
    for program, column in zip(batch, columns, strict=True):
        search.states.learn(program, column)
    return brought


def _tells(search: _Search, program: Program, column: Column) -> bool:
    """Whether the program parts drafts in a way that was not seen."""
    return any(_sign(program, p) not in search.seen for p in column.partings())


def _sign(program: Program, parting: Parting) -> tuple[str, tuple[tuple[int, ...], ...]]:
    """What makes a parting one that was seen before: the call's name and who stood on which side."""
    return program[parting.step].name, parting.sides


def _learn(search: _Search, program: Program, column: Column) -> bool:
    """Keeps a program that parts what was together, or most drafts in a new way; whether it does."""
    gained = search.partition.part(column)
    if _is_heavy(column):
        search.maker.shun(program)
        return gained > 0
    last, worth = -1, 0.0
    for parting in column.partings():
        sign, share = _sign(program, parting), parting.drafts / len(search.matrix.drafts)
        if sign not in search.seen and share > TELLING:
            last, worth = parting.step, worth + share**4
        search.seen.add(sign)
    if not gained and worth <= TELLING:
        return False
    last = len(program) - 1 if last < 0 else last
    search.entries.append(Entry(cut(program, last), returned_of(column, last + 1), worth + 3.0 * gained))
    return True


def _is_heavy(column: Column) -> bool:
    """Whether some draft ran out of time or memory: such a program is dear, and its like are not sought."""
    return any(b'"timed out"' in raw or b'"out of memory"' in raw for raw in column.raw)


# what to run


def _first(search: _Search) -> list[Program]:
    """What the tests do, then plain programs: mostly one call for functions, short sequences for classes."""
    programs = search.maker.seeds()
    for i in range(search.budget.round_calls // 8):
        if sum(map(len, programs)) > search.budget.round_calls // 2:
            break
        programs.append(search.maker.fresh(search.rng, 1 + (i % 7 if search.maker.surface.classes else i % 4 // 3)))
    return _new(search, programs)


def _new(search: _Search, programs: Sequence[Program]) -> list[Program]:
    """Those that never ran, marked as run."""
    found = []
    for program in programs:
        key = key_of(program)
        if program and key not in search.known:
            search.known.add(key)
            found.append(program)
    return found


def _next(search: _Search, run: Runner) -> list[Program]:
    """The next round's programs: what lies at edges, looks at states, and programs grown."""
    batch = _new(search, _at_edges(search, run))
    room = search.budget.round_calls - sum(map(len, batch))
    batch += _new(search, search.states.looked_at(round(room * LOOKING)))
    room = search.budget.round_calls - sum(map(len, batch))
    for _ in range(search.budget.round_calls):
        if room <= 0:
            break
        for program in _new(search, [_grown(search)]):
            batch.append(program)
            room -= len(program)
    return batch


def _at_edges(search: _Search, run: Runner) -> list[Program]:
    """Programs at the edges along numbers: of states, the last one; where there are no states, of kept calls."""
    share = len(search.few) / len(search.matrix.drafts)
    room = EDGES * search.budget.round_calls / share
    lines = search.states.lines(room)
    for _ in range(0 if len(search.states) else round(room / LINE_COST)):
        line = line_of(search.rng, _entry(search).program if search.entries else search.maker.fresh(search.rng, 1))
        lines += [line] if line is not None else []
    programs, calls = edges_along(lines, search.few, run, search.sights)
    search.spent += calls * share
    return programs


def _grown(search: _Search) -> Program:
    """One new program: a walk on from a state, a kept program changed one to four times; now and then a fresh one, or
    one that the brief does not plausibly allow."""
    rng, maker = search.rng, search.maker
    if len(search.states) and rng.random() < WALKING:
        return search.states.further()[: search.budget.longest]
    dice = rng.random()
    if not search.entries or dice < 0.08:
        return maker.fresh(rng, rng.randrange(1, 9) if maker.surface.classes else rng.choice((1, 1, 1, 2)))
    entry = _entry(search)
    if dice < 0.12:
        return maker.absurd(rng, entry.program)
    program: Program = entry.program
    returned: Sequence[object] = entry.returned
    for _ in range(rng.choice((1, 1, 2, 2, 3, 4))):
        program, returned = changed(rng, maker, program, returned, lambda: _entry(search).program)
    return program[: search.budget.longest]


def _entry(search: _Search) -> Entry:
    """A kept program: those that showed more, and those grown less, more often."""
    weights = [(0.2 + e.worth) / (1 + e.grown) ** 0.7 for e in search.entries]
    entry = search.rng.choices(search.entries, weights)[0]
    entry.grown += 1
    return entry
