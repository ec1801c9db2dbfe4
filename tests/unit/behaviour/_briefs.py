"""Small briefs with drafts that went different ways, as writers do: material for the tests of this folder."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Case:
    """A brief, its drafts' sources by name, and given tests."""

    module: str
    brief: str
    drafts: dict[str, str]
    tests: list[str] = field(default_factory=list)


DURATION = Case(
    module="duration",
    brief="""# Durations

Write `duration.py`. Texts like "1h30m" or "45s" become seconds.

```python
def parse_duration(text: str) -> int: ...   # seconds; ValueError for what is no duration
```

Hours, minutes and seconds may be given, in this order: "2h", "1h30m", "90s".
""",
    tests=[
        """from duration import parse_duration

def test_hours_and_minutes():
    assert parse_duration("1h30m") == 5400

def test_seconds():
    assert parse_duration("45s") == 45
"""
    ],
    drafts={
        "strict": """import re
def parse_duration(text):
    m = re.fullmatch(r"(?:(\\d+)h)?(?:(\\d+)m)?(?:(\\d+)s)?", text)
    if not m or not any(m.groups()):
        raise ValueError(text)
    h, mi, s = (int(g or 0) for g in m.groups())
    return h * 3600 + mi * 60 + s
""",
        "empty_is_zero": """import re
def parse_duration(text):
    m = re.fullmatch(r"(?:(\\d+)h)?(?:(\\d+)m)?(?:(\\d+)s)?", text)
    if not m:
        raise ValueError(text)
    h, mi, s = (int(g or 0) for g in m.groups())
    return h * 3600 + mi * 60 + s
""",
        "strips": """import re
def parse_duration(text):
    m = re.fullmatch(r"(?:(\\d+)h)?(?:(\\d+)m)?(?:(\\d+)s)?", text.strip())
    if not m or not any(m.groups()):
        raise ValueError(text)
    h, mi, s = (int(g or 0) for g in m.groups())
    return h * 3600 + mi * 60 + s
""",
        "any_order": """import re
UNITS = {"h": 3600, "m": 60, "s": 1}
def parse_duration(text):
    if not re.fullmatch(r"(\\d+[hms])+", text):
        raise ValueError(text)
    return sum(int(n) * UNITS[u] for n, u in re.findall(r"(\\d+)([hms])", text))
""",
        "any_case": """import re
UNITS = {"h": 3600, "m": 60, "s": 1}
def parse_duration(text):
    if not re.fullmatch(r"(\\d+[hms])+", text.lower()):
        raise ValueError(text)
    return sum(int(n) * UNITS[u] for n, u in re.findall(r"(\\d+)([hms])", text.lower()))
""",
        "lenient": """import re
UNITS = {"h": 3600, "m": 60, "s": 1}
def parse_duration(text):
    return sum(int(n) * UNITS[u] for n, u in re.findall(r"(\\d+)([hms])", text))
""",
        "below_sixty": """import re
def parse_duration(text):
    m = re.fullmatch(r"(?:(\\d+)h)?(?:(\\d+)m)?(?:(\\d+)s)?", text)
    if not m or not any(m.groups()):
        raise ValueError(text)
    h, mi, s = (int(g or 0) for g in m.groups())
    if m.group(1) and mi >= 60 or m.group(2) and s >= 60:
        raise ValueError(text)
    return h * 3600 + mi * 60 + s
""",
        "bare_seconds": """import re
def parse_duration(text):
    if text.isdigit():
        return int(text)
    m = re.fullmatch(r"(?:(\\d+)h)?(?:(\\d+)m)?(?:(\\d+)s)?", text)
    if not m or not any(m.groups()):
        raise ValueError(text)
    h, mi, s = (int(g or 0) for g in m.groups())
    return h * 3600 + mi * 60 + s
""",
    },
)

PRORATE = Case(
    module="prorate",
    brief='''# Part of a month's rent

```python
from datetime import date

def rent_due(monthly_cents: int, moved_in: date) -> int:
    """What a tenant who moves in on that day pays for that month, in cents."""
    ...
```

The rent is for the days from moving in to the end of the month, that day included.
''',
    tests=[
        """from datetime import date
from prorate import rent_due

def test_a_whole_month():
    assert rent_due(90000, date(2026, 4, 1)) == 90000

def test_half_a_month():
    assert rent_due(90000, date(2026, 4, 16)) == 45000
"""
    ],
    drafts={
        "round_half_even": """import calendar
def rent_due(monthly_cents, moved_in):
    days = calendar.monthrange(moved_in.year, moved_in.month)[1]
    return round(monthly_cents * (days - moved_in.day + 1) / days)
""",
        "floor": """import calendar
def rent_due(monthly_cents, moved_in):
    days = calendar.monthrange(moved_in.year, moved_in.month)[1]
    return monthly_cents * (days - moved_in.day + 1) // days
""",
        "ceil": """import calendar
def rent_due(monthly_cents, moved_in):
    days = calendar.monthrange(moved_in.year, moved_in.month)[1]
    return -(-monthly_cents * (days - moved_in.day + 1) // days)
""",
        "half_up": """import calendar
def rent_due(monthly_cents, moved_in):
    days = calendar.monthrange(moved_in.year, moved_in.month)[1]
    return (2 * monthly_cents * (days - moved_in.day + 1) + days) // (2 * days)
""",
        "thirty_days": """def rent_due(monthly_cents, moved_in):
    return monthly_cents * max(0, 30 - moved_in.day + 1) // 30
""",
        "refuses_negative": """import calendar
def rent_due(monthly_cents, moved_in):
    if monthly_cents < 0:
        raise ValueError("negative rent")
    days = calendar.monthrange(moved_in.year, moved_in.month)[1]
    return round(monthly_cents * (days - moved_in.day + 1) / days)
""",
        "no_leap": """LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
def rent_due(monthly_cents, moved_in):
    days = LENGTHS[moved_in.month - 1]
    return round(monthly_cents * (days - moved_in.day + 1) / days)
""",
        "daily_rate": """import calendar
def rent_due(monthly_cents, moved_in):
    days = calendar.monthrange(moved_in.year, moved_in.month)[1]
    return (monthly_cents // days) * (days - moved_in.day + 1)
""",
    },
)


def _sorted(key: str) -> str:
    return f"def podium(results, places=3):\n    return [n for n, _ in sorted(results, {key}][:places]\n"


PODIUM = Case(
    module="podium",
    brief="""# The podium

```python
def podium(results: list[tuple[str, int]], places: int = 3) -> list[str]: ...
```

The names of the best, most points first.
""",
    tests=[
        """from podium import podium

def test_three():
    assert podium([("ann", 5), ("bob", 9), ("cid", 7), ("dee", 1)]) == ["bob", "cid", "ann"]
"""
    ],
    drafts={
        "stable": _sorted("key=lambda r: -r[1])"),
        "by_name": _sorted("key=lambda r: (-r[1], r[0]))"),
        "reverse": _sorted("key=lambda r: r[1])[::-1]"),
        "reverse_names": _sorted("key=lambda r: (r[1], r[0]), reverse=True)"),
        "ties_share": """def podium(results, places=3):
    ranked = sorted(results, key=lambda r: -r[1])
    if len(ranked) <= places or places <= 0:
        return [n for n, _ in ranked[:max(0, places)]]
    last = ranked[places - 1][1]
    return [n for n, p in ranked if p >= last]
""",
        "sums": """def podium(results, places=3):
    total = {}
    for n, p in results:
        total[n] = total.get(n, 0) + p
    return [n for n, _ in sorted(total.items(), key=lambda r: -r[1])][:places]
""",
        "best_only": """def podium(results, places=3):
    best = {}
    for n, p in results:
        best[n] = max(p, best.get(n, p))
    return [n for n, _ in sorted(best.items(), key=lambda r: -r[1])][:places]
""",
        "checks_places": """def podium(results, places=3):
    if places < 1:
        raise ValueError("at least one place")
    return [n for n, _ in sorted(results, key=lambda r: -r[1])][:places]
""",
        "positive_only": """def podium(results, places=3):
    return [n for n, p in sorted(results, key=lambda r: -r[1]) if p > 0][:places]
""",
    },
)

CACHE = Case(
    module="lru",
    brief="""# A small cache

```python
class Cache:
    def __init__(self, capacity: int) -> None: ...
    def get(self, key: str) -> int | None: ...
    def put(self, key: str, value: int) -> None: ...
    def __len__(self) -> int: ...
```

When it is full, the least recently used entry makes room.
""",
    drafts={
        "plain": """from collections import OrderedDict
class Cache:
    def __init__(self, capacity):
        self.capacity, self.d = capacity, OrderedDict()
    def get(self, key):
        if key not in self.d:
            return None
        self.d.move_to_end(key)
        return self.d[key]
    def put(self, key, value):
        self.d[key] = value
        self.d.move_to_end(key)
        if len(self.d) > self.capacity:
            self.d.popitem(last=False)
    def __len__(self):
        return len(self.d)
""",
        "put_keeps_place": """from collections import OrderedDict
class Cache:
    def __init__(self, capacity):
        self.capacity, self.d = capacity, OrderedDict()
    def get(self, key):
        if key not in self.d:
            return None
        self.d.move_to_end(key)
        return self.d[key]
    def put(self, key, value):
        self.d[key] = value
        if len(self.d) > self.capacity:
            self.d.popitem(last=False)
    def __len__(self):
        return len(self.d)
""",
        "fifo": """class Cache:
    def __init__(self, capacity):
        self.capacity, self.d = capacity, {}
    def get(self, key):
        return self.d.get(key)
    def put(self, key, value):
        self.d.pop(key, None)
        self.d[key] = value
        if len(self.d) > self.capacity:
            del self.d[next(iter(self.d))]
    def __len__(self):
        return len(self.d)
""",
        "refuses_zero": """from collections import OrderedDict
class Cache:
    def __init__(self, capacity):
        if capacity < 1:
            raise ValueError("capacity")
        self.capacity, self.d = capacity, OrderedDict()
    def get(self, key):
        if key not in self.d:
            return None
        self.d.move_to_end(key)
        return self.d[key]
    def put(self, key, value):
        self.d[key] = value
        self.d.move_to_end(key)
        if len(self.d) > self.capacity:
            self.d.popitem(last=False)
    def __len__(self):
        return len(self.d)
""",
        "evicts_early": """from collections import OrderedDict
class Cache:
    def __init__(self, capacity):
        self.capacity, self.d = capacity, OrderedDict()
    def get(self, key):
        if key not in self.d:
            return None
        self.d.move_to_end(key)
        return self.d[key]
    def put(self, key, value):
        if len(self.d) >= self.capacity and self.d:
            self.d.popitem(last=False)
        self.d[key] = value
        self.d.move_to_end(key)
    def __len__(self):
        return len(self.d)
""",
        "get_raises": """from collections import OrderedDict
class Cache:
    def __init__(self, capacity):
        self.capacity, self.d = capacity, OrderedDict()
    def get(self, key):
        self.d.move_to_end(key)
        return self.d[key]
    def put(self, key, value):
        self.d[key] = value
        self.d.move_to_end(key)
        if len(self.d) > self.capacity:
            self.d.popitem(last=False)
    def __len__(self):
        return len(self.d)
""",
    },
)

ALL = (DURATION, PRORATE, PODIUM, CACHE)
