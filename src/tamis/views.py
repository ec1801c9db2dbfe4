"""What a run looks like to whoever asks: the terminal, a program reading `--json`, the report, later the web page.

A view is made from the ledger alone, so it is the same during a run, after it and a year later. The keys of `RunView`
are a promise: they are only ever added to.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from tamis.behaviour.asking import calls_of, told_in
from tamis.behaviour.words import outcome_said
from tamis.errors import LedgerError
from tamis.ledger import Ledger
from tamis.records import (
    Answer,
    Brief,
    Broke,
    Choice,
    Draft,
    Evidence,
    Held,
    NoAnswer,
    Odds,
    Question,
    Said,
    Span,
)
from tamis.time.account import Account, account

StandingWord = Literal["passed", "broke", "no answer"]

PATH = ("reads", "parses", "tests")
"""The checks that every draft of software goes through, in order: the first that did not hold says where it stands.
Prose and the lab have no given tests."""


class BriefView(msgspec.Struct, frozen=True):
    title: str
    desk: str
    id: str


class DraftView(msgspec.Struct, frozen=True):
    name: str
    tokens: int | None
    words: int | None
    standing: StandingWord
    because: str


class DraftsView(msgspec.Struct, frozen=True):
    """`passed` counts the drafts with nothing against them after every check that the brief has. `parsed` and `passed`
    count all drafts, `distinct_parsed` and `distinct_passed` those of them that are no other's duplicate."""

    written: int
    distinct: int
    parsed: int
    passed: int
    list: list[DraftView]
    distinct_parsed: int
    distinct_passed: int


class OptionView(msgspec.Struct, frozen=True):
    outcome: str
    drafts: list[str]


class DecisionView(msgspec.Struct, frozen=True):
    """`witness` is Python that a person can read and run; `call` is its last line, the one that parts the drafts."""

    witness: str
    options: list[OptionView]
    state: Literal["open", "asked", "set aside"]
    call: str


class QuestionView(msgspec.Struct, frozen=True):
    witness: str
    options: list[str]
    answer: str | None


class LineView(msgspec.Struct, frozen=True):
    """A line of a storyboard: the call, what the draft under review does, and what the owner said to it."""

    calls: str
    outcome: str
    answer: str


class OddsView(msgspec.Struct, frozen=True):
    p: float | None
    low: float | None
    high: float | None
    basis: str


class ChoiceView(msgspec.Struct, frozen=True):
    draft: str | None
    alike: list[str]
    odds: OddsView
    because: str
    camps: list[list[str]]
    odds_before: OddsView | None
    strength: dict[str, int]


class StageView(msgspec.Struct, frozen=True):
    seconds: float
    waited: float
    tokens: int


class AccountView(msgspec.Struct, frozen=True):
    stages: dict[str, StageView]
    total_seconds: float


class RunView(msgspec.Struct, frozen=True):
    """The whole of it; the shape of `--json`."""

    tamis: int
    brief: BriefView
    drafts: DraftsView
    decisions: list[DecisionView]
    questions: list[QuestionView]
    storyboard: list[LineView]
    choice: ChoiceView
    account: AccountView


class Kept:
    """What a ledger holds on one brief, read once. `pool` are the drafts of the newest reading, `evidence` what was
    found on each, by the check's name, the newest of each."""

    def __init__(self, ledger: Ledger) -> None:
        briefs = list(ledger.all(Brief))
        if not briefs:
            raise LedgerError(f"{ledger.path} is empty: nothing was run yet", hint="`tamis run` fills it")
        self.brief = briefs[-1]
        self.evidence: dict[str, dict[str, Evidence]] = {}
        pool: tuple[str, ...] = ()
        self.said: dict[str, list[Said]] = {}
        """What the owner said to each question, by its id."""
        self.asked: set[str] = set()
        """The decisions that she was asked about."""
        for evidence in ledger.all(Evidence):
            if evidence.check.name == "pool":
                pool = evidence.drafts
            match evidence:
                case Evidence(answer=Said() as said, question=str(question)):
                    self.said.setdefault(question, []).append(said)
                    self.asked.add(said.decision)
                case _:
                    pass
            for draft in evidence.drafts:
                self.evidence.setdefault(draft, {})[evidence.check.name] = evidence
        drafts = {draft.id: draft for draft in ledger.all(Draft, about=self.brief.id)}
        self.pool = [drafts[one] for one in pool if one in drafts]
        self.names = {draft.id: draft.name for draft in drafts.values()}
        self.questions = {question.id: question for question in ledger.all(Question, about=self.brief.id)}
        choices = list(ledger.all(Choice, about=self.brief.id))
        self.choice = choices[-1] if choices else None
        self.spans = list(ledger.all(Span))

    @property
    def path(self) -> tuple[str, ...]:
        """The checks that each draft of this brief goes through."""
        return PATH if self.brief.desk == "software" else PATH[:-1]

    def answer(self, draft: str, check: str) -> Answer | None:
        found = self.evidence.get(draft, {}).get(check)
        return found.answer if found else None

    def folded_into(self, draft: str) -> str | None:
        """The draft that this one is the same as, or among prose nearly, and stands behind; None where it stands for
        itself."""
        found = self.evidence.get(draft, {})
        same, nearly = found.get("duplicates"), found.get("folding")
        if same is not None and same.how["folded"] == "yes":
            return same.how["keeper"]
        return None if nearly is None else nearly.how["keeper"]

    def nearly(self) -> int:
        """How many drafts are near-duplicates of another and stand for themselves all the same."""
        found = (self.evidence.get(draft.id, {}).get("duplicates") for draft in self.pool)
        return sum(1 for one in found if one and one.how["folded"] == "no" and "alike" in one.how)

    def named(self, drafts: Sequence[str]) -> list[str]:
        return [self.names[draft] for draft in drafts]


def run_view(kept: Kept) -> RunView:
    return RunView(
        tamis=1,
        brief=BriefView(title=kept.brief.title, desk=kept.brief.desk, id=kept.brief.id),
        drafts=_drafts(kept),
        decisions=_decisions(kept),
        questions=_questions(kept),
        storyboard=_storyboard(kept),
        choice=_choice(kept),
        account=account_view(account(kept.spans)),
    )


def standing(kept: Kept, draft: str) -> tuple[StandingWord, str]:
    """Where a draft stands and the sentence that says why: its first check that did not hold."""
    held = ""
    for check in kept.path:
        match kept.answer(draft, check):
            case Broke(witness=witness):
                return "broke", in_a_line(witness)
            case NoAnswer(fault=fault, why=why):
                return "no answer", f"{first_line(why)} (fault: {fault})"
            case Held(cases=cases):
                held = f"holds {cases} given tests" if check == "tests" else check
            case None if check in {"parses", "tests"} and not _was_chosen_among(kept, draft):
                return "no answer", f"not looked at yet: {check}"
            case _:
                pass
    match kept.answer(draft, "steady"):
        case Broke(witness=witness):
            held = f"{held}, but it is unstable: {in_a_line(witness)}"
        case _:
            pass
    return "passed", held


def most_common_failures(kept: Kept, most: int = 5) -> list[tuple[str, int]]:
    """What the drafts that broke broke on, most common first, with how many drafts: a failed test's name, else the
    reason itself."""
    counts: Counter[str] = Counter()
    for draft in kept.pool:
        for check in kept.path:
            match kept.answer(draft.id, check):
                case Broke(witness=witness, failed=failed):
                    counts.update(failed or (first_line(witness),))
                    break
                case _:
                    pass
    return counts.most_common(most)


def in_a_line(witness: str) -> str:
    """The line that failed and what was seen there: the first two lines of a witness."""
    lines = [line.strip() for line in witness.splitlines() if line.strip()]
    return " → ".join(lines[:2])


def first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def account_view(time: Account) -> AccountView:
    stages: dict[str, StageView] = {
        name: StageView(seconds=stage.seconds, waited=stage.waited, tokens=stage.tokens_out)
        for name, stage in time.stages.items()
    }
    return AccountView(stages=stages, total_seconds=time.total_seconds)


def _was_chosen_among(kept: Kept, draft: str) -> bool:
    return kept.choice is not None and draft in kept.choice.among


def _drafts(kept: Kept) -> DraftsView:
    rows = [(draft, *standing(kept, draft.id)) for draft in kept.pool]
    apart = {draft.id for draft in kept.pool if kept.folded_into(draft.id) is None}
    parsed = [draft.id for draft in kept.pool if isinstance(kept.answer(draft.id, "parses"), Held)]
    passed = [draft.id for draft, word, _ in rows if word == "passed"]
    return DraftsView(
        written=len(rows),
        distinct=len(apart),
        parsed=len(parsed),
        passed=len(passed),
        distinct_parsed=len(apart.intersection(parsed)),
        distinct_passed=len(apart.intersection(passed)),
        list=[
            DraftView(name=draft.name, tokens=draft.tokens, words=draft.words, standing=word, because=because)
            for draft, word, because in rows
        ],
    )


def _decisions(kept: Kept) -> list[DecisionView]:
    if kept.choice is None:
        return []
    return [_decision(kept, kept.questions[one]) for one in kept.choice.decisions if one in kept.questions]


def _decision(kept: Kept, question: Question) -> DecisionView:
    options = [
        OptionView(outcome=outcome, drafts=kept.named(side))
        for outcome, side in zip(question.options, question.sides, strict=True)
    ]
    asked = question.decision in kept.asked
    state: Literal["open", "asked", "set aside"] = "asked" if asked else "set aside" if question.set_aside else "open"
    return DecisionView(witness=question.witness, options=options, state=state, call=call_of(question.witness))


def call_of(witness: str) -> str:
    """The call that a witness is about: its last line, without the name that its result is given."""
    return witness.rstrip().rpartition("\n")[2].removeprefix("result = ")


def _questions(kept: Kept) -> list[QuestionView]:
    """The questions that were put, one screen each; storyboards stand apart."""
    put = (question for question in kept.questions.values() if question.asked_at is not None)
    return [
        QuestionView(
            witness=question.witness,
            options=list(question.options),
            answer=next((said.words for said in kept.said.get(question.id, ())), None),
        )
        for question in put
        if question.form == "pick"
    ]


def _storyboard(kept: Kept) -> list[LineView]:
    pages = [question.id for question in kept.questions.values() if question.form == "storyboard"]
    return [_line(said) for page in pages for said in kept.said.get(page, ())]


def _line(said: Said) -> LineView:
    told = told_in(said.told)
    outcomes = "; ".join(outcome_said(one.shown, dates=False) for one in told if one.shown is not None)
    return LineView(calls=calls_of(told), outcome=outcomes, answer=said.words)


def _choice(kept: Kept) -> ChoiceView:
    choice = kept.choice
    if choice is None:
        return ChoiceView(
            draft=None,
            alike=[],
            odds=odds_view(Odds(p=None)),
            because="nothing chosen yet",
            camps=[],
            odds_before=None,
            strength={},
        )
    return ChoiceView(
        draft=kept.names[choice.draft] if choice.draft else None,
        alike=kept.named(choice.alike),
        odds=odds_view(choice.odds),
        because=choice.because,
        camps=[kept.named(camp) for camp in choice.camps],
        odds_before=odds_view(choice.odds_before) if choice.odds_before else None,
        strength=dict(choice.strength),
    )


def odds_view(odds: Odds) -> OddsView:
    return OddsView(p=odds.p, low=odds.low, high=odds.high, basis=odds.basis)


def to_json(view: msgspec.Struct | Mapping[str, object]) -> bytes:
    return msgspec.json.format(msgspec.json.encode(view), indent=2)
