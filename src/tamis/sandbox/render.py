"""Values as Python that a person reads: `date(2026, 3, 1)`, `"drill"`, `Loan(tool="drill")`."""

import datetime as dt
import json
import math
from collections.abc import Callable
from typing import Any

from tamis.sandbox.box.values import Value, decode


def render(value: Value) -> str:
    """Python source for a value; for what has none (objects of a draft, cut values) its nearest likeness."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if not isinstance(value, list) or not value or not isinstance(value[0], str):
        return repr(value)
    if show := _SHOW.get(value[0]):
        return show(value)
    try:
        return _plain(decode(value))
    except (ValueError, TypeError, LookupError, ArithmeticError):
        return f"<{value[1] if len(value) > 1 else value[0]}>"


def _plain(obj: object) -> str:
    """`datetime.date(2026, 3, 1)` is read as `date(2026, 3, 1)`."""
    if isinstance(obj, float) and not math.isfinite(obj):
        return f'float("{obj}")'
    text = repr(obj)
    return text.removeprefix("datetime.") if isinstance(obj, dt.date | dt.time | dt.timedelta) else text


def _many(items: list[Value]) -> str:
    return ", ".join(render(item) for item in items)


def _named(fields: list[Value]) -> str:
    return ", ".join(f"{name}={render(value)}" for name, value in fields)  # type: ignore[misc,str-unpack]


_SHOW: dict[str, Callable[[Any], str]] = {
    "list": lambda v: f"[{_many(v[1])}]",
    "tuple": lambda v: f"({_many(v[1])}{',' if len(v[1]) == 1 else ''})",
    "set": lambda v: f"{{{_many(v[1])}}}" if v[1] else "set()",
    "frozenset": lambda v: f"frozenset({{{_many(v[1])}}})" if v[1] else "frozenset()",
    "dict": lambda v: "{" + ", ".join(f"{render(k)}: {render(x)}" for k, x in v[1]) + "}",
    "deque": lambda v: f"deque([{_many(v[1])}]" + (f", {v[2]})" if v[2] is not None else ")"),
    "iterator": lambda v: f"iter([{_many(v[2])}{', …' if v[3] else ''}])",
    "int": lambda v: str(int(v[1], 16)) if len(v[1]) < 3000 else v[1],
    "enum": lambda v: f"{v[1]}.{v[2]}" if isinstance(v[2], str) else f"{v[1]}({render(v[2])})",
    "data": lambda v: f"{v[1]}({_named(v[2])})",
    "named": lambda v: f"{v[1]}({_named(v[2])})",
    "object": lambda v: f"<{v[1]}>" if not v[2] else f"<{v[1]} {_named(v[2])}>",
    "new": lambda v: f"<{v[1]}>",
    "sub": lambda v: f"{v[1]}({render(v[2])})",
    "exception": lambda v: f"{v[1]}({render(v[2])})",
    "type": lambda v: v[1],
    "function": lambda v: f"<function {v[1]}>",
    "opaque": lambda v: v[2] if len(v) > 2 else f"<{v[1]}>",
    "cycle": lambda _: "…",
    "cut": lambda _: "…",
    "digest": lambda v: f"<{v[1]} characters, SHA-256 {v[2][:12]}…>",
    "UUID": lambda v: f'UUID("{v[1]}")',
    "Decimal": lambda v: f'Decimal("{v[1]}")',
    "path": lambda v: f"Path({json.dumps(v[1])})",
    "ref": lambda v: f"<what call {v[1]} returned>",
}
