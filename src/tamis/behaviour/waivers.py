"""Waivers. What follows from "either will do" and from "this never happens": which other cases are the same one.

A case is a call with what it was given: a day before the last one, a number below zero. Elsewhere it is the same one
where the call is given the like and parts the drafts in the same way. There, what the owner does not mind parts nobody
any more; what never happens is not asked about, not shown, and holds against nobody, nor does anything after it.

What never happens is taken more narrowly, since what is closed by mistake is never looked at again: numbers and texts
have to be the very same. Where what is given is rare, though, that alone tells the case, also where drafts do not part:
who says so of f(-1) says it of f(-2), while who says it of f(70) may well mean seventy.

Where it stops: of two cases in which the same drafts part and nothing that is given differs, one can't be told from the
other.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tamis.behaviour.ground import UNTOLD, Ground, Ints
from tamis.behaviour.programs import day_of, refs_in
from tamis.behaviour.situations import Situation, given_in
from tamis.behaviour.splits import APART, same_parting
from tamis.sandbox import Call, Program, Value

RARE = 0.25
"""The share of a method's calls, at most, that a case which is recognised by what is given alone may have."""


@dataclass(frozen=True)
class Waiver:
    """One such answer: about the last call of `program`, with what that `given`, and how it parts the drafts: `sides`
    (drafts,), APART for those that had parted before. `rare` says whether what is given is."""

    kind: Literal["either", "never"]
    program: Program
    given: frozenset[Situation]
    sides: Ints
    rare: bool


def waiver_of(kind: Literal["either", "never"], ground: Ground, program: Program, p: int) -> Waiver:
    """What was answered about the last call of `program`, with which program p of the ground begins."""
    given, last = given_in(program)[-1], len(program) - 1
    return Waiver(kind, program, given, sides_at(ground.opened(p), last), _is_rare(ground, program[-1].name, given))


def apply(waiver: Waiver, ground: Ground, p: int) -> None:
    """Waives, or closes, what program p of the ground has of the case."""
    program, method = ground.programs[p], waiver.program[-1].name
    for step, given in enumerate(ground.given(p)):
        if program[step].name != method or given != waiver.given:
            continue
        itself = program[: step + 1] == waiver.program
        sides = sides_at(ground.opened(p), step)
        like = itself or same_parting(waiver.sides, sides)
        if waiver.kind == "either" and like:
            ground.waive(p, step, np.zeros_like(sides) if itself else sides)
        if waiver.kind == "never" and (waiver.rare or (like and _plain(program[step]) == _plain(waiver.program[-1]))):
            ground.close(p, step)
            return


def _plain(call: Call) -> list[Value]:
    """The arguments of a call that are no names of something, no days and no objects."""
    values = [*call.args, *call.kwargs.values()]
    return [v for v in values if not (isinstance(v, str) and v.isidentifier()) and not day_of(v) and not refs_in(v)]


def sides_at(steps: Ints, step: int) -> Ints:
    """(drafts,): who goes with whom at this call, of those in the largest group that had gone the same way up to it;
    APART for all others."""
    told = (steps[:, : step + 1] != UNTOLD).all(axis=1)
    ways = [row.tobytes() if so else None for row, so in zip(steps[:, :step], told.tolist(), strict=True)]
    largest = max(dict.fromkeys(w for w in ways if w is not None), key=ways.count, default=None)
    here = np.array([w is not None and w == largest for w in ways], dtype=np.bool_)
    sides = np.full(len(steps), APART, dtype=np.int32)
    if here.any():
        sides[here] = np.unique(steps[here, step], return_inverse=True)[1]
    return sides


def _is_rare(ground: Ground, method: str, given: frozenset[Situation]) -> bool:
    """Whether a case is recognised by what is given: only in few calls of the method is it given the like."""
    calls = [
        one
        for p, program in enumerate(ground.programs)
        if not ground.stands_aside(p)
        for call, one in zip(program, ground.given(p), strict=True)
        if call.name == method
    ]
    return bool(given) and calls.count(given) <= RARE * len(calls)
