"""`tamis show` tells a run as its desk told it."""

import json
from pathlib import Path

from typer.testing import CliRunner

from tamis.cli.app import app

LONGER = "def prefer(texts):\n    return max(range(len(texts)), key=lambda place: len(texts[place]))\n"


def tamis(*words: object, code: int) -> str:
    done = CliRunner().invoke(app(), [str(word) for word in words])
    assert done.exit_code == code, (done.output, done.exception)
    return done.output


def test_show_tells_the_shortlist_of_prose_and_of_no_tests(tmp_path: Path) -> None:
    (tmp_path / "BRIEF.md").write_text("# Endings\n\nOne sentence each.\n")
    (tmp_path / "tamis.toml").write_text('[brief]\ndesk = "prose"\n[choose]\ntop = 3\n')
    (tmp_path / "drafts").mkdir()
    for number in range(8):
        text = f"The {'very ' * number}last ferry left without number {number * 7919}."
        (tmp_path / "drafts" / f"end_{number}.txt").write_text(text)
    assert "nothing chosen yet" not in tamis("run", tmp_path, "--owner", "none", code=3)
    (tmp_path / "reader.py").write_text(LONGER)
    ran = tamis("run", tmp_path, "--owner", tmp_path / "reader.py", "--budget", 6, code=3)
    said = tamis("show", tmp_path, code=0)
    shortlist = [line for line in ran.splitlines() if line.startswith("  1  ")]
    assert shortlist
    assert shortlist[0] in said
    assert "comparisons" in said
    assert "given tests" not in said
    view = json.loads(tamis("show", tmp_path, "--json", "-", code=0))
    assert len(view["shortlist"]) == 3
    # who reads the report reads the texts themselves
    report = (tmp_path / ".tamis" / "report.html").read_text()
    for one in view["shortlist"]:
        assert (tmp_path / "drafts" / f"{one['name'].removesuffix('.txt')}.txt").read_text() in report
