"""Mutants are run where they are likeliest to show, and only those that stay hidden run in more programs."""

from tamis.behaviour import lab as lab_module
from tamis.behaviour.ground import NEVER
from tamis.behaviour.lab import Lab

from ._toy import SOURCES, fee, passes, run_sources


def test_mutants_that_showed_early_are_not_run_again(monkeypatch) -> None:
    monkeypatch.setattr(lab_module, "FIRST_PROGRAMS", 2)
    ran: list[int] = []

    def counted(sources, programs):
        ran.append(len(sources) - 1)
        return run_sources(sources, programs)

    lab = Lab({"right": SOURCES["right"].encode()}, counted, passes)
    alive, found = lab.first("right", [fee(7), fee(8), fee(27), fee(40)], 60)
    assert ran[0] == len(alive) > ran[1] > 0
    assert [steps.shape for steps in found] == [(len(alive),)] * 4
    early = (found[0] < NEVER) | (found[1] < NEVER)
    late = (found[2] < NEVER) | (found[3] < NEVER)
    assert early.any() and late.any() and not (early & late).any()


def test_a_draft_without_mutants_gives_an_empty_row_for_each_program() -> None:
    alive, found = Lab({"d": b""}, run_sources, passes).first("d", [fee(1), fee(2)], 10)
    assert alive == () and [len(steps) for steps in found] == [0, 0]
