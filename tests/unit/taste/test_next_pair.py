import numpy as np
import pytest

from tamis.taste.answers import Heard
from tamis.taste.bank import Bank
from tamis.taste.features import Features
from tamis.taste.next_pair import NothingLeft, information, next_ask


def bare(n_texts: int) -> Bank:
    return Bank(Features(n_texts=n_texts, groups={}))


def asked(n_texts: int, n_asks: int, *, n_options: int = 2, top: int = 3) -> list[tuple[tuple[int, ...], str]]:
    """The questions to a reader who likes texts by their place."""
    bank, rng, shown, found = bare(n_texts), np.random.default_rng(0), [], []
    for _ in range(n_asks):
        ask = next_ask(bank, shown, top=top, rng=rng, n_options=n_options)
        shown.append(ask.shown)
        found.append((ask.shown, ask.why))
        bank.hear(Heard(shown=ask.shown, said=int(np.argmax(ask.shown))))
    return found


def test_a_pair_comes_again_only_once_and_with_its_sides_swapped() -> None:
    seen: dict[frozenset[int], list[tuple[int, ...]]] = {}
    asks = asked(30, 200)
    for shown, why in asks:
        earlier = seen.setdefault(frozenset(shown), [])
        assert bool(earlier) == (why == "again")
        assert all(shown == one[::-1] for one in earlier)
        earlier.append(shown)
    assert max(map(len, seen.values())) == 2


def test_about_one_question_in_twenty_is_an_earlier_pair() -> None:
    again = sum(why == "again" for _, why in asked(60, 300))
    assert 6 <= again <= 27


def test_sides_are_random() -> None:
    better_left = sum(shown[0] > shown[1] for shown, _ in asked(60, 200))
    assert 70 <= better_left <= 130


def test_questions_gather_around_the_top() -> None:
    late = [text for shown, _ in asked(100, 150)[75:] for text in shown]
    assert np.mean(late) > 65


def test_no_text_is_shown_beside_itself() -> None:
    assert all(len(set(shown)) == 4 for shown, _ in asked(12, 40, n_options=4))


def test_two_texts_make_one_question_and_its_swap() -> None:
    bank, rng = bare(2), np.random.default_rng(0)
    first = next_ask(bank, [], top=10, rng=rng)
    assert sorted(first.shown) == [0, 1]
    with pytest.raises(NothingLeft):
        next_ask(bank, [first.shown], top=10, rng=rng)


def test_one_text_leaves_nothing_to_ask() -> None:
    with pytest.raises(NothingLeft):
        next_ask(bare(1), [], top=10, rng=np.random.default_rng(0))


def test_all_pairs_of_few_texts_are_asked_before_nothing_is_left() -> None:
    bank, rng, shown = bare(5), np.random.default_rng(0), []
    with pytest.raises(NothingLeft):
        for _ in range(100):
            shown.append(next_ask(bank, shown, top=2, rng=rng).shown)
    assert len({frozenset(one) for one in shown}) == 10


def drawn_texts(*spreads: tuple[float, float], n_draws: int = 4_000) -> tuple[np.ndarray, np.ndarray]:
    """Draws of texts with these means and standard deviations, and whether each is above 0, the edge of the top."""
    rng = np.random.default_rng(0)
    drawn = np.array([mean + sd * rng.standard_normal(n_draws) for mean, sd in spreads], np.float32)
    return drawn, drawn > 0


def test_a_comparison_of_what_is_settled_tells_nothing() -> None:
    gain = information(*drawn_texts((5, 0.5), (-5, 0.5), (0.2, 1.0)))
    assert gain[0, 1] == pytest.approx(0, abs=1e-3)
    assert gain[0, 0] == pytest.approx(0, abs=1e-6)


def test_a_text_little_known_tells_most_beside_one_well_known_at_the_edge() -> None:
    gain = information(*drawn_texts((0.0, 2.0), (0.05, 0.1), (6.0, 0.1), (0.0, 0.1)))
    assert gain[0, 1] > 3 * gain[0, 2]
    assert gain[0, 1] > 3 * gain[1, 3], "two that she can hardly tell apart"


def test_what_is_told_does_not_hang_on_the_side() -> None:
    gain = information(*drawn_texts((0.0, 2.0), (0.5, 1.0), (-1.0, 1.0)))
    assert gain == pytest.approx(gain.T, abs=1e-4)
    assert (gain > -1e-4).all()


def test_of_many_texts_only_the_likeliest_are_asked_about() -> None:
    columns = np.linspace(-1, 1, 6_000)[:, None]
    bank = Bank(Features(n_texts=6_000, groups={"judge": columns}))
    ask = next_ask(bank, [], top=5, rng=np.random.default_rng(0))
    assert min(ask.shown) >= 2_000
