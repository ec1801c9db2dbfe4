"""Drafts that hang on chance or on the clock, as their user meets them among others."""

import json
from pathlib import Path

from .conftest import Tamis

BRIEF = """# Late fees

A tool that comes back late costs 50 for each day after the seventh, never more than 1000.

```python
def fee(days: int) -> int: ...
```
"""
RIGHT = """
import random
import time


def fee(days):
    if days < 0:
        raise ValueError("no such day")
    return min(1000, 50 * max(0, days - 7))
"""
DRAFTS = {
    "right": RIGHT,
    "eight": RIGHT.replace("- 7", "- 8"),
    "low_cap": RIGHT.replace("1000", "500"),
    "by_chance": RIGHT.replace("return min", "return random.choice((0, 1)) + min"),
    "by_clock": RIGHT.replace("return min", "return time.time_ns() if days > 26 else min"),
}


def test_unstable_drafts_are_named_and_the_others_told_apart_as_ever(tamis: Tamis, tmp_path: Path) -> None:
    brief = tmp_path / "fees"
    (brief / "drafts").mkdir(parents=True)
    (brief / "BRIEF.md").write_text(BRIEF)
    (brief / "tamis.toml").write_text("[behaviour]\ncalls = 300\n")
    for name, source in DRAFTS.items():
        (brief / "drafts" / f"{name}.py").write_text(source)
    (tmp_path / "owner.py").write_text(RIGHT)
    ran = tamis("run", brief, "--owner", tmp_path / "owner.py", "--json", "out.json")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "unstable from run to run: by_chance.py, by_clock.py" in ran.stdout
    result = json.loads((tmp_path / "out.json").read_text())
    assert result["choice"]["draft"] == "right.py"
    assert result["choice"]["alike"] == []
    assert result["choice"]["odds"]["p"] > 0.9
    assert result["storyboard"]
    because = {one["name"]: one["because"] for one in result["drafts"]["list"]}
    assert {name for name, why in because.items() if "unstable" in why} == {"by_chance.py", "by_clock.py"}
    shown = tamis("show", brief, "by_chance")
    assert "but it is unstable: fee(" in shown.stdout
    assert "steady" in shown.stdout


def test_of_drafts_that_all_hang_on_chance_none_is_chosen_and_no_odds_are_stated(tamis: Tamis, tmp_path: Path) -> None:
    brief = tmp_path / "fees"
    (brief / "drafts").mkdir(parents=True)
    (brief / "BRIEF.md").write_text(BRIEF)
    (brief / "tamis.toml").write_text("[behaviour]\ncalls = 300\n")
    for k in range(1, 5):
        source = RIGHT.replace("return min", f"return random.choice((0, {k})) + min")
        (brief / "drafts" / f"r{k}.py").write_text(source)
    (tmp_path / "owner.py").write_text(RIGHT)
    ran = tamis("run", brief, "--owner", tmp_path / "owner.py", "--json", "out.json")
    assert ran.returncode == 3, ran.stdout + ran.stderr
    assert "all 4 drafts do one thing in a run and another in the next" in ran.stdout
    choice = json.loads((tmp_path / "out.json").read_text())["choice"]
    assert choice["draft"] is None
    assert choice["odds"] is None or choice["odds"]["p"] is None
