"""What the files of a test folder mean for drafts that are programs."""

import pytest

from tamis.checks.cases import cases_in, command_of, open_inputs
from tamis.config import DraftSection
from tamis.errors import CheckError

FILES = {"b.in": b"2\n", "b.out": b"4\n", "a.out": b"0\n", "open.in": b"7\n", "twin.in": b"7\n", "note.txt": b"\xff"}


def test_an_output_is_a_case_with_or_without_an_input() -> None:
    assert [(one.name, one.stdin, one.stdout) for one in cases_in(FILES)] == [("a", "", "0\n"), ("b", "2\n", "4\n")]


def test_an_input_without_an_output_is_open_and_the_same_one_twice_is_one() -> None:
    assert open_inputs(FILES) == ("7\n",)


def test_what_is_no_text_is_told_by_its_name() -> None:
    with pytest.raises(CheckError, match=r"bad\.in is not UTF-8: byte 0xff at offset 1"):
        open_inputs({"bad.in": b"1\xff"})


def test_a_draft_is_written_to_the_file_that_the_settings_name_or_to_one_with_its_suffix() -> None:
    assert command_of(DraftSection(command=("./main",)), ".c").file == "main.c"
    assert command_of(DraftSection(command=("./main",), file="x.cpp"), ".c").file == "x.cpp"
