from datetime import date, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.lab.calendar import DAYS, calendar, last_day, working_days
from tamis.lab.campaign import Campaign, Event, Proposed, Row
from tamis.lab.settings import LabSection


def test_thirteen_batches_on_one_bench_take_thirteen_working_days():
    monday = date(2026, 11, 30)
    assert last_day(monday, 13, LabSection()) == date(2026, 12, 16)
    assert last_day(monday, 13, LabSection(benches=2)) == date(2026, 12, 8)


def test_with_every_day_off_nothing_is_ever_measured():
    assert last_day(date(2026, 1, 1), 3, LabSection(days_off=DAYS)) is None


@settings(deadline=None)
@given(st.dates(max_value=date(9000, 1, 1)), st.integers(1, 60), st.sets(st.sampled_from(DAYS), max_size=6))
def test_no_working_day_is_a_day_off_and_none_is_skipped(first, count, off):
    lab = LabSection(days_off=tuple(off))
    days = working_days(first, count, lab)
    assert len(days) == count
    between = {first + timedelta(days=k) for k in range((days[-1] - first).days + 1)}
    assert set(days) == {day for day in between if DAYS[day.weekday()] not in off}


MONDAY = 1_795_996_800.0  # 2026-11-30, 00:00 UTC
DAY = 86_400.0


def campaign_with(proposed: list[float], waits: int = 0) -> Campaign:
    """Batches of one row, proposed then; the last so many still wait."""
    batches = []
    for number in range(1, len(proposed) + 1):
        row = Row(Proposed(row=str(number), draft="d", name="d", hash="", why="spread"), number)
        if number <= len(proposed) - waits:
            row.results.append(Event(row=str(number), kind="measured", values={"y": 1.0}))
        batches.append([row])
    return Campaign(id="c", batches=batches, proposed_at=proposed)


def test_the_calendar_begins_on_the_day_of_the_first_batch_and_says_what_is_left():
    days = calendar(campaign_with([MONDAY, MONDAY + DAY], waits=1), LabSection(), now=MONDAY + DAY, planned=10)
    assert days is not None
    assert days.begun == date(2026, 11, 30)
    assert (days.done, days.out, days.to_go) == (1, 1, 8)
    assert days.ends == date(2026, 12, 11)


def test_a_campaign_that_fell_behind_ends_later():
    days = calendar(campaign_with([MONDAY], waits=1), LabSection(), now=MONDAY + 14 * DAY, planned=5)
    assert days is not None
    assert days.ends == date(2026, 12, 18)


def test_a_campaign_played_in_seconds_takes_the_days_that_its_bench_would_take():
    days = calendar(campaign_with([MONDAY] * 13), LabSection(), now=MONDAY, planned=None)
    assert days is not None
    assert (days.working_days, days.ends, days.days) == (13, date(2026, 12, 16), 17)


def test_before_the_first_batch_there_is_no_calendar():
    assert calendar(Campaign(id="c"), LabSection(), now=MONDAY) is None
