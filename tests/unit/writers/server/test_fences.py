import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.writers.server.fences import parted

CODE = "def f():\n    return 1\n"


def contents(answer: str) -> list[str]:
    return [fence.content for fence in parted(answer).fences]


@pytest.mark.parametrize(
    ("opening", "language", "file"),
    [
        ("```", "", None),
        ("```python", "python", None),
        ("``` Python", "python", None),
        ("~~~py", "py", None),
        ("````python", "python", None),
        ("```python lending.py", "python", "lending.py"),
        ("```lending.py", "", "lending.py"),
        ("```python:src/lending.py", "python", "src/lending.py"),
        ('```python title="lending.py"', "python", "lending.py"),
        ("```{.python filename=lending.py}", "python", "lending.py"),
        ("  ```python", "python", None),
    ],
)
def test_the_line_of_a_fence_tells_language_and_file(opening: str, language: str, file: str | None) -> None:
    mark = opening.strip()[:3] if not opening.strip().startswith("````") else "````"
    (fence,) = parted(f"Here:\n{opening}\n{CODE}{mark}\nDone.").fences
    assert (fence.language, fence.file, fence.content, fence.closed) == (language, file, CODE, True)


@pytest.mark.parametrize(
    "above",
    ["### lending.py", "**lending.py**", "**`lending.py`**:", "File: `lending.py`", "`lending.py`\n", "1. lending.py"],
)
def test_a_name_alone_on_the_line_above_names_the_file(above: str) -> None:
    assert parted(f"Some words.\n{above}\n```python\n{CODE}```").fences[0].file == "lending.py"


@pytest.mark.parametrize("above", ["This is what goes into lending.py and why.", "See lending.py", "Version 1.0"])
def test_a_sentence_above_names_no_file(above: str) -> None:
    assert parted(f"{above}\n```python\n{CODE}```").fences[0].file is None


@pytest.mark.parametrize("first", ["# lending.py", "# file: lending.py", "// lending.py", "/* lending.py */"])
def test_a_comment_in_the_first_line_names_the_file(first: str) -> None:
    assert parted(f"```\n{first}\n{CODE}```").fences[0].file == "lending.py"


def test_several_fences_with_words_around_are_told_apart() -> None:
    answer = f"First:\n```python\n{CODE}```\nthen\n```bash\npip install x\n```\nbye"
    assert contents(answer) == [CODE, "pip install x\n"]
    assert parted(answer).around == "First:\nthen\nbye"


def test_a_longer_fence_holds_shorter_ones() -> None:
    inner = 'def f():\n    """\n    ```python\n    f()\n    ```\n    """\n'
    assert contents(f"````python\n{inner}````\n") == [inner]


def test_a_fence_in_a_docstring_of_the_same_length_is_part_of_the_code() -> None:
    inner = 'def f():\n    """Use:\n\n```python\nf()\n```\n    """\n'
    assert contents(f"```python\n{inner}```\nThat is it.") == [inner]


def test_a_fence_that_was_cut_off_holds_all_there_is() -> None:
    (fence,) = parted(f"Sure.\n```python\n{CODE}    x = ").fences
    assert fence.content.startswith(CODE)
    assert not fence.closed


def test_a_fence_set_in_by_blanks_gives_code_that_is_not() -> None:
    assert contents("- item\n  ```python\n  def f():\n      return 1\n  ```") == [CODE]


def test_backticks_within_a_line_are_no_fence() -> None:
    assert contents("Use ```x``` here\n```not `a` fence\n") == []


@given(st.lists(st.sampled_from(["```", "````", "~~~", "```py", "x", "", "  ```", "```a.py", "# a.py"]), max_size=30))
def test_every_line_is_in_a_fence_or_around_them(lines: list[str]) -> None:
    found = parted("\n".join(lines))
    kept = sum(fence.content.count("\n") for fence in found.fences) + len(found.around.split("\n"))
    marks = sum(1 + fence.closed for fence in found.fences)
    assert kept + marks <= len(lines) + 1 + len(found.fences)


@given(code=st.text("abc \n=()`", max_size=200))
def test_what_was_fenced_comes_out_as_it_was(code: str) -> None:
    code = "\n".join(line for line in code.split("\n") if not line.strip().startswith(("```", "~~~"))) + "\n"
    assert contents(f"words\n~~~python\n{code}~~~\n") == [code]


def test_a_hostile_answer_takes_no_longer_than_its_length() -> None:
    assert len(contents("```a\n" * 20_000 + "```\n" * 20_000)) >= 1
    assert parted(" " * 1_000_000 + "\n```\nx\n```").fences[0].content == "x\n"
