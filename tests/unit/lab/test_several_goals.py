"""Two goals at once, from the sheet to the choice."""

import csv

import pytest
from msgspec import structs

from tamis.lab.owner import StandIn
from tamis.lab.settings import LabSection, goals_of
from tamis.lab.story import lab_view
from tamis.lab.telling import told
from tamis.ledger import Ledger

from .lab_helpers import desk_on, truth

BOTH = LabSection(
    goal=("minimize overpotential_V", "maximize hours"),
    unit={"overpotential_V": "V", "hours": "h"},
    range={"hours": (0.0, 1000.0)},
    batch=4,
    composition=("Ni", "Fe", "Co"),
)


def hours(idea: dict) -> float:
    """Longest for pure cobalt, where the overpotential is high."""
    return 100.0 * float(idea["Co"])


def measure(asked):
    return [{"overpotential_V": truth(idea), "hours": hours(idea)} for idea in asked]


def played(folder, lab: LabSection, batches: int):
    with Ledger(folder) as ledger:
        desk = desk_on(ledger, folder, lab)
        desk.play(StandIn(measure, "lab.py", lab), batches)
        return desk.standing()


@pytest.fixture(scope="module")
def standing(tmp_path_factory):
    return played(tmp_path_factory.mktemp("both"), BOTH, 8)


def test_the_best_are_those_that_no_other_beats_in_both_goals(standing):
    best = standing.outlook.best
    assert sum(one.front for one in best) >= 4
    assert [one.front for one in best] == sorted((one.front for one in best), reverse=True)
    first = best[0].values
    assert first["overpotential_V"].low <= first["overpotential_V"].measured <= first["overpotential_V"].high
    assert 20 <= first["hours"].measured <= 90  # the leader is a trade-off, not the end of one goal


def test_both_ends_of_the_front_are_found(standing):
    measured = [event.values for events in standing.campaign.measured().values() for event in events]
    assert min(one["overpotential_V"] for one in measured) < 0.37
    assert max(one["hours"] for one in measured) > 90


def test_what_is_left_is_told_as_a_share_of_the_front(standing):
    view = lab_view(standing, goals_of(BOTH))
    assert view.regret.unit == "of the front's hypervolume"
    assert view.regret.expected is not None
    assert 0 <= view.regret.expected < 0.2
    assert set(view.best[0].values) == {"overpotential_V", "hours"}
    lines = list(told(standing, goals_of(BOTH), BOTH))
    assert any("front" in line for line in lines)
    assert any("hours" in line and "overpotential_V" in line and "* " in line for line in lines)


def test_thresholds_end_the_campaign_when_a_verified_idea_meets_them_all(tmp_path):
    lab = structs.replace(BOTH, goal=("overpotential_V below 0.45", "hours above 25"))
    standing = played(tmp_path, lab, 9)
    assert standing.outlook.left.meets > 0.95
    assert standing.outlook.stop.startswith("stop:")
    assert "overpotential_V below 0.45 V and hours above 25 h" in standing.outlook.stop
    assert standing.choice.draft == standing.outlook.best[0].draft
    values = standing.outlook.best[0].values
    assert values["overpotential_V"].measured < 0.45
    assert values["hours"].measured > 25


def test_a_sheet_of_two_goals_needs_both_results_in_their_units(tmp_path):
    with Ledger(tmp_path) as ledger:
        desk = desk_on(ledger, tmp_path, BOTH)
        path = desk.write_sheet(desk.next_batch())
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            row |= {"overpotential_V": f"{1000 * truth(row):.1f}", "unit of overpotential_V": "mV"}
            row |= {"hours": f"{60 * hours(row):.1f}", "unit of hours": "min"}
        rows[1]["hours"] = ""
        rows[2]["hours"] = "2000 h"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows(rows)
        read = desk.take_sheet(path, by="Ana")
        assert [bad.line for bad in read.bad] == [3, 4]
        assert "hours is empty" in read.bad[0].why
        assert "physically possible" in read.bad[1].why
        assert read.events[0].values["hours"] == pytest.approx(hours(rows[0]), abs=0.01)
        assert read.events[0].values["overpotential_V"] == pytest.approx(truth(rows[0]), abs=1e-4)
