"""Asking: carries the conversation between an inquiry and the owner, and records every question as it is put and every
answer as it is given, so that nobody is asked twice whatever happens in between."""

from collections.abc import Iterator, Sequence
from itertools import groupby

import msgspec

from tamis.behaviour.inquiry import Inquiry
from tamis.behaviour.owner import Ask, LineAnswer, Owner, Page, Told
from tamis.behaviour.wording import witness_source
from tamis.behaviour.words import names_of, outcome_said, said
from tamis.records import Evidence, Question, Said, Spec, digest
from tamis.run import Run

ASKED = Spec(kind="check", name="asked", version="1")
"""What the owner was asked. Its evidence names no draft, for it bears on them all."""


def told_before(run: Run) -> Iterator[Told]:
    """What the owner said over this brief in earlier runs, in order; what she said twice, once."""
    known: set[str] = set()
    for evidence in run.ledger.all(Evidence):
        for one in _told_by(evidence):
            if one.id not in known:
                known.add(one.id)
                yield one


def _told_by(evidence: Evidence) -> list[Told]:
    match evidence.answer:
        case Said(told=told):
            return told_in(told)
        case _:
            return []


def converse(run: Run, inquiry: Inquiry, owner: Owner) -> bool:
    """Puts what the inquiry asks until it is over. Returns False where the owner left before that."""
    while (put := _next(run, inquiry)) is not None:
        question = _question(run, put, owner)
        run.ledger.add(question)
        with run.spans.span("people", "questions", resource="owner") as span:
            match put:
                case Ask():
                    answer = owner.answer(put)
                    said = None if answer is None else [[inquiry.learn(answer)]]
                case Page():
                    said = _reviewed(inquiry, owner.review(put))
        if said is None:
            return False
        _record(run, question, said, span.id)
    return True


def _reviewed(inquiry: Inquiry, answers: Sequence[LineAnswer] | None) -> list[list[Told]] | None:
    """What was said to each line that was answered."""
    if answers is None:
        return None
    found = inquiry.learn_page(answers)
    return [list(told) for _, told in groupby(found, key=lambda one: one.line)]


def _next(run: Run, inquiry: Inquiry) -> Ask | Page | None:
    """What to put next. Finding it may take running mutants, which is ours and none of the owner's time."""
    with run.spans.span("ranking", "choosing"):
        return inquiry.next_question()


def _question(run: Run, put: Ask | Page, owner: Owner) -> Question:
    module = run.loaded.module
    match put:
        case Ask():
            witness = witness_source(put.program, module)
            options = tuple(outcome_said(option, dates=False) for option in put.options)
        case Page():
            witness = "\n".join(line.text for line in put.lines)
            options = ()
    return Question(
        id=digest("put", run.loaded.brief.id, put.id),
        brief=run.loaded.brief.id,
        form="pick" if isinstance(put, Ask) else "storyboard",
        witness=witness,
        options=options,
        decision=put.decision if isinstance(put, Ask) else None,
        asked_of=owner.name,
        asked_at=run.clock.now(),
    )


def _record(run: Run, question: Question, said: Sequence[Sequence[Told]], span: str) -> None:
    for told in said:
        answer = Said(words=agreed(told), told=msgspec.json.encode(told).decode(), decision=told[-1].decision)
        run.findings.record(ASKED, (), answer, question=question.id, span=span)
    # an answer took somebody's time: it is on disk before the next question is put
    run.ledger.flush()


def told_in(text: str) -> list[Told]:
    """What a `Said` keeps, as the inquiry learns it."""
    return msgspec.json.decode(text, type=list[Told])


def in_words(one: Told) -> str:
    """What was said, as a person reads it."""
    match one.kind:
        case "value" if one.outcome is not None:
            return outcome_said(one.outcome, dates=False)
        case "either":
            return "either will do"
        case "never":
            return "this never happens"
        case "wrong":
            return "not this"
        case _:
            return "don't know"


def calls_of(told: Sequence[Told]) -> str:
    """The calls that were answered about, as they are read."""
    return "; ".join(said(one.program, len(one.program) - 1, names_of(one.program)) for one in told)


def agreed(told: Sequence[Told]) -> str:
    """What was said to a question, or to a line of a storyboard: right, or what it should be instead."""
    last = told[-1]
    return "right" if last.shown is not None and last.outcome == last.shown else in_words(last)
