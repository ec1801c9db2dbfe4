"""What is already known, and how more is found out: the one way in which a check's answers get into the ledger.

A check is a Spec; its key says what would make its answer another one (the tests' content, the limits, the version).
Evidence with the same key about the same draft is never gathered twice, unless it was `NoAnswer`: missing is not
known.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from tamis.checks.base import Check
from tamis.ledger import Ledger
from tamis.records import Answer, Draft, Evidence, NoAnswer, Spec, digest


class Findings:
    """The evidence of a ledger by check and draft. The newest evidence counts."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._by_check: dict[str, dict[str, Evidence]] = {}
        for evidence in ledger.all(Evidence):
            self._remember(evidence)

    def about(self, check: Spec, draft: str) -> Evidence | None:
        return self._by_check.get(check.key, {}).get(draft)

    def gather(
        self,
        check: Check,
        drafts: Sequence[Draft],
        contents: Mapping[str, bytes],
        *,
        folded: Mapping[str, str] | None = None,
        span: str | None = None,
        each: Callable[[], None] = lambda: None,
    ) -> dict[str, Answer]:
        """The answer for each draft, by draft id. The check looks only at those not known yet; each thing that it
        finds is recorded as it comes, so that a run that is killed keeps it. A draft in `folded` shares the verdict of
        the draft named there, being the same. `each` is called for every draft."""
        spec, keepers = check.spec, folded or {}
        missing = [draft for draft in drafts if draft.id not in keepers and not self._is_known(spec, draft.id)]
        for _ in range(len(drafts) - len(missing)):
            each()
        for found in check.look((draft, contents[draft.id]) for draft in missing):
            self.record(spec, (found.draft,), found.answer, how=found.how, span=span)
            each()
        for draft in drafts:
            keeper = self.about(spec, keepers.get(draft.id, draft.id))
            if draft.id in keepers and keeper is not None and self._differs(spec, draft.id, keeper.answer):
                self.record(spec, (draft.id,), keeper.answer, how={"same as": keeper.drafts[0]}, span=span)
        answers = ((draft.id, self.about(spec, draft.id)) for draft in drafts)
        return {draft: evidence.answer for draft, evidence in answers if evidence is not None}

    def _differs(self, check: Spec, draft: str, answer: Answer) -> bool:
        known = self.about(check, draft)
        return known is None or known.answer != answer

    def record(
        self,
        check: Spec,
        drafts: tuple[str, ...],
        answer: Answer,
        *,
        how: Mapping[str, str] | None = None,
        span: str | None = None,
        question: str | None = None,
    ) -> Evidence:
        before = self.about(check, drafts[0]) if question is None else None
        evidence = Evidence(
            id=digest(check.key, *drafts, repr(answer), question or "", before.id if before else ""),
            drafts=drafts,
            check=check,
            answer=answer,
            how=dict(how or {}),
            span=span,
            question=question,
            supersedes=before.id if before else None,
        )
        self._ledger.add(evidence)
        self._remember(evidence)
        return evidence

    def of(self, draft: str) -> Iterator[Evidence]:
        """All evidence about one draft, the newest of each check."""
        for by_draft in self._by_check.values():
            if draft in by_draft:
                yield by_draft[draft]

    def _is_known(self, check: Spec, draft: str) -> bool:
        found = self.about(check, draft)
        return found is not None and not isinstance(found.answer, NoAnswer)

    def _remember(self, evidence: Evidence) -> None:
        by_draft = self._by_check.setdefault(evidence.check.key, {})
        for draft in evidence.drafts:
            by_draft[draft] = evidence
