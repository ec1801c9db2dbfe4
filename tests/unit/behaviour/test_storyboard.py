import numpy as np

from tamis.behaviour.ground import NEVER, Ground
from tamis.behaviour.situations import situations_of
from tamis.behaviour.storyboard import CALLS_A_LINE, LINE_CHARACTERS, Cover, Shown, cover_of, plan
from tamis.sandbox import Call

from ._toy import Toy, fee

SHARES = (0.5, 0.3, 0.2)


def covered(ground: Ground, base: str, mutants: int = 0) -> Cover:
    first = {p: np.full(mutants, NEVER, dtype=np.int32) for p in range(len(ground.programs))}
    return cover_of(ground, ground.drafts.index(base), first, mutants, SHARES)


def shown(ground: Ground, base: str) -> Shown:
    return Shown(ground, ground.raw, ground.drafts.index(base))


def test_a_plan_keeps_to_its_lines_and_reads_as_what_the_draft_does() -> None:
    ground = Toy().ground()
    scenes = plan(covered(ground, "right"), shown(ground, "right"), lines=3)
    lines = [line for scene in scenes for line in scene.lines]
    assert 0 < len(lines) <= 3
    assert all(" → " in line.text for line in lines)
    assert len({s.place for s in scenes}) == len(scenes)


def test_every_way_of_parting_is_gone_over_where_lines_allow() -> None:
    ground = Toy().ground()
    cover = covered(ground, "right")
    plan(cover, shown(ground, "right"), lines=12)
    assert cover.left()[0] < 0.02


def test_reading_only_ever_covers_more_and_gains_are_what_is_gained() -> None:
    ground = Toy().ground()
    cover = covered(ground, "eight", mutants=1)
    for p in range(len(ground.programs)):
        before, gain = cover.exposed(), cover.gain(p, 0)
        cover.read(p, 0)
        assert np.isclose(cover.exposed(), before + gain)
        assert cover.gain(p, 0) < 1e-12


def test_a_mutant_that_nothing_else_shows_brings_its_line() -> None:
    ground = Toy().ground()
    quiet = ground.place(fee(6))
    assert quiet is not None
    cover = covered(ground, "right", mutants=1)
    cover.first[quiet][0] = 0
    scenes = plan(cover, shown(ground, "right"), lines=12)
    assert quiet in {s.place for s in scenes}
    assert cover.left()[1] == 0


def test_lines_hold_few_calls_and_are_not_too_wide() -> None:
    ground = Toy().ground()
    tool = Call(name="fee", args=(3,))
    at = ground.add((tool,) * 7, np.repeat(ground.steps[0][:, :1], 7, axis=1), preparing=0)
    for line in shown(ground, "right").lines(at, 6):
        assert line.last - line.first < CALLS_A_LINE
        assert len(line.text) <= LINE_CHARACTERS


def test_a_day_before_the_last_one_is_a_situation_of_its_own() -> None:
    def lend(day: str) -> Call:
        return Call(name="lend", args=(["date", day],))

    forward = situations_of((lend("2026-03-01"), lend("2026-03-02")), [b'["=",1]', b'["=",1]'])
    back = situations_of((lend("2026-03-02"), lend("2026-03-01")), [b'["=",1]', b'["=",1]'])
    assert forward[0] == back[0]
    assert forward[1] != back[1]
