"""What she said before, read back from the ledger: every comparison in order, without those taken back, and what each
says to the model of taste.
"""

from collections.abc import Sequence

import msgspec

from tamis.ledger import Ledger
from tamis.records import Evidence, NoAnswer, Preferred, Question
from tamis.taste.answers import Heard
from tamis.taste.habits import Pick


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """One answer by a reader, about drafts in the order shown."""

    reader: str
    evidence: Evidence

    @property
    def said(self) -> str:
        """ "taken", "alike", "none good" or "skip"."""
        return self.evidence.how.get("said", "taken")


def answered(ledger: Ledger, brief: str, *, reader: str | None = None) -> list[Answered]:
    """The answers on a brief that stand, in order; of one reader, or of all."""
    asked = {question.id for question in ledger.all(Question, about=brief) if question.form == "pair"}
    found = [
        evidence for evidence in ledger.all(Evidence) if evidence.check.name == "taste" and evidence.question in asked
    ]
    gone = {evidence.supersedes for evidence in found if evidence.supersedes is not None}
    standing = [
        Answered(reader=str(evidence.check.args.get("reader", "")), evidence=evidence)
        for evidence in found
        if evidence.id not in gone and not _is_taken_back(evidence)
    ]
    return [one for one in standing if reader is None or one.reader == reader]


def heards(one: Answered, places: tuple[int, ...], *, has_bar: bool) -> list[Heard]:
    """What an answer says to the model. `places` are the texts' places, in the order shown. From the first "none
    good" on (`has_bar`) a text that was taken is also known to be above her bar."""
    match one.evidence.answer:
        case Preferred(which=str(which)):
            taken = one.evidence.drafts.index(which)
            picked = [Heard(shown=places, said=taken)]
            return picked + ([Heard(shown=(places[taken],), said="above")] if has_bar else [])
        case Preferred() if one.said == "none good":
            return [Heard(shown=(place,), said="below") for place in places]
        case Preferred():
            return [Heard(shown=places, said="alike")]
        case _:
            return []


def picks(answers: Sequence[Answered]) -> list[Pick]:
    """The answers as habits are counted from, without those skipped."""
    return [
        Pick(shown=one.evidence.drafts, taken=one.evidence.answer.which)
        for one in answers
        if isinstance(one.evidence.answer, Preferred)
    ]


def _is_taken_back(evidence: Evidence) -> bool:
    return isinstance(evidence.answer, NoAnswer) and evidence.supersedes is not None
