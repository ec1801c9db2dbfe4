"""On landscapes whose truth is known, the lab finds much more of the best than chance does, and its intervals hold what
they promise."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from _lab_landscapes import landscape
from _lab_replay import Trouble, play

from tamis.lab.track import coverage


@pytest.fixture(scope="module")
def mixture():
    return landscape("mixture 1")


@pytest.fixture(scope="module")
def game(mixture):
    return play(mixture, batch=8, measurements=64, seed=3)


def test_most_of_the_best_hundredth_is_found_in_64_measurements(mixture, game):
    assert game.found(mixture, 64) > 0.6  # chance finds 3 %
    assert game.regret(mixture, 64) < 0.02 * np.ptp(mixture.worth)


def test_nine_of_ten_results_lie_in_their_90_percent_intervals(game):
    assert len(game.past) > 40
    assert 0.8 <= coverage(game.past, 0.9) <= 1.0


def test_noise_failures_and_late_results_cost_little(mixture, game):
    troubled = play(mixture, batch=8, measurements=64, seed=3, trouble=Trouble(noise=0.02, failing=0.1, late=1))
    assert troubled.found(mixture, 64) > 0.5 * game.found(mixture, 64)
