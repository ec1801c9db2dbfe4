"""Numbers as people and spreadsheets write them. Each is read in one way or refused with a reason; none is guessed."""

import math
import re

_NUMBER = re.compile(r"([-+]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][-+]?\d+)?)\s*(.*)", re.DOTALL)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS_ELSEWHERE = ("mär", "mrz", "mai", "okt", "dez")
_MONTH = "|".join(_MONTHS + _MONTHS_ELSEWHERE)
_DATE = re.compile(
    rf"(\d{{1,2}}[-. ]+(?:{_MONTH})[a-z]*.*|(?:{_MONTH})[a-z]*[-. ]+\d{{1,4}}"
    r"|\d{4}-\d{1,2}-\d{1,2}(?:[ T].*)?|\d{1,2}[./]\d{1,2}[./]\d{2,4})",
    re.IGNORECASE,
)


class NotANumber(ValueError):
    """Says what the text is instead, as the end of a sentence."""


def number_in(text: str) -> tuple[float, str]:
    """The finite number that the text begins with, and the rest of it, stripped: a unit, or nothing. A decimal comma
    is one; `1,234.5` and `1.234,5`, which two countries read as two numbers, are refused. Raises NotANumber."""
    stripped = text.strip().replace("\u2212", "-").replace("\u00a0", " ")
    if not stripped:
        raise NotANumber("is empty")
    if _DATE.fullmatch(stripped):
        raise NotANumber(f"is a date ({stripped}): a spreadsheet has turned a fraction into it")
    found = _NUMBER.fullmatch(stripped)
    if found is None:
        if stripped.lower().lstrip("+-") in {"inf", "infinity", "nan", "∞"}:
            raise NotANumber(f"is {stripped}, not a finite number")
        raise NotANumber(f"is {_short(stripped)!r}, not a number")
    if found[2][:1] in {",", "."} or re.match(r"\d", found[2]):
        raise NotANumber(f"is {_short(stripped)!r}: is its comma for thousands or for decimals?")
    value = float(found[1].replace(",", "."))
    if not math.isfinite(value):
        raise NotANumber(f"is {_short(stripped)}, not a finite number")
    return value, found[2]


def plain_number(given: object) -> float:
    """The finite number that a cell or a JSON field holds, with nothing after it. Raises NotANumber."""
    if isinstance(given, bool) or given is None:
        raise NotANumber("is empty" if given is None else f"is {given}, not a number")
    if isinstance(given, int | float):
        try:
            value = float(given)
        except OverflowError:  # a whole number of more than 308 digits
            value = math.inf
        if not math.isfinite(value):
            raise NotANumber(f"is {_short(str(given))}, not a finite number")
        return value
    value, rest = number_in(str(given))
    if rest:
        raise NotANumber(f"is {_short(str(given))!r}, not a number alone")
    return value


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}..."
