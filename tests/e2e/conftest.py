"""Runs `tamis` as its user does: the installed command, in a process of its own."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

LENDING = Path(__file__).parents[2] / "examples" / "lending"
TAMIS = Path(sys.executable).with_name("tamis")

Tamis = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def tamis(tmp_path: Path) -> Tamis:
    """`tamis("run", folder)` gives what it printed and its exit code."""

    def run(*arguments: object, stdin: str | None = None) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [TAMIS, *map(str, arguments)],
            cwd=tmp_path,
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "COLUMNS": "160", "NO_COLOR": "1"},
        )

    return run


@pytest.fixture
def small_lending(tmp_path: Path) -> Path:
    """The lending brief with six of its drafts, one of which (32) fails the given tests."""
    return lending(tmp_path / "small", ("01", "09", "11", "17", "32", "40"))


def lending(folder: Path, numbers: tuple[str, ...]) -> Path:
    (folder / "drafts").mkdir(parents=True)
    (folder / "tests").mkdir()
    # few calls, so that a test is short; what a run finds with many is measured in tests/quality and benchmarks
    (folder / "tamis.toml").write_text("[behaviour]\ncalls = 1200\n")
    (folder / "BRIEF.md").write_bytes((LENDING / "BRIEF.md").read_bytes())
    (folder / "tests" / "test_lending.py").write_bytes((LENDING / "tests" / "test_lending.py").read_bytes())
    for number in numbers:
        name = f"draft_{number}.py"
        (folder / "drafts" / name).write_bytes((LENDING / "drafts" / name).read_bytes())
    return folder
