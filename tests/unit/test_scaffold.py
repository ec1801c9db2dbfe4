import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from tamis.brief import load_brief
from tamis.checks.duplicates import fold
from tamis.checks.parses import Parses
from tamis.errors import BriefError, UsageError
from tamis.records import Desk, Draft, Held, digest
from tamis.scaffold import DESKS, new_brief
from tamis.writers.files import FilesWriter


def drafts_of(folder: Path) -> list[tuple[Draft, bytes]]:
    async def collect() -> list[tuple[Draft, bytes]]:
        brief = load_brief(folder)
        writer = FilesWriter(brief)
        drafts = []
        async for each in writer.write(brief):
            assert each.problem is None
            blob = digest(each.content)
            draft = Draft(id=each.name, brief=brief.brief.id, name=each.name, blob=blob, writer=writer.spec)
            drafts.append((draft, each.content))
        return drafts

    return asyncio.run(collect())


@pytest.mark.parametrize("desk", DESKS)
def test_a_new_brief_is_whole(tmp_path: Path, desk: Desk) -> None:
    written = new_brief(tmp_path / "deep" / "mine", desk)
    assert all(path.is_file() and path.suffix != ".tmpl" for path in written)
    loaded = load_brief(tmp_path / "deep" / "mine")
    assert loaded.brief.desk == loaded.settings.brief.desk == desk
    assert not loaded.notes
    drafts = drafts_of(loaded.folder)
    assert 3 <= len(drafts) <= 10
    assert all(isinstance(found.answer, Held) for found in Parses(desk).look(drafts))


def test_the_new_software_brief_has_something_to_show(tmp_path: Path) -> None:
    """Of its four drafts one breaks a given test, and the other three differ where the brief leaves room."""
    new_brief(tmp_path / "b")
    loaded = load_brief(tmp_path / "b")
    assert loaded.module == "bill"
    assert loaded.interface is not None and "def share" in loaded.interface
    assert set(loaded.test_files) == {"test_bill.py"}
    passing = {}
    for draft, content in drafts_of(tmp_path / "b"):
        (tmp_path / "bill.py").write_bytes(content)
        shares = "[bill.share(1000, 3, place) for place in (1, 2, 3)]"
        asked = f"import bill; print({shares}, bill.tip(333, 10), sum({shares}))"
        done = subprocess.run([sys.executable, "-c", asked], cwd=tmp_path, capture_output=True, text=True, check=True)
        if done.stdout.endswith(" 1000\n"):
            passing[draft.name] = done.stdout
    assert set(passing) == {"draft_1.py", "draft_2.py", "draft_3.py"}
    assert len(set(passing.values())) == 3


def test_the_new_prose_brief_has_two_texts_that_fold(tmp_path: Path) -> None:
    new_brief(tmp_path / "b", "prose")
    assert [len(each.others) for each in fold(drafts_of(tmp_path / "b"), "prose")] == [0, 1, 0]


def test_nothing_is_ever_overwritten(tmp_path: Path) -> None:
    (tmp_path / "BRIEF.md").write_text("mine")
    with pytest.raises(UsageError, match="is not empty"):
        new_brief(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["BRIEF.md"]
    assert (tmp_path / "BRIEF.md").read_text() == "mine"


def test_an_empty_folder_is_filled_and_a_file_is_refused(tmp_path: Path) -> None:
    assert new_brief(tmp_path)
    with pytest.raises(UsageError, match="is a file"):
        new_brief(tmp_path / "BRIEF.md")


def test_a_place_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(BriefError, match="writing a new brief"):
        new_brief(tmp_path / "file" / "below")
