"""Behaviour of drafts that are programs: what each writes for every given input.

An input is one call of `program(text)`, so that decisions, questions and owners work as they do for modules. No input
is made up here: what a program may read is known to nobody but who wrote the brief. So drafts part only where the
given inputs part them, and the odds for that are not on record.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec
import numpy as np

from tamis.behaviour.decisions import Decision, Option
from tamis.behaviour.matrix import Column, Matrix, Runner
from tamis.behaviour.surface import Surface, surface_of
from tamis.records import digest
from tamis.sandbox import Call, Program, Ran

PROGRAM = "program"
SIGNATURE = f'def {PROGRAM}(text: str) -> str:\n    """What the program writes when it reads `text`."""\n    ...\n'

Runs = Callable[[Mapping[str, bytes], Sequence[str]], Iterator[tuple[str, Ran]]]
"""Runs sources, by key, on texts for standard input."""


def surface() -> Surface:
    """What can be called: the program itself."""
    return surface_of("", [SIGNATURE])


def asked(text: str) -> Program:
    """The program run on this input, as calls."""
    return (Call(name=PROGRAM, args=(text,)),)


def input_of(program: Program) -> str:
    """What the program reads. Raises ValueError where it is no run of one."""
    match program:
        case [Call(name=name, args=[str(text)])] if name == PROGRAM:
            return text
    raise ValueError(f"{program!r} is no program's run")


def plainly(runs: Runs) -> Callable[[Mapping[str, bytes], Sequence[Program]], Iterator[tuple[str, Ran]]]:
    """Runs programs as calls. Blanks at the ends of lines and empty lines at the end make no difference, as they make
    none to a case."""

    def run(sources: Mapping[str, bytes], programs: Sequence[Program]) -> Iterator[tuple[str, Ran]]:
        for key, ran in runs(sources, [input_of(program) for program in programs]):
            yield key, msgspec.structs.replace(ran, outcomes=tuple(map(_without_blanks, ran.outcomes)))

    return run


def _without_blanks(ran: bytes) -> bytes:
    match msgspec.json.decode(ran):
        case [["=", str(text)]]:
            return msgspec.json.encode([["=", "\n".join(line.rstrip() for line in text.rstrip().splitlines())]])
        case _:
            return ran


def look(drafts: Sequence[str], inputs: Sequence[str], run: Runner, again: Runner) -> Matrix:
    """What every draft writes for every input; cells that differ when run `again` are unstable."""
    matrix = Matrix(drafts)
    programs = [asked(text) for text in inputs]
    if not drafts or not programs:
        return matrix
    first, second = run(drafts, programs), again(drafts, programs)
    for i, program in enumerate(programs):
        column = matrix.add(program, {draft: first[draft][i] for draft in drafts}, inside=True)
        column.run_again({at: second[draft][i] for at, draft in enumerate(matrix.drafts)}, matrix.keys)
    return matrix


def decisions_in(matrix: Matrix) -> tuple[Decision, ...]:
    """The ways in which the inputs part the drafts, each with its shortest input; those that part most first."""
    found: dict[tuple[tuple[int, ...], ...], list[int]] = {}
    for p, column in enumerate(matrix.columns):
        for parting in column.partings():
            found.setdefault(parting.sides, []).append(p)
    made = [_decision(matrix, sides, places) for sides, places in found.items()]
    return tuple(sorted(made, key=lambda one: -one.parts))


def _decision(matrix: Matrix, sides: tuple[tuple[int, ...], ...], places: Sequence[int]) -> Decision:
    shortest = min(places, key=lambda p: (len(input_of(matrix.programs[p])), p))
    witness, column = matrix.programs[shortest], matrix.columns[shortest]
    options = tuple(
        Option(outcome=_outcome(column, side[0]), drafts=tuple(matrix.drafts[d] for d in side)) for side in sides
    )
    return Decision(
        id=digest("decision", PROGRAM, input_of(witness)),
        method=PROGRAM,
        witness=witness,
        options=options,
        state="open",
        weight=len(places),
        apart=tuple(matrix.drafts[d] for d in sorted(column.unstable)),
        also=tuple(matrix.programs[p] for p in places if p != shortest),
    )


def _outcome(column: Column, draft: int) -> bytes:
    (outcome,) = msgspec.json.decode(column.raw[int(np.asarray(column.row)[draft])], type=tuple[msgspec.Raw])
    return bytes(outcome)
