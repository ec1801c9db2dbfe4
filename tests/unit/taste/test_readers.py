from pathlib import Path

import pytest

from tamis.errors import BriefError, CheckError
from tamis.taste.readers import FileReader, Screen, read_choices

SCREEN = Screen(texts=("short", "rather longer"), names=("a", "b"), answered=0, budget=10, variants=(0, 0))


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_of_python_answers_with_the_place_of_the_best(tmp_path: Path) -> None:
    path = written(
        tmp_path / "longest.py", "def prefer(texts):\n    return max(range(len(texts)), key=lambda i: len(texts[i]))"
    )
    reader = FileReader(path)
    assert reader.name == "longest"
    assert reader.compare(SCREEN) == 1


def test_none_means_alike(tmp_path: Path) -> None:
    assert FileReader(written(tmp_path / "r.py", "def prefer(texts): return None")).compare(SCREEN) == "alike"


@pytest.mark.parametrize("answer", ["2", "-1", "'a'", "True", "0.0"])
def test_an_answer_that_is_no_place_is_told(tmp_path: Path, answer: str) -> None:
    reader = FileReader(written(tmp_path / "r.py", f"def prefer(texts): return {answer}"))
    with pytest.raises(CheckError, match="prefer"):
        reader.compare(SCREEN)


def test_a_file_that_fails_is_blamed_by_name(tmp_path: Path) -> None:
    reader = FileReader(written(tmp_path / "r.py", "def prefer(texts): return 1 / 0"))
    with pytest.raises(CheckError, match=r"r\.py.*ZeroDivisionError"):
        reader.compare(SCREEN)


@pytest.mark.parametrize(("text", "says"), [("x = 1", "no prefer"), ("def prefer(:", "SyntaxError")])
def test_a_file_that_is_no_reader_is_refused_at_once(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(BriefError, match=says):
        FileReader(written(tmp_path / "r.py", text))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BriefError, match="no file"):
        FileReader(tmp_path / "nobody.py")


def test_choices_are_read_by_the_names_of_the_texts(tmp_path: Path) -> None:
    path = written(tmp_path / "c.csv", "first,second,taken\na,b,b\nb,c,\n")
    given = read_choices(path, ["a", "b", "c"]).given
    assert [(one.shown, one.taken) for one in given] == [(("a", "b"), 1), (("b", "c"), None)]


def test_choices_that_name_unknown_texts_are_left_out_and_told(tmp_path: Path) -> None:
    path = written(tmp_path / "c.csv", "first,second,taken\na,b,b\nending_01,b,b\na,a,a\n")
    choices = read_choices(path, ["a", "b", "ending_001"])
    assert len(choices.given) == 1
    assert "'ending_01'; did it mean 'ending_001'?" in choices.notes[0]
    assert choices.notes[1].startswith("1 rows")


@pytest.mark.parametrize("text", ["", "one,two\na,b\n", "first,second,taken\nx,y,x\n"])
def test_a_file_without_a_usable_choice_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BriefError):
        read_choices(written(tmp_path / "c.csv", text), ["a", "b"])
