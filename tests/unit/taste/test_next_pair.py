import numpy as np
import pytest

from tamis.taste.answers import Heard
from tamis.taste.bank import Bank
from tamis.taste.features import Features
from tamis.taste.next_pair import NothingLeft, next_ask


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
