"""An owner whose answers no draft meets all of, and who changes her mind."""

import json
import re
from pathlib import Path

import pytest

from .conftest import Tamis
from .test_unstable import BRIEF, DRAFTS, RIGHT

LENIENT = RIGHT.replace('raise ValueError("no such day")', "return 0")


@pytest.fixture
def fees(tmp_path: Path) -> Path:
    """Late fees, with a draft that has a low cap and one that charges nothing for days below zero."""
    brief = tmp_path / "fees"
    (brief / "drafts").mkdir(parents=True)
    (brief / "BRIEF.md").write_text(BRIEF)
    (brief / "tamis.toml").write_text("[behaviour]\ncalls = 300\n")
    for name, source in (*((name, DRAFTS[name]) for name in ("right", "eight", "low_cap")), ("lenient", LENIENT)):
        (brief / "drafts" / f"{name}.py").write_text(source)
    return brief


def test_she_is_told_which_answers_clash(tamis: Tamis, fees: Path, tmp_path: Path) -> None:
    owner = tmp_path / "owner.py"
    owner.write_text(LENIENT.replace("1000", "500"))
    first = tamis("run", fees, "--owner", owner, "--json", "first.json")
    assert first.returncode == 3, first.stdout + first.stderr
    said = re.search(r"answers ([\d, ]+) clash, no draft does (both|all of) fee\(", first.stdout)
    assert said, first.stdout
    kept = (fees / "tests" / "test_answers.py").read_text()
    assert "# clash: no draft does all of these answers" in kept
    because = json.loads((tmp_path / "first.json").read_text())["choice"]["because"]
    assert said[0] in because
