import numpy as np
import pytest

from tamis.lab.batch import next_batch
from tamis.lab.failures import chances, failing_kinds
from tamis.lab.features import Columns, Named
from tamis.lab.outlook import told as in_words
from tamis.lab.owner import StandIn
from tamis.lab.telling import told
from tamis.lab.trade import Bench
from tamis.ledger import Ledger

from .lab_helpers import LAB, desk_on, truth
from .test_models import COLUMNS, FEATURES, bench, model_of, some

SOLVENTS = Columns(
    count=60,
    named={"solvent": Named(np.arange(60) % 3, ("dmf", "thf", "water"))},
    numbers={"T": np.linspace(20, 200, 60)},
)


def test_a_level_whose_runs_keep_failing_is_named_and_put_down():
    rows = np.arange(30)
    (kind,) = failing_kinds(SOLVENTS, rows, SOLVENTS.named["solvent"].codes[rows] == 2)
    assert (kind.name, kind.failed, kind.runs) == ("solvent = water", 10, 10)
    chance = chances([kind], 60)
    assert chance is not None
    assert (chance[SOLVENTS.named["solvent"].codes == 2] < 0.3).all()
    assert (chance[SOLVENTS.named["solvent"].codes != 2] == 1.0).all()


def test_a_number_from_which_on_runs_fail_is_found():
    rows = np.arange(0, 60, 2)
    (kind,) = failing_kinds(SOLVENTS, rows, SOLVENTS.numbers["T"][rows] > 150)
    assert kind.name.startswith("T from 15")
    assert kind.failed == kind.runs


@pytest.mark.parametrize("seed", range(20))
def test_one_run_in_ten_that_fails_is_bad_luck_and_no_kind(seed):
    failed = np.random.default_rng(seed).random(50) < 0.1
    assert failing_kinds(SOLVENTS, np.arange(50), failed) == []


def test_where_everything_fails_no_kind_is_blamed():
    assert failing_kinds(SOLVENTS, np.arange(40), np.ones(40, dtype=bool)) == []


def test_a_batch_avoids_what_keeps_failing():
    rows = some(25)
    chance = np.where(COLUMNS.numbers["x"] < 0.6, 0.05, 1.0)
    plain = bench(rows)
    wary = Bench(plain.features, plain.free, plain.pending, plain.seen, plain.caps, None, chance)
    before = next_batch(plain, [model_of(rows)], 8, repeats=0)
    after = next_batch(wary, [model_of(rows)], 8, repeats=0)
    assert any(chance[pick.row] < 1 for pick in before)
    assert not any(chance[pick.row] < 1 for pick in after)


def test_the_place_for_doubt_does_not_go_to_what_keeps_failing():
    rows = np.array([row for row in some(40) if COLUMNS.numbers["x"][row] >= 0.6])
    chance = np.where(COLUMNS.numbers["x"] < 0.6, 0.5, 1.0)
    plain = bench(rows)
    wary = Bench(plain.features, plain.free, plain.pending, plain.seen, plain.caps, None, chance)
    before, after = (next_batch(one, [model_of(rows)], 1, repeats=0, doubts=1)[0] for one in (plain, wary))
    assert chance[before.row] < 1.0 == chance[after.row]


def test_the_place_for_doubt_does_not_go_where_the_nearest_run_failed():
    rows = np.array([row for row in some(40) if COLUMNS.numbers["x"][row] >= 0.6])
    plain = bench(rows)
    failed = np.array([row for row in some(40) if COLUMNS.numbers["x"][row] < 0.6])
    free = np.setdiff1d(plain.free, failed)
    wary = Bench(plain.features, free, plain.pending, plain.seen, plain.caps, failed=failed)
    pick = next_batch(wary, [model_of(rows)], 1, repeats=0, doubts=1)[0]
    far = ((FEATURES.main.x - FEATURES.main.x[pick.row]) ** 2).sum(axis=1)
    assert far[rows].min() < far[failed].min()


def test_a_campaign_leaves_the_kind_alone_that_the_bench_cannot_make_and_says_so(tmp_path):
    with Ledger(tmp_path) as ledger:
        desk = desk_on(ledger, tmp_path)

        def measure(asked):
            return [None if float(idea["Co"]) > 0.35 else {"value": truth(idea)} for idea in asked]

        desk.play(StandIn(measure, "lab.py", LAB), 10)
        standing = desk.standing()
        (kind,) = standing.failing
        assert "Co from" in kind.name
        assert any(f"runs keep failing: {kind.name}" in line for line in told(standing, (*desk._goals,), LAB))
        late = [row for batch in standing.campaign.batches[5:] for row in batch]
        assert sum(1 for row in late if row.failed) <= len(late) / 4  # two in five of all ideas would fail


def test_a_probability_is_never_told_as_certain():
    assert (in_words(0.0), in_words(0.5), in_words(1.0)) == ("under 1%", "50%", "over 99%")
