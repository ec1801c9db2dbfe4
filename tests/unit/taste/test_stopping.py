import numpy as np
import pytest

from tamis.taste.answers import Heard
from tamis.taste.bank import Bank
from tamis.taste.features import Features
from tamis.taste.next_pair import next_ask
from tamis.taste.preference import Prior
from tamis.taste.stopping import comparisons_to_settle, is_open, kinds_of, shortlist


def after(n_answers: int, *, n_texts: int = 40, top: int = 4) -> Bank:
    """A bank that heard a sure reader, who likes texts by their place."""
    bank = Bank(Features(n_texts=n_texts, groups={}), priors=[Prior(groups={}, text_sd=2.0)])
    rng, shown = np.random.default_rng(0), []
    for _ in range(n_answers):
        ask = next_ask(bank, shown, top=top, rng=rng)
        shown.append(ask.shown)
        bank.hear(Heard(shown=ask.shown, said=int(np.argmax(ask.shown))))
    return bank


def test_before_any_answer_the_odds_are_those_of_chance() -> None:
    best = shortlist(after(0), top=4, rng=np.random.default_rng(0), n_draws=2_000)
    assert np.mean(best.odds) == pytest.approx(4 / 40, abs=0.02)


def test_regret_falls_and_odds_rise_with_answers() -> None:
    few, many = (shortlist(after(n), top=4, rng=np.random.default_rng(0)) for n in (15, 150))
    assert many.regret < few.regret
    assert np.mean(many.odds) > np.mean(few.odds)
    assert few.regret_low <= few.regret <= few.regret_high


def test_the_shortlist_is_hers() -> None:
    best = shortlist(after(250), top=4, rng=np.random.default_rng(0))
    assert len({36, 37, 38, 39} & set(best.texts)) >= 3


def test_a_shortlist_of_everything_has_nothing_to_regret() -> None:
    best = shortlist(after(2, n_texts=3), top=10, rng=np.random.default_rng(0))
    assert sorted(best.texts) == [0, 1, 2]
    assert best.regret == pytest.approx(0, abs=1e-6)
    assert best.preferred_share == pytest.approx(0.5)
    assert best.odds == (1.0, 1.0, 1.0)


def test_a_limit_per_kind_makes_the_list_varied_and_says_what_it_costs() -> None:
    bank = after(150)
    kinds = np.array([0] * 36 + [1] * 4)
    free = shortlist(bank, top=4, rng=np.random.default_rng(0))
    varied = shortlist(bank, top=4, rng=np.random.default_rng(0), kinds=kinds, per_kind=2)
    assert sum(kinds[text] for text in varied.texts) == 2
    assert varied.regret > free.regret


def test_a_limit_that_kinds_cannot_meet_still_fills_the_list() -> None:
    kinds = np.zeros(40, np.int64)
    assert len(shortlist(after(20), top=4, rng=np.random.default_rng(0), kinds=kinds, per_kind=1).texts) == 4


def test_what_it_would_take_grows_with_the_regret() -> None:
    few, many = (shortlist(after(n), top=4, rng=np.random.default_rng(0)) for n in (15, 150))
    assert comparisons_to_settle(few, 100, 0.55) > comparisons_to_settle(many, 100, 0.55) >= 10


def test_kinds_follow_what_texts_are_about() -> None:
    rng = np.random.default_rng(0)
    about = np.concatenate([rng.normal(size=(30, 4)) + 20, rng.normal(size=(30, 4)) - 20])
    kinds = kinds_of(Features(n_texts=60, groups={"meaning": about}))
    assert kinds is not None
    assert not set(kinds[:30]) & set(kinds[30:])


def test_what_is_surely_open_is_never_settled() -> None:
    rng = np.random.default_rng(0)
    for seed, own in ((0, 2.0), (1, 0.3), (2, 0.02)):
        bank = Bank(Features(n_texts=700, groups={}), priors=[Prior(groups={}, text_sd=own)])
        for n in range(40):
            shown = (n % 12, (5 * n + 1) % 12 + 12)
            bank.hear(Heard(shown=shown, said=seed % 2))
        quick = is_open(bank, top=5, settled_share=0.55, rng=rng)
        whole = shortlist(bank, top=5, rng=rng)
        assert not (quick and whole.preferred_share <= 0.55)
        assert quick == (own > 0.1)


def test_a_draw_of_some_texts_is_like_that_of_all() -> None:
    columns = np.random.default_rng(1).standard_normal((60, 4))
    bank = Bank(Features(n_texts=60, groups={"style": columns}))
    for n in range(30):
        bank.hear(Heard(shown=(n, 59 - n), said=n % 2))
    among = np.array([55, 3, 17, 40, 0])
    some = bank.draw(4_000, np.random.default_rng(2), among=among)
    whole = bank.draw(4_000, np.random.default_rng(3))[among]
    assert some.mean(axis=1) == pytest.approx(whole.mean(axis=1), abs=0.15)
    assert some.std(axis=1) == pytest.approx(whole.std(axis=1), rel=0.12)
