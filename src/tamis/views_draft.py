"""One draft whole: its source, everything found on it, and what sets it apart from the others."""

import msgspec

from tamis.ledger import Ledger
from tamis.records import Answer, Broke, Evidence, Held, Measured, NoAnswer, Observed, Preferred, Said
from tamis.views import Kept, StandingWord, call_of, standing

NOT_TOLD = {"pool", "behaviour", "proposed", "uploaded", "sent"}
"""Checks whose evidence says nothing of the draft itself."""


class EvidenceView(msgspec.Struct, frozen=True):
    check: str
    answer: str
    how: dict[str, str]


class SideView(msgspec.Struct, frozen=True):
    """Where the draft stands on one decision: what it does there, and how many of the others do the same."""

    call: str
    witness: str
    outcome: str
    alike: int
    others: int


class WholeDraftView(msgspec.Struct, frozen=True):
    name: str
    tokens: int | None
    counted_by: str | None
    words: int | None
    finish: str
    standing: StandingWord
    because: str
    evidence: list[EvidenceView]
    sides: list[SideView]
    source: str


def draft_view(kept: Kept, ledger: Ledger, draft_id: str) -> WholeDraftView:
    draft = next(one for one in kept.pool if one.id == draft_id)
    word, because = standing(kept, draft_id)
    found = kept.evidence.get(draft_id, {}).values()
    return WholeDraftView(
        name=draft.name,
        tokens=draft.tokens,
        counted_by=draft.counted_by,
        words=draft.words,
        finish=draft.finish,
        standing=word,
        because=because,
        evidence=[
            _evidence(one) for one in (*found, *_at_the_bench(ledger, draft_id)) if one.check.name not in NOT_TOLD
        ],
        sides=_sides(kept, draft_id),
        source=ledger.blob(draft.blob).decode("utf-8", "replace"),
    )


def _at_the_bench(ledger: Ledger, draft: str) -> list[Evidence]:
    """Every measurement of an idea but the newest, which stands among what was found on it."""
    return [one for one in ledger.all(Evidence) if one.check.name == "lab" and draft in one.drafts][:-1]


def _evidence(evidence: Evidence) -> EvidenceView:
    return EvidenceView(check=evidence.check.name, answer=answer_text(evidence.answer), how=dict(evidence.how))


def answer_text(answer: Answer) -> str:  # noqa: PLR0911 - one line for each kind of answer
    """An answer in words."""
    match answer:
        case Held(cases=None):
            return "held"
        case Held(cases=cases):
            return f"held ({cases})"
        case Broke(witness=witness, failed=failed, cases=cases):
            share = f"fails {len(failed)} of {cases}: " if failed and cases else ""
            return f"broke: {share}{witness}"
        case Measured(value=value, unit=unit, sd=sd):
            return f"{value:g} {unit}" + (f" ± {sd:g}" if sd is not None else "")
        case Preferred(which=which):
            return f"preferred: {which or 'none: can not say'}"
        case Observed():
            return "observed"
        case Said(words=words):
            return words
        case NoAnswer(fault=fault, why=why):
            return f"no answer (fault: {fault}): {why}"


def _sides(kept: Kept, draft: str) -> list[SideView]:
    """The decisions on which this draft parts from the most others first."""
    sides = []
    for question in (kept.questions[one] for one in (kept.choice.decisions if kept.choice else ())):
        for outcome, side in zip(question.options, question.sides, strict=True):
            if draft in side:
                others = sum(len(one) for one in question.sides) - len(side)
                sides.append(SideView(call_of(question.witness), question.witness, outcome, len(side), others))
    return sorted(sides, key=lambda one: one.alike)
