import numpy as np
import pytest

from tamis.behaviour.ground import NEVER, Departures, Ground
from tamis.behaviour.situations import ending, situations_of, weights_of
from tamis.behaviour.storyboard import CALLS_A_LINE, LINE_CHARACTERS, Cover, Shown, cover_of, likeness, plan
from tamis.sandbox import Call, Value

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
    rans = [b"[" + b",".join([ran[1:-1]] * 7) + b"]" for ran in ground.rans[0]]
    at = ground.add((tool,) * 7, np.repeat(ground.steps[0][:, :1], 7, axis=1), rans, preparing=0)
    for line in shown(ground, "right").lines(at, 6):
        assert line.last - line.first < CALLS_A_LINE
        assert len(line.text) <= LINE_CHARACTERS


def test_a_call_wider_than_a_line_takes_as_many_lines_as_it_fills() -> None:
    ground = Toy().ground()
    wide = Call(name="fee", args=("x" * 250,))
    at = ground.add((wide,), ground.steps[0], ground.rans[0], preparing=0)
    assert shown(ground, "right").ends(at) == [3]


def test_a_day_that_some_months_lack_is_a_situation_of_its_own() -> None:
    def traits(day: str) -> set[str]:
        (here,) = situations_of((Call(name="due", args=(["date", day],)),), ["date"])
        return {s[2] for s in here if len(s) == 3}

    assert traits("2026-01-31") - traits("2026-01-28") == {"a day that some months lack"}
    assert "29 February" in traits("2028-02-29")


def test_a_day_before_the_last_one_is_a_situation_of_its_own() -> None:
    def lend(day: str) -> Call:
        return Call(name="lend", args=(["date", day],))

    forward = situations_of((lend("2026-03-01"), lend("2026-03-02")), ["above 0", "above 0"])
    back = situations_of((lend("2026-03-02"), lend("2026-03-01")), ["above 0", "above 0"])
    assert forward[0] == back[0]
    assert forward[1] != back[1]


def test_two_reasons_to_raise_are_two_situations_whatever_the_names() -> None:
    def lend(who: str) -> Call:
        return Call(name="lend", args=(who,))

    owes = [ending(f'["!","E",[],"{who} owes 3"]'.encode(), (lend(who),)) for who in ("ann", "bob")]
    gone = ending(b'["!","E",[],"ann has left"]', (lend("ann"),))
    assert owes[0] == owes[1] != gone


def test_a_hundred_ways_to_combine_count_as_much_as_what_they_combine() -> None:
    few = [("lend", "0", "1"), ("lend", "0", "0"), ("lend", "raises")]
    many = [("lend", "0", "1", f"ends {i}") for i in range(100)]
    weights = weights_of(few + many)
    assert np.isclose(sum(weights), 1)
    assert np.isclose(sum(weights[3:]), 1 / 3)


def parted(*rows: str, does: str = "") -> Departures:
    """Ways of parting among four drafts, each as the drafts that part there; `does` has a letter for what the base
    does in each."""
    away = np.array([[d in row for d in "abcd"] for row in rows])
    return Departures(0, away, tuple(("fee", end) for end in does or "x" * len(rows)), {})


def test_a_way_is_gone_over_piece_by_piece_by_ways_of_fewer_drafts() -> None:
    ways = parted("abcd", "ab", "cd")
    like = likeness(ways, ways.away, ways.does)
    whole = like[:4]
    assert (whole[:, 1:].max(axis=1) == 1).all(), "who parts in the small ones parts for these reasons in the large one"
    assert (like[4:, 0] == 0.5).all(), "but most who part in the large one do not part in a small one"


def test_a_way_in_which_the_base_does_something_else_covers_it_by_half() -> None:
    same, other = parted("ab", "ab"), parted("ab", "ab", does="xy")
    assert likeness(same, same.away, same.does)[0, 1] == 1
    assert likeness(other, other.away, other.does)[0, 1] == 0.5


@pytest.mark.parametrize(
    ("value", "trait"),
    [
        (["list", [["tuple", ["bob", -1]]]], "below 0 among them"),
        (["list", [3, 0]], "0 among them"),
        (["float", "-0.5"], "below 0"),
        (["Decimal", "0.00"], "0"),
        (["float", "nan"], "nan"),
    ],
)
def test_a_number_below_zero_is_a_case_of_its_own_wherever_it_stands(value: Value, trait: str) -> None:
    (shown,) = situations_of((Call(name="median", args=(value,)),), ["above 0"])
    assert ("median", "0", trait) in shown


def test_as_many_as_there_are_is_a_case_of_its_own() -> None:
    def first(count: int) -> set[tuple[str, ...]]:
        (shown,) = situations_of((Call(name="first", args=(["list", ["a", "b"]], count)),), ["list of 2"])
        return {s[:3] for s in shown}

    assert ("first", "1", "as many") in first(2)
    assert ("first", "1", "fewer") in first(1)
    assert ("first", "1", "more") in first(3)


def test_what_was_given_is_not_shown_by_an_exception_that_may_have_another_reason() -> None:
    def given(end: str) -> set[str]:
        (shown,) = situations_of((Call(name="pay", args=("ann", 0)),), [end])
        return {s[2] for s in shown if len(s) == 3}

    assert "0" in given("above 0")
    assert not given("! LendingError owes nothing")
    assert not given("list of 0")
