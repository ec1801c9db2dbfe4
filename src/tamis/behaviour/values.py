"""Values. Draws a value of a kind, near to what is already around: the boundaries are where drafts part.

A draw prefers, in turn, what the tests use for the same parameter, what this sequence used or was returned before (give
or take one), constants of the drafts (give or take one), and small plain values. Lists repeat their elements, so that
ties happen; intervals begin where others end; texts are edited pieces of texts seen. Everything drawn here has the
type that was asked for; `fits` says whether a value is also one that the brief plausibly allows.
"""

import datetime
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from uuid import UUID

from tamis.behaviour.fitting import is_of, literal_value
from tamis.behaviour.hints import Hints
from tamis.behaviour.kinds import ANY, Kind
from tamis.behaviour.texts import Texts
from tamis.sandbox import decode

FORWARD = 0.9
"""How often a sequence's next date is no earlier than its last: people's books go forward, and mistakes don't."""
DAY = datetime.timedelta(days=1)
FIRST_DAY = datetime.date(2026, 3, 2)
TURNING_DAYS = tuple(
    datetime.date.fromisoformat(d)
    for d in ("2024-02-29", "2026-01-31", "2026-02-28", "2026-12-31", "2027-01-01", "2026-03-01", "2024-12-30")
)
GUESSES: Sequence[tuple[str, Kind]] = (
    (r"^(n|i|j|k|x|y|a|b|num|number|count|size|limit|capacity|amount|cents|age|year|month|day|index|width|value)$|"
     r"(_count|_size|_id|_cents|_days|_limit|_n)$", Kind(name="int")),
    (r"(rate|price|ratio|percent|total|balance|cost|weight|score)$", Kind(name="float")),
    (r"^(on|date|start|end|today|when)$|_date$|_on$", Kind(name="date")),
    (r"(list|items|values|numbers|nums|xs|data|array|elements|scores|seq)$", Kind(name="list", of=(Kind(name="int"),))),
    (r"^(words|names|lines|strings|tokens)$", Kind(name="list", of=(Kind(name="str"),))),
    (r"^(is|has|should|allow|include|strict|reverse)", Kind(name="bool")),
    (r"^(mapping|counts|config|options|dct)$", Kind(name="dict", of=(Kind(name="str"), Kind(name="int")))),
)  # fmt: skip


PEOPLE = re.compile(r"name|user|member|person|people|customer|player|owner|author|student|patient|guest|voter|who")


def default_names(param: str) -> tuple[str, ...]:
    """Plain names for things of this kind, where nothing shows what they are called."""
    return ("ann", "bob", "cid") if PEOPLE.search(param) else ("a", "b", "c")


class Unmakeable(Exception):
    """No value of this kind can be written down, like a callable."""


@dataclass
class Near:
    """What is around where a value is wanted: values used in this sequence by parameter, and values returned."""

    by_param: dict[str, list[object]] = field(default_factory=dict)
    used: list[object] = field(default_factory=list)
    returned: list[object] = field(default_factory=list)

    def add(self, param: str, value: object) -> None:
        self.by_param.setdefault(param, []).append(value)
        self.used.append(value)
        if isinstance(value, list | tuple):
            self.used += [v for v in value if type(v) in (int, str, datetime.date)]

    def of(self, kind: type, *, back: int = 8) -> list[object]:
        """The latest few values of exactly this type, those used before those returned."""
        used = [v for v in self.used if type(v) is kind][-back:]
        return used + [v for v in self.returned if type(v) is kind][-back:]


def guessed(param: str, hints: Hints) -> Kind:
    """The kind of a parameter that nobody annotated: of what the tests give it, else by its name, else text."""
    if param in hints.kinds:
        return hints.kinds[param]
    return next((kind for pattern, kind in GUESSES if re.search(pattern, param)), Kind(name="str"))


class Values:
    """Draws values for one brief. Holds no state but the hints, so that a draw depends only on `rng` and what is
    near. `stateful` says that the brief has classes: then texts are names of things, not content."""

    def __init__(self, hints: Hints, *, stateful: bool) -> None:
        self.hints = hints
        self.stateful = stateful
        self._used = {name: [decode(v) for v in values] for name, values in hints.used.items()}
        self._dates = [datetime.date.fromisoformat(d) for d in hints.dates] or [FIRST_DAY]
        self._ints = list(hints.ints) or [0, 1, 2, 3, 10]
        self.texts = Texts(hints.texts, self._ints)
        self._ratios = _ratios(self._ints[:10])
        self.provided: frozenset[str] = frozenset()
        """Parameters whose names another method must make known first: there, new names are drawn less often."""
        self.most = 10**6
        """No whole number drawn is larger: lowered when drafts ran out of time on one."""
        self._makers: Mapping[str, Callable[[random.Random, Near, Kind, str], object]] = {
            "int": self._int, "float": self._float, "Decimal": self._decimal, "Fraction": self._fraction,
            "bool": lambda rng, *_: rng.random() < 0.5, "str": self._str, "bytes": self._bytes, "date": self._date,
            "datetime": self._datetime, "time": self._time, "timedelta": self._timedelta, "none": lambda *_: None,
            "list": self._list, "run": self._run, "tuple": self._tuple, "set": self._set, "frozenset": self._frozenset,
            "dict": self._dict, "counter": self._counter, "complex": self._float, "UUID": self._uuid,
            "Path": self._path, "union": self._union, "literal": self._literal, "any": self._any, "object": self._any,
        }  # fmt: skip

    def used_for(self, method: str, param: str) -> list[object]:
        """What the tests give this parameter of this method, else any parameter of that name."""
        return self._used.get(f"{method}.{param}") or self._used.get(param) or []

    def draw(self, rng: random.Random, near: Near, kind: Kind, param: str, *, method: str = "") -> object:
        """A value of the kind. Raises Unmakeable."""
        known = [v for v in self.used_for(method, param) if is_of(v, kind)]
        again = [v for v in near.by_param.get(param, ())[-6:] if is_of(v, kind)]
        dice = rng.random()
        if kind.name == "str" and (self.is_name(param) or (known and "[" in param and rng.random() < 0.8)):
            return self._name(rng, again, known, param)
        if known and dice < (0.15 if kind.name in {"date", "datetime", "int"} else 0.3):
            return rng.choice(known)
        if known and dice < 0.5 and kind.name not in {"date", "datetime", "int", "bool", "none"}:
            return self.tweak(rng, near, rng.choice(known), kind, param)
        maker = self._makers.get(kind.name)
        if maker is None:
            raise Unmakeable(kind.name)
        return maker(rng, near, kind, param)

    def is_name(self, param: str) -> bool:
        """Whether a text parameter names a thing, like a member, rather than holding content."""
        known = [v for v in self._used.get(param, ()) if isinstance(v, str)]
        if known:
            return self.stateful and all(re.fullmatch(r"[\w.@-]+", v) for v in known)
        return self.stateful and not re.search(r"text|line|content|message|body|expr|pattern|query|source|data$", param)

    def _name(self, rng: random.Random, again: Sequence[object], known: Sequence[object], param: str) -> object:
        pool = list(known) or default_names(param)
        everyone = [v for v in self._used.get(param, ()) if isinstance(v, str)]
        dice = rng.random()
        here = list(dict.fromkeys(again))
        if here and dice < (0.8 if param in self.provided else (0.35, 0.6, 0.85)[min(len(here), 3) - 1]):
            return rng.choice(here)
        names = pool if dice < 0.96 or not everyone else everyone
        names = [n for n in names if n not in here] or names
        return names[min(int(rng.expovariate(0.8)), len(names) - 1)]

    # numbers

    def _int(self, rng: random.Random, near: Near, _kind: Kind, _param: str) -> int:
        number = self._any_int(rng, near)
        return number if abs(number) <= self.most else number % self.most

    def _any_int(self, rng: random.Random, near: Near) -> int:
        dice = rng.random()
        around = [v for v in near.of(int) if isinstance(v, int)]
        if around and dice < 0.4:
            return rng.choice(around) + rng.choice((0, 0, 0, 1, -1, self._step(rng), -self._step(rng)))
        if dice < 0.7:
            return rng.choice(self._ints[:24]) + rng.choice((0, 0, 1, -1))
        if dice < 0.76:
            a, b = rng.choice(self._ints[:12]), rng.choice(self._ints[:12])
            return rng.choice((a + b, a * b, a - b))
        return rng.choice((0, 1, 1, 2, 2, 3, 3, 4, 5, 7, 9, 10, 11, 12, 20, 99, 100, 101, -1, rng.randrange(200)))

    def _step(self, rng: random.Random) -> int:
        return abs(rng.choice(self._ints[:8]))

    def _float(self, rng: random.Random, near: Near, kind: Kind, param: str) -> float:
        dice = rng.random()
        around = [v for v in near.of(float) if isinstance(v, float)]
        if around and dice < 0.3:
            return rng.choice(around) + rng.choice((0.0, 0.01, -0.01, 1.0, -1.0, 0.5))
        if self.hints.floats and dice < 0.5:
            return rng.choice(self.hints.floats) + rng.choice((0.0, 0.0, 0.01, -0.01, 1.0))
        if dice < 0.75:
            return float(self._int(rng, near, kind, param)) + rng.choice(
                (0.0, 0.0, 0.5, 0.25, 0.005, 0.015, 0.125, 0.1)
            )
        return rng.choice((0.0, 0.5, 1.5, 2.5, 0.1, 0.125, 0.375, 1.005, 2.675, 9.99, 99.995, -0.5, -1.5, 1.0, 100.0))

    def _decimal(self, rng: random.Random, near: Near, kind: Kind, param: str) -> Decimal:
        around = [v for v in near.of(Decimal) if isinstance(v, Decimal)]
        if around and rng.random() < 0.35:
            return rng.choice(around) + Decimal(rng.choice(("0", "0.01", "-0.01", "1", "-1")))
        return Decimal(repr(round(self._float(rng, near, kind, param), 4)))

    def _fraction(self, rng: random.Random, near: Near, kind: Kind, param: str) -> Fraction:
        return Fraction(self._int(rng, near, kind, param), rng.choice((1, 2, 3, 4, 10)))

    # times

    def _date(self, rng: random.Random, near: Near, _kind: Kind, _param: str) -> datetime.date:
        used = [v for v in near.used if type(v) is datetime.date]
        returned = [v for v in near.returned if type(v) is datetime.date]
        dice = rng.random()
        latest = max(used, default=None)
        if latest is not None and rng.random() < FORWARD:
            returned = [d for d in returned if d >= latest]
        if latest is not None and dice < 0.62:
            return _later(latest, self._days(rng))
        if returned and dice < 0.9:
            return _later(rng.choice(returned[-4:]), rng.choice((0, 0, 1, 1, -1, self._days(rng))))
        if latest is not None and dice < 0.95:
            return _later(rng.choice(used) if rng.random() > FORWARD else latest, self._days(rng))
        if not self.stateful and dice > 0.9:
            return _later(rng.choice(TURNING_DAYS), rng.choice((-1, 0, 0, 1)))
        pool = [d for d in self._dates if latest is None or d >= latest or rng.random() > FORWARD]
        return rng.choice(pool or self._dates)

    def _days(self, rng: random.Random) -> int:
        """A number of days: none, a span of the drafts give or take one, a sum of two, how often one number of the
        drafts goes into another, a few, now and then back."""
        spans = self.hints.spans[:6] or (1, 7, 30)
        dice = rng.random()
        if dice < 0.2:
            return 0
        if dice < 0.68:
            return rng.choice(spans) + rng.choice((0, 0, 1, -1))
        if dice < 0.75:
            return rng.choice(spans) + rng.choice(spans) + rng.choice((0, 1, -1))
        if dice < 0.83 and self._ratios:
            return rng.choice(self._ratios) + rng.choice((0, 0, 1, -1))
        if dice < 0.97:
            return rng.choice((1, 1, 2, 3, 5, 10, 20, 31))
        return -rng.choice((1, 1, 2, *spans))

    def _datetime(self, rng: random.Random, near: Near, kind: Kind, param: str) -> datetime.datetime:
        around = [v for v in near.of(datetime.datetime) if isinstance(v, datetime.datetime)]
        if around and rng.random() < 0.75:
            return _moved(rng.choice(around[-3:]), self._timedelta(rng, near, kind, param))
        hour = rng.choice((0, 9, 12, 23, rng.randrange(24)))
        return datetime.datetime.combine(
            self._date(rng, near, kind, param), datetime.time(hour, rng.choice((0, 30, 59)))
        )

    def _time(self, rng: random.Random, near: Near, _kind: Kind, _param: str) -> datetime.time:
        around = [v for v in near.of(datetime.time) if isinstance(v, datetime.time)]
        if around and rng.random() < 0.5:
            minutes = _minutes(rng.choice(around)) + rng.choice((0, 0, 1, -1, 30, 60, self._step(rng)))
            return datetime.time(minutes // 60 % 24, minutes % 60)
        return datetime.time(rng.choice((0, 8, 9, 12, 17, 23)), rng.choice((0, 0, 1, 30, 59)))

    def _timedelta(self, rng: random.Random, _near: Near, _kind: Kind, _param: str) -> datetime.timedelta:
        unit = rng.choice(
            (DAY, datetime.timedelta(hours=1), datetime.timedelta(minutes=1), datetime.timedelta(seconds=1))
        )
        many = self._days(rng) if unit is DAY else rng.choice(self._ints[:16]) % 10_000 + rng.choice((0, 0, 1, -1))
        return unit * many

    # texts

    def _str(self, rng: random.Random, near: Near, _kind: Kind, param: str) -> str:
        known = [v for v in self._used.get(param, ()) if isinstance(v, str)]
        anywhere = known or [v for vs in self._used.values() for v in vs if isinstance(v, str)]
        around = [v for v in near.of(str) if isinstance(v, str)]
        dice = rng.random()
        if around and dice < 0.25:
            return rng.choice(around)
        if "[" in param and dice < 0.7:
            return rng.choice(("a", "b", "c", "a", "B", "aa"))
        if dice < 0.6 and anywhere:
            return self.texts.edited(rng, rng.choice(anywhere))
        return self.texts.made(rng) if dice < 0.8 and self.hints.texts else self.texts.plain(rng)

    def _bytes(self, rng: random.Random, near: Near, kind: Kind, param: str) -> bytes:
        return self._str(rng, near, kind, param).encode()

    def _uuid(self, rng: random.Random, _near: Near, _kind: Kind, _param: str) -> UUID:
        """One of a few, so that the same one comes again."""
        return UUID(f"00000000-0000-4000-8000-{rng.choice((1, 1, 2, 3)):012}")

    def _path(self, rng: random.Random, near: Near, kind: Kind, param: str) -> Path:
        """A path of few parts, with endings of the drafts' own."""
        last = rng.choice(("a", "b.txt", "B.TXT", "a.tar.gz", ".a", "a b.txt", self._str(rng, near, kind, param)))
        if rng.random() < 0.3:
            last = f"a{rng.choice([t for t in self.hints.texts if t.startswith('.')] or ['.csv'])}"
        return Path(rng.choice(("", "", "a/", "a/b/", "/a/", "../", "a/../")) + last.replace("\0", ""))

    # containers

    def _list(self, rng: random.Random, near: Near, kind: Kind, param: str) -> list[object]:
        within = kind.within() if kind.within() != ANY else guessed(param.removesuffix("s"), self.hints)
        size = rng.choice((0, 1, 1, 2, 2, 3, 3, 4, 5, 7))
        inner = Near(used=[*near.used[-4:]], returned=near.returned[-4:])
        made: list[object] = []
        for _ in range(size):
            if made and rng.random() < 0.3:
                made.append(rng.choice(made))
                continue
            value = self.draw(rng, inner, within, f"{param}[]")
            inner.add(f"{param}[]", value)
            made.append(value)
        if rng.random() < 0.25:
            made.sort(key=repr, reverse=rng.random() < 0.5)
        return made

    def _run(self, rng: random.Random, near: Near, kind: Kind, param: str) -> tuple[object, ...]:
        return tuple(self._list(rng, near, kind, param))

    def _tuple(self, rng: random.Random, near: Near, kind: Kind, param: str) -> tuple[object, ...]:
        inner = Near(used=list(near.used), returned=near.returned)
        made: list[object] = []
        for within in kind.of:
            made.append(self.draw(rng, inner, within, f"{param}[{len(made)}]"))
            inner.used.append(made[-1])
        if len(made) == 2 and rng.random() < 0.8 and _comparable(*made) and made[0] > made[1]:  # type: ignore[operator]  # _comparable has tried it
            made.reverse()
        return tuple(made)

    def _set(self, rng: random.Random, near: Near, kind: Kind, param: str) -> set[object]:
        return set(self._list(rng, near, kind, param))

    def _frozenset(self, rng: random.Random, near: Near, kind: Kind, param: str) -> frozenset[object]:
        return frozenset(self._list(rng, near, kind, param))

    def _dict(self, rng: random.Random, near: Near, kind: Kind, param: str) -> dict[object, object]:
        key, value = kind.of if len(kind.of) == 2 else (Kind(name="str"), Kind(name="int"))
        inner = Near(used=list(near.used), returned=near.returned)
        made: dict[object, object] = {}
        for _ in range(rng.choice((0, 1, 2, 2, 3, 4))):
            k = (
                rng.choice("abcd")
                if key.name == "str" and rng.random() < 0.5
                else self.draw(rng, inner, key, f"{param}.key")
            )
            same = made and rng.random() < 0.3
            made[k] = rng.choice(list(made.values())) if same else self.draw(rng, inner, value, f"{param}.value")
            inner.used.append(made[k])
        return made

    def _counter(self, rng: random.Random, near: Near, kind: Kind, param: str) -> dict[object, object]:
        return self._dict(rng, near, Kind(name="dict", of=(kind.within(), Kind(name="int"))), param)

    # choices

    def _union(self, rng: random.Random, near: Near, kind: Kind, param: str) -> object:
        makeable = [k for k in kind.of if k.name in self._makers]
        if not makeable:
            raise Unmakeable("union")
        return self.draw(rng, near, rng.choice(makeable), param)

    def _literal(self, rng: random.Random, _near: Near, kind: Kind, _param: str) -> object:
        return literal_value(rng.choice(kind.literals))

    def _any(self, rng: random.Random, near: Near, _kind: Kind, param: str) -> object:
        kind = guessed(param, self.hints)
        return self.draw(rng, near, kind if kind.name not in {"any", "object"} else Kind(name="int"), param)

    def tweak(  # noqa: PLR0911 (one answer for each kind)
        self, rng: random.Random, near: Near, value: object, kind: Kind, param: str
    ) -> object:
        """A neighbour of the value, of the same type."""
        match value:
            case bool():
                return not value
            case int():
                moved = value + rng.choice((1, -1, 1, -1, self._step(rng), -self._step(rng), value))
                return moved if abs(moved) <= self.most else value
            case float():
                return rng.choice((value + 1, value - 1, value + 0.01, value - 0.01, -value, value * 2, value / 2))
            case Decimal():
                return value + Decimal(rng.choice(("0.01", "-0.01", "1", "-1", "0.005")))
            case str():
                return self.texts.edited(rng, value)
            case datetime.datetime():
                return _moved(value, rng.choice((1, -1)) * self._timedelta(rng, near, kind, param))
            case datetime.date():
                return _later(value, rng.choice((1, -1, 1, -1, self._days(rng), -self._days(rng))))
            case datetime.timedelta():
                return value + rng.choice((1, -1)) * self._timedelta(rng, near, kind, param)
            case list():
                return self._tweaked_list(rng, near, value, kind, param)
            case tuple() if kind.name == "tuple" and value and len(kind.of) == len(value):
                at = rng.randrange(len(value))
                return (*value[:at], self.tweak(rng, near, value[at], kind.of[at], param), *value[at + 1 :])
            case tuple():
                return tuple(self._tweaked_list(rng, near, list(value), kind, param))
            case dict() if value:
                key = rng.choice(list(value))
                rest = {k: v for k, v in value.items() if k != key}
                within = kind.of[1] if len(kind.of) == 2 else ANY
                return rest if rng.random() < 0.3 else {**rest, key: self.tweak(rng, near, value[key], within, param)}
        return value

    def _tweaked_list(
        self, rng: random.Random, near: Near, value: Sequence[object], kind: Kind, param: str
    ) -> list[object]:
        made = list(value)
        at = rng.randrange(len(made)) if made else 0
        dice = rng.random()
        if not made or dice < 0.2:
            inner = Near(used=[*near.used, *made])
            made.insert(rng.randrange(len(made) + 1), self.draw(rng, inner, kind.within(), param))
        elif dice < 0.35:
            del made[at]
        elif dice < 0.5:
            made.insert(rng.randrange(len(made) + 1), made[at])
        elif dice < 0.6:
            other = rng.randrange(len(made))
            made[at], made[other] = made[other], made[at]
        elif dice < 0.65:
            made.reverse()
        else:
            made[at] = self.tweak(rng, Near(used=made), made[at], kind.within(), param)
        return made


def _ratios(numbers: Sequence[int]) -> list[int]:
    """How often one number goes into another, where it does: a fee of 50 a day reaches 500 after 10 days."""
    found = [a // b for a in numbers for b in numbers if b > 1 and a % b == 0 and 1 < a // b <= 60 and a >= 20]
    return list(dict.fromkeys(found))


def _comparable(a: object, b: object) -> bool:
    return type(a) is type(b) and isinstance(a, int | float | datetime.date | datetime.time)


def _minutes(t: datetime.time) -> int:
    return t.hour * 60 + t.minute


def _later(day: datetime.date, days: int) -> datetime.date:
    """The day that many days on; the day itself where the calendar ends."""
    try:
        return day + datetime.timedelta(days=days)
    except OverflowError:
        return day


def _moved(moment: datetime.datetime, by: datetime.timedelta) -> datetime.datetime:
    try:
        return moment + by
    except OverflowError:
        return moment
