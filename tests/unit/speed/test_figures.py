import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.speed.budget import Budget
from tamis.speed.figures import LEVEL, median_interval, percentiles, theil_sen

NUMBERS = st.floats(-1e6, 1e6)


@given(st.lists(NUMBERS, min_size=1, max_size=40))
def test_the_median_lies_in_its_interval_and_the_interval_in_the_values(values: list[float]) -> None:
    found = median_interval(values)
    assert min(values) <= found.low <= found.value <= found.high <= max(values)
    assert found.coverage >= LEVEL or (found.low, found.high) == (min(values), max(values))


def test_the_interval_covers_the_true_median_as_often_as_it_says() -> None:
    rng = random.Random(5)
    for runs in (3, 5, 9):
        intervals = [median_interval([rng.lognormvariate(0, 1) for _ in range(runs)]) for _ in range(3000)]
        covered = sum(one.low <= 1.0 <= one.high for one in intervals) / 3000
        assert covered == pytest.approx(intervals[0].coverage, abs=0.02)


def test_one_stalled_run_does_not_move_the_median() -> None:
    assert median_interval([100, 101, 99, 100, 3]).value == 100


@given(
    st.floats(-1e3, 1e3), st.floats(-1e3, 1e3), st.lists(st.integers(0, 10_000), min_size=4, max_size=20, unique=True)
)
def test_points_on_a_line_have_its_slope(slope: float, base: float, xs: list[int]) -> None:
    found = theil_sen([(x, base + slope * x) for x in xs])
    assert found is not None
    assert found.value == pytest.approx(slope, abs=1e-6, rel=1e-6)
    assert found.low <= found.value <= found.high


def test_the_slopes_interval_covers_the_truth_and_noise_alone_has_no_slope() -> None:
    rng = random.Random(6)
    lengths = [64, 500, 1000, 1500, 2000, 2500] * 4
    covered = nothing = 0
    for _ in range(400):
        noise = [rng.expovariate(1 / 0.002) for _ in lengths]
        found = theil_sen([(x, 0.05 + x * 1e-6 + e) for x, e in zip(lengths, noise, strict=True)])
        flat = theil_sen([(x, 0.05 + e) for x, e in zip(lengths, noise, strict=True)])
        assert found is not None and flat is not None
        covered += found.low <= 1e-6 <= found.high
        nothing += flat.low <= 0
    assert covered / 400 > 0.85
    assert nothing / 400 > 0.92


def test_too_few_points_have_no_slope() -> None:
    assert theil_sen([(1, 1), (2, 2)]) is None
    assert theil_sen([(1, 1), (1, 2), (1, 3)]) is None


@given(st.lists(NUMBERS, min_size=1, max_size=50))
def test_percentiles_are_values_that_occurred(values: list[float]) -> None:
    found = percentiles(values, (1, 50, 99, 100))
    assert set(found.values()) <= set(values)
    assert found["p100"] == max(values)


def test_no_values_have_no_percentiles() -> None:
    assert percentiles([], (50,)) == {}


def test_a_budget_is_kept_in_tokens_and_in_seconds() -> None:
    now = [0.0]
    budget = Budget(100, 10, now=lambda: now[0])
    assert budget.affords(100, 10) and not budget.affords(101) and not budget.affords(1, 11)
    budget.spend(60)
    assert budget.affords(40) and not budget.affords(41)
    part = budget.part(0.5)
    assert (part.tokens, part.seconds) == (20, 5.0)
    now[0] = 6.0
    assert not part.affords(1, 0.1) and budget.left_seconds == 4.0
