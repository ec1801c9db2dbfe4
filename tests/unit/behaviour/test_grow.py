import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tamis.behaviour.camps import camps_of
from tamis.behaviour.decisions import decisions_of
from tamis.behaviour.grow import Budget, explore
from tamis.behaviour.hints import Hints
from tamis.behaviour.programs import key_of
from tamis.behaviour.surface import Surface

from ._briefs import CACHE, DURATION, Case
from ._exploring import Explored
from ._running import InProcess


@pytest.mark.parametrize("case", [DURATION, CACHE], ids=lambda c: c.module)
def test_the_same_seed_and_outcomes_make_the_same_programs(case: Case) -> None:
    one, other = (Explored(case, calls=500, round_calls=150) for _ in range(2))
    assert one.matrix.programs == other.matrix.programs
    assert one.decisions == other.decisions
    assert one.run.asked == other.run.asked


def test_the_order_of_pythons_own_sets_makes_no_difference() -> None:
    explored = "Explored(CACHE, calls=150, round_calls=60)"
    program = f"from {__name__} import *; print([key_of(p) for p in {explored}.matrix.programs])"
    root = Path(__file__).parents[3]
    seen = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=root,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1


def test_another_seed_makes_other_programs() -> None:
    assert Explored(CACHE, calls=600).matrix.programs != Explored(CACHE, calls=600, seed=1).matrix.programs


def test_no_program_runs_twice() -> None:
    programs = [key_of(p) for p in Explored(CACHE, calls=2_000).matrix.programs]
    assert len(set(programs)) == len(programs)


def test_it_stops_within_a_round_of_its_budget() -> None:
    explored = Explored(CACHE, calls=1_000, round_calls=200)
    assert explored.matrix.calls() <= len(CACHE.drafts) * (1_000 + 2 * 200)


def test_it_stops_when_rounds_bring_nothing() -> None:
    twins = Case("m", "```python\ndef f(n: int) -> int: ...\n```", {x: "def f(n): return n + 1\n" for x in "ab"})
    explored = Explored(twins, calls=1_000_000, round_calls=50)
    assert explored.matrix.calls() < 5_000


def test_what_the_tests_do_runs_first() -> None:
    explored = Explored(DURATION, calls=200)
    assert [p[-1].args for p in explored.matrix.programs[:2]] == [("1h30m",), ("45s",)]


def test_nothing_to_call_and_no_drafts_are_an_empty_matrix() -> None:
    run = InProcess("m", {})
    rng = random.Random(0)
    assert explore(Surface(), Hints(), ("a",), run, rng=rng).programs == ()
    surface = Explored(DURATION).surface
    assert explore(surface, Hints(), (), run, rng=rng).programs == ()
    assert run.batches == 0


def test_progress_tells_programs_groups_and_calls() -> None:
    told: list[tuple[int, int, int]] = []
    explored = Explored(DURATION)
    explore(
        explored.surface,
        explored.hints,
        tuple(DURATION.drafts),
        explored.run,
        rng=random.Random(0),
        budget=Budget(calls=600, round_calls=200),
        progress=lambda *now: told.append(now),
    )
    assert len(told) >= 2
    assert told == sorted(told)
    assert told[-1][1] == len(camps_of(explored.matrix)) or told[-1][1] > 1


def test_numbers_on_which_a_draft_runs_out_of_time_are_not_sought() -> None:
    slow = Case(
        "m",
        "```python\ndef f(n: int) -> int: ...\n```",
        {"a": "def f(n): return 1\n", "b": "def f(n): return 2 if n > 5_000 else 1\n"},
    )
    explored = Explored(slow)
    seen: list[int] = []

    def run(drafts, programs):
        numbers = [abs(c.args[0]) if c.args and type(c.args[0]) is int else 0 for p in programs for c in p]
        seen.append(max(numbers, default=0))
        ran = explored.run(drafts, programs)
        late = [any(type(c.args[0]) is int and abs(c.args[0]) > 5_000 for c in p if c.args) for p in programs]
        return {
            d: tuple(b'[["#","timed out",""]]' if t and d == "b" else r for r, t in zip(ran[d], late, strict=True))
            for d in ran
        }

    hints = Hints(ints=(100_000, 1, 2))
    explore(explored.surface, hints, ("a", "b"), run, rng=random.Random(0), budget=Budget(calls=800, round_calls=100))
    assert seen[0] > 5_000 or seen[1] > 5_000
    assert max(seen[-3:]) <= 20_000


FLAKY = Case(
    "m",
    "```python\ndef pick(items: list[str]) -> str: ...\n```",
    {
        "first": "def pick(items): return items[0] if items else ''\n",
        "last": "def pick(items): return items[-1] if items else ''\n",
        "any": "def pick(items): return items[0] if items else ''\n",
    },
)


def test_a_draft_that_changes_from_run_to_run_parts_nobody_and_is_named() -> None:
    explored = Explored(FLAKY)

    def again(drafts, programs):
        ran = explored.run(drafts, programs)
        return {
            d: tuple(
                b'[["=","?"]]' * 1 if d == "any" and len(p) == 1 else r for r, p in zip(ran[d], programs, strict=True)
            )
            for d in drafts
        }

    rng, budget = random.Random(0), Budget(calls=400, round_calls=100)
    matrix = explore(
        explored.surface, explored.hints, tuple(FLAKY.drafts), explored.run, rng=rng, budget=budget, again=again
    )
    assert set(matrix.unstable_drafts()) == {"any"}
    assert {frozenset(c.drafts) for c in camps_of(matrix)} == {frozenset({"first", "any"}), frozenset({"last"})}
    decisions = decisions_of(matrix, explored.surface, explored.run, hints=explored.hints, again=again)
    assert decisions
    assert not any("any" in option.drafts for d in decisions for option in d.options)
