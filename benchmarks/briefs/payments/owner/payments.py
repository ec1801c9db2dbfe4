"""What the shop means: the odd cents come first, one each; a payment of the 31st comes back to the 31st after February;
what falls due on the day itself is not left any more."""

from calendar import monthrange
from datetime import date


class DontCare(Exception):
    """No opinion."""


def schedule(cents, months, first):
    if type(cents) is not int or type(months) is not int or type(first) is not date or first.year > 2900 or months > 999:
        raise DontCare
    if cents <= 0 or months <= 0:
        raise ValueError("must be positive")
    part, odd = divmod(cents, months)
    found = []
    for i in range(months):
        year, month = divmod(first.year * 12 + first.month - 1 + i, 12)
        day = min(first.day, monthrange(year, month + 1)[1])
        found.append((date(year, month + 1, day), part + (i < odd)))
    return found


def left(cents, months, first, on):
    if type(on) is not date:
        raise DontCare
    return sum(amount for day, amount in schedule(cents, months, first) if day > on)
