"""Telling. From an answer to what is kept of it: one record for each call that the owner said something about."""

from tamis.behaviour.owner import (
    Answer,
    Ask,
    DontKnow,
    Either,
    LineAnswer,
    Neither,
    NeverHappens,
    Page,
    Picked,
    Right,
    ShownLine,
    Told,
    Wrong,
)
from tamis.records import digest


def told_of(ask: Ask, answer: Answer) -> Told:
    kind, outcome = "unknown", None
    match answer:
        case Picked(option=place):
            kind, outcome = "value", ask.options[place]
        case Neither(outcome=said):
            kind, outcome = "value", said
        case Either():
            kind = "either"
        case NeverHappens():
            kind = "never"
        case DontKnow():
            kind = "unknown"
    return Told(
        id=digest("told", ask.id, kind, outcome or b""),
        decision=ask.decision,
        program=ask.program,
        kind=kind,
        outcome=outcome,
    )


def told_of_line(page: Page, number: int, line: ShownLine, answer: LineAnswer) -> list[Told]:
    """Each call of the line that was agreed to or corrected. What follows a correction was not answered. That a line of
    two calls never happens is said of the second, after the first: alone the first may well happen."""
    found: list[Told] = []
    for call in line.calls:
        kind, outcome = "value", call.outcome
        match answer:
            case Wrong(step=step, outcome=said):
                if call.step > step:
                    break
                if call.step == step:
                    kind, outcome = ("value", said) if said is not None else ("wrong", None)  # type: ignore[assignment]
            case Either():
                kind, outcome = "either", None  # type: ignore[assignment]
            case NeverHappens():
                kind, outcome = "never" if call is line.calls[-1] else "unknown", None  # type: ignore[assignment]
            case DontKnow():
                kind, outcome = "unknown", None  # type: ignore[assignment]
            case Right():
                pass
        program = line.program[: call.step + 1]
        found.append(
            Told(
                id=digest("told", page.id, str(call.step), *map(repr, program), kind, outcome or b""),
                decision=digest("line", *map(repr, program)),
                program=program,
                kind=kind,
                outcome=outcome,
                shown=call.outcome,
                page=page.id,
                line=number,
                draft=page.draft,
            )
        )
    return found
