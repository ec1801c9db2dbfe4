from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from tamis.lab.calendar import DAYS, last_day, working_days
from tamis.lab.settings import LabSection


def test_thirteen_batches_on_one_bench_take_thirteen_working_days():
    monday = date(2026, 11, 30)
    assert last_day(monday, 13, LabSection()) == date(2026, 12, 16)
    assert last_day(monday, 13, LabSection(benches=2)) == date(2026, 12, 8)


def test_with_every_day_off_nothing_is_ever_measured():
    assert last_day(date(2026, 1, 1), 3, LabSection(days_off=DAYS)) is None


@given(st.dates(max_value=date(9000, 1, 1)), st.integers(1, 60), st.sets(st.sampled_from(DAYS), max_size=6))
def test_no_working_day_is_a_day_off_and_none_is_skipped(first, count, off):
    lab = LabSection(days_off=tuple(off))
    days = working_days(first, count, lab)
    assert len(days) == count
    between = {first + timedelta(days=k) for k in range((days[-1] - first).days + 1)}
    assert set(days) == {day for day in between if DAYS[day.weekday()] not in off}
