"""An owner's file, and what is kept of her answers, as they stand beside the drafts and the tests."""

import json
from pathlib import Path

from .conftest import Tamis
from .test_unstable import BRIEF, DRAFTS, RIGHT


def fees(folder: Path) -> Path:
    (folder / "drafts").mkdir(parents=True)
    (folder / "BRIEF.md").write_text(BRIEF)
    (folder / "tamis.toml").write_text("[behaviour]\ncalls = 300\n")
    for name in ("right", "eight", "low_cap"):
        (folder / "drafts" / f"{name}.py").write_text(DRAFTS[name])
    return folder


def test_an_owners_file_that_lacks_what_the_brief_names_is_refused_before_it_answers(
    tamis: Tamis, tmp_path: Path
) -> None:
    brief, owner = fees(tmp_path / "fees"), tmp_path / "owner.py"
    owner.write_text(RIGHT.replace("def fee(", "def fees("))
    ran = tamis("run", brief, "--owner", owner)
    assert ran.returncode == 1
    assert "the owner owner.py does not define fee" in ran.stderr
    assert not (brief / "tests").exists(), "that every call raises is no answer"
    owner.write_text(RIGHT)
    assert tamis("run", brief, "--owner", owner).returncode == 0


def test_a_tests_folder_that_holds_only_her_answers_and_what_prepares_for_tests_is_no_given_test(
    tamis: Tamis, tmp_path: Path
) -> None:
    brief, owner = fees(tmp_path / "fees"), tmp_path / "owner.py"
    owner.write_text(RIGHT)
    tamis("run", brief, "--owner", owner, "--json", "first.json")
    assert (brief / "tests" / "test_answers.py").exists()
    (brief / "tests" / "conftest.py").write_text("import pytest\n")
    (brief / "tests" / "__init__.py").write_text("")
    again = tamis("run", brief, "--owner", "none", "--json", "second.json")
    assert again.returncode == 0, again.stdout + again.stderr
    first, second = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("first", "second"))
    for key in ("draft", "alike", "odds", "camps"):
        assert second["choice"][key] == first["choice"][key]
    assert {one["standing"] for one in second["drafts"]["list"]} == {"passed"}
