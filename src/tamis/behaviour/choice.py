"""The choice, as it is recorded: which draft, with what odds, among whom, and the camps and decisions it rests on."""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from tamis.behaviour.camps import Camp
from tamis.behaviour.clash import clash_said
from tamis.behaviour.decisions import Decision
from tamis.behaviour.inquiry import Inquiry
from tamis.behaviour.unstable import steady_first
from tamis.behaviour.wording import witness_source
from tamis.behaviour.words import outcome_said
from tamis.records import Choice, Odds, Question, Record, digest
from tamis.sandbox import Program

WithFolded = Callable[[Sequence[str]], tuple[str, ...]]
"""Drafts with those that they stand for."""


class Chosen(Record, frozen=True, kw_only=True):
    """One draft, or None, and why. `alike` behave as it does on every input tried."""

    draft: str | None
    because: str
    alike: tuple[str, ...] = ()
    odds: Odds = Odds(p=None)
    odds_before: Odds | None = None
    strength: Mapping[str, int] = {}


def chosen_of(inquiry: Inquiry, camps: Sequence[Camp], *, tested: Sequence[Program] = ()) -> Chosen:
    """By the owner's answers where she gave any, else by weight. `tested` are the programs that the given tests run."""
    return _by_answers(inquiry, tested) if inquiry.told else _by_weight(inquiry, camps)


def with_unstable(chosen: Chosen, names: Sequence[str]) -> Chosen:
    """The same, which also says which drafts do not do the same twice, by name."""
    if not names:
        return chosen
    some = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    because = f"{chosen.because}; unstable from run to run: {some}"
    return msgspec.structs.replace(chosen, because=because)


def nothing_settled(drafts: int) -> Chosen:
    """Where no draft does the same twice."""
    why = (
        f"all {drafts} drafts do one thing in a run and another in the next, given the very same calls: nothing can be "
        "told of them (does what they do hang on chance, or on the clock?)"
    )
    return Chosen(draft=None, because=why)


def nothing_to_call(camps: Sequence[Camp]) -> Chosen:
    """Where no input could be made, nothing tells the drafts apart, and all that is known is that they passed."""
    (camp,) = camps
    if len(camp.drafts) == 1:
        return Chosen(draft=camp.drafts[0], because="it is the only draft that passes")
    why = f"{len(camp.drafts)} drafts pass, and nothing that could be called tells them apart"
    return Chosen(draft=None, because=why)


def _by_answers(inquiry: Inquiry, tested: Sequence[Program]) -> Chosen:
    verdict = inquiry.verdict()
    because = verdict.because + (f"; {inquiry.stopped}" if inquiry.stopped else "")
    because += f"; {clash_said(inquiry.told, verdict.clash, tested)}" if verdict.clash else ""
    return Chosen(
        draft=verdict.draft,
        alike=verdict.alike,
        odds=verdict.odds,
        because=because,
        odds_before=verdict.odds_before,
        strength=msgspec.structs.asdict(inquiry.strength()),
    )


def _by_weight(inquiry: Inquiry, camps: Sequence[Camp]) -> Chosen:
    """The heaviest camp, not counting the unstable drafts in it; among equals the one that goes with the others on most
    decisions, by the inquiry's prior. It has no odds: the record that odds rest on is of owners who were asked."""
    unstable = inquiry.ground.unstable
    weights = [len(set(camp.drafts) - unstable) for camp in camps]
    heaviest = [camp for camp, weight in zip(camps, weights, strict=True) if weight == max(weights)]
    best = max(heaviest, key=lambda camp: (inquiry.chance(steady_first(camp.drafts, unstable)[0]), -camps.index(camp)))
    drafts = sum(len(camp.drafts) for camp in camps)
    because = f"nobody was asked: it is of the heaviest of {len(camps)} camps, {len(best.drafts)} of {drafts} drafts"
    if len(heaviest) > 1:
        because += f", and of {len(heaviest)} as heavy it goes with the others most often"
    first, *alike = steady_first(best.drafts, unstable)
    return Chosen(draft=first, alike=tuple(draft for draft in alike if draft not in unstable), because=because)


def question_of(decision: Decision, *, brief: str, module: str, with_folded: WithFolded) -> Question:
    """A decision as a question that was not put yet."""
    sides = tuple(with_folded(option.drafts) for option in decision.options)
    return Question(
        id=digest("decision", brief, decision.id, *(draft for side in sides for draft in (*side, ""))),
        brief=brief,
        form="pick",
        witness=witness_source(decision.witness, module),
        options=tuple(outcome_said(option.outcome, dates=False) for option in decision.options),
        sides=sides,
        set_aside=decision.state == "set aside",
        decision=decision.id,
    )


def choice_of(
    chosen: Chosen,
    *,
    brief: str,
    saw: int,
    among: Sequence[str],
    camps: Sequence[Camp],
    questions: Sequence[Question],
    with_folded: WithFolded,
) -> Choice:
    whole = sorted((with_folded(camp.drafts) for camp in camps), key=len, reverse=True)
    alike = with_folded([chosen.draft, *chosen.alike]) if chosen.draft else ()
    return Choice(
        id=digest("choice", brief, str(saw)),
        brief=brief,
        draft=chosen.draft,
        odds=chosen.odds,
        saw=saw,
        among=tuple(among),
        alike=tuple(draft for draft in alike if draft != chosen.draft),
        because=chosen.because,
        camps=tuple(whole),
        decisions=tuple(question.id for question in questions),
        odds_before=chosen.odds_before,
        strength=chosen.strength,
    )
