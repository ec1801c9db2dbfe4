"""Asking for CrossHair, as its user does: inputs that exploring does not come upon become decisions like any other."""

import importlib.util
import json
from pathlib import Path

import pytest

from .conftest import Tamis

needs_crosshair = pytest.mark.skipif(
    importlib.util.find_spec("crosshair") is None,
    reason="CrossHair is not installed: pip install 'tamis[crosshair]'",
)
BRIEF = "# Double\n\nWrite `double.py`.\n\n```python\ndef double(n: int) -> int: ...   # twice the number\n```\n"
PLAIN = "def double(n: int) -> int:\n    return n * 2\n"
ODD = "def double(n: int) -> int:\n    if n * 3 - 7 == 2962955:\n        return 0\n    return 2 * n\n"
FORGES = """
import sys

def double(n: int) -> int:
    frame = sys._getframe() if "crosshair" in sys.modules else None
    while frame:
        for value in frame.f_locals.values():
            if type(value).__name__ == "Lines":
                value.write('["=",["found",0,[5000000]]]')
        frame = frame.f_back
    return n + n
"""


def brief(folder: Path, **drafts: str) -> Path:
    (folder / "double" / "drafts").mkdir(parents=True)
    (folder / "double" / "BRIEF.md").write_text(BRIEF)
    (folder / "double" / "tamis.toml").write_text("[behaviour]\ncalls = 400\ncrosshair = true\n")
    for name, source in drafts.items():
        (folder / "double" / "drafts" / f"{name}.py").write_text(source)
    return folder / "double"


def result(tamis: Tamis, folder: Path) -> tuple[dict, str]:  # type: ignore[type-arg]  # what json gives
    ran = tamis("run", folder, "--owner", "none", "--json", "out.json")
    assert ran.returncode in {0, 3}, ran.stdout + ran.stderr
    return json.loads((folder.parent / "out.json").read_text()), ran.stdout


@needs_crosshair
def test_what_exploring_does_not_come_upon_becomes_a_decision_and_what_is_forged_does_not(
    tamis: Tamis, tmp_path: Path
) -> None:
    found, said = result(tamis, brief(tmp_path, plain=PLAIN, forges=FORGES, odd=ODD))
    assert "1 input found by CrossHair" in said  # which counts what nothing had parted before
    assert [one["call"] for one in found["decisions"]] == ["double(987654)"]
    assert [sorted(o["drafts"]) for o in found["decisions"][0]["options"]] == [["forges.py", "plain.py"], ["odd.py"]]
