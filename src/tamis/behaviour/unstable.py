"""Unstable. What is recorded of drafts that do one thing in a run and another in the next, given the very same calls.

Such a draft may still be chosen, where nothing better is left, but whoever reads of it is told. A draft that only ran
out of time or memory once is not meant: a busy machine can bring that about.
"""

from collections.abc import Collection

from tamis.behaviour.matrix import Column, Keys, Matrix, cut, outcomes_of
from tamis.behaviour.words import names_of, outcome_said, said
from tamis.records import Broke, Spec
from tamis.sandbox import Program

STEADY = Spec(kind="check", name="steady", version="1")
"""Whether a draft does the same twice. Only what parts drafts is run twice, so nobody is said to have held."""


def unstable_in(matrix: Matrix) -> dict[str, Broke]:
    """For each unstable draft, the shortest calls that show it."""
    place = {draft: at for at, draft in enumerate(matrix.drafts)}
    found: dict[str, Broke] = {}
    for draft, programs in matrix.unstable_drafts().items():
        shown = min(programs, key=lambda p: (len(matrix.programs[p]), p))
        witness = _shown(matrix.programs[shown], matrix.columns[shown], place[draft], matrix.keys)
        often = f"so in {len(programs)} of {len(matrix.programs)} programs" if len(programs) > 1 else "in one program"
        found[draft] = Broke(witness=f"{witness}, {often}", cases=len(matrix.programs))
    return found


def _shown(program: Program, column: Column, draft: int, keys: Keys) -> str:
    """The calls up to the first that gave something else, and both outcomes."""
    first, second = (outcomes_of(ran) for ran in (column.raw[int(column.row[draft])], column.second[draft]))
    both = list(zip(first, second, strict=False))
    step = next((i for i, (one, other) in enumerate(both) if keys.of(one) != keys.of(other)), len(both) - 1)
    once, again = (outcome_said(outcome, dates=False) for outcome in both[step])
    names = names_of(cut(program, step))
    calls = "; ".join(said(program, i, names, dates=False) for i in range(step + 1))
    return f"{calls}\nonce {once}, once {again}"


def steady_first(drafts: Collection[str], unstable: Collection[str]) -> tuple[str, ...]:
    """The drafts, the unstable ones last."""
    return tuple(sorted(drafts, key=lambda draft: draft in unstable))
