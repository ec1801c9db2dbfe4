from calendar import monthrange
from datetime import date


def month_after(first: date, n: int) -> date:
    index = first.month - 1 + n
    year, month = first.year + index // 12, index % 12 + 1
    return date(year, month, min(first.day, monthrange(year, month)[1]))


def schedule(cents: int, months: int, first: date) -> list[tuple[date, int]]:
    if cents <= 0 or months <= 0:
        raise ValueError("amount and months must be positive")
    part, odd = divmod(cents, months)
    return [(month_after(first, i), part + 1 if i < odd else part) for i in range(months)]


def left(cents: int, months: int, first: date, on: date) -> int:
    return sum(amount for day, amount in schedule(cents, months, first) if day > on)
