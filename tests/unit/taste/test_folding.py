import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.taste.folding import fold, fold_many
from tamis.taste.words import read_words

WORDS = [f"w{place}" for place in range(300)]


def triples(text: str) -> set[tuple[str, ...]]:
    words = text.split()
    return {tuple(words[place : place + 3]) for place in range(len(words) - 2)} or {tuple(words)}


def jaccard(one: str, other: str) -> float:
    a, b = triples(one), triples(other)
    return len(a & b) / len(a | b)


def by_hand(texts: list[str], similarity: float) -> list[int]:
    """The first text that stands for each, by comparing all."""
    keepers: list[int] = []
    for place, text in enumerate(texts):
        near = [k for k in range(place) if keepers[k] == k and jaccard(text, texts[k]) >= similarity - 1e-9]
        keepers.append(near[0] if near else place)
    return keepers


def varied(rng: random.Random) -> list[str]:
    """Texts of which many are small changes of one another."""
    texts = [" ".join(rng.choices(WORDS, k=rng.randint(1, 40))) for _ in range(6)]
    for _ in range(14):
        words = rng.choice(texts).split()
        for _ in range(rng.randint(0, 2)):
            words[rng.randrange(len(words))] = rng.choice(WORDS)
        texts.append(" ".join(words))
    return texts


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.5, 0.7, 0.8, 0.95, 1.0]))
def test_folds_are_those_found_by_comparing_every_pair(seed: int, similarity: float) -> None:
    texts = varied(random.Random(seed))
    assert fold(read_words(texts), similarity=similarity).keeper.tolist() == by_hand(texts, similarity)


def test_the_first_stands_for_its_variants_and_nothing_is_dropped() -> None:
    text = " ".join(WORDS[:60])
    folds = fold(read_words([text, "quite another text about the sea", text + " more", text]))
    assert folds.keepers() == [0, 1]
    assert folds.variants(0) == [2, 3]
    assert folds.similarity[3] == 1.0
    assert folds.similarity[2] == pytest.approx(58 / 59)


def test_texts_all_the_same_fold_into_one_quickly() -> None:
    folds = fold(read_words(["the same words again and again"] * 3_000))
    assert folds.keepers() == [0]


def test_empty_texts_are_one_text() -> None:
    assert fold(read_words(["", "...", "a word"])).keeper.tolist() == [0, 0, 2]


def test_a_similarity_beyond_one_is_refused() -> None:
    with pytest.raises(ValueError, match="similarity"):
        fold(read_words(["a"]), similarity=1.5)


def test_no_texts_no_folds() -> None:
    assert np.array_equal(fold(read_words([])).keeper, [])


def test_of_many_texts_candidates_find_the_folds_that_comparing_all_finds() -> None:
    rng = random.Random(3)
    texts = [" ".join(rng.choices(WORDS, k=80)) for _ in range(60)]
    for _ in range(60):
        words = rng.choice(texts).split()
        words[rng.randrange(len(words))] = "changed"
        texts.append(" ".join(words))
    texts += texts[:5]
    many, exact = fold_many(texts), fold(read_words(texts))
    assert many.keeper.tolist() == exact.keeper.tolist()
    assert many.similarity == pytest.approx(exact.similarity)


def test_of_many_texts_none_is_folded_that_is_not_nearly_the_same() -> None:
    texts = varied(random.Random(8))
    folds = fold_many(texts, similarity=0.7)
    for place, keeper in enumerate(folds.keeper.tolist()):
        assert keeper == place or jaccard(texts[place], texts[keeper]) >= 0.7
