"""Answers kept as tests: `tests/test_answers.py`, plain pytest that the owner keeps, runs and edits as she likes.

Every answer becomes an assertion; the lines of a storyboard that follow each other become one test that reads as they
did. A test that she edited stays as she left it, and one that she deleted is not written again: the file's last line
remembers which were. A test goes only when she answers otherwise, and only if it stands there as it was written. Where
no draft passes all that she answered, the end of the file says which answers show it.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Set
from pathlib import Path

import msgspec

from tamis.behaviour.clash import counting, in_short
from tamis.behaviour.owner import Told
from tamis.behaviour.words import names_of, outcome_said, path_of, said
from tamis.errors import BriefError, boundary
from tamis.records import Record, digest
from tamis.sandbox import Program, render

FILE_NAME = "test_answers.py"
OPENING = (
    '"""What the owner answered. tamis adds to this file; a test that you change or delete stays as you leave it."""'
)
WRITTEN = "# written so far: "
CLASH = "# clash: "
FROM = {
    "date": "datetime", "datetime": "datetime", "time": "datetime", "timedelta": "datetime", "Decimal": "decimal",
    "Fraction": "fractions", "UUID": "uuid", "Path": "pathlib", "deque": "collections",
}  # fmt: skip
UNREBUILT = {"object", "opaque", "cut", "digest", "data", "named", "enum", "function", "type", "cycle", "sub", "new"}

Outcomes = Callable[[Program], Sequence[bytes]]
"""What the chosen draft does in a program, one JSON text a call: which calls on the way to an answer raise."""


class Checked(Record, frozen=True, kw_only=True):
    """One test to be: a program, and for some of its calls (by their place) the outcome that the owner wants."""

    program: Program
    wanted: tuple[tuple[int, bytes], ...]

    @property
    def id(self) -> str:
        return digest("answer", msgspec.json.encode(self.program), *(f"{i}" for i, _ in self.wanted))[:12]


def keep(
    folder: Path,
    told: Sequence[Told],
    *,
    module: str,
    outcomes: Outcomes,
    exceptions: Collection[str],
    clash: Sequence[int] = (),
) -> Path | None:
    """Adds what was answered to the file in `folder`, and gives its path; None where there is nothing to keep. The
    `exceptions` are those that the module itself has. Tests of what was answered otherwise since go.
    `clash` are the places in `told` of answers that no draft meets all of. Raises BriefError where the file can't be
    read or written."""
    tests = checked(told)
    gone = [test for test in as_answered(told) if test not in tests]
    path = folder / FILE_NAME
    if not tests and not path.exists():
        return None
    with boundary(BriefError, f"keeping the answers in {path}"):
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        rest = without_tests(before, gone, outcomes=outcomes, exceptions=exceptions)
        text = with_tests(rest, tests, module=module, outcomes=outcomes, exceptions=exceptions)
        text = with_clash(text, told, clash)
        if text != before:
            folder.mkdir(parents=True, exist_ok=True)
            fresh = path.with_suffix(".tmp")
            fresh.write_text(text, encoding="utf-8")
            fresh.replace(path)  # so that a run that is killed here leaves the file whole
    return path


def with_tests(
    before: str, tests: Iterable[Checked], *, module: str, outcomes: Outcomes, exceptions: Collection[str]
) -> str:
    """The file's text with the tests that it did not have yet at its end, and the imports that those need."""
    body, known = _split(before)
    new = [t for t in tests if t.id not in known]
    if not new:
        return before
    names = set(re.findall(r"^def (test_\w+)", body, re.M))
    made = [_test(t, names, outcomes, _BUILTINS | set(exceptions)) for t in new]
    needed = _imports("\n".join(made), new, module)
    head = _with_imports(body or OPENING, needed)
    written = " ".join([*known, *(t.id for t in new)])
    return head.rstrip() + "\n\n\n" + "\n\n\n".join(made) + f"\n\n\n{WRITTEN}{written}\n"


def without_tests(before: str, gone: Iterable[Checked], *, outcomes: Outcomes, exceptions: Collection[str]) -> str:
    """The file's text without those of these tests that stand there as they were written: with nothing added, above
    or below."""
    body, known = _split(before)
    left = [i for i in known]
    for test in gone:
        if test.id in left:
            _, _, calls = _test(test, set(), outcomes, _BUILTINS | set(exceptions)).partition("\n")
            shorter = re.sub(
                rf"(?:\A|\n\n\n)def test_\w+\(\):\n{re.escape(calls)}(?=\n*(?:\Z|\n\n\S))", "", body, count=1
            )
            if shorter != body:
                body, left = shorter, [i for i in left if i != test.id]
    return before if left == known else f"{body.rstrip()}\n\n\n{WRITTEN}{' '.join(left)}\n"


def with_clash(text: str, told: Sequence[Told], clash: Sequence[int]) -> str:
    """The file's text with the answers that clash named before its last line, and no others."""
    *lines, last = [line for line in text.splitlines() if not line.startswith(CLASH)] or [""]
    if clash:
        many = "this answer" if len(clash) == 1 else "all of these answers"
        lines.append(f"{CLASH}no draft does {many}")
        lines += [f"{CLASH}{i + 1}. {in_short(told[i])}" for i in clash]
    return "\n".join([*lines, last]) + "\n"


def checked(told: Sequence[Told]) -> list[Checked]:
    """What was answered with a value, as tests: one a question, one for each run of storyboard lines. Of several
    answers about the same calls the last one counts."""
    tests = as_answered([told[i] for i in counting(told)])
    return list({test.id: test for test in tests}.values())


def as_answered(told: Sequence[Told]) -> list[Checked]:
    """The same for every answer, also where a later one says otherwise."""
    runs: list[tuple[Told, dict[int, bytes]]] = []
    for one in told:
        if one.kind != "value" or one.outcome is None:
            continue
        last = len(one.program) - 1
        for i, (whole, wanted) in enumerate(runs):
            if one.shown is not None and whole.page == one.page and one.program[: len(whole.program)] == whole.program:
                runs[i] = one, {**wanted, last: one.outcome}
                break
        else:
            runs.append((one, {last: one.outcome}))
    return [Checked(program=t.program, wanted=tuple(sorted(wanted.items()))) for t, wanted in runs]


def _split(text: str) -> tuple[str, list[str]]:
    """The file without what tamis says at its end, and the ids of the tests that were ever written to it."""
    lines = text.splitlines()
    known = [i for line in lines if line.startswith(WRITTEN) for i in line.removeprefix(WRITTEN).split()]
    return "\n".join(line for line in lines if not line.startswith((WRITTEN, CLASH))), known


def _test(test: Checked, taken: set[str], outcomes: Outcomes, known: Set[str]) -> str:
    name = _name(test, taken)
    taken.add(name)
    did = outcomes(test.program)
    wanted = dict(test.wanted)
    names = names_of(test.program)
    lines = [f"def {name}():"]
    for step in range(len(test.program)):
        if path_of(test.program, step) is not None and step not in wanted:
            continue
        text = said(test.program, step, names, dates=False)
        lines += _lines(text, names.get(step), wanted.get(step), did[step], known)
    return "\n".join([lines[0], *(f"    {line}" for line in lines[1:])])


def _name(test: Checked, taken: set[str]) -> str:
    """`test_lend_then_renew`, with a number where there is one already."""
    steps = [i for i, _ in test.wanted]
    called = [re.sub(r"\W", "", test.program[i].name) for i in steps]
    base = "test_" + "_then_".join(dict.fromkeys([*called[:1], *called[-1:]]))
    number, name = 1, base
    while name in taken:
        number += 1
        name = f"{base}_{number}"
    return name


def _lines(text: str, name: str | None, wanted: bytes | None, did: bytes, known: Set[str]) -> Iterator[str]:
    """One call as statements: an assertion where the owner said what it gives. An exception that is not `known` comes
    from nobody knows where, so it is told by its name."""
    outcome = msgspec.json.decode(wanted if wanted is not None else did)
    match outcome:
        case ["!", str(error), *_] if wanted is not None and error in known:
            yield from (f"with pytest.raises({error}):", f"    {text}")
        case ["!", str(error), *_] if wanted is not None:
            yield from ("with pytest.raises(Exception) as raised:", f"    {text}")
            yield f'assert type(raised.value).__name__ == "{error}"'
        case ["!", str(error), *_]:
            yield from (f"with suppress({error if error in known else 'Exception'}):", f"    {text}")
        case ["=", value, *_] if wanted is not None and _rebuilds(value):
            if name is not None:
                yield f"{name} = {text}"
            yield f"assert {name or text} {_equals(value)}"
        case _:
            yield f"{name} = {text}" if name is not None else text
            if wanted is not None:
                yield f"# the owner's answer: {outcome_said(wanted)}"


def _equals(value: object) -> str:
    if value is None or isinstance(value, bool):
        return f"is {value}"
    if isinstance(value, list) and value and value[0] == "float":
        nan = ", nan_ok=True" if str(value[1]) == "nan" else ""
        return f"== pytest.approx({render(value)}, rel=1e-9{nan})"
    return f"== {render(value)}"  # type: ignore[arg-type]


def _rebuilds(value: object) -> bool:
    if isinstance(value, list):
        return not (value and isinstance(value[0], str) and value[0] in UNREBUILT) and all(map(_rebuilds, value))
    return True


def _imports(text: str, tests: Sequence[Checked], module: str) -> dict[str, set[str]]:
    """By module, the names that the tests use; the module "" holds modules that are imported whole."""
    needed: dict[str, set[str]] = {}
    for name, source in FROM.items():
        if re.search(rf"\b{name}\(", text):
            needed.setdefault(source, set()).add(name)
    if "suppress(" in text:
        needed.setdefault("contextlib", set()).add("suppress")
    if "pytest." in text:
        needed.setdefault("", set()).add("pytest")
    own = {c.name for t in tests for c in t.program if c.on is None}
    own |= {e for e in re.findall(r"(?:raises|suppress)\((\w+)\)", text) if e not in _BUILTINS}
    needed[module] = own
    return needed


_BUILTINS = frozenset(dir(__builtins__) if not isinstance(__builtins__, dict) else __builtins__)


def _with_imports(body: str, needed: dict[str, set[str]]) -> str:
    """The text with the imports that it lacks, after its docstring and before everything else."""
    lines = []
    for source in sorted(needed, key=lambda s: (s not in _STANDARD, s != "", s)):
        for name in sorted(needed[source]):
            line = f"import {name}" if source == "" else f"from {source} import {name}"
            if not re.search(rf"^(from {re.escape(source)} import .*\b{name}\b|{re.escape(line)}$)", body, re.M):
                lines.append(line)
    if not lines:
        return body
    docstring = re.match(r'\s*("""(?:.|\n)*?""")\n*', body + "\n")
    at = docstring.end() if docstring else 0
    head, rest = (body + "\n")[:at].rstrip(), (body + "\n")[at:]
    joined = "\n".join(_grouped(lines))
    gap = "\n" if rest.lstrip().startswith(("import ", "from ")) else "\n\n\n"
    return f"{head}\n\n{joined}{gap}{rest.lstrip()}" if rest.strip() else f"{head}\n\n{joined}"


_STANDARD = frozenset(FROM.values()) | {"contextlib"}


def _grouped(lines: Sequence[str]) -> list[str]:
    """Names from one module in one line."""
    by: dict[str, list[str]] = {}
    for line in lines:
        source, _, name = line.partition(" import ")
        by.setdefault(source, []).append(name)
    return [f"{source} import {', '.join(names)}" if names != [""] else source for source, names in by.items()]
