"""The prose desk's part of what a run looks like to whoever asks, from the ledger alone."""

from collections.abc import Mapping

import msgspec

from tamis.ledger import Ledger
from tamis.records import Brief, Draft, Evidence, Measured, Odds
from tamis.taste.habits import Habits, agreement, habits
from tamis.taste.judging import habits_of_judge
from tamis.taste.memory import answered, picks


class OddsView(msgspec.Struct, frozen=True):
    p: float | None
    low: float | None
    high: float | None
    basis: str


class ShortlistView(msgspec.Struct, frozen=True):
    """`variants` are the names of the drafts folded behind this one."""

    name: str
    odds: OddsView
    variants: list[str]


class RegretView(msgspec.Struct, frozen=True):
    """`value` is how far the shown texts are expected to fall short of her true best, `preferred_share` the same in
    her terms: how often she would take one of her true best instead (0.5: never better)."""

    value: float | None
    unit: str
    preferred_share: float | None
    basis: str


class JudgeView(msgspec.Struct, frozen=True):
    """A judge's own habits, from `pairs` that it answered in both orders; `enough` is False below 200 of them."""

    name: str
    pairs: int
    enough: bool
    left: OddsView
    longer: OddsView
    consistent: OddsView


class HabitsView(msgspec.Struct, frozen=True):
    """Hers, and those of the judge where there is one."""

    left: OddsView
    consistent: OddsView
    judge: JudgeView | None = None


class AgreementView(msgspec.Struct, frozen=True):
    readers: list[str]
    same: OddsView


class TasteView(msgspec.Struct, frozen=True):
    """What `--json` adds for prose."""

    shortlist: list[ShortlistView]
    settled: bool
    because: str
    regret: RegretView
    comparisons: int
    habits: HabitsView
    reader: str | None
    agreement: list[AgreementView]


def taste_view(ledger: Ledger) -> TasteView | None:
    """The newest shortlist with what it rests on; None where there is none yet."""
    briefs = list(ledger.all(Brief))
    if not briefs:
        return None
    brief = briefs[-1].id
    newest, behind = None, {}
    for evidence in ledger.all(Evidence):
        if evidence.check.name == "shortlist" and isinstance(evidence.answer, Measured):
            newest = evidence
        elif evidence.check.name in {"folding", "duplicates"} and "keeper" in evidence.how:
            behind[evidence.drafts[0]] = evidence.how["keeper"]
    if newest is None:
        return None
    names = {draft.id: draft.name for draft in ledger.all(Draft, about=brief)}
    return _view(ledger, brief, newest, behind, names)


def _view(ledger: Ledger, brief: str, newest: Evidence, behind: dict[str, str], names: dict[str, str]) -> TasteView:
    assert isinstance(newest.answer, Measured)
    how = newest.how
    reader = how["reader"] or None
    n = int(how["comparisons"])
    odds = [float(p) for p in how["odds"].split()]
    by_reader = {one.reader: picks(answered(ledger, brief, reader=one.reader)) for one in answered(ledger, brief)}
    return TasteView(
        shortlist=[
            ShortlistView(
                name=names[draft],
                odds=OddsView(p=p if n else None, low=None, high=None, basis=how["basis"]),
                variants=[names[one] for one, keeper in behind.items() if keeper == draft and one in names],
            )
            for draft, p in zip(newest.drafts, odds, strict=True)
        ],
        settled=how["settled"] == "yes",
        because=how["because"],
        regret=RegretView(
            value=newest.answer.value if n else None,
            unit=newest.answer.unit,
            preferred_share=float(how["preferred share"]) if n else None,
            basis=how["basis"],
        ),
        comparisons=n,
        habits=_habits(habits(by_reader.get(reader or "", [])), _judge(ledger, brief, how)),
        reader=reader,
        agreement=[
            AgreementView(readers=list(two), same=odds_view(same)) for two, same in agreement(by_reader).items()
        ],
    )


def _habits(found: Habits, judge: JudgeView | None) -> HabitsView:
    return HabitsView(left=odds_view(found.left), consistent=odds_view(found.consistent), judge=judge)


def _judge(ledger: Ledger, brief: str, how: Mapping[str, str]) -> JudgeView | None:
    """The judge that the shortlist was made with. Of scores that came from a file there is nothing to tell."""
    if "judge" not in how:
        return None
    words = {draft.id: draft.words or 0 for draft in ledger.all(Draft, about=brief)}
    found = habits_of_judge(ledger, how.get("judge check", ""), words)
    return JudgeView(
        name=how["judge"],
        pairs=found.n_pairs,
        enough=found.enough,
        left=odds_view(found.left),
        longer=odds_view(found.longer),
        consistent=odds_view(found.consistent),
    )


def odds_view(odds: Odds) -> OddsView:
    return OddsView(p=odds.p, low=odds.low, high=odds.high, basis=odds.basis)
