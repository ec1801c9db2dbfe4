"""Wording. Programs and outcomes as a person reads them, and as Python that she can run."""

import re
from collections.abc import Iterable, Sequence

import msgspec

from tamis.behaviour.surface import Surface
from tamis.sandbox import Call, Program, Value, render

FROM_DATETIME = re.compile(r"\b(date|datetime|time|timedelta)\(")
FROM_ELSEWHERE = {
    "Decimal(": "from decimal import Decimal",
    "Fraction(": "from fractions import Fraction",
    "Path(": "from pathlib import Path",
    "UUID(": "from uuid import UUID",
}


def names_of(program: Program, surface: Surface) -> list[str]:
    """A variable's name for what each call made: a class's last word in small letters, numbered where there are
    several ("desk", "account2"), and "r3" for what a later call needs of another."""
    taken: dict[str, int] = {}
    names = []
    for i, call in enumerate(program):
        if (path := _path(program, i)) is not None:
            names.append(path)
            continue
        made = call.on is None and surface.class_named(call.name) is not None
        word = _last_word(call.name) if made else f"r{i}"
        taken[word] = taken.get(word, 0) + 1
        names.append(word if taken[word] == 1 else f"{word}{taken[word]}")
    return names


def _path(program: Program, at: int) -> str | None:
    """What is only read from the module, like `Suit` or `Suit.HEARTS`: it goes by its own name."""
    call = program[at]
    if not call.get:
        return None
    if call.on is None:
        return call.name
    holder = _path(program, call.on)
    return None if holder is None else f"{holder}.{call.name}"


def _last_word(name: str) -> str:
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name.rpartition(".")[2])
    word = (words[-1] if words else "thing").lower()
    return (
        word
        if word.isidentifier() and word not in {"class", "from", "import", "in", "is", "not", "str", "list"}
        else "it"
    )


def render_call(program: Program, at: int, surface: Surface, *, names: Sequence[str] = ()) -> str:
    """One call as Python, like `desk.renew("drill", date(2026, 3, 4))`."""
    call = program[at]
    known = names or names_of(program, surface)
    name = call.name if call.on is None else f"{known[call.on]}.{call.name}"
    if call.on is not None and call.name.startswith("__") and call.name.endswith("__"):
        return _dunder(call, known)
    if call.get:
        return name
    args = [_argument(a, known) for a in call.args] + [f"{k}={_argument(v, known)}" for k, v in call.kwargs.items()]
    return f"{name}({', '.join(args)})"


def _argument(value: Value, names: Sequence[str]) -> str:
    if isinstance(value, list) and value and value[0] == "ref":
        return names[int(str(value[1]))]
    if isinstance(value, list) and len(value) == 2 and value[0] in {"list", "tuple"} and isinstance(value[1], list):
        inner = ", ".join(_argument(v, names) for v in value[1])
        return f"[{inner}]" if value[0] == "list" else f"({inner}{',' if len(value[1]) == 1 else ''})"
    return render(value)


BINARY = {
    "__add__": "+", "__sub__": "-", "__mul__": "*", "__truediv__": "/", "__floordiv__": "//", "__mod__": "%",
    "__eq__": "==", "__ne__": "!=", "__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">=", "__or__": "|",
    "__and__": "&", "__xor__": "^",
}  # fmt: skip
UNARY = {
    "__len__": "len",
    "__str__": "str",
    "__repr__": "repr",
    "__bool__": "bool",
    "__abs__": "abs",
    "__iter__": "list",
}


def _dunder(call: Call, names: Sequence[str]) -> str:
    me = names[call.on or 0]
    args = [_argument(a, names) for a in call.args]
    if call.name in BINARY and len(args) == 1:
        return f"{me} {BINARY[call.name]} {args[0]}"
    if call.name in UNARY and not args:
        return f"{UNARY[call.name]}({me})"
    if call.name == "__contains__" and len(args) == 1:
        return f"{args[0]} in {me}"
    if call.name == "__getitem__" and len(args) == 1:
        return f"{me}[{args[0]}]"
    return f"{me}.{call.name}({', '.join(args)})"


def outcome_text(outcome: bytes) -> str:
    """What a call gave, shortly: "date(2026, 3, 15)", "raises LendingError", "runs out of time"."""
    parts = msgspec.json.decode(outcome)
    if parts[0] == "!":
        return f"raises {parts[1]}"
    if parts[0] == "#":
        return ENDINGS.get(str(parts[1]), str(parts[1]))
    text = render(parts[1])
    changed: dict[str, Value] = parts[2] if len(parts) > 2 and isinstance(parts[2], dict) else {}
    changes = ", ".join(f"argument {int(k) + 1 if k.isdigit() else k} becomes {render(v)}" for k, v in changed.items())
    return f"{text} ({changes})" if changes else text


ENDINGS = {
    "timed out": "runs out of time", "out of memory": "runs out of memory", "crashed": "crashes the interpreter",
    "forbidden": "does something forbidden", "exited": "ends the process", "not reached": "is not reached",
}  # fmt: skip


def witness_source(program: Program, surface: Surface, module: str) -> str:
    """The program as Python that can be run beside `module`: imports, set-up, and the last call as `result`. Without a
    module, drafts are no Python, and the calls alone say what is done."""
    names = names_of(program, surface)
    lines = []
    used = {int(str(r)) for c in program for r in _references(c)}
    for i in range(len(program)):
        text = render_call(program, i, surface, names=names)
        last = i == len(program) - 1
        if not last and _path(program, i) is not None:
            continue
        lines.append(f"result = {text}" if last else f"{names[i]} = {text}" if i in used else text)
    body = "\n".join(lines)
    if not module:
        return body.removeprefix("result = ")
    return "\n".join([*_imports(body, program, module), "", body, ""])


def _references(call: Call) -> Iterable[Value]:
    if call.on is not None:
        yield call.on
    stack: list[Value] = [*call.args, *call.kwargs.values()]
    while stack:
        value = stack.pop()
        if isinstance(value, list):
            if len(value) == 2 and value[0] == "ref":
                yield value[1]
            else:
                stack += value


def _imports(body: str, program: Program, module: str) -> list[str]:
    standard = sorted(set(FROM_DATETIME.findall(body)))
    lines = [f"from datetime import {', '.join(standard)}"] if standard else []
    lines += [line for word, line in FROM_ELSEWHERE.items() if word in body]
    roots = sorted({c.name for c in program if c.on is None})
    return [*lines, *([""] if lines else []), f"from {module} import {', '.join(roots)}"]
