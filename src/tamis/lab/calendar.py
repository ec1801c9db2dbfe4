"""The calendar: which days a campaign takes, what is left of it, and when it ends. The bench sets the pace; how fast
ideas are written does not come into it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from tamis.lab.campaign import Campaign
from tamis.lab.settings import LabSection

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@dataclass(frozen=True)
class Calendar:
    """`planned` batches, of which `done` are back, `out` on the bench, and `to_go` not proposed yet. `working_days` is
    what all of them take on the benches there are. `ends` is the day of the last result if the bench keeps its pace
    from `today` on."""

    begun: date
    today: date
    planned: int
    done: int
    out: int
    to_go: int
    working_days: int
    ends: date

    @property
    def days(self) -> int:
        """From the first day to the last, days off included."""
        return (self.ends - self.begun).days + 1


def calendar(campaign: Campaign, lab: LabSection, *, now: float, planned: int | None = None) -> Calendar | None:
    """The campaign's calendar; it begins with its first batch. `planned` is how many batches it is to have (those it
    has, where nobody said). None before the first batch, or where no day is a working day."""
    if not campaign.batches or len(set(lab.days_off)) == len(DAYS):
        return None
    begun, today = _day(campaign.proposed_at[0]), _day(now)
    proposed = len(campaign.batches)
    total = max(planned or proposed, proposed)
    out = sum(1 for batch in campaign.batches if any(row.waits for row in batch))
    left = out + total - proposed
    # a stand-in lab answers at once: the days it would have taken count all the same
    ends = last_day(begun, total, lab) or today
    if left:
        ends = max(ends, last_day(today, left, lab) or today)
    elif campaign.uploads:
        ends = max(ends, _day_of(campaign.uploads[-1].how["at"]))
    days = -(-total // lab.benches)
    return Calendar(begun, today, total, proposed - out, out, total - proposed, days, ends)


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


def day_words(day: date) -> str:
    return f"{DAYS[day.weekday()]} {day.isoformat()}"


def off_words(days_off: Sequence[str]) -> str:
    return f"{' and '.join(days_off)} off" if days_off else "no day off"


def _day_of(iso: str) -> date:
    return datetime.fromisoformat(iso).astimezone(UTC).date()


def _day(seconds: float) -> date:
    return datetime.fromtimestamp(seconds, tz=UTC).date()
