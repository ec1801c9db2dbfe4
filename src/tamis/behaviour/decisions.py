"""Decisions. The points on which the brief leaves room and drafts part, each with one short witness.

Splits are taken the plainest first and shrunk, many together; what decisions found already say is left out. What stays
is the list a person would make: for each decision one witness whose last call is the one to ask about, what the drafts
do there, and who does what. A witness that is outside what the brief plausibly allows makes a decision that is set
aside.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np

from tamis.behaviour.hints import Hints
from tamis.behaviour.inputs import Maker
from tamis.behaviour.matrix import Column, Matrix, Runner, outcomes_of
from tamis.behaviour.programs import key_of
from tamis.behaviour.shrink import Shrinking, shrunk
from tamis.behaviour.splits import Reading, Split, explains, is_known, is_several
from tamis.behaviour.surface import Surface
from tamis.records import Record, digest
from tamis.sandbox import Program

BATCHES = 14
"""How often splits are shrunk together, at most."""
TOGETHER = 16
"""Splits that are shrunk together, at most."""
REPRESENTATIVES = 8
"""Drafts in which the candidates of one batch run, at most: enough to have the sides of many splits among them."""
MOST_SIDES = 5
"""Sides of one split that are looked at, the largest first."""


class Option(Record, frozen=True, kw_only=True):
    """One behaviour at the last call of a witness, as its JSON, and the drafts that have it."""

    outcome: bytes
    drafts: tuple[str, ...]


class Decision(Record, frozen=True, kw_only=True):
    """One way of parting the drafts, in one method. `options` are most drafts first. `apart` are drafts that went
    another way before the last call of the witness, so that it tells nothing about them. `weight` is the number of
    programs that showed it, `also` are other programs that do, not shrunk. A decision that only inputs outside the
    brief show is "set aside"."""

    id: str
    method: str
    witness: Program
    options: tuple[Option, ...]
    state: Literal["open", "set aside"]
    weight: int
    apart: tuple[str, ...] = ()
    also: tuple[Program, ...] = ()

    @property
    def parts(self) -> float:
        """The share of all pairs of drafts that this parts, in [0, 1]."""
        sizes = [len(o.drafts) for o in self.options]
        here, total = sum(sizes), sum(sizes) + len(self.apart)
        return (here * here - sum(n * n for n in sizes)) / (total * (total - 1)) if total > 1 else 0.0


def decisions_of(
    matrix: Matrix, surface: Surface, run: Runner, *, hints: Hints, again: Runner | None = None, batches: int = BATCHES
) -> tuple[Decision, ...]:
    """The decisions on which these drafts part, those that part them most first; those set aside last. `again` runs
    under another hash seed, so that no witness rests on what changes from run to run."""
    reading = Reading(matrix, Maker(surface, hints))
    splits = reading.splits()
    found: list[Split] = []
    for _ in range(batches):
        left = [s for s in splits if not is_known(s, found)]
        if not left:
            break
        batch, drafts = _batch(left, matrix)
        for split in _settled(batch, drafts, reading, run, again):
            _merge(found, split)
        splits = [s for s in splits if not any(s is b for b in batch)]
        found = [s for s in found if not is_several(s, [o for o in found if o is not s])]
    for split in splits:
        _count(found, split)
    ordered = sorted(found, key=_importance)
    ran = run(matrix.drafts, [s.program for s in ordered]) if ordered else {}
    return tuple(_decision(s, {d: ran[d][i] for d in matrix.drafts}) for i, s in enumerate(ordered))


def _importance(split: Split) -> tuple[object, ...]:
    return (not split.inside, -split.pairs, -split.weight, len(split.program), key_of(split.program))


def _decision(split: Split, ran: dict[str, bytes]) -> Decision:
    options: dict[int, list[str]] = {}
    outcomes: dict[int, bytes] = {}
    for side, (draft, raw) in zip(split.side.tolist(), ran.items(), strict=True):
        if side >= 0:
            options.setdefault(side, []).append(draft)
            outcomes.setdefault(side, outcomes_of(raw)[-1])
    ordered = sorted(options, key=lambda s: -len(options[s]))
    return Decision(
        id=digest("decision", msgspec.json.encode(split.program)),
        method=split.method,
        witness=split.program,
        options=tuple(Option(outcome=outcomes[s], drafts=tuple(options[s])) for s in ordered),
        state="open" if split.inside else "set aside",
        weight=split.weight,
        apart=tuple(d for side, d in zip(split.side.tolist(), ran, strict=True) if side < 0),
        also=tuple(split.also[:6]),
    )


def _merge(found: list[Split], split: Split) -> None:
    """Takes a shrunk split in: as a decision of its own, or as another sight of one; of the two, the one that is about
    more drafts, else the plainer, stays."""
    for i, known in enumerate(found):
        if explains(known, split):
            known.weight += split.weight
            known.also.append(split.program)
            return
        if explains(split, known) and split.here >= known.here:
            split.weight += known.weight
            split.also += [known.program, *known.also]
            found[i] = split
            return
    found.append(split)


def _count(found: Sequence[Split], split: Split) -> None:
    for decision in found:
        if explains(decision, split):
            decision.weight += split.weight
            return


# shrinking


def _batch(left: Sequence[Split], matrix: Matrix) -> tuple[list[Split], list[str]]:
    """The next splits to shrink together, and the drafts that stand for their sides."""
    standing: list[int] = []
    batch: list[Split] = []
    for split in left:
        needed = _missing(split, standing)
        if batch and (len(standing) + len(needed) > REPRESENTATIVES or split.inside != batch[0].inside):
            continue
        if any(explains(other, split) or explains(split, other) for other in batch):
            continue
        standing += needed
        batch.append(split)
        if len(batch) == TOGETHER:
            break
    return batch, [matrix.drafts[d] for d in standing]


def _missing(split: Split, standing: Sequence[int]) -> list[int]:
    """The drafts to add so that each side that is looked at has one standing for it, the largest two."""
    missing: list[int] = []
    for side in range(min(MOST_SIDES, split.sides)):
        members = np.flatnonzero(split.side == side).tolist()
        there = [d for d in members if d in standing]
        want = min(2 if side == 0 else 1, len(members))
        missing += [d for d in members if d not in standing][: max(0, want - len(there))]
    return missing


def _settled(
    batch: Sequence[Split], drafts: Sequence[str], reading: Reading, run: Runner, again: Runner | None
) -> list[Split]:
    """What remains of the splits when shrunk, and how all drafts part there."""
    matrix = reading.matrix
    targets = [(split, target) for split in batch for target in _targets(split, drafts, matrix)]
    programs = shrunk([target for _, target in targets], drafts, run, reading.maker, matrix.keys)
    ran = run(matrix.drafts, programs)
    second = again(matrix.drafts, programs) if again is not None else ran
    fresh: list[Split] = []
    for i, ((split, _), program) in enumerate(zip(targets, programs, strict=True)):
        column = Column([ran[d][i] for d in matrix.drafts], matrix.keys)
        column.run_again({at: second[d][i] for at, d in enumerate(matrix.drafts)}, matrix.keys)
        partings = [p for p in column.partings() if p.step == len(program) - 1]
        if partings:
            settled = reading.split(program, column, max(partings, key=lambda p: p.drafts))
            settled.weight = split.weight
            fresh.append(settled)
    return fresh


def _targets(split: Split, drafts: Sequence[str], matrix: Matrix) -> list[Shrinking]:
    """What to shrink for a split: for each side but the largest, a program that parts it from the largest."""
    place = {d: i for i, d in enumerate(matrix.drafts)}
    sides = {d: int(split.side[place[d]]) for d in drafts if split.side[place[d]] >= 0}
    tags = {d: split.tags[place[d]] for d in sides}
    first = {side: d for d, side in reversed(sides.items())}
    return [
        Shrinking(program=split.program, pair=(first[0], first[side]), sides=dict(sides), tags=tags)
        for side in range(1, min(MOST_SIDES, split.sides))
        if side in first and 0 in first
    ]
