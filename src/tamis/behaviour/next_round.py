"""The next round. When no draft is right, what was learned is not lost: `NEXT.md` is the brief again, with what is now
settled and the cases that the nearest drafts get wrong, ready to be given to a writer.
"""

from collections.abc import Sequence

from tamis.behaviour.owner import Told
from tamis.behaviour.words import heading, names_of, outcome_said, said, script
from tamis.sandbox import Program

FILE_NAME = "NEXT.md"


def next_brief(brief_text: str, told: Sequence[Told], nearest: Sequence[tuple[str, Sequence[Told]]]) -> str:
    """The text of NEXT.md. `nearest` are the nearest drafts, each with the answers that go against it."""
    parts = [brief_text.rstrip(), "", "## Settled since", ""]
    parts += [*_settled(told), ""] if told else ["Nothing was answered.", ""]
    wrong = [(name, against) for name, against in nearest if against]
    if wrong:
        parts += ["## What the nearest drafts get wrong", ""]
        for name, against in wrong:
            parts += [f"`{name}` does otherwise here:", "", *(f"- {sentence(t)}" for t in against), ""]
    failing = {t.id: t for _, against in wrong for t in against}
    if failing:
        parts += ["## Cases that must hold", "", *_cases(list(failing.values())), ""]
    return "\n".join(parts).rstrip() + "\n"


def _settled(told: Sequence[Told]) -> list[str]:
    """One line for each answer; lines of a storyboard that led up to a later one are left out."""
    shown = [t for t in told if not any(_leads_to(t, other) for other in told)]
    return [f"- {line}" for line in dict.fromkeys(sentence(t) for t in shown)]


def _leads_to(one: Told, other: Told) -> bool:
    more = len(other.program) > len(one.program)
    return one.page is not None and one.page == other.page and more and other.program[: len(one.program)] == one.program


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
    lines = ["```python"]
    for one in told:
        if one.outcome is not None:
            lines += [*script(one.program).splitlines(), f"# → {outcome_said(one.outcome, dates=False)}", ""]
    return [*lines[:-1], "```"] if lines[-1] == "" else [*lines, "```"]
