from calendar import monthrange
from datetime import date


def month_after(first: date, n: int) -> date:
    year, month = first.year, first.month + n
    while month > 12:
        year, month = year + 1, month - 12
    lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return date(year, month, min(first.day, lengths[month - 1]))


def schedule(cents: int, months: int, first: date) -> list[tuple[date, int]]:
    if cents <= 0 or months <= 0:
        raise ValueError("amount and months must be positive")
    part, odd = divmod(cents, months)
    return [(month_after(first, i), part + 1 if i < odd else part) for i in range(months)]


def left(cents: int, months: int, first: date, on: date) -> int:
    return sum(amount for day, amount in schedule(cents, months, first) if day > on)
