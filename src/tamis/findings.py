"""What is already known, and how more is found out: the one way in which a check's answers get into the ledger.

A check is a Spec; its key says what would make its answer another one (the tests' content, the limits, the version).
Evidence with the same key about the same draft is never gathered twice, unless it was `NoAnswer`: missing is not
known.

Only what was found is held here, a hundred bytes a draft and check, since there may be a million drafts; the rest of
the evidence stands in the ledger. Each check is recorded by one thread at a time.
"""

from collections.abc import Callable, Mapping, Sequence

from tamis.checks.base import Check
from tamis.ledger import Ledger
from tamis.records import Answer, Draft, Evidence, NoAnswer, Record, Spec, digest

MOST_SHARED = 4_096
"""So many different findings are held once however many drafts have them; most drafts simply hold."""

MOST_KEYS = 64


class Known(Record, frozen=True, kw_only=True):
    """What was found on a draft last, and how."""

    answer: Answer
    how: Mapping[str, str]


class Findings:
    """What the evidence of a ledger says, by check and draft. The newest evidence counts."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._by_check: dict[str, dict[str, Known]] = {}
        self._shared: dict[tuple[str, ...], Known] = {}
        self._keys: dict[int, tuple[Spec, str]] = {}
        for evidence in ledger.all(Evidence):
            self._remember(evidence)

    def about(self, check: Spec, draft: str) -> Known | None:
        return self._by_check.get(self._key(check), {}).get(draft)

    def is_known(self, check: Spec, draft: str) -> bool:
        """Whether there is an answer that need not be looked for again."""
        found = self.about(check, draft)
        return found is not None and not isinstance(found.answer, NoAnswer)

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
        finds is recorded as it comes, so that a run that is killed keeps it. A draft in `folded` is the same as the
        one named there, so that one of them is looked at and all share its verdict. `each` is called for every draft.
        """
        spec, keepers = check.spec, folded or {}
        looked_at = self._looked_at(spec, drafts, keepers)
        missing = [draft for draft in drafts if keepers.get(draft.id, draft.id) not in looked_at]
        missing = [draft for draft in missing if draft.id not in keepers]
        for _ in range(len(drafts) - len(missing)):
            each()
        for found in check.look((draft, contents[draft.id]) for draft in missing):
            self.record(spec, (found.draft,), found.answer, how=found.how, span=span)
            each()
        for draft in drafts:
            keeper = keepers.get(draft.id, draft.id)
            source = looked_at.get(keeper, keeper)
            known = self.about(spec, source)
            if draft.id != source and known is not None and self._differs(spec, draft.id, known.answer):
                self.record(spec, (draft.id,), known.answer, how={"same as": source}, span=span)
        answers = ((draft.id, self.about(spec, draft.id)) for draft in drafts)
        return {draft: known.answer for draft, known in answers if known is not None}

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
        before = self._newest(check, drafts[0]) if question is None else None
        evidence = Evidence(
            id=digest(self._key(check), *drafts, repr(answer), question or "", before or ""),
            drafts=drafts,
            check=check,
            answer=answer,
            how=dict(how or {}),
            span=span,
            question=question,
            supersedes=before,
        )
        self._ledger.add(evidence)
        self._remember(evidence)
        return evidence

    def _looked_at(self, check: Spec, drafts: Sequence[Draft], keepers: Mapping[str, str]) -> dict[str, str]:
        """For each draft that stands for others or itself, which of the same ones has an answer: itself if it does."""
        known = [draft.id for draft in drafts if self.is_known(check, draft.id)]
        first = {keepers.get(draft, draft): draft for draft in reversed(known)}
        return first | {draft: draft for draft in known if draft not in keepers}

    def _differs(self, check: Spec, draft: str, answer: Answer) -> bool:
        known = self.about(check, draft)
        return known is None or known.answer != answer

    def _newest(self, check: Spec, draft: str) -> str | None:
        """The id of the newest evidence of this check that begins with this draft, from the ledger: it is seldom that
        one finds otherwise than before."""
        if self.about(check, draft) is None:
            return None
        found = [one.id for one in self._ledger.all(Evidence, about=draft) if self._key(one.check) == self._key(check)]
        return found[-1] if found else None

    def _key(self, check: Spec) -> str:
        """The check's key, worked out once for each Spec that is asked about again and again."""
        held = self._keys.get(id(check))
        if held is None or held[0] is not check:
            if len(self._keys) >= MOST_KEYS:
                self._keys.clear()
            held = self._keys[id(check)] = (check, check.key)
        return held[1]

    def _remember(self, evidence: Evidence) -> None:
        by_draft = self._by_check.setdefault(self._key(evidence.check), {})
        known = self._interned(Known(answer=evidence.answer, how=evidence.how))
        # which drafts a run is about is asked of the evidence as a whole, by the first of them
        for draft in evidence.drafts[:1] if evidence.check.name == "pool" else evidence.drafts:
            by_draft[draft] = known

    def _interned(self, known: Known) -> Known:
        if len(self._shared) >= MOST_SHARED:
            return self._shared.get(_name(known), known)
        return self._shared.setdefault(_name(known), known)


def _name(known: Known) -> tuple[str, ...]:
    return (repr(known.answer), *(part for pair in sorted(known.how.items()) for part in pair))
