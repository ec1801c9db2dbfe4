from datetime import date

import pytest
from payments import left, schedule


def test_the_parts_add_up():
    parts = schedule(1000, 3, date(2026, 1, 15))
    assert len(parts) == 3
    assert sum(cents for _, cents in parts) == 1000


def test_one_a_month():
    assert [day for day, _ in schedule(900, 3, date(2026, 1, 15))] == [
        date(2026, 1, 15),
        date(2026, 2, 15),
        date(2026, 3, 15),
    ]


def test_february_is_short():
    assert schedule(200, 2, date(2026, 1, 31))[1][0] == date(2026, 2, 28)


def test_what_is_left():
    assert left(900, 3, date(2026, 1, 15), date(2026, 2, 20)) == 300


def test_nothing_to_pay():
    with pytest.raises(ValueError):
        schedule(100, 0, date(2026, 1, 15))
