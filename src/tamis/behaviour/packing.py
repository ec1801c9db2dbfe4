"""Packing. Lets a scene of a storyboard go on where it ends: calls that show something else are appended, so that the
owner sees more in as many lines and need not read another beginning.

What is appended comes from programs of the exploration: the call at which a way or a situation shows that was not gone
over yet, as it stands there and about the scene's own people, things and days. It is run to see what it shows here.
"""

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, product

import numpy as np
from msgspec.structs import replace

from tamis.behaviour.ground import Ground
from tamis.behaviour.programs import day_of, key_of, moved, refs_of
from tamis.behaviour.storyboard import Cover, Shown
from tamis.sandbox import Call, Program, Value

PROBES = 40
"""Calls that are tried at the end of one scene."""
VARIANTS = 3
"""About how many people or things, or on how many days, one of them is tried."""

Join = Callable[[Sequence[Program]], Sequence[int]]
"""Runs programs in all drafts, and gives their places in the ground, where they stand aside."""


def probes_of(cover: Cover, ground: Ground) -> list[Program]:
    """The calls (each the last one of a program) that show most of what is not gone over, be it a way or a situation,
    each in the program in which least is read before it."""
    ways, _ = np.nonzero(cover.departures.away)
    left = np.bincount(ways, weights=cover.ways, minlength=cover.departures.ways)
    of_ways = _shortest(ground, cover.departures.at)
    of_situations = _shortest(ground, {p: _numbered(steps) for p, steps in cover.situations.at.items()})
    ranked = [(left[way] * cover.shares[0] / len(cover.ways), at) for way, at in of_ways.items()]
    ranked += [(cover.new[s] * cover.shares[2] * cover.situations.weights[s], at) for s, at in of_situations.items()]
    ranked.sort(key=lambda one: (-one[0], one[1]))
    found = dict.fromkeys((p, step) for worth, (_, p, step) in ranked if worth > 0)
    return [ground.programs[p][: step + 1] for p, step in found]


def _numbered(steps: Sequence[Sequence[int]]) -> Iterator[tuple[int, int]]:
    return ((step, number) for step, here in enumerate(steps) for number in here)


def _shortest(ground: Ground, at: Mapping[int, Iterable[tuple[int, int]]]) -> dict[int, tuple[int, int, int]]:
    """For each number, where least is read before it shows: (calls read, program, step). `at` lists (step, number)."""
    found: dict[int, tuple[int, int, int]] = {}
    for p, here in at.items():
        for step, number in here:
            place = (step - ground.setup[p], p, step)
            found[number] = min(place, found.get(number, place))
    return found


def further(cover: Cover, shown: Shown, p: int, stop: int, join: Join, *, lines: int, least: float) -> int:
    """The place of the scene of program p up to `stop`, gone on with as long as another call brings at least `least` a
    line and the lines suffice; p where nothing does. `cover` has the scene read already, and is left as it is."""
    ground, scene = shown.ground, shown.ground.programs[p][: stop + 1]
    trial, room = cover.copy(), 2 * (lines - max(1, shown.ends(p)[stop]))
    calls = list(islice(_tried(scene, probes_of(cover, ground)), PROBES)) if room > 0 else []
    places = list(join([(*scene, call) for call in calls])) if calls else []
    taken: list[Call] = []
    while places and len(taken) < room:
        worth = [trial.worth(*ground.showing(place, shown.base, len(scene))) for place in places]
        best = int(np.argmax(worth))
        if 2 * worth[best] < least:
            break
        trial.asked(*ground.showing(places[best], shown.base, len(scene)))
        taken.append(ground.programs[places.pop(best)][-1])
    while taken:
        (place,) = join([(*scene, *taken)])
        if ground.told(place, shown.base) == len(ground.programs[place]) and shown.ends(place)[-1] <= lines:
            return place
        taken.pop()
    return p


def _tried(scene: Program, probes: Sequence[Program]) -> Iterator[Call]:
    """Each probe as a call at the end of the scene, each call once."""
    known = {key_of((call,)) for call in scene}
    for probe in probes:
        for call in islice(turned(probe, scene), VARIANTS):
            key = key_of((call,))
            if key not in known:
                known.add(key)
                yield call


def turned(probe: Program, scene: Program) -> Iterator[Call]:
    """The probe's call about the scene's objects, people and things; first as long after the scene's last day as it
    was after its own, then on the day that it names."""
    places: dict[int, int] = {}
    for ref in refs_of(probe[-1]):
        made = next((i for i, c in enumerate(scene) if (c.name, c.get) == (probe[ref].name, probe[ref].get)), None)
        if made is None:
            return
        places[ref] = made
    call, here = moved(probe[-1], places), _texts(scene)
    theirs = _texts(probe[:-1])
    options = {text: _instead(where, here) for text, where in theirs.items() if text not in here}
    named = [text for text in _texts((call,)) if text in options]
    ours, its = _last_day(scene), _last_day(probe[:-1])
    days = dict.fromkeys((ours - its if ours and its else 0, 0))
    for shift, *texts in product(days, *(options[text] for text in named)):
        yield _mapped(call, dict(zip(named, texts, strict=True)), shift)


Where = tuple[str, int]
"""A method and the position of an argument."""


def _texts(program: Sequence[Call]) -> dict[str, Where]:
    """The texts of a program, each with where it first stands."""
    found: dict[str, Where] = {}
    for call in program:
        for i, value in enumerate([*call.args, *call.kwargs.values()]):
            if isinstance(value, str):
                found.setdefault(value, (call.name, i))
    return found


def _instead(where: Where, here: Mapping[str, Where]) -> list[str]:
    """The texts that stand here where another stands elsewhere: the first and the last of them."""
    same = [text for text, at in here.items() if at == where]
    return list(dict.fromkeys((*same[:1], *same[-1:])))


def _last_day(program: Sequence[Call]) -> int:
    """The last of all the dates of a program, as an ordinal; 0 where there is none."""
    days = [day_of(v) for call in program for v in [*call.args, *call.kwargs.values()]]
    return max((day.toordinal() for day in days if day is not None), default=0)


def _mapped(call: Call, texts: Mapping[str, str], shift: int) -> Call:
    """The call with other texts, and its dates so many days later; as they are where the calendar ends."""

    def at(value: Value) -> Value:
        if isinstance(value, str):
            return texts.get(value, value)
        day = day_of(value)
        if day is None or not datetime.date.min.toordinal() <= day.toordinal() + shift <= datetime.date.max.toordinal():
            return value
        return ["date", datetime.date.fromordinal(day.toordinal() + shift).isoformat()]

    return replace(call, args=tuple(map(at, call.args)), kwargs={k: at(v) for k, v in call.kwargs.items()})
