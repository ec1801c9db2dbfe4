import asyncio
import json
import os
from pathlib import Path

import pytest

from tamis.brief import load_brief
from tamis.errors import DraftsError
from tamis.writers.base import Written
from tamis.writers.files import BATCH_DRAFTS, FilesWriter

Files = dict[str, str | bytes]


def laid_out(folder: Path, files: Files) -> Path:
    for name, content in {"BRIEF.md": "# A brief\n", **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def drafts_of(folder: Path, **given: object) -> list[Written]:
    async def collect() -> list[Written]:
        brief = load_brief(folder)
        return [draft async for draft in FilesWriter(brief, **given).write(brief)]

    return asyncio.run(collect())


def names(drafts: list[Written]) -> list[str]:
    return [draft.name for draft in drafts]


def test_a_folder_is_one_draft_a_file_in_natural_order(tmp_path: Path) -> None:
    laid_out(tmp_path, {f"drafts/draft_{number}.py": f"x = {number}" for number in (10, 2, 1)})
    drafts = drafts_of(tmp_path)
    assert names(drafts) == ["draft_1.py", "draft_2.py", "draft_10.py"]
    assert drafts[1].content == b"x = 2"


def test_another_file_leaves_the_others_the_drafts_that_they_were(tmp_path: Path) -> None:
    laid_out(tmp_path, {"drafts/2.py": "x = 2", "drafts/4.jsonl": '{"code": "x = 3"}\n'})
    before = drafts_of(tmp_path)
    laid_out(tmp_path, {"drafts/1.py": "x = 1", "drafts/3.py": "x = 2"})
    assert [draft for draft in drafts_of(tmp_path) if draft.name not in ("1.py", "3.py")] == before


def test_what_is_no_draft_by_its_name_is_left_out_of_a_folder(tmp_path: Path) -> None:
    other = ["README.md", ".hidden.py", "test_a.py", "conftest.py", "notes.rst", "__pycache__/a.py"]
    laid_out(tmp_path, {"drafts/a.py": "x = 1", **{f"drafts/{name}": "x" for name in other}})
    assert names(drafts_of(tmp_path)) == ["a.py"]


def test_a_glob_takes_what_it_names(tmp_path: Path) -> None:
    laid_out(tmp_path, {"tamis.toml": '[drafts]\nfrom = "out/*/*.cob"\n', "out/x/a.cob": "A", "out/y/b.cob": "B"})
    assert names(drafts_of(tmp_path)) == ["x/a.cob", "y/b.cob"]


def test_names_stay_unique_and_a_file_named_twice_is_one_draft(tmp_path: Path) -> None:
    toml = '[drafts]\nfrom = ["a/*.py", "b/*.py", "a/x.py"]\n'
    laid_out(tmp_path, {"tamis.toml": toml, "a/x.py": "1", "b/x.py": "2"})
    assert names(drafts_of(tmp_path)) == ["x.py", "b/x.py"]


def test_sources_given_to_the_writer_overrule_the_settings(tmp_path: Path) -> None:
    laid_out(tmp_path, {"drafts/a.py": "1", "other/b.py": "2"})
    assert names(drafts_of(tmp_path, sources=("other",))) == ["b.py"]
    brief = load_brief(tmp_path)
    assert FilesWriter(brief).spec.key != FilesWriter(brief, sources=("other",)).spec.key


@pytest.mark.parametrize(
    ("content", "problem", "fault"),
    [
        (b"", "is empty", "draft"),
        (b" \n\t", "holds nothing but white space", "draft"),
        (b"ab\xff", "is not UTF-8: byte 0xff at offset 2", "draft"),
        (b"x" * 2_000, "is 0.0 MB, and a draft may have 0.001 MB", "budget"),
    ],
)
def test_a_bad_draft_says_why_and_the_others_go_on(tmp_path: Path, content: bytes, problem: str, fault: str) -> None:
    laid_out(tmp_path, {"tamis.toml": "[drafts]\nmax_mb = 0.001\n", "drafts/a.py": content, "drafts/b.py": "x = 1"})
    bad, good = drafts_of(tmp_path)
    assert bad.problem is not None and bad.problem.startswith(problem)
    assert bad.fault == fault
    assert (good.name, good.problem) == ("b.py", None)


def test_fifty_megabytes_are_told_without_being_read(tmp_path: Path) -> None:
    laid_out(tmp_path, {"drafts/small.py": "x = 1"})
    with (tmp_path / "drafts" / "big.py").open("wb") as file:
        file.truncate(50_000_000)
    big, small = drafts_of(tmp_path)
    assert big.problem is not None and big.problem.startswith("is 50.0 MB, and a draft may have 5 MB")
    assert big.content == b""
    assert small.problem is None


def test_what_cannot_be_read_is_one_bad_draft(tmp_path: Path) -> None:
    laid_out(tmp_path, {"drafts/good.py": "x = 1"})
    folder = tmp_path / "drafts"
    (folder / "dangling.py").symlink_to(folder / "gone.py")
    (folder / "folder.py").mkdir()
    (folder / "folder.py" / "inside.py").write_text("x = 2")
    os.mkfifo(folder / "pipe.py")
    problems = {draft.name: draft.problem for draft in drafts_of(tmp_path)}
    assert problems == {
        "dangling.py": f"is a link to {folder / 'gone.py'}, which is not there",
        "folder.py": "is a folder, and a draft is a file",
        "good.py": None,
        "pipe.py": "is no regular file",
    }


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_one_bad_draft(tmp_path: Path) -> None:
    laid_out(tmp_path, {"drafts/a.py": "x = 1", "drafts/b.py": "x = 2"})
    (tmp_path / "drafts" / "a.py").chmod(0)
    bad, good = drafts_of(tmp_path)
    assert bad.problem == "can't be read: Permission denied"
    assert good.problem is None


@pytest.mark.parametrize(
    ("files", "source", "said"),
    [
        ({"drafts/a.py": "x"}, "draft", 'there is no "draft"'),
        ({"drafts/a.py": "x"}, "draft", "did you mean 'drafts'?"),
        ({"drafts/a.py": "x"}, "drafts/*.rb", "it holds a.py"),
        ({"drafts/a.py": "x"}, "draughts/*.py", "there is no folder"),
        ({"drafts/a.rst": "x"}, "drafts", "holds no drafts: no file in it ends in .py"),
    ],
)
def test_a_source_that_leads_nowhere_says_what_is_there(tmp_path: Path, files: Files, source: str, said: str) -> None:
    laid_out(tmp_path, files)
    with pytest.raises(DraftsError) as raised:
        drafts_of(tmp_path, sources=(source,))
    assert said in raised.value.what


def test_no_drafts_at_all_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DraftsError, match="has no drafts"):
        drafts_of(laid_out(tmp_path, {}))


def test_many_files_come_in_several_batches_and_all_of_them(tmp_path: Path) -> None:
    count = 2 * BATCH_DRAFTS + 1
    laid_out(tmp_path, {f"drafts/{number}.py": f"x = {number}" for number in range(count)})
    assert [draft.content for draft in drafts_of(tmp_path)] == [f"x = {number}".encode() for number in range(count)]


def test_standard_input_is_read_while_it_is_still_coming(tmp_path: Path) -> None:
    brief = load_brief(laid_out(tmp_path, {}))
    reading, writing = os.pipe()

    async def play() -> list[str]:
        got = []
        drafts = FilesWriter(brief, sources=("-",), stdin=reading).write(brief)
        for number in range(3):
            os.write(writing, json.dumps({"code": f"x = {number}"}).encode() + b"\n")
            got.append((await asyncio.wait_for(anext(drafts), 10)).name)  # nothing further was written yet
        os.close(writing)
        assert [draft async for draft in drafts] == []
        return got

    assert asyncio.run(play()) == ["stdin:1", "stdin:2", "stdin:3"]
    os.close(reading)


def test_standard_input_can_be_a_file(tmp_path: Path) -> None:
    laid_out(tmp_path, {"samples": '{"code": "x = 1"}\n{"code": "x = 2"}'})
    with (tmp_path / "samples").open("rb") as file:
        assert len(drafts_of(tmp_path, sources=("-",), stdin=file.fileno())) == 2


def test_waiting_for_standard_input_can_be_cancelled(tmp_path: Path) -> None:
    brief = load_brief(laid_out(tmp_path, {}))
    reading, writing = os.pipe()

    async def play() -> None:
        waiting = asyncio.ensure_future(anext(FilesWriter(brief, sources=("-",), stdin=reading).write(brief)))
        await asyncio.sleep(0.01)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(play())
    os.close(reading)
    os.close(writing)
