import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.tokens import PIECE_CHARS, count_tokens, count_words, counted_by, encode, spaced_words, tokenizer


def test_the_count_is_o200k_base_s() -> None:
    assert count_tokens("tamis sieves forty lending drafts.\n") == len(encode("tamis sieves forty lending drafts.\n"))
    assert count_tokens("hello world") == 2
    assert count_tokens("") == 0


def test_special_tokens_count_as_the_text_that_they_are() -> None:
    assert count_tokens("<|endoftext|>") == 7


def test_what_counted_is_named_with_its_version() -> None:
    name, _, version = counted_by().removesuffix(")").partition(" (bpe-openai ")
    assert name == "o200k_base"
    assert version[0].isdigit()


def test_a_long_text_of_lines_is_counted_exactly() -> None:
    text = "".join(f"line {number} lends a drill, and then?\n    returns it\n" for number in range(4_000))
    assert len(text) > 2 * PIECE_CHARS
    assert count_tokens(text) == tokenizer().count(text)


@pytest.mark.parametrize("text", [mark * 140_000 for mark in "a\n-漢1"])
def test_a_long_text_without_seams_is_counted_to_within_two_a_piece(text: str) -> None:
    pieces = len(text) // PIECE_CHARS + 1
    assert abs(count_tokens(text) - tokenizer().count(text)) <= 2 * pieces


@given(st.text())
def test_any_text_can_be_counted(text: str) -> None:
    assert count_tokens(text) == len(encode(text)) >= (1 if text else 0)
    assert 0 <= count_words(text) <= len(text)


def test_a_lone_surrogate_is_counted() -> None:
    assert count_tokens("a \ud800 b") > 0
    assert count_words("a \ud800 b") == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("... -- !?", 0),
        ("one, two; three", 3),
        ("don't look back", 3),
        ("l’été", 1),
        ("a well-known story", 3),
        ("a-b-c-d", 1),
        ("one -- two", 2),
        ("one--two", 2),
        ("desk.lend_tool('drill', 1000)", 4),
        ("x += 1  # plus", 3),
        ("naïve café — “quoted”", 3),
        ("漢字かな", 4),
        ("漢字 and kana カナ!", 6),
        ("안녕 세상", 2),
        ("नमस्ते दुनिया", 2),
        ("fine 🤷‍♀️ 👍", 1),
        ("3.14", 2),
    ],
)
def test_words_are_counted_as_a_person_does(text: str, words: int) -> None:
    assert count_words(text) == words


@given(st.lists(st.from_regex(r"[a-z_]{1,8}('[a-z]{1,3})?", fullmatch=True), max_size=30))
def test_spaced_words_are_each_counted_once(words: list[str]) -> None:
    assert count_words(" ".join(words)) == len(words)
    assert count_words("é\n".join([*words, ""])) == len(words)


def test_characters_of_chinese_and_japanese_stand_apart() -> None:
    assert spaced_words("the 漢字 here") == ["the", "漢", "字", "here"]


def test_counting_does_not_load_what_it_does_not_need() -> None:
    loaded = "import sys; from tamis.tokens import count_tokens as c; c('x'); print('bpe_openai.compat' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
