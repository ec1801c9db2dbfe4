"""BoTorch and BayBE in the places of our own parts; skipped aloud where they are not installed."""

import numpy as np
import pytest

from tamis.lab.bank import bank_of
from tamis.lab.batch import next_batch
from tamis.lab.campaign import Campaign, Event, Proposed, Row, happened
from tamis.lab.settings import MEMBERS, LabSection, goals_of
from tamis.lab.surrogate import Believer, Seen, learn

from .test_models import COLUMNS, FEATURES, TRUTH, bench, some


@pytest.mark.parametrize("name", ["botorch", "baybe"])
def test_a_model_of_theirs_stands_in_the_bank_and_a_batch_is_chosen(name):
    pytest.importorskip(name)
    rows = some(25)
    bank = bank_of((*MEMBERS, name))
    seen = Seen(rows, TRUTH[rows], np.ones(len(rows)))
    model = learn(FEATURES, seen, bank.prior, rng=np.random.default_rng(0), bank=bank)
    theirs = model.by_member(np.arange(COLUMNS.count))[name]
    assert np.corrcoef(theirs.mean, TRUTH)[0, 1] > 0.9
    assert (theirs.sd > 0).all()
    picks = [pick.row for pick in next_batch(bench(rows), [model], 4, repeats=0)]
    assert len(set(picks)) == 4
    assert max(TRUTH[picks]) > np.quantile(TRUTH, 0.9)


@pytest.mark.parametrize("name", ["botorch", "baybe"])
def test_a_model_of_theirs_alone_chooses_ideas_that_are_not_all_alike(name):
    pytest.importorskip(name)
    rows = some(25)
    bank = bank_of((name,))
    seen = Seen(rows, TRUTH[rows], np.ones(len(rows)))
    model = learn(FEATURES, seen, bank.prior, rng=np.random.default_rng(0), bank=bank)
    assert set(model.members) == {name}
    guess, rough = model.guess(np.arange(30)), model.rough_guess(np.arange(30))
    assert np.allclose(guess.mean, rough.mean)
    held = Believer(model, np.arange(COLUMNS.count))
    held.hold(0)
    assert held.left[0] < 0.9
    assert held.left.max() > 0.95


def test_baybe_proposes_ideas_that_are_neither_measured_nor_on_the_bench():
    pytest.importorskip("baybe")
    from tamis.lab.adapters import baybe_batch

    cells = [{"x": str(x), "s": s} for x in range(6) for s in ("dmf", "thf")]
    lab = LabSection(goal="maximize y", number=("x",), category=("s",))
    rows = [Row(Proposed(row=str(k), draft=str(k), name=str(k), hash="", why="spread"), 1) for k in range(6)]
    campaign = Campaign(id="c", batches=[rows])
    happened(campaign, [Event(row=str(k), kind="measured", values={"y": float(k)}) for k in range(4)])
    chosen = baybe_batch(cells, lab, goals_of(lab)[0], campaign, 2, seed=1)
    assert len(set(chosen)) == 2
    assert not set(chosen) & set(range(6))
