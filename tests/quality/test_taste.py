"""Does it find what she likes where the truth is known, and is what it claims true? Small versions of
benchmarks/taste.py, with margins wide enough that only a real fault fails them."""

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tamis.taste.answers import Heard
from tamis.taste.bank import Bank
from tamis.taste.features import Features, read_features
from tamis.taste.next_pair import next_ask
from tamis.taste.stopping import Shortlist, shortlist

TOP = 10
HANNA = Path(__file__).parents[3] / "shared" / "data" / "taste" / "hanna_1056.csv"

Vector = np.ndarray
Says = Callable[[tuple[int, ...]], int]


def made(seed: int, *, own: float, by_features: float, n: int = 400) -> tuple[Features, Vector]:
    """Texts with ten numbers that may say something, and what a reader makes of them, in log-odds."""
    rng = np.random.default_rng(seed)
    columns = rng.standard_normal((n, 10)) / 10**0.5
    utility = by_features * columns @ rng.standard_normal(10) + own * rng.standard_normal(n)
    return Features(n_texts=n, groups={"style": columns}), utility


def reader(utility: Vector, seed: int, *, blind: float = 0.0) -> Says:
    rng = np.random.default_rng([seed, 1])

    def says(shown: tuple[int, ...]) -> int:
        if rng.random() < blind:
            return 0
        return int((utility[list(shown)] + rng.gumbel(size=len(shown))).argmax())

    return says


def ask(features: Features, says: Says, n_asked: int, seed: int) -> Shortlist:
    bank, rng, shown = Bank(features), np.random.default_rng(seed), []
    for _ in range(n_asked):
        one = next_ask(bank, shown, top=TOP, rng=rng)
        bank.hear(Heard(shown=one.shown, said=says(one.shown)))
        shown.append(one.shown)
    return shortlist(bank, top=TOP, rng=np.random.default_rng(seed))


def recall(best: Shortlist, utility: Vector) -> float:
    return float((utility[list(best.texts)] >= np.sort(utility)[-TOP]).mean())


def regret(best: Shortlist, utility: Vector) -> float:
    return float(np.sort(utility)[-TOP:].mean() - utility[list(best.texts)].mean())


def played(seeds: range, n_asked: int, *, blind: float = 0.0, **world: float) -> list[tuple[Shortlist, Vector]]:
    found = []
    for seed in seeds:
        features, utility = made(seed, **world)  # type: ignore[arg-type]
        found.append((ask(features, reader(utility, seed, blind=blind), n_asked, seed), utility))
    return found


@pytest.fixture(scope="module")
def with_features() -> list[tuple[Shortlist, Vector]]:
    return played(range(3), 150, own=0.8, by_features=2.0)


def test_after_150_glances_half_of_her_ten_best_of_400_are_found(with_features: list[tuple[Shortlist, Vector]]) -> None:
    assert np.mean([recall(best, utility) for best, utility in with_features]) >= 0.5
    assert np.mean([regret(best, utility) for best, utility in with_features]) <= 0.6


def test_the_questions_lose_less_than_as_many_pairs_at_random(with_features: list[tuple[Shortlist, Vector]]) -> None:
    at_random = []
    for seed in range(len(with_features)):
        features, utility = made(seed, own=0.8, by_features=2.0)
        bank, rng, says = Bank(features), np.random.default_rng(seed), reader(utility, seed)
        for _ in range(150):
            shown = tuple(int(text) for text in rng.choice(features.n_texts, 2, replace=False))
            bank.hear(Heard(shown=shown, said=says(shown)))
        at_random.append(regret(shortlist(bank, top=TOP, rng=rng), utility))
    assert np.mean([regret(best, utility) for best, utility in with_features]) < 0.7 * np.mean(at_random)


def test_a_judge_who_sees_something_helps_within_thirty_glances() -> None:
    with_judge, without = [], []
    for seed in range(3):
        features, utility = made(seed, own=1.0, by_features=1.0)
        scores = utility + 1.2 * np.random.default_rng([seed, 2]).standard_normal(len(utility))
        for given, lost in ((features.with_group("judge", scores[:, None]), with_judge), (features, without)):
            lost.append(regret(ask(given, reader(utility, seed), 30, seed), utility))
    assert np.mean(with_judge) < 0.8 * np.mean(without)


def test_claims_are_near_the_truth(with_features: list[tuple[Shortlist, Vector]]) -> None:
    odds = np.mean([best.odds for best, _ in with_features])
    assert odds == pytest.approx(np.mean([recall(best, utility) for best, utility in with_features]), abs=0.2)
    claimed = np.mean([best.regret for best, _ in with_features])
    true = np.mean([regret(best, utility) for best, utility in with_features])
    assert true <= 1.5 * claimed
    assert claimed <= 3 * true + 0.3


def test_where_nothing_countable_matters_the_claims_are_small() -> None:
    for best, utility in played(range(2), 60, own=2.0, by_features=0.0):
        assert np.mean(best.odds) < 0.4
        assert best.regret > 0.5 * regret(best, utility)


def test_a_reader_who_never_looks_settles_nothing() -> None:
    rng = np.random.default_rng(0)
    features, _ = made(0, own=1.0, by_features=1.0)
    best = ask(features, lambda shown: int(rng.random() > 0.65), 150, 0)
    assert best.preferred_share > 0.55
    assert np.mean(best.odds) < 0.4


def test_a_pull_to_the_left_costs_little() -> None:
    found = played(range(2), 150, own=0.8, by_features=2.0, blind=0.3)
    assert np.mean([recall(best, utility) for best, utility in found]) >= 0.3


@pytest.mark.skipif(not HANNA.is_file(), reason=f"{HANNA} is not there")
def test_real_stories_and_real_ratings() -> None:
    with HANNA.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    rating = np.array([float(row["mean_rating"]) for row in rows])
    utility = 3.09 * rating  # right on 82 % of random pairs
    best = ask(read_features([row["story"] for row in rows]), reader(utility, 0), 120, 0)
    assert recall(best, rating) >= 0.2
    assert regret(best, rating) <= 0.7
    assert best.regret > 0.3 * regret(best, utility)
