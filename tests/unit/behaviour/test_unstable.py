"""Drafts that do one thing in a run and another in the next."""

import random
from collections.abc import Sequence

import numpy as np
import pytest

from tamis.behaviour.camps import camps_of
from tamis.behaviour.choice import chosen_of
from tamis.behaviour.ground import UNTOLD, Ground, ground_of, parting
from tamis.behaviour.grow import Budget, explore
from tamis.behaviour.inquiry import Inquiry
from tamis.behaviour.matrix import Matrix
from tamis.behaviour.owner import ActingOwner, Ask, Page
from tamis.behaviour.unstable import unstable_in
from tamis.sandbox import Program

from ._briefs import Case
from ._exploring import Explored
from ._toy import RIGHT, Toy, fee, owner_like

FLAKY = RIGHT.replace("return min", "return shift + min").replace("def fee", "shift = 0\n\n\ndef fee")


class Unstable(Toy):
    """The world of late fees, with drafts called flaky: each day a tool is late costs one more in every other run."""

    def __init__(self, *, flaky: Sequence[str] = ("flaky",), gone: Sequence[str] = ()) -> None:
        super().__init__(gone=gone)
        self.sources |= {name: FLAKY.encode() for name in flaky}
        self.lab.sources = self.sources
        self.flaky = flaky

    def again(self, drafts: Sequence[str], programs: Sequence[Program]) -> dict[str, tuple[bytes, ...]]:
        kept = dict(self.sources)
        self.sources |= {name: FLAKY.replace("shift = 0", "shift = 1").encode() for name in self.flaky}
        try:
            return self.run(drafts, programs)
        finally:
            self.sources.update(kept)

    def matrix(self) -> Matrix:
        matrix = Matrix(tuple(self.sources))
        ran, second = self.run(matrix.drafts, self.programs), self.again(matrix.drafts, self.programs)
        for i, program in enumerate(self.programs):
            column = matrix.add(program, {d: ran[d][i] for d in matrix.drafts}, inside=True)
            column.run_again({at: second[d][i] for at, d in enumerate(matrix.drafts)}, matrix.keys)
        return matrix

    def ground(self) -> Ground:
        return ground_of(self.matrix())

    def inquiry(self, **more: object) -> Inquiry:
        return super().inquiry(again=self.again, **more)


def asked_all(inquiry: Inquiry, owner: ActingOwner) -> list[Ask | Page]:
    put: list[Ask | Page] = []
    while (what := inquiry.next_question()) is not None:
        put.append(what)
        if isinstance(what, Ask):
            answer = owner.answer(what)
            assert answer is not None
            inquiry.learn(answer)
        else:
            inquiry.learn_page(owner.review(what) or ())
    return put


def test_one_unstable_draft_takes_no_program_from_the_others() -> None:
    steady, with_flaky = Toy().ground(), Unstable().ground()
    assert with_flaky.programs == steady.programs
    at = with_flaky.drafts.index("flaky")
    for p, steps in enumerate(steady.steps):
        others = np.delete(with_flaky.steps[p], at, axis=0)
        assert parting(others) == parting(steps)
        assert with_flaky.programs[p] == fee(-1) or with_flaky.steps[p][at, 0] == UNTOLD


def test_where_most_drafts_are_unstable_they_are_named_and_the_others_are_still_told_apart() -> None:
    flaky = ("f1", "f2", "f3", "f4", "f5", "f6", "f7")
    world = Unstable(flaky=flaky)
    assert set(world.matrix().unstable_drafts()) == set(flaky)
    inquiry = world.inquiry()
    asked_all(inquiry, owner_like("right"))
    assert inquiry.verdict().draft == "right"


@pytest.mark.parametrize("name", ["right", "eight", "no_cap", "low_cap", "lenient"])
def test_the_other_drafts_are_told_apart_and_odds_reached_as_without_the_unstable_one(name: str) -> None:
    inquiry = Unstable().inquiry()
    asked_all(inquiry, owner_like(name))
    verdict = inquiry.verdict()
    assert name in {verdict.draft, *verdict.alike}
    assert "flaky" not in {verdict.draft, *verdict.alike}
    assert inquiry.chance(name) > 0.9
    assert inquiry.pages


def test_what_an_unstable_draft_gives_is_no_option_and_no_answer_goes_against_it() -> None:
    inquiry = Unstable().inquiry()
    put = asked_all(inquiry, owner_like("right"))
    at = inquiry.ground.drafts.index("flaky")
    assert put
    for told, clue in zip(inquiry.told, inquiry.clues, strict=True):
        place = inquiry.ground.place(told.program)
        assert place is not None
        if inquiry.ground.steps[place][at, 0] == UNTOLD:
            assert not clue.there[at]
    assert not dict(inquiry.verdict().near).get("flaky")


def test_that_it_is_unstable_speaks_against_a_draft_and_deletes_none() -> None:
    inquiry = Unstable(gone=["twin"]).inquiry()
    assert 0 < inquiry.chance("flaky") < inquiry.chance("right") / 10


def test_no_page_shows_what_an_unstable_draft_does_from_time_to_time() -> None:
    inquiry = Unstable(gone=["right", "twin"]).inquiry()
    for what in asked_all(inquiry, owner_like("right")):
        if isinstance(what, Page) and what.draft == "flaky":
            assert all(line.program == fee(-1) for line in what.lines)


def test_what_is_recorded_of_an_unstable_draft_shows_the_calls_and_both_outcomes() -> None:
    (draft,) = found = unstable_in(Unstable().matrix())
    assert draft == "flaky"
    assert found["flaky"].witness.startswith("fee(0)\nonce 0, once 1, so in 12 of 13 programs")


def test_running_out_of_time_once_makes_a_draft_unstable_there_and_not_to_blame() -> None:
    matrix = Matrix(("a", "b", "c"))
    column = matrix.add(fee(1), dict.fromkeys(matrix.drafts, b'[["=",1]]'), inside=True)
    column.run_again({1: b'[["#","timed out",""]]'}, matrix.keys)
    assert matrix.unstable_drafts() == {}
    assert ground_of(matrix).steps[0].ravel().tolist() == [*matrix.steps(0)[:1, 0], UNTOLD, *matrix.steps(0)[2:, 0]]


def test_nobody_asked_a_steady_draft_of_the_heaviest_camp_is_chosen_and_no_unstable_one_is_called_alike() -> None:
    world = Unstable(gone=["right"])
    world.sources = {name: world.sources[name] for name in ("flaky", "twin", "eight", "no_cap", "low_cap", "lenient")}
    matrix = world.matrix()
    camps = camps_of(matrix)
    assert camps[0].drafts == ("flaky", "twin")
    inquiry = Inquiry(ground_of(matrix), [], run=world.run, lab=world.lab)
    chosen = chosen_of(inquiry, camps)
    assert chosen.draft in {"twin", "eight", "no_cap", "low_cap", "lenient"}
    assert "flaky" not in chosen.alike


def test_an_unstable_draft_is_run_again_in_every_program_also_in_those_that_told_nothing_new() -> None:
    case = Case(
        "m",
        "```python\ndef f(n: int) -> int: ...\n```",
        {"plain": "def f(n): return n\n", "more": "def f(n): return n + 1\n", "odd": "def f(n): return n + 2\n"},
    )
    explored, times = Explored(case), iter(range(1_000))

    def again(drafts: Sequence[str], programs: Sequence[Program]) -> dict[str, tuple[bytes, ...]]:
        """Otherwise at first and when the odd one is run alone; by chance alike while the exploration goes on."""
        ran = explored.run(drafts, programs)
        if next(times) == 0 or tuple(drafts) == ("odd",):
            ran["odd"] = tuple(b'[["=","?"]]' for _ in programs)
        return ran

    budget = Budget(calls=300, round_calls=50)
    matrix = explore(
        explored.surface,
        explored.hints,
        tuple(case.drafts),
        explored.run,
        rng=random.Random(0),
        budget=budget,
        again=again,
    )
    assert len(matrix.unstable_drafts()["odd"]) == len(matrix.programs) > 50


def test_in_calls_that_are_tried_later_an_unstable_draft_is_run_twice_too() -> None:
    inquiry = Unstable().inquiry()
    (place,) = inquiry._join([fee(33)], aside=True)
    steps = inquiry.ground.steps[place][:, 0].tolist()
    assert [name for name, step in zip(inquiry.ground.drafts, steps, strict=True) if step == UNTOLD] == ["flaky"]
