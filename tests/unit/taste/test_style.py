import numpy as np
import pytest

from tamis.taste.style import style_numbers
from tamis.taste.words import read_words


def number(name: str, *texts: str) -> list[float]:
    style = style_numbers(read_words(texts))
    return style.values[:, style.names.index(name)].tolist()


@pytest.mark.parametrize(
    ("name", "less", "more"),
    [
        ("length", "A cat.", "A cat sat on the mat and slept there."),
        ("sentence length", "He ran. She ran.", "He ran down the long road and she ran after him."),
        ("sentence variety", "One two three. One two three.", "One. One two three four five six seven."),
        ("word length", "He is in.", "Marvellous extravagances."),
        ("distinct words", "no no no no no no", "one two three four five six"),
        ("repetition", "one two three four five six", "one two three one two three one two three"),
        ("dialogue", "He said nothing at all.", 'He said "nothing at all".'),
        ("dialogue", "He said nothing at all.", "He said “nothing at all”."),
        ("commas", "Red and green and blue.", "Red, green, blue."),
        ("questions and exclamations", "Really.", "Really?!"),
        ("ellipses", "He left.", "He left..."),
        ("capitals", "he left", "HE LEFT"),
        ("syllables", "The cat sat.", "Imaginary animals."),
        ("readability", "Institutional considerations necessitate postponement.", "The cat sat on the mat."),
        ("long words", "a cat sat", "elephants wandering everywhere"),
    ],
)
def test_each_number_grows_with_what_it_is_called(name: str, less: str, more: str) -> None:
    low, high = number(name, less, more)
    assert low < high


def test_a_text_is_measured_alike_whatever_stands_beside_it() -> None:
    texts = ['"Go," he said. The sea was grey.', "A lamp, a dog; a letter...", "Nobody came? Nobody."]
    together = style_numbers(read_words(texts)).values
    alone = np.concatenate([style_numbers(read_words([text])).values for text in texts])
    assert np.allclose(together, alone)


def test_numbers_that_need_latin_letters_are_left_out_for_other_scripts_and_said_once() -> None:
    style = style_numbers(read_words(["海边的灯还亮着。", "قرأت الرسالة ثم عادت.", "מכתב אחד."]))
    assert "syllables" not in style.names
    assert len(style.notes) == 1
    assert np.isfinite(style.values).all()


def test_texts_without_words_have_numbers_too() -> None:
    assert np.isfinite(style_numbers(read_words(["", "...", "\n\n"])).values).all()
