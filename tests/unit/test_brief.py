from pathlib import Path

import pytest

from tamis.brief import load_brief
from tamis.errors import BriefError
from tamis.records import digest

BRIEF = """\
# The bill

Write `bill.py`.

```python
def split(cents: int, people: int) -> list[int]: ...
```
"""
TEST = "import bill\n\ndef test_it():\n    assert bill.split(2, 2) == [1, 1]\n"


def laid_out(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def test_a_whole_brief_is_read(tmp_path: Path) -> None:
    files = {"BRIEF.md": BRIEF, "tamis.toml": "[choose]\ntop = 2\n", "drafts/a.py": "x = 1", "tests/test_bill.py": TEST}
    loaded = load_brief(laid_out(tmp_path, files))
    assert (loaded.brief.title, loaded.brief.desk, loaded.module) == ("The bill", "software", "bill")
    assert loaded.settings.choose.top == 2
    assert loaded.interface == "def split(cents: int, people: int) -> list[int]: ...\n"
    assert loaded.tests == tmp_path / "tests"
    assert loaded.test_files == {"test_bill.py": TEST.encode()}
    assert loaded.drafts_from == ("drafts",)


def test_every_given_file_is_kept_by_its_hash(tmp_path: Path) -> None:
    loaded = load_brief(laid_out(tmp_path, {"BRIEF.md": BRIEF, "tests/test_bill.py": TEST, "tests/data/x.csv": "1\n"}))
    assert set(loaded.brief.given) == {"BRIEF.md", "tests/test_bill.py", "tests/data/x.csv"}
    for name, blob in loaded.brief.given.items():
        assert blob == digest(loaded.blobs[blob]) == digest((tmp_path / name).read_bytes())


def test_editing_the_tests_or_the_settings_leaves_the_same_brief(tmp_path: Path) -> None:
    before = load_brief(laid_out(tmp_path, {"BRIEF.md": BRIEF, "tests/test_bill.py": TEST})).brief.id
    laid_out(tmp_path, {"tests/test_bill.py": TEST + "\n# more\n", "tamis.toml": "[choose]\ntop = 3\n"})
    assert load_brief(tmp_path).brief.id == before
    laid_out(tmp_path, {"BRIEF.md": BRIEF + "\nAnd quickly.\n"})
    assert load_brief(tmp_path).brief.id != before


def test_a_folder_of_modules_and_tests_is_a_brief(tmp_path: Path) -> None:
    folder = tmp_path / "bills"
    loaded = load_brief(laid_out(folder, {"a.py": "x = 1", "b.py": "x = 2", "conftest.py": "", "test_bill.py": TEST}))
    assert (loaded.brief.title, loaded.brief.desk) == ("bills", "software")
    assert loaded.drafts_from == ("a.py", "b.py")
    assert set(loaded.test_files) == {"test_bill.py", "conftest.py"}
    assert loaded.module == "bill"


def test_a_folder_of_texts_is_a_brief_for_prose(tmp_path: Path) -> None:
    loaded = load_brief(laid_out(tmp_path, {"drafts/1.txt": "It was dawn.", "drafts/2.txt": "It was dusk."}))
    assert loaded.brief.desk == "prose"
    assert loaded.tests is None


def test_the_desk_asked_for_overrules_the_settings(tmp_path: Path) -> None:
    laid_out(tmp_path, {"BRIEF.md": "# A story", "tamis.toml": '[brief]\ndesk = "software"\n', "drafts/1.md": "…"})
    assert load_brief(tmp_path, desk="prose").brief.desk == "prose"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "is empty"),
        ({".tamis/ledger.sqlite": "x"}, "is empty"),
        ({"notes.rst": "x"}, "neither a BRIEF.md nor drafts"),
        ({"drafts/notes.rst": "x"}, "neither a BRIEF.md nor drafts"),
        ({"BRIEF.md": " \n"}, "BRIEF.md is empty"),
        ({"BRIEF.md": b"# caf\xe9"}, "is not UTF-8: byte 0xe9 at offset 5"),
        ({"BRIEF.md": "Write something."}, "has no heading"),
        ({"BRIEF.md": "```\n# no heading, a comment\n```\n"}, "has no heading"),
        ({"BRIEF.md": BRIEF, "tamis.toml": "[tests]\nfolder = 'tsts'\n"}, "there is no folder"),
        ({"BRIEF.md": BRIEF, "tamis.toml": b"\xff"}, "tamis.toml is not UTF-8"),
    ],
)
def test_what_is_no_brief_says_so_in_a_sentence(tmp_path: Path, files: dict[str, str | bytes], said: str) -> None:
    with pytest.raises(BriefError) as raised:
        load_brief(laid_out(tmp_path, files))
    assert said in raised.value.what
    assert "\n" not in raised.value.what
    assert raised.value.hint


def test_a_missing_folder_and_a_file_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(BriefError, match="there is no folder"):
        load_brief(tmp_path / "nowhere")
    (tmp_path / "BRIEF.md").write_text(BRIEF)
    with pytest.raises(BriefError, match="is a file; a brief is a folder"):
        load_brief(tmp_path / "BRIEF.md")


def test_a_brief_without_drafts_yet_is_still_a_brief(tmp_path: Path) -> None:
    assert load_brief(laid_out(tmp_path, {"BRIEF.md": BRIEF})).drafts_from == ()


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# The bill #\n", "The bill"),
        ("intro\n\n## Second level\n", "Second level"),
        ("The bill\n========\n", "The bill"),
        ("\ufeff# With a mark\n", "With a mark"),
        ("```python\n# comment\n```\n# Title\n", "Title"),
        ("# Windows\r\ntext\r\n", "Windows"),
    ],
)
def test_the_first_heading_is_the_title(tmp_path: Path, text: str, title: str) -> None:
    assert load_brief(laid_out(tmp_path, {"BRIEF.md": text})).brief.title == title


@pytest.mark.parametrize(
    ("text", "test", "module"),
    [
        ("# T\nWrite `bill.py`.", "", "bill"),
        ("# T\nWrite `helper.py` and `bill.py`.", "import bill", "bill"),
        ("# T\nSee `test_bill.py`.", "from bill import split", "bill"),
        ("# T", "import datetime\nimport pytest\nfrom bill.core import x", "bill"),
        ("# T", "import helpers\nimport bill", "bill"),
        ("# T", "import datetime", "draft"),
        ("# T", "this does not parse(", "draft"),
    ],
)
def test_the_module_is_what_the_brief_names_else_what_the_tests_import(
    tmp_path: Path, text: str, test: str, module: str
) -> None:
    files = {"BRIEF.md": text, "tests/test_it.py": test, "tests/helpers.py": ""}
    assert load_brief(laid_out(tmp_path, files)).module == module


def test_the_settings_name_the_module_first(tmp_path: Path) -> None:
    files = {"BRIEF.md": "# T\nWrite `bill.py`.", "tamis.toml": '[brief]\nmodule = "shop.bill"\n'}
    assert load_brief(laid_out(tmp_path, files)).module == "shop.bill"


def test_what_python_and_editors_leave_behind_is_not_given(tmp_path: Path) -> None:
    files = {"BRIEF.md": BRIEF, "tests/test_bill.py": TEST, "tests/__pycache__/x.pyc": "", "tests/.swp": ""}
    assert set(load_brief(laid_out(tmp_path, files)).test_files) == {"test_bill.py"}
