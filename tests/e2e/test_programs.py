"""Drafts that are programs, as their user meets them: compiled and run in the box, judged by cases, asked about."""

import json
import shutil
from pathlib import Path

import pytest

from .conftest import Tamis

EXAMPLES = Path(__file__).parents[2] / "examples"
OWNER = """
def program(text):
    busy = set()
    for line in text.split():
        start, end = (int(time[:2]) * 60 + int(time[3:]) for time in line.split("-"))
        busy |= {minute % 1440 for minute in range(start, end if start <= end else end + 1440)}
    return str(len(busy))
"""


def example(name: str, needs: str, folder: Path) -> Path:
    if shutil.which(needs) is None:
        pytest.skip(f"{needs} is not installed here")
    shutil.copytree(EXAMPLES / name, folder / name)
    (folder / "owner.py").write_text(OWNER)
    return folder / name


@pytest.mark.parametrize(("name", "needs"), [("busy-c", "cc"), ("busy-js", "node")])
def test_programs_are_judged_by_their_cases_and_the_owner_is_asked_where_they_part(
    name: str, needs: str, tamis: Tamis, tmp_path: Path
) -> None:
    brief = example(name, needs, tmp_path)
    ran = tamis("run", brief, "--owner", tmp_path / "owner.py", "--json", "out.json")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    result = json.loads((tmp_path / "out.json").read_text())
    standing = {Path(one["name"]).stem: one["standing"] for one in result["drafts"]["list"]}
    assert standing["sums"] == standing["broken"] == "broke"
    assert Path(result["choice"]["draft"]).stem == "wraps"
    assert result["choice"]["odds"]["p"] is None  # there is no record of how such choices came out
    assert all(one["witness"].startswith("program(") for one in result["decisions"])
    kept = sorted(path.name for path in (brief / "tests").glob("answer_*"))
    assert len(kept) >= 2
    assert len(kept) % 2 == 0


def test_answers_about_programs_are_kept_and_nobody_is_asked_twice(tamis: Tamis, tmp_path: Path) -> None:
    brief = example("busy-c", "cc", tmp_path)
    tamis("run", brief, "--owner", tmp_path / "owner.py", "--json", "first.json")
    again = tamis("run", brief, "--owner", "none", "--json", "second.json")
    assert again.returncode == 0, again.stdout + again.stderr
    first, second = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("first", "second"))
    assert second["choice"]["draft"] == first["choice"]["draft"] == "wraps.c"
    assert second["questions"] == first["questions"]


def test_a_case_that_is_no_text_is_told_and_no_draft_is_blamed(tamis: Tamis, tmp_path: Path) -> None:
    brief = example("busy-c", "cc", tmp_path)
    (brief / "tests" / "one.out").write_bytes(b"\xff\xfe")
    ran = tamis("run", brief, "--owner", "none")
    assert ran.returncode == 1
    assert "one.out is not UTF-8" in ran.stderr


def test_a_compiler_that_is_not_there_is_told_and_no_draft_is_blamed(tamis: Tamis, tmp_path: Path) -> None:
    brief = example("busy-c", "cc", tmp_path)
    text = (brief / "tamis.toml").read_text()
    (brief / "tamis.toml").write_text(text.replace('"cc"', '"no-such-compiler"'))
    ran = tamis("run", brief, "--owner", "none")
    assert ran.returncode == 1
    assert "[draft] compile calls no-such-compiler, and there is no such command here" in ran.stderr
