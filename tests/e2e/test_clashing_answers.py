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


def test_she_is_told_which_answers_clash_and_takes_one_back(tamis: Tamis, fees: Path, tmp_path: Path) -> None:
    owner = tmp_path / "owner.py"
    owner.write_text(LENIENT.replace("1000", "500"))
    first = tamis("run", fees, "--owner", owner, "--json", "first.json")
    assert first.returncode == 3, first.stdout + first.stderr
    said = re.search(
        r"answers ([\d, ]+) clash, no draft does (both|all of) fee\(.*\(--anew ([\d,]+) asks again\)", first.stdout
    )
    assert said, first.stdout
    kept = (fees / "tests" / "test_answers.py").read_text()
    assert f"# clash: no draft does all of these answers; `tamis run` with `--anew {said[3]}` asks again" in kept
    because = json.loads((tmp_path / "first.json").read_text())["choice"]["because"]
    assert said[0] in because
    owner.write_text(LENIENT)
    second = tamis("run", fees, "--owner", owner, "--anew", said[3], "--json", "second.json")
    assert second.returncode == 0, second.stdout + second.stderr
    result = json.loads((tmp_path / "second.json").read_text())
    assert result["choice"]["draft"] == "lenient.py"
    assert "clash" not in result["choice"]["because"]
    after = (fees / "tests" / "test_answers.py").read_text()
    assert "# clash" not in after
    assert after != kept
    chosen: dict[str, object] = {}
    exec(LENIENT, chosen)
    lines = re.findall(r"assert (fee\(-?\d+\) == \d+)", after)
    assert lines
    assert all(eval(line, chosen) for line in lines), "every test that is kept is met by the draft that was chosen"


def test_a_number_that_no_answer_has_is_refused_in_words(tamis: Tamis, fees: Path) -> None:
    assert "no answer 3 to ask anew: nothing was answered yet" in tamis("run", fees, "--anew", "3").stderr
    assert "--anew takes numbers of answers, like 2,5; not 'x'" in tamis("run", fees, "--anew", "2,x").stderr
