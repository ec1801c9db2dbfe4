import asyncio
import re
from pathlib import Path

import pytest

from tamis.brief import LoadedBrief, load_brief
from tamis.checks.base import Found
from tamis.errors import UsageError
from tamis.plugins import known_plugins, make_check, make_writer
from tamis.records import Draft, Held, Spec, digest

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to" / "add-a-writer.md"


@pytest.fixture
def brief(tmp_path: Path) -> LoadedBrief:
    folder = tmp_path / "brief"
    (folder / "drafts").mkdir(parents=True)
    (folder / "BRIEF.md").write_text("# A brief\n")
    (folder / "drafts" / "a.py").write_text("x = 1")
    return load_brief(folder)


def test_the_writer_files_is_found_by_its_entry_point(brief: LoadedBrief) -> None:
    assert make_writer("files", brief).spec.name == "files"
    (files,) = [plugin for plugin in known_plugins() if (plugin.group, plugin.name) == ("writers", "files")]
    assert files.comes_from.startswith("tamis ")


def test_the_how_to_s_writer_writes(brief: LoadedBrief, tmp_path: Path) -> None:
    source = HOW_TO.read_text().split("```python\n")[1].split("```")[0]
    (tmp_path / "dice.py").write_text(source)
    assert "`dice.py:Dice`" in HOW_TO.read_text()
    writer = make_writer("dice.py:Dice", brief, relative_to=tmp_path)

    async def collect() -> list[str]:
        return [written.content.decode() async for written in writer.write(brief)]

    drafts = asyncio.run(collect())
    assert len(drafts) == writer.spec.args["n"]
    assert all(re.fullmatch(r"# A brief\nRESULT = [1-6]\n", draft) for draft in drafts)


def test_a_check_from_a_file_checks(brief: LoadedBrief, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from dataclasses import dataclass\n"
        "from tamis.checks.base import Found\n"
        "from tamis.records import Held, Spec\n"
        "@dataclass\n"
        "class Always:\n"
        "    brief: object\n"
        "    spec = Spec(kind='check', name='always', version='1')\n"
        "    def look(self, drafts):\n"
        "        for draft, content in drafts:\n"
        "            yield Found(draft=draft.id, answer=Held(cases=len(content)))\n"
    )
    check = make_check("mine.py:Always", brief, relative_to=tmp_path)
    spec = Spec(kind="writer", name="w", version="1")
    draft = Draft(id="d", brief="b", name="d", blob=digest(b"abc"), writer=spec)
    assert list(check.look([(draft, b"abc")])) == [Found(draft="d", answer=Held(cases=3))]


def test_two_files_of_one_name_are_two_plugins(brief: LoadedBrief, tmp_path: Path) -> None:
    for number in "12":
        folder = tmp_path / number
        folder.mkdir()
        (folder / "w.py").write_text(
            "from tamis.records import Spec\n"
            f"class W:\n    spec = Spec(kind='writer', name='w', version='{number}')\n"
            "    def __init__(self, brief): pass\n    async def write(self, brief): yield\n"
        )
    made = [make_writer("w.py:W", brief, relative_to=tmp_path / number) for number in "12"]
    assert [writer.spec.version for writer in made] == ["1", "2"]


@pytest.mark.parametrize(
    ("name", "source", "said"),
    [
        ("flies", None, "no writer called 'flies'. Known writers: files"),
        ("w.py:W", None, "there is no such file"),
        ("w.py:Writr", "class Writer: pass", "has no 'Writr'; did you mean 'Writer'?"),
        ("w.py:W", "raise ValueError('on import')", "can't be imported: ValueError: on import"),
        ("w.py:W", "class W(:", "can't be imported: SyntaxError"),
        ("w.py:W", "class W:\n    def __init__(self): pass", "could not be made for this brief: TypeError"),
        ("w.py:W", "def W(brief): return brief", "has no spec and no write"),
        ("w.py:W", "W = 3", "could not be made for this brief: TypeError"),
    ],
)
def test_what_is_no_writer_says_why(
    brief: LoadedBrief, tmp_path: Path, name: str, source: str | None, said: str
) -> None:
    if source is not None:
        (tmp_path / "w.py").write_text(source)
    with pytest.raises(UsageError) as raised:
        make_writer(name, brief, relative_to=tmp_path)
    assert said in raised.value.what


def test_an_unknown_name_lists_the_nearest_first(brief: LoadedBrief) -> None:
    with pytest.raises(UsageError, match=r"no check called '\w+'\. Known checks: "):
        make_check("duplicate_", brief)
