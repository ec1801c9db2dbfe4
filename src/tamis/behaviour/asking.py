"""Asking: carries the conversation between an inquiry and the owner, and records every question as it is put and every
answer as it is given, so that nobody is asked twice whatever happens in between."""

from collections.abc import Iterator, Sequence
from itertools import groupby

import msgspec

from tamis.behaviour.inquiry import Inquiry
from tamis.behaviour.owner import Ask, LineAnswer, Owner, Page, Told
from tamis.behaviour.programs import key_of
from tamis.behaviour.wording import witness_source
from tamis.behaviour.words import names_of, outcome_said, said
from tamis.errors import UsageError
from tamis.records import Evidence, Question, Said, Spec, digest
from tamis.run import Run

ASKED = Spec(kind="check", name="asked", version="1")
"""What the owner was asked. Its evidence names no draft, for it bears on them all."""


TAKEN_BACK = "taken back"
"""What a `Said` says that takes back an answer: the one in the evidence that it supersedes, as far as it tells it."""


def told_before(run: Run) -> Iterator[Told]:
    """What the owner said over this brief in earlier runs, in order, without what she took back since."""
    said = [evidence for evidence in run.ledger.all(Evidence) if isinstance(evidence.answer, Said)]
    gone = {one.id for evidence in said if evidence.supersedes is not None for one in _told_by(evidence)}
    for evidence in said:
        if evidence.supersedes is None:
            yield from (one for one in _told_by(evidence) if one.id not in gone)


def taken_back_before(run: Run) -> Iterator[Told]:
    """What she said and took back."""
    for evidence in run.ledger.all(Evidence):
        if evidence.supersedes is not None:
            yield from _told_by(evidence)


def take_back(run: Run, numbers: Sequence[int]) -> list[Told]:
    """Takes back answers, by their numbers from 1 among those that stand, and whatever else was answered about the same
    calls; gives the last about each. Nothing is deleted: that she took them back is recorded. Raises UsageError where
    there is no such answer."""
    standing = list(told_before(run))
    if missing := [number for number in numbers if not 1 <= number <= len(standing)]:
        known = f"there are {len(standing)}, numbered from 1" if standing else "nothing was answered yet"
        raise UsageError(f"no answer {missing[0]} to ask anew: {known}")
    about = {key_of(standing[number - 1].program) for number in numbers}
    found = [one for one in standing if key_of(one.program) in about]
    where = {one.id: said for said in run.ledger.all(Evidence) for one in _told_by(said) if said.supersedes is None}
    for one in found:
        said = where[one.id]
        answer = Said(words=TAKEN_BACK, told=msgspec.json.encode([one]).decode(), decision=one.decision)
        evidence = Evidence(
            id=digest(TAKEN_BACK, said.id, one.id),
            drafts=(),
            check=ASKED,
            answer=answer,
            question=said.question,
            supersedes=said.id,
        )
        run.ledger.add(evidence)
    return list({key_of(one.program): one for one in found}.values())


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


def without_taken_back(said: Sequence[Said], back: Said) -> list[Said]:
    """What was said without those answers that `back` takes back; one of which nothing is left goes."""
    gone = {one.id for one in told_in(back.told)}
    found: list[Said] = []
    for one in said:
        left = [told for told in told_in(one.told) if told.id not in gone]
        if left:
            words = agreed(left)
            found.append(Said(words=words, told=msgspec.json.encode(left).decode(), decision=one.decision))
    return found


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
