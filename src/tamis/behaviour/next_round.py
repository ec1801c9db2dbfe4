"""The next round. When no draft is right, what was learned is not lost: `NEXT.md` is the brief again, with what is now
settled and the cases that the nearest drafts get wrong, ready to be given to a writer.
"""

from collections.abc import Mapping, Sequence

from tamis.behaviour.owner import Told
from tamis.behaviour.words import heading, names_of, outcome_said, said, script
from tamis.sandbox import Program

FILE_NAME = "NEXT.md"


def next_brief(brief_text: str, told: Sequence[Told], nearest: Sequence[tuple[str, Sequence[Told]]]) -> str:
    """The text of NEXT.md. `nearest` are the nearest drafts, each with the answers that go against it. Each answer
    stands there once, under a number by which the rest speaks of it."""
    wrong = [(name, against) for name, against in nearest if against]
    numbers = _numbered(told, [one for _, against in wrong for one in against])
    parts = [brief_text.rstrip(), "", "## Settled since", ""]
    parts += [f"{number}. {line}" for line, number in numbers.items()] or ["Nothing was answered."]
    if wrong:
        parts += ["", "## What the nearest drafts get wrong", "", "By the numbers above:", ""]
        parts += [f"- `{name}`: {', '.join(map(str, _places(numbers, against)))}" for name, against in wrong]
    failing = {sentence(one): one for _, against in wrong for one in against if one.outcome is not None}
    if failing:
        ordered = sorted(failing.values(), key=lambda one: numbers[sentence(one)])
        parts += ["", "## Cases that must hold", "", *_cases(ordered)]
    return "\n".join(parts).rstrip() + "\n"


def _numbered(told: Sequence[Told], against: Sequence[Told]) -> dict[str, int]:
    """Each answer as a line, with its number from 1. A line of a storyboard that led up to a later one is left out,
    unless a draft goes against it."""
    wanted = set(map(sentence, against))
    lines = (sentence(one) for one in told if sentence(one) in wanted or not any(_leads_to(one, two) for two in told))
    return {line: number for number, line in enumerate(dict.fromkeys(lines), start=1)}


def _places(numbers: Mapping[str, int], against: Sequence[Told]) -> list[int]:
    return sorted({numbers[sentence(one)] for one in against})


def _leads_to(one: Told, other: Told) -> bool:
    return one.page is not None and one.page == other.page and _begins(one.program, other.program)


def _begins(one: Program, other: Program) -> bool:
    """Whether the second program goes on from the first."""
    return len(other) > len(one) and other[: len(one)] == one


def sentence(one: Told) -> str:
    """An answer in a line: what was done, then what the last call gives."""
    names = names_of(one.program)
    setup = _setup(one.program)
    calls = [f"`{said(one.program, i, names)}`" for i in range(setup, len(one.program))]
    before = heading(one.program, setup, names)
    told = {
        "either": "either will do",
        "never": "never happens",
        "unknown": "not known",
        "wrong": "not as it was shown",
    }
    result = outcome_said(one.outcome) if one.outcome is not None else told.get(one.kind, one.kind)
    start = f"After `{before}`: " if before else ""
    return f"{start}{', then '.join(calls)} → {result}"


def _setup(program: Program) -> int:
    """The leading calls that make the object and register things on it: all up to the last that is called by a name
    beginning with add, create, register or set, as far as they stand at the front."""
    count = 0
    for i, call in enumerate(program[:-1]):
        makes = call.on is None and any(later.on == i for later in program)
        if not makes and not call.name.startswith(("add", "create", "register", "set")):
            break
        count = i + 1
    return count


def _cases(told: Sequence[Told]) -> list[str]:
    """The answers as Python, with what each call must give below it. Answers on the way to another stand in its
    calls."""
    longest = [one for one in told if not any(_begins(one.program, other.program) for other in told)]
    lines = ["```python"]
    for program in dict.fromkeys(map(_frozen, longest)):
        whole = next(one.program for one in longest if _frozen(one) == program)
        wanted = {len(one.program) - 1: one for one in told if whole[: len(one.program)] == one.program}
        for step, line in enumerate(script(whole).splitlines()):
            lines.append(line)
            if step in wanted and (outcome := wanted[step].outcome) is not None:
                lines.append(f"# → {outcome_said(outcome, dates=False)}")
        lines.append("")
    return [*lines[:-1], "```"]


def _frozen(one: Told) -> str:
    return repr(one.program)
