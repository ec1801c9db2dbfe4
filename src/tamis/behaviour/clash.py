"""Clash. Answers that no draft meets all of: either no draft is right, or one of the answers is not meant.

Of all that was answered a few are enough to show it. They are told to the owner, who is asked each of them once more.
"""

from collections.abc import Collection, Sequence

from tamis.behaviour.ground import Flags
from tamis.behaviour.owner import Told
from tamis.behaviour.programs import key_of
from tamis.behaviour.words import names_of, outcome_said, said
from tamis.sandbox import Program


def smallest_clash(agrees: Flags) -> tuple[int, ...]:
    """The fewest answers, by row, that no draft (a column of `agrees`) meets all of; none where some draft does.

    One answer after the other is dropped as long as those left still clash, those that rule out fewest drafts first.
    What comes out can't be made smaller; another set may be as small, or, where three or more clash, smaller."""
    left = list(range(len(agrees)))
    if not agrees.size or agrees.all(axis=0).any():
        return ()
    for row in sorted(left, key=lambda i: (-int(agrees[i].sum()), -i)):
        rest = [i for i in left if i != row]
        if not agrees[rest].all(axis=0).any():
            left = rest
    return tuple(left)


def counting(told: Sequence[Told]) -> list[int]:
    """The places of the answers that say what a call gives. Where she answered about the same calls in two ways, the
    last one counts."""
    last = {key_of(one.program): (one.kind, one.outcome) for one in told if one.kind != "unknown"}
    values = (i for i, one in enumerate(told) if one.kind in ("value", "wrong"))
    return [i for i in values if last[key_of(told[i].program)] == (told[i].kind, told[i].outcome)]


def in_short(one: Told) -> str:
    """The answer without what led to it: `renew("drill", 1 March 2026) → raises LendingError`."""
    call = said(one.program, len(one.program) - 1, names_of(one.program))
    if one.outcome is not None:
        return f"{call} → {outcome_said(one.outcome)}"
    return f"{call} → not {outcome_said(one.shown or b'null')}"


def why_again(told: Sequence[Told], clash: Sequence[int], place: int) -> str:
    """Why the answer at `place` is asked again: what it was, and which others no draft meets beside it."""
    one = told[place]
    was = outcome_said(one.outcome) if one.outcome is not None else f"not {outcome_said(one.shown or b'null')}"
    others = [in_short(told[i]) for i in clash if i != place]
    return f"you said {was}, and no draft does this" + "".join(f" and {other}" for other in others)


def clash_said(told: Sequence[Told], clash: Sequence[int], tested: Collection[Program]) -> str:
    """The clash in a sentence. `tested` are the programs that the owner's given tests run."""
    texts = [in_short(told[i]) for i in clash]
    numbers = ",".join(str(i + 1) for i in clash)
    if len(texts) == 1:
        last = told[clash[0]].program
        given = any(program[: len(last)] == last for program in tested)
        why = ", and a given test makes these very calls" if given else ""
        return f"no draft does what answer {numbers} says, {texts[0]}{why}"
    all_of = "both" if len(texts) == 2 else "all of"
    some = f"{', '.join(texts[:-1])} and {texts[-1]}"
    return f"answers {numbers.replace(',', ', ')} clash, no draft does {all_of} {some}"
