"""A scene that goes on, in a desk that lends: who asks what, and on which day."""

from collections.abc import Sequence

import numpy as np

from tamis.behaviour.ground import NEVER, Ground, ground_of, numbered
from tamis.behaviour.matrix import Matrix, outcomes_of
from tamis.behaviour.packing import Join, further, probes_of, turned
from tamis.behaviour.storyboard import Cover, Shown, cover_of, plan
from tamis.sandbox import Call, Program

from ._toy import run_sources

DESK = """
class Desk:
    def __init__(self):
        self.out, self.due = {}, {}

    def lend(self, tool, day):
        if tool in self.out:
            raise KeyError("out")
        self.out[tool], self.due[tool] = day, day + 7
        return day + 7

    def late(self, tool, day):
        return max(0, day - self.due.get(tool, day))

    def free(self, tool, day):
        return tool not in self.out
"""
SOURCES = {
    "right": DESK,
    "eight": DESK.replace("day + 7", "day + 8"),
    "free_before": DESK.replace("return tool not in", "return day < self.out.get(tool, 0) or tool not in"),
    "never_late": DESK.replace("max(0, day - self.due.get(tool, day))", "0"),
}
MADE = Call(name="Desk")


def on_desk(*calls: tuple[str, str, int]) -> Program:
    return (MADE, *(Call(name=name, on=0, args=(tool, day)) for name, tool, day in calls))


PROGRAMS = [
    on_desk(("lend", "saw", 10)),
    on_desk(("lend", "saw", 10), ("late", "saw", 30)),
    on_desk(("lend", "drill", 40), ("lend", "axe", 41), ("free", "drill", 5)),
    on_desk(("free", "drill", 20)),
]


def ground() -> Ground:
    matrix = Matrix(tuple(SOURCES))
    ran = run(matrix.drafts, PROGRAMS)
    for i, program in enumerate(PROGRAMS):
        matrix.add(program, {d: ran[d][i] for d in matrix.drafts}, inside=True)
    return ground_of(matrix)


def run(drafts: Sequence[str], programs: Sequence[Program]) -> dict[str, tuple[bytes, ...]]:
    return run_sources({d: SOURCES[d].encode() for d in drafts}, programs)


def covered(made: Ground) -> Cover:
    return cover_of(made, 0, {p: np.full(0, NEVER, dtype=np.int32) for p in range(len(PROGRAMS))}, 0, (0.5, 0.3, 0.2))


def joining(made: Ground) -> Join:
    def join(programs: Sequence[Program]) -> list[int]:
        places = []
        for program in programs:
            rans = [run([d], [program])[d][0] for d in made.drafts]
            for ran in rans:
                for outcome in outcomes_of(ran):
                    made.raw.setdefault(made.keys.of(outcome), outcome)
            steps = numbered(rans, made.keys, len(program))
            places.append(made.add(program, steps, rans, preparing=1, aside=True))
        return places

    return join


def gone_on(lines: int, least: float = 0.001) -> tuple[Ground, int]:
    made = ground()
    cover, shown = covered(made), Shown(made, made.raw, 0)
    cover.read(1, 2)
    return made, further(cover, shown, 1, 2, joining(made), lines=lines, least=least)


def test_a_scene_goes_on_with_what_it_had_not_shown_about_its_own_tool() -> None:
    made, place = gone_on(lines=3)
    calls = made.programs[place]
    assert calls[:3] == PROGRAMS[1]
    assert ("free", "saw") in {(c.name, c.args[0]) for c in calls[3:]}


def test_a_scene_keeps_to_its_lines() -> None:
    made, place = gone_on(lines=2)
    assert Shown(made, made.raw, 0).ends(place)[-1] <= 2
    _, same = gone_on(lines=1)
    assert same == 1, "there is no room on the one line that it has"


def test_a_scene_does_not_go_on_for_less_than_another_scene_brings() -> None:
    _, same = gone_on(lines=3, least=0.9)
    assert same == 1


def planned(*, going_on: bool) -> float:
    """What is left after two lines."""
    made = ground()
    cover, shown = covered(made), Shown(made, made.raw, 0)

    def goes_on(p: int, stop: int, lines: int, least: float) -> int:
        return further(cover, shown, p, stop, joining(made), lines=lines, least=least)

    scenes = plan(cover, shown, lines=2, goes_on=goes_on if going_on else None)
    assert sum(len(scene.lines) for scene in scenes) <= 2
    return cover.left()[0]


def test_a_plan_that_goes_on_shows_more_in_as_many_lines() -> None:
    assert planned(going_on=True) < planned(going_on=False)


def test_a_call_comes_as_long_after_the_last_day_as_it_came_in_its_own_program() -> None:
    def lent(tool: str, day: str, asked: str) -> Program:
        calls = [("lend", tool, day), ("free", tool, asked)]
        return (MADE, *(Call(name=name, on=0, args=(what, ["date", on])) for name, what, on in calls))

    scene = lent("saw", "2026-06-10", "2026-06-12")
    first, second, *_ = turned(lent("drill", "2026-03-01", "2026-02-27"), scene)
    assert first.args == ("saw", ["date", "2026-06-10"]), "two days before the last day, 12 June"
    assert second.args == ("saw", ["date", "2026-02-27"]), "and on the day as it stands"


def test_a_call_keeps_its_day_where_there_is_none_to_count_from() -> None:
    def due(day: str) -> Program:
        return (Call(name="due", args=(["date", day],)),)

    assert list(turned(due("2026-03-01"), due("2026-06-10"))) == list(due("2026-03-01"))


def test_probes_begin_with_what_is_gone_over_least() -> None:
    made = ground()
    cover = covered(made)
    before = probes_of(cover, made)
    cover.read(2, 3)
    after = probes_of(cover, made)
    assert PROGRAMS[2] in before
    assert PROGRAMS[2] not in after[:1]
