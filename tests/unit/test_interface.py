import ast

import pytest

from tamis.interface import imported_modules, read_interface


def block(source: str, language: str = "python") -> str:
    return f"# Title\n\n```{language}\n{source}```\n\nMore.\n"


def test_signatures_are_the_interface() -> None:
    source = "class Desk:\n    def lend(self, tool: str) -> int: ...   # cents\n"
    assert read_interface(block(source)) == (source, ())


def test_several_blocks_of_signatures_are_one_interface() -> None:
    interface, _ = read_interface(block("class LendingError(Exception): ...\n") + block("def lend(): ...\n", "py"))
    assert interface == "class LendingError(Exception): ...\n\n\ndef lend(): ...\n"


@pytest.mark.parametrize(
    "source",
    [
        "desk = Desk()\ndesk.lend('drill')\n",
        "def test_it():\n    pass\ntest_it()\n",
        "import desk\n",
    ],
)
def test_a_block_that_shows_how_something_is_used_is_no_interface(source: str) -> None:
    assert read_interface(block(source)) == (None, ())


def test_blocks_in_other_languages_are_no_interface() -> None:
    assert read_interface(block("def f(): ...\n", "ruby")) == (None, ())


@pytest.mark.parametrize(
    "source",
    [
        "def lend(tool: str) -> int\ndef owes(member: str) -> int\n",
        "class Desk:\n    def lend(self, tool: str) -> int   # cents\n    def owes(self)\n",
        "class Desk:\n    def lend(self): \n\nclass Empty\n",
        "async def fetch(url: str) -> bytes:\n",
    ],
)
def test_signatures_without_bodies_are_completed(source: str) -> None:
    interface, notes = read_interface(block(source))
    assert interface is not None and not notes
    ast.parse(interface)


def test_signatures_that_cannot_be_read_leave_a_note_with_the_line() -> None:
    interface, notes = read_interface(block("def lend(tool: str -> int:\n    ...\n"))
    assert interface is None
    assert "line 3" in notes[0]


def test_text_that_is_not_code_leaves_no_note() -> None:
    assert read_interface(block("lend → the due date\n")) == (None, ())


def test_imports_anywhere_in_the_tests_count_once() -> None:
    files = {
        "test_a.py": b"import os.path\ndef t():\n    from shop.bill import x\n",
        "b.py": b"import shop\nfrom . import y",
    }
    assert imported_modules(files) == ("os", "shop")
