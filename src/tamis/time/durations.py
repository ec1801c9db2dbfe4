"""Lengths of time as people write and read them: "45 min", "3 days", "0.80 s". Inside, everything is seconds."""

import re

UNITS = {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0, "days": 86_400.0, "weeks": 604_800.0}
_ALSO = {"sec": "s", "second": "s", "seconds": "s", "minute": "min", "minutes": "min", "hour": "h", "hours": "h"}
_ALSO |= {"day": "days", "d": "days", "week": "weeks", "w": "weeks"}
_LENGTH = re.compile(r"([0-9][0-9_,]*\.?[0-9]*(?:[eE][-+]?[0-9]+)?)\s*([a-z]+)")


def parse(text: str | float) -> float:
    """Seconds of "45 min", "3 days", "1 h 30 min", or of a bare number of seconds. Raises ValueError."""
    if isinstance(text, int | float):
        return float(text)
    seconds, rest = 0.0, text.strip().lower()
    while rest:
        found = _LENGTH.match(rest)
        if found is None:
            raise ValueError(f"can't read the time {text!r}: write it like '45 min', '3 days' or '1 h 30 min'")
        unit = _ALSO.get(found[2], found[2])
        if unit not in UNITS:
            raise ValueError(f"no unit of time is called {found[2]!r}: they are {', '.join(UNITS)}")
        seconds += float(found[1].replace(",", "").replace("_", "")) * UNITS[unit]
        rest = rest[found.end() :].lstrip(" ,")
    if not text.strip():
        raise ValueError("an empty time: write it like '45 min'")
    return seconds


def spoken(seconds: float) -> str:
    """Two or three digits and the unit that a person would use."""
    if seconds == 0:
        return "0 s"
    for unit, below in (("ms", 0.01), ("s", 120.0), ("min", 3600.0), ("h", 2 * 86_400.0), ("days", 21 * 86_400.0)):
        if abs(seconds) < below:
            return f"{digits(seconds / UNITS[unit])} {unit}"
    return f"{digits(seconds / UNITS['weeks'])} weeks"


def digits(number: float) -> str:
    """Two digits below ten, else a whole number with its thousands apart."""
    if abs(number) < 0.995:
        return f"{number:.2g}"
    return f"{number:.1f}" if abs(number) < 9.95 else f"{number:,.0f}"
