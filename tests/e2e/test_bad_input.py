"""Bad input gets a clear error, nothing is lost, and the right party is blamed."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from .conftest import Tamis, lending


def standings(folder: Path) -> dict[str, tuple[str, str]]:
    result = json.loads((folder.parent / "out.json").read_text())
    return {one["name"]: (one["standing"], one["because"]) for one in result["drafts"]["list"]}


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda folder: None, "there is no folder"),
        (lambda folder: folder.mkdir(), "is empty"),
        (lambda folder: folder.write_text("x"), "is a file; a brief is a folder"),
        (lambda folder: (folder.mkdir(), (folder / "notes").write_text("x")), "neither a BRIEF.md nor drafts"),
        (lambda folder: (folder.mkdir(), (folder / "BRIEF.md").write_text("")), "BRIEF.md is empty"),
        (lambda folder: (folder.mkdir(), (folder / "BRIEF.md").write_text("# Title\n")), "no drafts"),
    ],
)
def test_a_folder_that_is_no_brief_is_refused_in_a_sentence(tamis: Tamis, tmp_path: Path, make, says: str) -> None:
    make(tmp_path / "brief")
    ran = tamis("run", "brief")
    assert ran.returncode == 1
    assert says in ran.stderr
    assert "hint:" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_an_unknown_key_names_its_nearest_known_one(tamis: Tamis, small_lending: Path) -> None:
    (small_lending / "tamis.toml").write_text("[tests]\ncpu_second = 5\n")
    ran = tamis("run", small_lending)
    assert ran.returncode == 1
    assert "line 2" in ran.stderr
    assert "did you mean 'cpu_seconds'?" in ran.stderr


def test_a_draft_that_is_empty_not_text_or_huge_is_one_draft_lost_and_told(tamis: Tamis, tmp_path: Path) -> None:
    folder = lending(tmp_path / "brief", ("17",))
    drafts = folder / "drafts"
    (drafts / "empty.py").write_bytes(b"")
    (drafts / "latin.py").write_bytes("x = 'é'".encode("latin-1"))
    (drafts / "broken.py").write_text("def f(:\n")
    with (drafts / "huge.py").open("wb") as file:
        file.truncate(50_000_000)
    ran = tamis("check", folder, "--json", "out.json")
    assert ran.returncode == 0, ran.stderr
    stand = standings(folder)
    assert stand["draft_17.py"][0] == "passed"
    assert stand["empty.py"] == ("broke", "is empty")
    assert stand["latin.py"][0] == "broke"
    assert "is not UTF-8" in stand["latin.py"][1]
    assert stand["broken.py"][0] == "broke"
    assert "line 1" in stand["broken.py"][1]
    assert stand["huge.py"][0] == "no answer"
    assert "50.0 MB" in stand["huge.py"][1]


def test_tests_that_do_not_collect_are_the_owners_fault_and_no_draft_is_blamed(tamis: Tamis, tmp_path: Path) -> None:
    folder = lending(tmp_path / "brief", ("17", "30"))
    (folder / "tests" / "test_lending.py").write_text("import lending\nimport no_such_module\n\ndef test_a(): pass\n")
    ran = tamis("check", folder, "--json", "out.json")
    assert ran.returncode == 1
    assert "No module named 'no_such_module'" in ran.stderr, "pytest's own message"
    assert ran.stderr.count("no_such_module") <= 3, "said once"
    shown = json.loads(tamis("show", folder, "--json", "-").stdout)
    assert {one["standing"] for one in shown["drafts"]["list"]} == {"no answer"}


def test_where_every_draft_fails_it_says_on_what_most_common_first(tamis: Tamis, tmp_path: Path) -> None:
    folder = lending(tmp_path / "brief", ("17", "30"))
    (folder / "tests" / "test_lending.py").write_text(
        "from lending import LendingDesk\n\n"
        "def test_never():\n    assert LendingDesk().owes is None\n\n"
        "def test_fine():\n    LendingDesk()\n"
    )
    ran = tamis("run", folder, "--owner", "none", "--json", "out.json")
    assert ran.returncode == 3
    assert "chosen        none" in ran.stdout
    assert "no draft passes every check" in ran.stdout
    assert "   2  test_never" in ran.stdout
    assert {word for word, _ in standings(folder).values()} == {"broke"}


def test_a_full_disk_is_said_and_the_run_goes_on_later(tamis: Tamis, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mounted = (
        os.geteuid() == 0
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", small], capture_output=True, check=False
        ).returncode
    )
    if not mounted:
        pytest.skip("filling a disk needs a small one, and this machine lets nobody mount")
    try:
        folder = lending(small / "brief", ("17", "30"))
        filler = small / "filler"
        filler.write_bytes(b"x" * 850_000)
        ran = tamis("run", folder, "--owner", "none")
        assert ran.returncode == 1, ran.stderr
        assert "the disk is full" in ran.stderr or "No space left" in ran.stderr
        assert "Traceback" not in ran.stderr
        subprocess.run(["mount", "-o", "remount,size=64m", small], check=True)
        filler.unlink()
        assert tamis("check", folder).returncode == 0
    finally:
        subprocess.run(["umount", "-l", small], check=False)


def test_wrong_usage_ends_with_2(tamis: Tamis, small_lending: Path) -> None:
    assert tamis("run").returncode == 2
    assert tamis("runn", small_lending).returncode == 2
    assert tamis("new", "x", "--desk", "sofware").returncode == 2
