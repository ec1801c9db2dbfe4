"""When to try again: as long as the server says, else twice as long each time, with a jitter so that many who were
turned away together don't come back together (Brooker 2015, "full jitter" bounded from below)."""

import random
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

BASE_SECONDS = 0.5
MOST_SECONDS = 60.0
LONGEST_WAIT_SECONDS = 3_600.0
"""A server that asks for more than this will not be waited for."""


def pause(tries: int, rng: random.Random, *, told: float | None = None) -> float:
    """Seconds to wait after the try number `tries`, from 1. `told` is what the server asked for, and is kept to."""
    own = min(MOST_SECONDS, BASE_SECONDS * 2.0 ** min(tries - 1, 16)) * rng.uniform(0.5, 1.0)
    return own if told is None else told + rng.uniform(0.0, min(0.25, own))


def retry_after(headers: Mapping[str, str], *, now: float) -> float | None:
    """The seconds that a server asks to wait: Retry-After as seconds or as a date (against the answer's own Date, else
    `now`, seconds since 1970), or OpenAI's retry-after-ms; None where it asks for nothing that can be understood."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    told = headers.get("retry-after")
    if told is None:
        return None
    seconds = _number(told)
    if seconds is not None:
        return seconds
    until = _date(told)
    return None if until is None else max(0.0, until - (_date(headers.get("date")) or now))


def _number(text: str | None) -> float | None:
    try:
        number = float(text) if text is not None else -1.0
    except ValueError:
        return None
    return number if 0.0 <= number < float("inf") else None


def _date(text: str | None) -> float | None:
    """Seconds since 1970."""
    try:
        return parsedate_to_datetime(text).timestamp() if text is not None else None
    except (ValueError, TypeError, OverflowError):
        return None
