from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import check_grad

from tamis.errors import BriefError
from tamis.lab import gp
from tamis.lab.bank import bank_of
from tamis.lab.batch import leaders_to_repeat, next_batch, shortlist, spread
from tamis.lab.features import Columns, Named, element_table, features_of
from tamis.lab.settings import MEMBERS
from tamis.lab.surrogate import Believer, FitError, Seen, learn
from tamis.lab.track import PRIOR, Past, coverage, weights, width
from tamis.lab.trade import Bench, Trade


def grid(n: int = 15) -> Columns:
    x, y = np.meshgrid(np.linspace(0, 1, n), np.linspace(0, 1, n))
    return Columns(count=n * n, numbers={"x": x.ravel(), "y": y.ravel()})


COLUMNS = grid()
FEATURES = features_of(COLUMNS)
TRUTH = -((COLUMNS.numbers["x"] - 0.3) ** 2) - (COLUMNS.numbers["y"] - 0.7) ** 2


def seen_at(rows, counts=None) -> Seen:
    rows = np.asarray(rows, dtype=np.intp)
    return Seen(rows, TRUTH[rows], np.ones(len(rows)) if counts is None else np.asarray(counts, dtype=float))


def some(n: int = 20, seed: int = 0):
    return np.random.default_rng(seed).choice(COLUMNS.count, n, replace=False)


def bench(rows, pending=(), counts=None) -> Bench:
    free = np.setdiff1d(np.arange(COLUMNS.count), np.concatenate([rows, np.asarray(pending, dtype=int)]))
    return Bench(FEATURES, free, np.asarray(pending, dtype=np.intp), (seen_at(rows, counts),), (None,))


def model_of(rows, counts=None):
    return learn(FEATURES, seen_at(rows, counts), PRIOR, rng=np.random.default_rng(0))


def test_the_gradient_of_the_fit_is_the_derivative_of_its_loss():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(12, 3)), rng.normal(size=12)
    parts = np.stack([gp.squared_distances(x[:, [j]], x[:, [j]]) for j in range(3)])
    loss = gp._Loss(parts, y, np.ones(12), gp.Prior(), 1.0)
    theta = np.array([0.3, -0.2, 0.9, 0.1, -2.0])
    assert check_grad(lambda t: loss(t)[0], lambda t: loss(t)[1], theta) < 1e-3 * np.abs(loss(theta)[1]).max()


def test_a_process_knows_what_it_has_seen_and_doubts_what_is_far():
    x = np.linspace(-1, 1, 12)[:, None]
    model = gp.fit(x, np.sin(3 * x[:, 0]), np.array([0]), rng=np.random.default_rng(0))
    near_mean, near_sd = model.predict(np.array([[0.05]]))
    _, far_sd = model.predict(np.array([[9.0]]))
    assert near_mean[0] == pytest.approx(np.sin(0.15), abs=0.1)
    assert far_sd[0] > 3 * near_sd[0]


def test_two_runs_of_an_idea_leave_less_doubt_than_one():
    rows = some()
    once, twice = model_of(rows).guess(rows[:1]), model_of(rows, [4] + [1] * 19).guess(rows[:1])
    assert twice.sd[0] < once.sd[0]


def test_the_bank_has_four_members_and_their_words_weigh_one_together():
    model = model_of(some())
    assert set(model.by_member(np.arange(3))) == set(MEMBERS)
    assert sum(weights([]).values()) == pytest.approx(1.0)


def test_constant_results_are_an_error_that_is_told_and_never_a_random_batch():
    flat = Seen(np.arange(5), np.full(5, 0.35), np.ones(5))
    with pytest.raises(FitError, match="the same result"):
        learn(FEATURES, flat, PRIOR, rng=np.random.default_rng(0))


def test_the_same_state_gives_the_same_batch():
    rows = some()
    batches = [[p.row for p in next_batch(bench(rows), [model_of(rows)], 8, repeats=1)] for _ in range(2)]
    assert batches[0] == batches[1]


@settings(max_examples=8, deadline=None)
@given(st.integers(4, 40), st.integers(1, 12), st.integers(0, 5))
def test_a_batch_never_holds_an_idea_twice_nor_a_pending_one(measured, want, seed):
    rows = some(measured, seed)
    pending = np.setdiff1d(some(60, seed + 1), rows)[:5]
    picks = next_batch(bench(rows, pending), [model_of(rows)], want, repeats=1)
    chosen = [pick.row for pick in picks]
    assert len(set(chosen)) == len(chosen) == want
    assert not set(chosen) & set(pending.tolist())
    assert all((pick.row in rows) == (pick.why == "repeat") for pick in picks)


def test_a_batch_spreads_because_what_is_picked_is_held():
    rows = some(12)
    picks = [p.row for p in next_batch(bench(rows), [model_of(rows)], 6, repeats=0)]
    x = FEATURES.main.x[picks]
    apart = gp.squared_distances(x, x)[np.triu_indices(6, 1)]
    assert np.sqrt(apart.max()) > 0.5


@settings(max_examples=8, deadline=None)
@given(st.integers(6, 40), st.integers(0, 5))
def test_the_place_for_doubt_goes_where_less_is_known_and_not_to_what_promises_most(measured, seed):
    rows = some(measured, seed)
    model = model_of(rows)
    hope, doubt = (next_batch(bench(rows), [model], 1, repeats=0, doubts=doubts)[0] for doubts in (0, 1))
    assert (hope.why, doubt.why) == ("explore", "doubt")
    expected, doubted = (pick.guesses[0][0] for pick in (hope, doubt))
    assert doubted.sd[0] >= expected.sd[0] - 1e-9
    assert doubted.mean[0] <= expected.mean[0] + 1e-9


def test_the_place_for_doubt_is_the_last_and_leaves_the_others_as_they_are():
    rows = some(15)
    model = model_of(rows)
    without, with_ = (next_batch(bench(rows), [model], 8, repeats=1, doubts=doubts) for doubts in (0, 1))
    assert [pick.row for pick in with_[:-1]] == [pick.row for pick in without[:-1]]
    assert [pick.why for pick in with_].count("doubt") == 1 == (with_[-1].why == "doubt")


def test_among_very_many_ideas_the_most_doubted_still_stand_for_choice(monkeypatch):
    rows = some(20)
    trades = [Trade(bench(rows), [model_of(rows)], kappa) for kappa in (0.0, 4.0)]
    monkeypatch.setattr("tamis.lab.batch.SHORTLIST", 20)
    left = shortlist(bench(rows), [model_of(rows)], trades)
    free = bench(rows).free
    guess = model_of(rows).guess(free)
    assert len(left) <= 20
    assert free[np.argmax(guess.mean)] in left
    assert free[np.argmax(guess.mean + 4.0 * guess.sd)] in left


def test_a_leader_measured_once_is_repeated_and_one_measured_twice_is_not():
    rows = np.concatenate([some(20), [int(np.argmax(TRUTH))]])
    rows = np.unique(rows)
    best = int(np.argmax(TRUTH))
    counts = np.ones(len(rows))
    assert best in leaders_to_repeat(bench(rows, counts=counts), [model_of(rows, counts)])
    counts[rows == best] = 2
    assert best not in leaders_to_repeat(bench(rows, counts=counts), [model_of(rows, counts)])


def test_dear_ideas_must_promise_more():
    rows = some(25)
    free = bench(rows)
    costs = np.where(COLUMNS.numbers["x"] > 0.5, 1.0, 50.0)
    dear = Bench(free.features, free.free, free.pending, free.seen, free.caps, costs)
    picks = next_batch(dear, [model_of(rows)], 6, repeats=0)
    assert all(costs[pick.row] == 1.0 for pick in picks)


def test_a_batch_looks_at_different_trade_offs_between_two_goals():
    rows = some(30)
    other = -((COLUMNS.numbers["x"] - 0.9) ** 2) - (COLUMNS.numbers["y"] - 0.1) ** 2
    seen = (seen_at(rows), Seen(rows, other[rows], np.ones(30)))
    both = Bench(
        FEATURES, np.setdiff1d(np.arange(COLUMNS.count), rows), np.array([], dtype=np.intp), seen, (None, None)
    )
    models = [learn(FEATURES, one, PRIOR, rng=np.random.default_rng(0)) for one in seen]
    picks = next_batch(both, models, 8, repeats=0)
    x = COLUMNS.numbers["x"][[pick.row for pick in picks]]
    assert x.min() < 0.5 < x.max()


def test_the_first_batch_is_spread_over_the_ideas():
    picks = [p.row for p in spread(FEATURES, np.array([], dtype=int), np.arange(225), 5, rng=np.random.default_rng(0))]
    x = FEATURES.main.x[picks]
    assert gp.squared_distances(x, x)[np.triu_indices(5, 1)].min() > 1.0


def test_what_is_spread_goes_to_the_idea_farthest_from_all_taken_however_the_ideas_are_cut(monkeypatch):
    taken, free = np.arange(16), np.arange(16, 225)
    x, rng = FEATURES.main.x, np.random.default_rng(0)
    whole = [p.row for p in spread(FEATURES, taken, free, 5, rng=rng)]
    assert whole[0] == free[np.argmax(gp.squared_distances(x[free], x[taken]).min(axis=1))]
    monkeypatch.setattr("tamis.lab.batch.CHUNK", 7)
    assert [p.row for p in spread(FEATURES, taken, free, 5, rng=rng)] == whole


@given(st.integers(0, 30), st.integers(0, 60), st.integers(0, 5))
@settings(deadline=None)
def test_each_spread_idea_is_free_and_taken_once_and_as_many_as_there_are(taken, want, seed):
    rows = np.random.default_rng(seed).permutation(50)
    picks = spread(FEATURES, rows[:taken], np.sort(rows[taken:]), want, rng=np.random.default_rng(seed))
    chosen = [pick.row for pick in picks]
    assert len(chosen) == min(want, 50 - taken) == len(set(chosen))
    assert not set(chosen) & set(rows[:taken].tolist())


def test_names_and_elements_become_features_of_like_spread():
    columns = Columns(
        count=4,
        elements=("Ni", "Fe"),
        fractions=np.array([[1.0, 0.0], [0.5, 0.5], [0.2, 0.8], [0.0, 1.0]]),
        named={"c": Named(np.array([0, 1, 0, 1]), ("a", "b"))},
    )
    found = features_of(columns)
    assert found.main.x.shape == (4, 4)
    assert found.main.groups.tolist() == [0, 1, 2, 2]
    assert found.tree.shape[0] == 4


def test_every_element_up_to_lawrencium_has_its_properties():
    assert len(element_table()) == 103
    assert element_table()["Fe"][2] == 1.83


def past(surprise: float, batch: int, members: dict[str, tuple[float, float]] | None = None) -> Past:
    return Past(mean=0.0, sd=1.0, members=members or {}, result=surprise, batch=batch)


def test_the_word_of_a_model_that_guesses_well_comes_to_weigh_more():
    said = {"gp": (3.0, 1.0), "trees": (0.0, 1.0), "average": (1.5, 1.0), "gp plain": (3.0, 1.0)}
    told = [past(0.0, 1, said) for _ in range(10)]
    found = weights(told)
    assert found["trees"] > 0.5 > found["gp"]


def test_intervals_widen_where_results_surprise_and_narrow_where_they_do_not():
    assert width([past(4.0, 1)] * 40, 0.9) > 1.7 > width([past(0.1, 1)] * 40, 0.9)
    assert width([], 0.9) == pytest.approx(1.645, abs=0.1)


def test_coverage_counts_each_result_against_the_interval_given_before_it():
    assert coverage([], 0.9) is None
    wild = [past(5.0, 1)] * 10 + [past(1.0, 2)] * 10
    assert coverage(wild, 0.9) == 0.5


def near_the_top(best: int, count: int = 60):
    """So many ideas around `best`: the models know well that nothing beats it."""
    x = FEATURES.main.x
    return np.argsort(((x - x[best]) ** 2).sum(axis=1))[:count]


def test_a_leader_that_is_likely_to_be_beaten_is_not_repeated_yet():
    rows = some(6)
    whys = [pick.why for pick in next_batch(bench(rows), [model_of(rows)], 8, repeats=1)]
    assert "repeat" not in whys
    assert len(whys) == 8


def test_a_leader_that_is_likely_to_stay_is_repeated():
    best = int(np.argmax(TRUTH))
    rows = near_the_top(best)
    first = next_batch(bench(rows), [model_of(rows)], 8, repeats=1)[0]
    assert (first.why, first.row) == ("repeat", best)


def test_when_the_campaign_ends_the_leader_is_repeated_all_the_same():
    rows = some(6)
    first = next_batch(bench(rows), [model_of(rows)], 8, repeats=1, ending=True)[0]
    assert first.why == "repeat"
    assert first.row in rows


def test_a_leader_that_is_good_enough_is_repeated_although_better_ones_may_be_left():
    rows = some(12)
    enough = float(np.sort(TRUTH[rows])[-3])
    goal = replace(bench(rows), caps=(enough - 0.05,))
    assert next_batch(goal, [model_of(rows)], 8, repeats=1)[0].why == "repeat"
    assert next_batch(bench(rows), [model_of(rows)], 8, repeats=1)[0].why != "repeat"


def test_a_brief_may_name_the_models_and_their_words_weigh_one_together():
    bank = bank_of(("gp", "trees"))
    assert [one.name for one in bank.surrogates] == ["gp", "trees"]
    assert sum(bank.prior.values()) == pytest.approx(1.0)
    seen = seen_at(some(25))
    model = learn(FEATURES, seen, bank.prior, rng=np.random.default_rng(0), bank=bank)
    assert set(model.by_member(np.arange(3))) == {"gp", "trees"}


def test_the_average_of_models_that_are_not_there_is_refused():
    with pytest.raises(BriefError, match="average"):
        bank_of(("gp", "average"))


@pytest.mark.parametrize("name", ["botorch", "baybe"])
def test_a_model_that_is_not_installed_is_told_with_how_to_get_it(name, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(BriefError, match=f"{name} is not installed") as told:
        bank_of((*MEMBERS, name))
    assert "pip install" in told.value.hint


def test_trees_alone_still_know_what_is_held():
    bank = bank_of(("trees",))
    model = learn(FEATURES, seen_at(some(25)), bank.prior, rng=np.random.default_rng(0), bank=bank)
    held = Believer(model, np.arange(COLUMNS.count))
    held.hold(3)
    assert held.left[3] < held.left.max() <= 1.0
    assert model.noise_sd > 0


def test_a_model_that_joins_later_weighs_as_the_others_do_on_the_average_before():
    past = [Past(0.0, 1.0, {"gp": (0.0, 1.0), "trees": (3.0, 1.0)}, 0.0) for _ in range(4)]
    found = weights(past, {"gp": 0.5, "trees": 0.25, "botorch": 0.25})
    assert found["trees"] < found["botorch"] < found["gp"]
