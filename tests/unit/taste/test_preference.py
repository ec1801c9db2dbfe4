"""The belief is checked against the same posterior worked out another way: a grid where it is small, a mode where
not."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.taste.answers import Heard, Manner
from tamis.taste.features import Features
from tamis.taste.preference import Beliefs, Prior

PLAIN = Manner(careless=0.0, alike=0.0)


def beliefs(*, n_texts: int = 3, columns: np.ndarray | None = None, text_sd: float = 1.0, **prior: object) -> Beliefs:
    groups = {} if columns is None else {"style": columns}
    settings = {"groups": dict.fromkeys(groups, 1.0), "text_sd": text_sd, "manner": PLAIN, "side_sd": 1e-3, **prior}
    return Beliefs([Prior(**settings)], Features(n_texts=n_texts, groups=groups))  # type: ignore[arg-type]


def on_a_grid(answers: list[Heard], sd: float) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of three texts' utilities, by summing over a grid."""
    axis = np.linspace(-5 * sd, 5 * sd, 81)
    points = np.array(list(itertools.product(axis, repeat=3)))
    log = -0.5 * (points**2).sum(axis=1) / sd**2
    for heard in answers:
        values = points[:, list(heard.shown)]
        log += values[:, int(heard.said)] - np.log(np.exp(values).sum(axis=1))
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    mean = weight @ points
    return mean, ((points - mean) * weight[:, None]).T @ (points - mean)


@pytest.mark.parametrize(
    "answers",
    [
        [Heard(shown=(0, 1), said=0)],
        [Heard(shown=(0, 1, 2), said=2)],
        [Heard(shown=(0, 1), said=0), Heard(shown=(1, 2), said=0), Heard(shown=(2, 0), said=1)],
        [Heard(shown=(0, 1, 2), said=0), Heard(shown=(1, 2), said=1), Heard(shown=(0, 1), said=1)],
    ],
)
def test_a_belief_is_the_posterior_that_a_grid_gives(answers: list[Heard]) -> None:
    belief = beliefs()
    for heard in answers:
        belief.hear(heard)
    mean, covariance = on_a_grid(answers, 1.0)
    drawn = belief.draw(60_000, np.random.default_rng(0))
    assert belief.utilities() == pytest.approx(mean, abs=0.03)
    assert np.cov(drawn) == pytest.approx(covariance, abs=0.06)


def test_many_answers_put_texts_in_their_true_order() -> None:
    rng = np.random.default_rng(1)
    truth = np.linspace(-2, 2, 8)
    belief = beliefs(n_texts=8, text_sd=1.5)
    for _ in range(400):
        one, other = (int(text) for text in rng.choice(8, 2, replace=False))
        belief.hear(Heard(shown=(one, other), said=int(rng.random() > 1 / (1 + np.exp(truth[other] - truth[one])))))
    assert np.corrcoef(belief.utilities(), truth)[0, 1] > 0.97
    assert np.abs(belief.utilities() - belief.utilities().mean() - truth).max() < 0.9


def test_what_is_learned_of_features_reaches_texts_never_shown() -> None:
    columns = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    belief = beliefs(n_texts=4, columns=columns, text_sd=0.3)
    for _ in range(10):
        belief.hear(Heard(shown=(0, 1), said=0))
    assert belief.utilities()[2] > belief.utilities()[3] + 0.5


def test_a_pull_to_the_left_is_not_taken_for_taste() -> None:
    rng = np.random.default_rng(2)
    belief = beliefs(n_texts=20, side_sd=1.0)
    for _ in range(150):
        pair = tuple(int(text) for text in rng.choice(20, 2, replace=False))
        belief.hear(Heard(shown=pair, said=int(rng.random() > 0.75)))
    mean, sd = belief.side()
    assert mean == pytest.approx(np.log(3), abs=0.5)
    assert sd < 0.4
    assert belief.utilities().std() < 0.5


def test_alike_draws_two_texts_together() -> None:
    belief = beliefs(n_texts=2, manner=Manner(careless=0.0, alike=0.5), text_sd=2.0)
    before = belief.draw(4_000, np.random.default_rng(0))
    belief.hear(Heard(shown=(0, 1), said="alike"))
    after = belief.draw(4_000, np.random.default_rng(0))
    assert np.diff(after, axis=0).std() < 0.75 * np.diff(before, axis=0).std()


def test_none_good_lowers_both_and_says_nothing_on_which_is_better() -> None:
    belief = beliefs(n_texts=3)
    belief.hear(Heard(shown=(0,), said="below"))
    belief.hear(Heard(shown=(1,), said="below"))
    first, second, third = belief.utilities()
    assert first == pytest.approx(second, abs=0.02)
    assert max(first, second) < third


def test_one_best_of_three_is_less_than_three_pairs() -> None:
    click, pairs = beliefs(), beliefs()
    click.hear(Heard(shown=(0, 1, 2), said=0))
    for pair in ((0, 1), (0, 2)):
        pairs.hear(Heard(shown=pair, said=0))
    assert click.utilities()[0] < pairs.utilities()[0]


def test_the_prior_that_foretells_the_answers_gains_weight() -> None:
    columns = np.linspace(-2, 2, 30)[:, None]
    by_style = Prior(groups={"style": 1.5}, text_sd=0.2, manner=PLAIN)
    by_text = Prior(groups={}, text_sd=1.5, manner=PLAIN)
    both = Beliefs([by_style, by_text], Features(n_texts=30, groups={"style": columns}))
    rng = np.random.default_rng(3)
    for _ in range(60):
        one, other = (int(text) for text in rng.choice(30, 2, replace=False))
        both.hear(Heard(shown=(one, other), said=int(columns[other, 0] > columns[one, 0])))
    assert both.weights()[0] > 0.95


def test_a_text_that_wins_against_all_is_let_go_further_where_outliers_are_expected() -> None:
    usual = Prior(groups={}, text_sd=1.0, manner=PLAIN)
    outlying = Prior(groups={}, text_sd=1.0, outliers=0.1, manner=PLAIN)
    found = []
    for prior in (usual, outlying):
        belief = Beliefs([prior], Features(n_texts=30, groups={}))
        for other in range(1, 30):
            belief.hear(Heard(shown=(0, other), said=0))
        found.append(belief.utilities()[0])
    assert found[1] > found[0]


def test_outliers_are_drawn_as_wide_as_the_prior_says() -> None:
    prior = Prior(groups={}, text_sd=2.0, outliers=0.1)
    drawn = Beliefs([prior], Features(n_texts=4_000, groups={})).draw(50, np.random.default_rng(0))
    assert drawn.std() == pytest.approx(2.0, rel=0.03)
    kurtosis = float((drawn**4).mean() / drawn.var() ** 2)
    assert kurtosis > 4.5


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10_000))
def test_whatever_is_answered_the_belief_stays_finite_and_grows_surer(seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns = rng.standard_normal((12, 3))
    priors = [Prior(groups={"style": 2.0}, text_sd=1.0), Prior(groups={}, text_sd=3.0, outliers=0.1)]
    belief = Beliefs(priors, Features(n_texts=12, groups={"style": columns}))
    for _ in range(60):
        shown = tuple(int(text) for text in rng.choice(12, int(rng.integers(2, 5)), replace=False))
        said = int(rng.integers(len(shown))) if rng.random() < 0.8 else "alike"
        belief.hear(Heard(shown=shown, said=said))  # type: ignore[arg-type]
    assert np.isfinite(belief.utilities()).all()
    assert np.isfinite(belief.log_evidence).all()
    assert belief.draw(500, rng).std(axis=1).max() < 12


def test_a_group_that_is_foreseen_to_matter_orders_texts_before_any_answer() -> None:
    columns = np.array([[2.0], [1.0], [0.0], [-1.0]])
    foreseen = beliefs(n_texts=4, columns=columns, leaning={"style": 1.0})
    assert (np.diff(foreseen.utilities()) < 0).all()
    assert foreseen.utilities()[0] - foreseen.utilities()[1] == pytest.approx(1 / columns.std(), rel=1e-5)
    assert np.ptp(beliefs(n_texts=4, columns=columns).utilities()) == 0


def test_a_group_that_means_the_opposite_of_what_is_foreseen_is_found_out() -> None:
    columns = np.linspace(-1.5, 1.5, 40)[:, None]
    belief = beliefs(n_texts=40, columns=columns, leaning={"style": 1.0})
    rng = np.random.default_rng(4)
    for _ in range(40):
        one, other = (int(text) for text in rng.choice(40, 2, replace=False))
        belief.hear(Heard(shown=(one, other), said=int(columns[other, 0] < columns[one, 0])))
    assert belief.utilities()[0] > belief.utilities()[-1] + 1


def test_single_precision_holds_what_is_believed_over_a_thousand_answers() -> None:
    rng = np.random.default_rng(5)
    belief = beliefs(n_texts=6, text_sd=1.5)
    information = np.eye(6) / 1.5**2
    for _ in range(1_000):
        one, other = (int(text) for text in rng.choice(6, 2, replace=False))
        before = belief.utilities()
        belief.hear(Heard(shown=(one, other), said=int(rng.random() < 0.5)))
        assert np.abs(belief.utilities() - before).max() < 1.0
        information[[one, other], [one, other]] += 0.25
        information[[one, other], [other, one]] -= 0.25
    spread = belief.draw(20_000, np.random.default_rng(6)).std(axis=1)
    assert spread == pytest.approx(np.sqrt(np.diag(np.linalg.inv(information))), rel=0.05)
