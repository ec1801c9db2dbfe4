"""Chemical formulas: `Ni0.6Fe0.4`, `NiFe2O4`, `Ni(OH)2`, `Ni 60 Fe 40` to the share of each element's atoms."""

import re

from tamis.lab.features import element_table

_PIECE = re.compile(r"([A-Z][a-z]?)|([(\[])|([)\]])|((?:\d+(?:\.\d*)?|\.\d+))|\s+|[·_]")


class NotAFormula(ValueError):
    """Says what is wrong, as the end of a sentence."""


def shares(formula: str) -> dict[str, float]:
    """Element → its share of the atoms, summing to 1. Raises NotAFormula."""
    counts = _counted(formula)
    total = sum(counts.values())
    if total <= 0:
        raise NotAFormula(f"is {formula!r}, in which there is nothing")
    return {element: count / total for element, count in counts.items() if count > 0}


def _counted(formula: str) -> dict[str, float]:
    stack: list[dict[str, float]] = [{}]
    last: dict[str, float] = {}
    position = 0
    while position < len(formula):
        piece = _PIECE.match(formula, position)
        if piece is None:
            raise NotAFormula(f"is {formula!r}, which can't be read from {formula[position:][:10]!r} on")
        position = piece.end()
        element, opens, closes, number = piece.groups()
        if number is not None:
            _times(stack[-1], last, float(number) - 1.0, formula)
            last = {}
        elif element is not None:
            if element not in element_table():
                raise NotAFormula(f"is {formula!r}, and there is no element {element}")
            last = {element: 1.0}
            _times(stack[-1], last, 1.0, formula)
        elif opens is not None:
            stack.append({})
        elif closes is not None:
            if len(stack) == 1:
                raise NotAFormula(f"is {formula!r}, with a bracket that was never opened")
            last = stack.pop()
            _times(stack[-1], last, 1.0, formula)
    if len(stack) > 1:
        raise NotAFormula(f"is {formula!r}, with a bracket that is never closed")
    return stack[0]


def _times(into: dict[str, float], what: dict[str, float], factor: float, formula: str) -> None:
    if not what:
        raise NotAFormula(f"is {formula!r}, with a number that belongs to no element")
    for element, count in what.items():
        into[element] = into.get(element, 0.0) + factor * count
