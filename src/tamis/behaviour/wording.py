"""Wording. A program as a piece of Python that stands for itself: with its imports, and what it gives as `result`."""

import re

from tamis.behaviour.words import script
from tamis.sandbox import Program

FROM_DATETIME = re.compile(r"\b(date|datetime|time|timedelta)\(")
FROM_ELSEWHERE = {
    "Decimal(": "from decimal import Decimal",
    "Fraction(": "from fractions import Fraction",
    "Path(": "from pathlib import Path",
    "UUID(": "from uuid import UUID",
}


def witness_source(program: Program, module: str) -> str:
    """The program as Python that can be run beside `module`: imports, set-up, and the last call as `result`. Without a
    module, drafts are no Python, and the calls alone say what is done."""
    *before, last = script(program).splitlines()
    if not module:
        return "\n".join([*before, last])
    body = "\n".join([*before, f"result = {last}"])
    return "\n".join([*_imports(body, program, module), "", body, ""])


def _imports(body: str, program: Program, module: str) -> list[str]:
    standard = sorted(set(FROM_DATETIME.findall(body)))
    lines = [f"from datetime import {', '.join(standard)}"] if standard else []
    lines += [line for word, line in FROM_ELSEWHERE.items() if word in body]
    roots = sorted({c.name for c in program if c.on is None})
    return [*lines, *([""] if lines else []), f"from {module} import {', '.join(roots)}"]
