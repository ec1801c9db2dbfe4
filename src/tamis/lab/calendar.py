"""The calendar: when a campaign of so many batches ends. The bench sets the pace; how fast ideas are written does not
come into it."""

from datetime import date, timedelta

from tamis.lab.settings import LabSection

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def working_days(first: date, count: int, lab: LabSection) -> list[date]:
    """The first `count` days from `first` on that are not off. Empty where every day is off."""
    if len(set(lab.days_off)) == len(DAYS):
        return []
    days: list[date] = []
    day = first
    while len(days) < count:
        if DAYS[day.weekday()] not in lab.days_off:
            days.append(day)
        day += timedelta(days=1)
    return days


def last_day(first: date, batches: int, lab: LabSection) -> date | None:
    """The day on which the last of `batches` is measured when the first is on `first`: every bench measures one batch
    a working day. None where no day is a working day, or there is nothing to measure."""
    days = working_days(first, -(-batches // lab.benches), lab)
    return days[-1] if days else None
