"""Opening hours: a lab that works Monday to Friday, a reviewer who sleeps. Time here is seconds from a Monday, 00:00.

A week is a list of open stretches. What is begun goes on in the next open stretch where the last one closed.
"""

import math
import re
from collections.abc import Sequence

from tamis.records import Record
from tamis.time.intervals import Interval, union

DAY = 86_400.0
WEEK = 7 * DAY
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")

_OPEN = re.compile(
    r"(?P<first>[a-z]{3})(?:\s*[-–]\s*(?P<last>[a-z]{3}))?\s+(?P<start>\d\d?:\d\d)\s*[-–]\s*(?P<end>\d\d?:\d\d)"
)


class Hours(Record, frozen=True, kw_only=True):
    """`open` are the open stretches of a week, sorted and disjoint, in seconds from Monday 00:00; never empty."""

    open: tuple[Interval, ...]

    def works(self, at: float, seconds: float) -> Interval:
        """When work of that length begins and ends if it is ready at `at`. No work at all still waits for opening."""
        began = self._next_open(at)
        # whole weeks at once; the last of them by its stretches, since work that fills it ends when it closes
        whole_weeks = max(0, math.ceil(seconds / self.seconds_a_week) - 1)
        week, offset = divmod(began + whole_weeks * WEEK, WEEK)
        seconds -= whole_weeks * self.seconds_a_week
        while True:
            for start, end in self.open:
                here = max(start, offset)
                if here >= end:
                    continue
                if seconds <= end - here:
                    return began, week * WEEK + here + seconds
                seconds -= end - here
            week, offset = week + 1, 0.0

    def _next_open(self, at: float) -> float:
        week, offset = divmod(at, WEEK)
        for start, end in self.open:
            if offset < end:
                return week * WEEK + max(start, offset)
        return (week + 1) * WEEK + self.open[0][0]

    @property
    def seconds_a_week(self) -> float:
        return sum(end - start for start, end in self.open)


def hours(text: str) -> Hours:
    """ "Mon-Fri 09:00-17:00", several joined by commas. Raises ValueError, saying what it can't read."""
    stretches: list[Interval] = []
    for part in text.split(","):
        found = _OPEN.fullmatch(part.strip().lower())
        if found is None:
            raise ValueError(f"can't read the hours {part.strip()!r}: write them like 'Mon-Fri 09:00-17:00'")
        start, end = _of_day(found["start"]), _of_day(found["end"])
        if end <= start:
            raise ValueError(f"the hours {part.strip()!r} close before they open; write a night as two stretches")
        stretches += [(DAY * day + start, DAY * day + end) for day in _days(found["first"], found["last"])]
    return Hours(open=tuple(union(stretches)))


def moment(text: str) -> float:
    """ "Mon 09:00" in seconds from Monday 00:00. Raises ValueError."""
    day, _, clock = text.strip().lower().partition(" ")
    if not re.fullmatch(r"\d\d?:\d\d", clock.strip()):
        raise ValueError(f"can't read the moment {text!r}: write it like 'Mon 09:00'")
    return DAY * _day(day) + _of_day(clock.strip())


def _days(first: str, last: str | None) -> Sequence[int]:
    start, end = _day(first), _day(last or first)
    return [day % 7 for day in range(start, end + 1 if end >= start else end + 8)]


def _day(name: str) -> int:
    if name not in DAYS:
        raise ValueError(f"no day is called {name!r}: they are {', '.join(d.title() for d in DAYS)}")
    return DAYS.index(name)


def _of_day(clock: str) -> float:
    hour, minute = (int(part) for part in clock.split(":"))
    if hour > 24 or minute > 59 or (hour == 24 and minute):
        raise ValueError(f"{clock} is no time of day")
    return hour * 3600.0 + minute * 60.0
