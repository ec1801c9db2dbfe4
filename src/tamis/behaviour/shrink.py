"""Shrink. Makes a program that shows a split short and plain, and keeps the split.

A smaller program is accepted only if two drafts still part at its last call, fail or not as they did, and nobody parts
there who had not parted before: what is left of a call that shows several things at once is one of them. All drafts it
is tried in must have behaved alike up to that call. To save calls, candidates run in a few drafts that stand for the
sides; whoever asks runs the result in all of them afterwards. Candidates for many programs run together, since a run
has a fixed price.
"""

import datetime
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

import msgspec
from msgspec.structs import replace

from tamis.behaviour.hints import inner_name
from tamis.behaviour.inputs import Maker
from tamis.behaviour.matrix import Keys, Runner, outcomes_of
from tamis.behaviour.programs import backwards, bound_values, day_of, key_of, picked, refs_in, unique, without
from tamis.behaviour.values import FIRST_DAY, default_names
from tamis.sandbox import Call, Program, Value, decode, encode

ROUNDS = 8
GAIN = 0.25
"""By how much a candidate must be plainer to be worth a run."""
VARIANTS = 12
"""Candidates tried for one program in one round; six times as many for a single call."""


_JSON = msgspec.json.Encoder()


@dataclass(eq=False)
class Shrinking:
    """A program on its way. `pair` are two drafts that its last call parts, `sides` the side there of each draft that
    went along so far, `tags` how it ended for each."""

    program: Program
    pair: tuple[str, str]
    sides: dict[str, int]
    tags: Mapping[str, str]
    tried: set[bytes] = field(default_factory=set)
    done: bool = False


def tag_of(outcome: bytes) -> str:
    """Whether a call gave a value ("="), raised, and what, or ended otherwise, and how."""
    parts = msgspec.json.decode(outcome)
    return "=" if parts[0] == "=" else f"{parts[0]} {parts[1]}"


def shrunk(targets: Sequence[Shrinking], drafts: Sequence[str], run: Runner, maker: Maker, keys: Keys) -> list[Program]:
    """The programs, each as short and plain as it got. Runs candidates in `drafts` only."""
    for _ in range(ROUNDS):
        asked = {id(t): _candidates(t, maker) for t in targets if not t.done}
        programs = unique([c for candidates in asked.values() for c in candidates])
        if not programs:
            break
        place = {key_of(p): i for i, p in enumerate(programs)}
        ran = run(drafts, programs)
        for target in targets:
            if not target.done:
                mine = asked[id(target)]
                _take(target, mine, [{d: ran[d][place[key_of(c)]] for d in target.sides} for c in mine], maker, keys)
    return [t.program for t in targets]


def _take(
    target: Shrinking, candidates: Sequence[Program], ran: Sequence[Mapping[str, bytes]], maker: Maker, keys: Keys
) -> None:
    """Goes on from the simplest candidate that keeps the split; done when none was left to try."""
    good = [(c, s) for c, r in zip(candidates, ran, strict=True) if (s := kept(target, r, keys)) is not None]
    target.done = not candidates
    if good:
        target.program, target.sides = min(
            good, key=lambda g: (4 * len(set(g[1].values())) + cost(g[0], maker)[0], key_of(g[0]))
        )


def kept(target: Shrinking, ran: Mapping[str, bytes], keys: Keys) -> dict[str, int] | None:
    """The sides at the last call, where these drafts behave alike up to there, the pair still parts as it did, and
    nobody parts who was together; else None."""
    ways = {draft: [keys.of(o) for o in outcomes_of(raw)] for draft, raw in ran.items()}
    if len({tuple(way[:-1]) for way in ways.values()}) > 1:
        return None
    one, other = target.pair
    if ways[one][-1] == ways[other][-1]:
        return None
    if any(tag_of(outcomes_of(ran[d])[-1]) != target.tags[d] for d in target.pair):
        return None
    seen: dict[int, int] = {}
    for draft, way in ways.items():
        if seen.setdefault(target.sides[draft], way[-1]) != way[-1]:
            return None
    numbers = {key: i for i, key in enumerate(dict.fromkeys(w[-1] for w in ways.values()))}
    return {draft: numbers[way[-1]] for draft, way in ways.items()}


def cost(program: Program, maker: Maker) -> tuple[float, bytes]:
    """How hard a program is to read: its calls, its different values, and how unusual those are; and its key, so that
    costs are never equal."""
    values: dict[bytes, float] = {}
    times = 0.0
    for i, call in enumerate(program):
        signature = maker.signature_at(program, i)
        times += len(call.args) + len(call.kwargs)
        for param, value in bound_values(signature, call) if signature else ():
            if not refs_in(value):
                values[_JSON.encode(value)] = _strangeness_of(value, maker, param.name)
    plain = 10.0 * len(program) + 2.0 * len(values) + 0.2 * times + sum(values.values())
    return plain + 3.0 * backwards(program), key_of(program)


def _strangeness_of(value: Value, maker: Maker, param: str) -> float:
    """The same for an argument, remembered: the same values come again and again."""
    key = _JSON.encode([param, value])
    known = maker.strangeness.get(key)
    if known is None:
        known = maker.strangeness[key] = strangeness(decode(value), maker, param)
    return known


def strangeness(value: object, maker: Maker, param: str) -> float:  # noqa: PLR0911 (one answer for each kind)
    """How far a value is from the plain ones that a reader has seen."""
    known = maker.values.used_for("", param)
    if value in known and any(type(value) is type(k) for k in known):
        return 0.3 + 0.1 * next(i for i, k in enumerate(known) if k == value)
    match value:
        case bool() | None:
            return 0.2
        case int():
            return _digits(abs(value)) + (0.5 if value < 0 else 0.0)
        case float():
            return _digits(abs(value)) + (0.7 if value < 0 else 0.2)
        case Decimal():
            return _digits(abs(float(value))) + 0.3
        case str():
            return 0.5 + 0.25 * len(value) + 0.5 * sum(not c.isalnum() for c in value) + (0.0 if value else 0.7)
        case datetime.datetime():
            return 1.0 + _distance(value.date(), maker) + 0.3 * bool(value.hour) + 0.4 * bool(value.minute)
        case datetime.date():
            return _distance(value, maker)
        case list() | tuple() | set() | frozenset():
            return 0.4 + sum(0.6 + strangeness(v, maker, inner_name(value, i, param)) for i, v in enumerate(value))
        case dict():
            return 0.4 + sum(0.8 + strangeness(k, maker, "") + strangeness(v, maker, param) for k, v in value.items())
    return 2.0


def _digits(number: float) -> float:
    """How many figures must be read: 500 has one, 499 three."""
    if number == 0:
        return 0.7
    figures = len(f"{number:.10g}".replace(".", "").strip("0").partition("e")[0])
    return 0.5 * figures + 0.02 * math.sqrt(min(number, 100.0))


def _distance(day: datetime.date, maker: Maker) -> float:
    days = abs((day - first_day(maker)).days)
    return 0.3 + min(3.0, 0.02 * days)


def first_day(maker: Maker) -> datetime.date:
    """The day that witnesses begin on: the earliest that the tests use for anything."""
    dates = sorted(maker.hints.dates)
    return datetime.date.fromisoformat(dates[0]) if dates else FIRST_DAY


# candidates


def _candidates(target: Shrinking, maker: Maker) -> list[Program]:
    """The next few smaller programs to try, boldest first; none when all were tried."""
    found: list[Program] = []
    now = cost(target.program, maker)[0]
    most = VARIANTS * (6 if len(target.program) == 1 else 1)
    for candidate in _smaller(target.program, maker):
        key = key_of(candidate)
        if key in target.tried or not candidate or cost(candidate, maker)[0] > now - GAIN:
            continue
        if candidate[-1].name != target.program[-1].name:
            continue
        target.tried.add(key)
        found.append(candidate)
        if len(found) == most:
            break
    return found


def _smaller(program: Program, maker: Maker) -> Iterator[Program]:
    """Smaller programs, the boldest first: fewer calls and plain names at once, then fewer calls, then plain values."""
    for shorter in _built_up(program, maker):
        yield _all_plain(shorter, maker)
    yield _all_plain(program, maker)
    for shorter in _shorter(program):
        yield _all_plain(shorter, maker)
    yield from _built_up(program, maker)
    yield from _shorter(program)
    yield from _plainer(program, maker)


def _built_up(program: Program, maker: Maker) -> Iterator[Program]:
    """The last call after none, one or two of the calls before it, with the set-up that those need."""
    last = len(program) - 1
    acts = [i for i in range(last) if not maker.sets_up(program, i)]
    for some in ((), *((i,) for i in reversed(acts)), *_pairs(acts)):
        shorter = picked(program, maker.needed(program, {last, *some}))
        yield shorter
        if not some:
            yield from _at_once(program, shorter, maker)


def _at_once(program: Program, shorter: Program, maker: Maker) -> Iterator[Program]:
    """`shorter`, with the number of its last call what the calls left out make together, or a number of the drafts:
    what took several steps to reach may be reached in one."""
    call = shorter[-1]
    for j, old in enumerate(call.args):
        if type(old) is int:
            whole = sum(a for c in program if c.name == call.name for a in c.args[j : j + 1] if type(a) is int)
            for number in dict.fromkeys((whole, *maker.hints.ints[:4])):
                yield (*shorter[:-1], replace(call, args=(*call.args[:j], number, *call.args[j + 1 :])))


def _pairs(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    late = list(reversed(places))
    return ((i, j) for n, j in enumerate(late) for i in late[n + 1 :])


def _shorter(program: Program) -> Iterator[Program]:
    """Without halves, quarters, single calls of what comes before the last."""
    n = len(program) - 1
    size = n // 2
    while size >= 1:
        for start in range(n - size, -1, -size):
            yield without(program, range(start, start + size))
        size //= 2


def _plainer(program: Program, maker: Maker) -> Iterator[Program]:
    """With one value, everywhere it stands, replaced by a plainer one; with dates moved together; without an optional
    argument."""
    for i in range(len(program) - 1, -1, -1):
        call = program[i]
        for name in call.kwargs:
            rest = {k: v for k, v in call.kwargs.items() if k != name}
            yield (*program[:i], replace(call, kwargs=rest), *program[i + 1 :])
    yield from _with_days_moved(program, maker)
    seen: set[str] = set()
    for i, call in enumerate(program):
        signature = maker.signature_at(program, i)
        for param, value in bound_values(signature, call) if signature else ():
            if refs_in(value) or repr((param.name, value)) in seen:
                continue
            seen.add(repr((param.name, value)))
            for plain in plainer_values(decode(value), maker, param.name):
                new = encode(plain)
                yield _replaced(program, value, new, maker, param.name)
                yield (*program[:i], _with_argument(call, value, new), *program[i + 1 :])


def _all_plain(program: Program, maker: Maker) -> Program:
    """With every name replaced by the plainest of its kind, in the order in which they come, and the first date made
    the first day."""
    given: dict[str, dict[object, object]] = {}
    made = list(program)
    for i, call in enumerate(program):
        signature = maker.signature_at(program, i)
        for param, value in bound_values(signature, call) if signature else ():
            if isinstance(value, str) and maker.values.is_name(param.name):
                names = given.setdefault(param.name, {})
                known = [k for k in maker.values.used_for("", param.name) if isinstance(k, str)]
                plain = next((k for k in known if k not in names.values()), value)
                made[i] = _with_argument(made[i], value, encode(names.setdefault(value, plain)))
    days = sorted({d for call in made for d in map(day_of, [*call.args, *call.kwargs.values()]) if d is not None})
    moved = {d: first_day(maker) + (d - days[0]) for d in days}
    return _shifted(tuple(made), moved)


def _with_argument(call: Call, old: object, new: object) -> Call:
    args = tuple(new if a == old and type(a) is type(old) else a for a in call.args)
    kwargs = {k: new if v == old and type(v) is type(old) else v for k, v in call.kwargs.items()}
    return replace(call, args=args, kwargs=kwargs)


def _replaced(program: Program, old: object, new: object, maker: Maker, param: str) -> Program:
    """With the value replaced wherever a parameter of that name has it."""
    made = list(program)
    for i, call in enumerate(program):
        signature = maker.signature_at(program, i)
        if signature and any(p.name == param and v == old for p, v in bound_values(signature, call)):
            made[i] = _with_argument(call, old, new)
    return tuple(made)


def plainer_values(value: object, maker: Maker, param: str) -> list[object]:  # noqa: PLR0911 (one answer for each kind)
    """A few plainer values of the same type, plainest first."""
    known = [k for k in maker.values.used_for("", param) if type(k) is type(value)][:4]
    match value:
        case bool() | None:
            return []
        case int():
            return [*known, 1, 2, 3, 0, 10, 100, value // 2, _rounded(value, 2), _rounded(value, 1), value - 1]
        case float():
            whole = float(round(value)) if abs(value) < 1e15 else 0.0
            return [*known, 1.0, 2.0, 0.5, 0.0, whole, round(value, 1), round(value, 2), value / 2]
        case Decimal():
            return [*known, Decimal(1), Decimal(0), round(value, 0), round(value, 1), round(value, 2)]
        case str() if maker.values.is_name(param):
            return list(known) or list(default_names(param))
        case str():
            return [*known, *_shorter_texts(value)]
        case datetime.datetime():
            return [*known, value.replace(hour=0, minute=0, second=0, microsecond=0), value.replace(second=0, minute=0)]
        case list():
            return [*known, *_shorter_lists(value, maker, param)]
        case tuple():
            return [*known, *_plainer_tuples(value, maker, param)]
        case dict():
            less: list[object] = [{k: v for k, v in value.items() if k != gone} for gone in value]
            plain = [{**value, k: p} for k, v in value.items() for p in plainer_values(v, maker, param)[:5]]
            return [*known, {}, *less, *plain]
    return list(known)


def _rounded(number: int, figures: int) -> int:
    size = int(10 ** max(0, len(str(abs(number))) - figures))
    return round(number / size) * size


def _shorter_texts(text: str) -> list[object]:
    n = len(text)
    found = ["a", "b", "", text.strip(), text[: n // 2], text[n // 2 :], " ".join(text.split()), text.lower()]
    found += [text[:i] + text[i + 1 :] for i in range(min(n, 24))]
    found += [text[:i] + "1" + text[i + 1 :] for i in range(min(n, 24)) if text[i].isdigit() and text[i] != "1"]
    found += [text[:i] + "a" + text[i + 1 :] for i in range(min(n, 24)) if text[i].isalpha() and text[i] != "a"]
    return list(dict.fromkeys(f for f in found if f != text))


def _shorter_lists(items: list[object], maker: Maker, param: str) -> list[object]:
    n = len(items)
    found: list[object] = [[], items[: n // 2], items[n // 2 :]]
    found += [items[:i] + items[i + 1 :] for i in range(min(n, 12))]
    for i in range(min(n, 12)):
        found += [
            [*items[:i], p, *items[i + 1 :]] for p in plainer_values(items[i], maker, inner_name(items, i, param))[:10]
        ]
    return [f for f in found if f != items]


def _plainer_tuples(items: tuple[object, ...], maker: Maker, param: str) -> list[object]:
    """With one part plainer; a tuple keeps its length."""
    found: list[object] = []
    for i, item in enumerate(items):
        plain = plainer_values(item, maker, inner_name(items, i, param))[:8]
        found += [(*items[:i], p, *items[i + 1 :]) for p in plain if p != item]
    return found


def _with_days_moved(program: Program, maker: Maker) -> Iterator[Program]:
    """With the dates nearer to each other and to the first day: all together, all from one on, one alone."""
    days = sorted({d for call in program for d in map(day_of, [*call.args, *call.kwargs.values()]) if d is not None})
    if not days:
        return
    first = first_day(maker)
    yield _shifted(program, {d: first + (d - days[0]) for d in days})
    for i, day in enumerate(days):
        before = days[i - 1] if i else first
        gap = (day - before).days
        for less in dict.fromkeys((gap, gap - 1, gap // 2, 1)):
            if 0 < less < abs(gap) + 1:
                by = datetime.timedelta(days=less)
                yield _shifted(program, {d: d - by for d in days[i:]})
                yield _shifted(program, {day: day - by})


def _shifted(program: Program, to: Mapping[datetime.date, datetime.date]) -> Program:
    def at(value: Value) -> Value:
        day = day_of(value)
        return value if day is None or day not in to else encode(to[day])

    return tuple(
        replace(c, args=tuple(map(at, c.args)), kwargs={k: at(v) for k, v in c.kwargs.items()}) for c in program
    )
