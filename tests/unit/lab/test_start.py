"""What is measured before anything is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.lab import gp
from tamis.lab.features import Columns, features_of
from tamis.lab.start import STAND_FOR_ALL, farthest, spread, support_points

NONE = np.zeros(0, dtype=np.intp)


def features(*, seed: int = 0, count: int = 400):
    rng = np.random.default_rng(seed)
    return features_of(Columns(count=count, elements=("Ni", "Fe", "Co"), fractions=rng.dirichlet(np.ones(3), count)))


def distances(x, rows, others):
    return np.sqrt(gp.squared_distances(x[rows], x[others]))


def energy_distance(x, rows):
    """How far the ideas `rows` are from resembling all of them (Székely & Rizzo 2013)."""
    everything = np.arange(len(x))
    own, whole = distances(x, rows, rows).mean(), distances(x, everything, everything).mean()
    return 2 * distances(x, rows, everything).mean() - own - whole


@pytest.mark.parametrize("seed", range(3))
def test_the_first_ideas_stand_for_all_better_than_ideas_drawn_at_random(seed):
    found = features(seed=seed)
    rng = np.random.default_rng(seed)
    picks = [pick.row for pick in spread(found, NONE, np.arange(found.count), STAND_FOR_ALL, rng=rng)]
    drawn = [energy_distance(found.main.x, rng.choice(found.count, STAND_FOR_ALL, replace=False)) for _ in range(50)]
    assert energy_distance(found.main.x, picks) < min(drawn)


def test_ideas_taken_one_batch_after_another_stand_for_all_together():
    found, rng = features(), np.random.default_rng(1)
    taken, free = NONE, np.arange(found.count)
    for _ in range(2):
        picks = [pick.row for pick in spread(found, taken, np.setdiff1d(free, taken), 8, rng=rng)]
        taken = np.concatenate([taken, picks])
    at_once = support_points(found.main.x, NONE, free, 16, rng=np.random.default_rng(1))
    assert energy_distance(found.main.x, taken) < 1.3 * energy_distance(found.main.x, at_once)


def test_what_goes_out_blind_after_them_goes_to_the_farthest():
    found, rng = features(), np.random.default_rng(0)
    x, taken = found.main.x, np.arange(STAND_FOR_ALL)
    free = np.arange(STAND_FOR_ALL, found.count)
    (pick,) = spread(found, taken, free, 1, rng=rng)
    assert pick.row == free[np.argmax(distances(x, free, taken).min(axis=1))]


@given(taken=st.integers(0, 30), want=st.integers(0, 60), seed=st.integers(0, 5))
def test_each_idea_is_free_and_taken_once_and_as_many_as_there_are(taken, want, seed):
    found = features(count=50)
    rows = np.random.default_rng(seed).permutation(50)
    picks = spread(found, rows[:taken], np.sort(rows[taken:]), want, rng=np.random.default_rng(seed))
    chosen = [pick.row for pick in picks]
    assert len(chosen) == min(want, 50 - taken) == len(set(chosen))
    assert not set(chosen) & set(rows[:taken].tolist())


def test_the_same_seed_gives_the_same_ideas_and_another_seed_others():
    found = features()
    one, same, other = (
        [p.row for p in spread(found, NONE, np.arange(400), 8, rng=np.random.default_rng(seed))] for seed in (3, 3, 4)
    )
    assert one == same
    assert one != other


def test_among_very_many_ideas_some_drawn_at_random_stand_for_the_rest():
    found = features(count=30_000)
    picks = [pick.row for pick in spread(found, NONE, np.arange(30_000), 8, rng=np.random.default_rng(0))]
    some = np.random.default_rng(1).choice(30_000, 1_000, replace=False)
    drawn = np.random.default_rng(2).choice(30_000, (20, 8))

    def away(rows):
        return 2 * distances(found.main.x, rows, some).mean() - distances(found.main.x, rows, rows).mean()

    assert away(picks) < min(away(rows) for rows in drawn)


def test_of_nothing_taken_the_first_of_the_farthest_is_drawn():
    x = features().main.x
    found = farthest(x, NONE, np.arange(400), 5, rng=np.random.default_rng(0))
    assert distances(x, found, found)[np.triu_indices(5, 1)].min() > 1.0
