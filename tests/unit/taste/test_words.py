from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tamis.taste.words import distinct, read_words


def spelled(text: str) -> list[str]:
    words = read_words([text])
    return [words.spelled(place) for place in range(len(words.starts))]


def test_words_are_runs_of_letters_with_apostrophes_inside_them() -> None:
    assert spelled("Don't — she said, ‘stop’ 3 times.") == ["Don't", "she", "said", "stop", "3", "times"]


def test_each_chinese_character_is_a_word_and_ends_the_word_before_it() -> None:
    assert spelled("abc海边de") == ["abc", "海", "边", "de"]


def test_arabic_words_are_whole() -> None:
    assert spelled("قرأت الرسالة، ثم") == ["قرأت", "الرسالة", "ثم"]


def test_case_and_kind_of_apostrophe_do_not_part_words() -> None:
    one, other = read_words(["Don’t GO"]), read_words(["don't go"])
    assert one.hashes.tolist() == other.hashes.tolist()


def test_no_word_spans_two_texts() -> None:
    words = read_words(["end", "start"])
    assert [words.spelled(place) for place in (0, 1)] == ["end", "start"]
    assert words.counts().tolist() == [1, 1]


def test_a_word_of_a_million_letters_is_one_word() -> None:
    words = read_words(["a" * 1_000_000 + " b", "b"])
    assert words.counts().tolist() == [2, 1]
    assert words.hashes[1] == words.hashes[2]


@given(st.lists(st.text(max_size=60), max_size=6))
def test_any_texts_are_read_and_the_same_word_has_the_same_hash_everywhere(texts: list[str]) -> None:
    words = read_words(texts)
    assert words.n_texts == len(texts)
    assert words.counts().sum() == len(words.hashes)
    by_spelling: dict[str, set[int]] = {}
    for place, value in enumerate(words.hashes.tolist()):
        by_spelling.setdefault(words.spelled(place), set()).add(value)
    assert all(len(values) == 1 for values in by_spelling.values())


@given(st.lists(st.text(alphabet="abcde", min_size=1, max_size=5), min_size=1, max_size=50, unique=True))
def test_different_words_have_different_hashes(vocabulary: list[str]) -> None:
    assert len(np.unique(read_words([" ".join(vocabulary)]).hashes)) == len(vocabulary)


@given(st.lists(st.lists(st.integers(0, 9), max_size=12), max_size=6))
def test_the_different_values_of_each_text_are_counted(texts: list[list[int]]) -> None:
    starts = np.cumsum([0, *map(len, texts)])
    found = distinct(np.array([value for text in texts for value in text], np.uint64), starts)
    for place, text in enumerate(texts):
        here = slice(found.starts[place], found.starts[place + 1])
        assert dict(zip(found.values[here].tolist(), found.times[here].tolist(), strict=True)) == Counter(text)
        assert found.values[here].tolist() == sorted(set(text))
