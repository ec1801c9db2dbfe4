"""Words. Calls and outcomes as a person reads them, and as Python that she or a test file runs.

For reading, dates are written out ("1 March 2026") and the object that calls are made on is named after its class
("desk" for a LendingDesk). For running, everything is plain Python. Both are the same words otherwise.
"""

import builtins
import datetime
import keyword
import re
from collections.abc import Sequence

import msgspec

from tamis.behaviour.programs import refs_in, refs_of
from tamis.sandbox import Call, Program, Value, decode, render

MEANT = frozenset({"date", "datetime", "time", "timedelta", "pytest", "suppress", "result"})
"""Names that a test file imports, or a witness gives."""
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def names_of(program: Sequence[Call]) -> dict[int, str]:
    """A name for the result of each call that others are made on or use: what it is called, short, no two alike, and
    none that the program calls. What is only read from the module, like `Suit.HEARTS`, goes by its own name."""
    used = {r for c in program for r in refs_of(c)}
    called = {c.name for c in program if c.on is None}
    names: dict[int, str] = {}
    for i in sorted(used):
        path = path_of(program, i)
        if path is not None:
            names[i] = path
            continue
        word = re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", program[i].name) or ["it"]
        name = word[-1].lower()
        taken = name in called or name in MEANT or hasattr(builtins, name)
        if taken or keyword.iskeyword(name) or keyword.issoftkeyword(name):
            name = f"the_{name}"
        same = sum(n.rstrip("0123456789") == name for n in names.values())
        names[i] = name if not same else f"{name}{same + 1}"
    return names


def path_of(program: Sequence[Call], at: int) -> str | None:
    """The own name of what is only read from the module, `Suit` or `Suit.HEARTS`; None for all else."""
    call = program[at]
    if not call.get:
        return None
    if call.on is None:
        return call.name
    holder = path_of(program, call.on)
    return None if holder is None else f"{holder}.{call.name}"


def said(program: Sequence[Call], at: int, names: dict[int, str], *, dates: bool = True) -> str:
    """Call `at` as it is read: `desk.lend("drill", "ann", 1 March 2026)`. With `dates` false, as Python."""
    call = program[at]
    where = "" if call.on is None else f"{names.get(call.on, 'it')}."
    if call.get:
        return f"{where}{call.name}"
    args = [_argument(v, names, dates) for v in call.args]
    args += [f"{k}={_argument(v, names, dates)}" for k, v in call.kwargs.items()]
    special = _special(call.name, where.removesuffix("."), args) if where.removesuffix(".") else None
    return special or f"{where}{call.name}({', '.join(args)})"


BINARY = {
    "__add__": "+", "__sub__": "-", "__mul__": "*", "__truediv__": "/", "__floordiv__": "//", "__mod__": "%",
    "__eq__": "==", "__ne__": "!=", "__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">=", "__or__": "|",
    "__and__": "&", "__xor__": "^",
}  # fmt: skip
UNARY = {
    "__len__": "len", "__str__": "str", "__repr__": "repr", "__bool__": "bool", "__abs__": "abs", "__iter__": "list",
}  # fmt: skip


def _special(name: str, me: str, args: Sequence[str]) -> str | None:
    """A special method as people write it: `len(desk)`, `desk[2]`."""
    match name, args:
        case _, [one] if name in BINARY:
            return f"{me} {BINARY[name]} {one}"
        case _, [] if name in UNARY:
            return f"{UNARY[name]}({me})"
        case "__contains__", [one]:
            return f"{one} in {me}"
        case "__getitem__", [one]:
            return f"{me}[{one}]"
        case _:
            return None


def _argument(value: Value, names: dict[int, str], dates: bool) -> str:
    match value:
        case ["ref", int(place)]:
            return names.get(place, "it")
        case [("list" | "tuple") as tag, [*items]] if refs_in(value):
            inner = ", ".join(_argument(item, names, dates) for item in items)
            return f"[{inner}]" if tag == "list" else f"({inner}{',' if len(items) == 1 else ''})"
        case _:
            return plain(value) if dates else render(value)


def plain(value: Value) -> str:
    """A value for reading: as Python, but with dates written out wherever they stand."""
    text = render(value)
    return re.sub(r"\bdate\((\d+), (\d+), (\d+)\)", _written_out, text)


def _written_out(match: re.Match[str]) -> str:
    year, month, day = map(int, match.groups())
    return f"{day} {MONTHS[month - 1]} {year}" if 1 <= month <= 12 else match.group()


def outcome_said(outcome: bytes, *, dates: bool = True) -> str:
    """What a call did: its value, `raises LendingError`, or how it ended otherwise."""
    match msgspec.json.decode(outcome):
        case ["=", value, *changed]:
            tell = plain if dates else render
            others = changed[0].items() if changed and isinstance(changed[0], dict) else ()
            became = ", ".join(f"argument {int(k) + 1 if k.isdigit() else k} becomes {tell(v)}" for k, v in others)
            return f"{tell(value)} ({became})" if became else tell(value)
        case ["!", name, *_]:
            return f"raises {name}"
        case ["#", ending, *_]:
            return ENDINGS.get(str(ending), str(ending))
        case other:
            return str(other)


ENDINGS = {
    "timed out": "runs out of time", "out of memory": "runs out of memory", "crashed": "crashes the interpreter",
    "forbidden": "does something forbidden", "exited": "ends the process", "not reached": "is not reached",
}  # fmt: skip


def value_of(outcome: bytes) -> object:
    """The value that a call returned. Raises ValueError where it returned none."""
    match msgspec.json.decode(outcome):
        case ["=", value, *_]:
            return decode(value)
        case _:
            raise ValueError("this call returned no value")


def script(program: Program) -> str:
    """The program as Python that a person can read and run, one call a line; the last one is an expression."""
    names = names_of(program)
    lines = []
    for i in range(len(program)):
        text = said(program, i, names, dates=False)
        if i == len(program) - 1 or path_of(program, i) is None:
            lines.append(f"{names[i]} = {text}" if i in names else text)
    return "\n".join(lines)


def heading(program: Sequence[Call], setup: int, names: dict[int, str]) -> str:
    """What is prepared before the calls that matter, in one line: `desk: add_tool("drill"), add_member("ann")`."""
    calls = [i for i in range(setup) if path_of(program, i) is None]
    makers = [i for i in calls if i in names]
    if not makers:
        return ", ".join(said(program, i, names) for i in calls)
    parts = []
    for maker in makers:
        made = said(program, maker, names)
        inner = [said(program, i, {**names, maker: ""}).lstrip(".") for i in range(setup) if program[i].on == maker]
        merged = _merged(inner)
        parts.append(f"{names[maker]} = {made}" + (f" with {merged}" if merged else ""))
    return "; ".join(parts)


def the_year(texts: Sequence[str]) -> str | None:
    """The year of all written-out dates, None where there are several or none."""
    years = set(re.findall(_WRITTEN_YEAR, "\n".join(texts)))
    return years.pop() if len(years) == 1 else None


_WRITTEN_YEAR = rf"\b\d{{1,2}} (?:{'|'.join(MONTHS)}) (\d{{4}})\b"


def without_the_obvious(texts: Sequence[str], names: dict[int, str]) -> list[str]:
    """`desk.lend("drill", 1 March 2026) → 8 March 2026` as `lend("drill", 1 March) → 8 March`, where there is only one
    object and only one year."""
    year = the_year(texts)
    found = list(texts)
    if len(names) == 1:
        (name,) = names.values()
        found = [t.removeprefix(f"{name}.") for t in found]
    if year is not None:
        found = [re.sub(_WRITTEN_YEAR, lambda m: m.group().removesuffix(f" {year}"), t) for t in found]
    return found


def _merged(calls: Sequence[str]) -> str:
    """`add_tool("drill"), add_tool("saw")` as `add_tool("drill", then "saw")`."""
    by_name: dict[str, list[str]] = {}
    for call in calls:
        name, _, rest = call.partition("(")
        by_name.setdefault(name, []).append(rest.removesuffix(")"))
    return ", ".join(f"{name}({', then '.join(args)})" for name, args in by_name.items())


def date_typed(text: str) -> datetime.date | None:
    """A date as a person types it: `15 March 2026`, `2026-03-15`. None where it is none."""
    for form in ("%d %B %Y", "%d %b %Y", "%Y-%m-%d"):
        try:
            return datetime.datetime.strptime(text.strip(), form).date()
        except ValueError:
            continue
    return None
