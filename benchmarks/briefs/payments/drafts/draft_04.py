from calendar import monthrange
from datetime import date


def next_month(day: date) -> date:
    year, month = (day.year + 1, 1) if day.month == 12 else (day.year, day.month + 1)
    return date(year, month, min(day.day, monthrange(year, month)[1]))


def schedule(cents: int, months: int, first: date) -> list[tuple[date, int]]:
    if cents <= 0 or months <= 0:
        raise ValueError("amount and months must be positive")
    part, odd = divmod(cents, months)
    parts, day = [], first
    for i in range(months):
        parts.append((day, part + (1 if i < odd else 0)))
        day = next_month(day)
    return parts


def left(cents: int, months: int, first: date, on: date) -> int:
    return sum(amount for day, amount in schedule(cents, months, first) if day > on)
