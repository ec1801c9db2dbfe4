"""Symbolic search: what is searched and in which order, what is made of a proposal, and what is kept of it all."""

import importlib.util
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tamis.behaviour import symbolic
from tamis.behaviour.camps import camps_of
from tamis.behaviour.inputs import Maker
from tamis.behaviour.symbolic import SearchBudget, Searched, Searcher, search
from tamis.brief import load_brief
from tamis.errors import UsageError
from tamis.ledger import Ledger
from tamis.programs import ProgramDesk
from tamis.records import Evidence, Measured, NoAnswer, Observed
from tamis.run import Run
from tamis.sandbox import Pair, Sought, Value
from tamis.software import SoftwareDesk

from ._briefs import Case
from ._exploring import Explored

ODD = "def double(n):\n    return 0 if n * 3 - 7 == 2962955 else n * 2\n"
DOUBLE = Case(
    module="double",
    brief="```python\ndef double(n: int) -> int: ...\n```",
    drafts={
        "product": "def double(n):\n    return n * 2\n",
        "sum": "def double(n):\n    return n + n\n",
        "odd": ODD,
        "shift": "def double(n):\n    return n << 1\n",
    },
)

Proposes = Callable[[Pair], Sought]


class Asked:
    """Stands in for the box: proposes what `proposes` says, and keeps what it was asked."""

    def __init__(self, proposes: Proposes) -> None:
        self._proposes = proposes
        self.pairs: list[str] = []
        self.cpu_seconds: list[float] = []

    def __call__(self, pairs: Mapping[str, Pair], *, cpu_seconds: float, paths: int) -> Iterator[tuple[str, Sought]]:
        for key, pair in reversed(pairs.items()):  # they come as they are finished
            self.pairs.append(key)
            self.cpu_seconds.append(cpu_seconds)
            yield key, self._proposes(pair)


def proposing(*values: Value, cpu_seconds: float = 1.0) -> Proposes:
    found = tuple((0, (value,)) for value in values)
    return lambda pair: Sought(proposed=found, cpu_seconds=cpu_seconds)


def knowing(pair: Pair) -> Sought:
    """As CrossHair would: the number, where one of the two is the odd one."""
    odd = b"2962955" in pair.first + pair.second
    return Sought(proposed=((0, (987654,)),) if odd else (), cpu_seconds=1.0)


@pytest.fixture
def explored(monkeypatch: pytest.MonkeyPatch) -> Explored:
    monkeypatch.setattr(symbolic, "version", lambda: "0")
    found = Explored(DOUBLE, calls=400, round_calls=100)
    assert len(camps_of(found.matrix)) == 1  # exploring does not come upon the number
    return found


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    (tmp_path / "BRIEF.md").write_text(f"# Double\n\n{DOUBLE.brief}\n")
    with Ledger(tmp_path) as ledger:
        yield Run(load_brief(tmp_path), ledger)


def searched(explored: Explored, run: Run, asked: Asked, budget: SearchBudget | None = None) -> Searched:
    contents = {name: source.encode() for name, source in DOUBLE.drafts.items()}
    searcher = Searcher(run, asked, contents, args={"module": "double"})
    maker = Maker(explored.surface, explored.hints)
    found = search(explored.matrix, maker, searcher, explored.run, again=explored.run, budget=budget)
    searcher.conclude(explored.matrix.drafts, found)
    return found


def test_what_parts_a_pair_joins_the_matrix_and_becomes_a_decision(explored: Explored, run: Run) -> None:
    before = len(explored.matrix.programs)
    found = searched(explored, run, Asked(knowing))
    assert found.inputs == 1
    assert len(explored.matrix.programs) == before + 1
    assert [set(camp.drafts) for camp in camps_of(explored.matrix)] == [{"product", "sum", "shift"}, {"odd"}]
    (decision,) = explored.parting("odd")
    assert explored.shown(decision) == "double(987654)"


def test_pairs_that_were_parted_meanwhile_are_not_searched(explored: Explored, run: Run) -> None:
    asked = Asked(knowing)
    searched(explored, run, asked)
    assert sorted(asked.pairs) == ["product shift", "product sum", "sum odd", "sum shift"]


def test_one_that_hides_from_the_search_hides_no_other(explored: Explored, run: Run) -> None:
    def hiding(pair: Pair) -> Sought:
        return Sought(ending="crashed") if b"n + n" in pair.first + pair.second else knowing(pair)

    assert searched(explored, run, Asked(hiding)).inputs == 1
    assert {"odd"} in [set(camp.drafts) for camp in camps_of(explored.matrix)]


def test_a_proposal_that_parts_nobody_is_left_out_and_run_in_two_drafts_only(explored: Explored, run: Run) -> None:
    before = len(explored.matrix.programs)
    calls = explored.run.calls
    found = searched(explored, run, Asked(proposing(424_242)), SearchBudget(pairs=1))
    assert (found.pairs, found.proposed, found.inputs) == (1, 1, 0)
    assert explored.run.calls - calls == 2
    assert len(explored.matrix.programs) == before


def test_a_proposal_that_exploring_ran_already_is_not_run_again(explored: Explored, run: Run) -> None:
    known = next(p[-1].args[0] for p in explored.matrix.programs if type(p[-1].args[0]) is int)
    calls = explored.run.calls
    assert searched(explored, run, Asked(proposing(known)), SearchBudget(pairs=1)).inputs == 0
    assert explored.run.calls == calls


@pytest.mark.parametrize("forged", ["987654", True, ["ref", 0], ["Fraction", "1e999999999"], [[]]])
def test_a_forged_proposal_is_not_even_run(explored: Explored, run: Run, forged: Value) -> None:
    calls = len(explored.matrix.programs), explored.run.calls
    found = searched(explored, run, Asked(proposing(forged)))
    assert (found.proposed, found.inputs) == (0, 0)
    assert (len(explored.matrix.programs), explored.run.calls) == calls


def test_what_changes_from_run_to_run_parts_nobody(explored: Explored, run: Run) -> None:
    contents = {name: source.encode() for name, source in DOUBLE.drafts.items()}
    searcher = Searcher(run, Asked(knowing), contents, args={})

    def otherwise(drafts, programs):  # type: ignore[no-untyped-def]
        return {d: explored.run(["product"], programs)["product"] for d in drafts}

    maker = Maker(explored.surface, explored.hints)
    found = search(explored.matrix, maker, searcher, explored.run, again=otherwise)
    assert found.inputs == 0
    assert len(camps_of(explored.matrix)) == 1


def test_the_budget_bounds_pairs_and_cpu_seconds(explored: Explored, run: Run) -> None:
    assert searched(explored, run, Asked(proposing()), SearchBudget(pairs=1)).pairs == 1
    asked = Asked(proposing(cpu_seconds=3.0))
    found = searched(explored, run, asked, SearchBudget(pair_cpu_seconds=4.0, cpu_seconds=5.0))
    assert found.pairs == 2
    assert asked.cpu_seconds == [2.5, 2.5]


def test_what_was_searched_is_not_searched_again(explored: Explored, run: Run) -> None:
    first, second = Asked(knowing), Asked(knowing)
    before = searched(explored, run, first)
    again = Explored(DOUBLE, calls=400, round_calls=100)
    assert searched(again, run, second) == before
    assert first.pairs
    assert second.pairs == []
    assert camps_of(again.matrix) == camps_of(explored.matrix)


def test_the_record_says_which_pairs_were_searched_and_how_many_inputs_came_of_it(explored: Explored, run: Run) -> None:
    searched(explored, run, Asked(knowing))
    kept = [e for e in run.ledger.all(Evidence) if e.check.name == "crosshair"]
    assert [type(e.answer) for e in kept] == [Observed] * 4 + [Measured]
    assert kept[-1].answer == Measured(value=1, unit="input")
    assert kept[-1].drafts == explored.matrix.drafts
    assert dict(kept[-1].how) == {"pairs": "4", "proposed": "1"}


def test_a_fault_of_ours_is_no_answer_and_is_searched_again(explored: Explored, run: Run) -> None:
    asked = Asked(lambda pair: Sought(fault="the box did not start"))
    assert searched(explored, run, asked, SearchBudget(pairs=1)).inputs == 0
    (kept,) = [e for e in run.ledger.all(Evidence) if e.check.name == "crosshair" and len(e.drafts) == 2]
    assert kept.answer == NoAnswer(fault="sandbox", why="the box did not start")
    second = Asked(knowing)
    searched(explored, run, second, SearchBudget(pairs=1))
    assert second.pairs == asked.pairs


def test_drafts_alone_in_their_camp_leave_nothing_to_search(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symbolic, "version", lambda: "0")
    apart = Case("double", DOUBLE.brief, {"a": "def double(n): return n", "b": "def double(n): return n + 1"})
    asked = Asked(proposing())
    explored = Explored(apart, calls=200, round_calls=100)
    searcher = Searcher(run, asked, {n: s.encode() for n, s in apart.drafts.items()}, args={})
    found = search(explored.matrix, Maker(explored.surface, explored.hints), searcher, explored.run, again=explored.run)
    assert (found.pairs, asked.pairs) == (0, [])


# asked for where it can't be


@pytest.mark.parametrize("desk", [SoftwareDesk, ProgramDesk])
def test_without_crosshair_it_is_told_at_once_how_to_install_it(
    desk: type[SoftwareDesk], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == "crosshair" else found(name, *more)
    )
    (tmp_path / "BRIEF.md").write_text("# Double\n")
    (tmp_path / "tamis.toml").write_text("[behaviour]\ncrosshair = true\n")
    with Ledger(tmp_path) as ledger, pytest.raises(UsageError) as raised:
        desk(Run(load_brief(tmp_path), ledger))
    assert raised.value.hint == "pip install 'tamis[crosshair]'"


def test_without_being_asked_for_nobody_misses_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symbolic, "is_installed", lambda: False)
    (tmp_path / "BRIEF.md").write_text("# Double\n")
    with Ledger(tmp_path) as ledger:
        made = SoftwareDesk(Run(load_brief(tmp_path), ledger))
        made.close()
    assert not made.open
