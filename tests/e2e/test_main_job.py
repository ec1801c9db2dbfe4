"""The main job as its user meets it: drafts in, one choice out, killed and resumed, and every message read."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tamis.ledger import Ledger

from .conftest import TAMIS, Tamis, lending


def test_a_run_chooses_one_draft_and_says_where_the_time_went(tamis: Tamis, small_lending: Path) -> None:
    ran = tamis("run", small_lending, "--json", "out.json", "--owner", "none")
    assert ran.returncode == 3, ran.stderr  # questions stay open when nobody is asked
    assert ran.stdout.startswith("The lending desk · 6 drafts · ")
    for row in ("distinct", "parse", "given tests", "behaviour", "chosen", "writing", "people"):
        assert f"\n  {row}" in ran.stdout, ran.stdout
    result = json.loads((small_lending.parent / "out.json").read_text())
    assert result["tamis"] == 1
    assert result["brief"]["title"] == "The lending desk"
    counts = {key: result["drafts"][key] for key in ("written", "distinct", "parsed", "passed")}
    assert counts == {"written": 6, "distinct": 6, "parsed": 6, "passed": 5}
    by_name = {one["name"]: one for one in result["drafts"]["list"]}
    assert by_name["draft_32.py"]["standing"] == "broke"
    assert by_name["draft_17.py"]["tokens"] > by_name["draft_17.py"]["words"] > 0
    assert result["choice"]["draft"] in by_name
    assert {"p", "low", "high", "basis"} <= result["choice"]["odds"].keys()
    assert any(one["state"] == "open" for one in result["decisions"])
    assert result["account"]["total_seconds"] > 0
    assert {"seconds", "waited", "tokens"} == result["account"]["stages"]["tests"].keys()
    assert (small_lending / ".tamis" / "report.html").read_text().startswith("<!doctype html>")


def test_every_witness_is_python_that_runs_and_parts_the_drafts(tamis: Tamis, small_lending: Path) -> None:
    tamis("run", small_lending, "--json", "out.json", "--owner", "none")
    result = json.loads((small_lending.parent / "out.json").read_text())
    for decision in result["decisions"]:
        shown = decision["witness"] + "\nprint('outcome:', repr(result))"
        for option in decision["options"][:2]:
            draft = small_lending / "drafts" / option["drafts"][0]
            said = _run_with(draft, shown, small_lending.parent)
            if option["outcome"].startswith("raises "):
                assert option["outcome"].split()[1].split("(")[0] in said, decision
            else:
                assert f"outcome: {_printed(option['outcome'])}" in said, (decision, said)


def test_a_second_run_does_only_what_is_missing(tamis: Tamis, small_lending: Path) -> None:
    first = tamis("run", small_lending, "--json", "first.json", "--owner", "none")
    second = tamis("run", small_lending, "--json", "second.json", "--owner", "none")
    assert (first.returncode, second.returncode) == (3, 3)
    one, two = (json.loads((small_lending.parent / f"{name}.json").read_text()) for name in ("first", "second"))
    for key in ("drafts", "decisions", "choice"):
        assert one[key] == two[key]
    added = lending(small_lending.parent / "other", ("24",)) / "drafts" / "draft_24.py"
    (small_lending / "drafts" / "draft_24.py").write_bytes(added.read_bytes())
    third = tamis("run", small_lending, "--json", "third.json", "--owner", "none")
    assert third.returncode == 3, third.stderr
    assert json.loads((small_lending.parent / "third.json").read_text())["drafts"]["written"] == 7


@pytest.mark.parametrize("after_seconds", [0.6, 1.4, 2.6])
def test_a_run_that_is_killed_goes_on_and_ends_as_if_nothing_happened(
    tamis: Tamis, small_lending: Path, after_seconds: float
) -> None:
    process = subprocess.Popen(
        [TAMIS, "run", small_lending, "--owner", "none"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    time.sleep(after_seconds)
    process.send_signal(signal.SIGKILL)
    process.wait()
    tamis("run", small_lending, "--json", "resumed.json", "--owner", "none")
    whole = lending(small_lending.parent / "whole", ("01", "09", "11", "17", "32", "40"))
    tamis("run", whole, "--json", "whole.json", "--owner", "none")
    resumed, straight = (json.loads((whole.parent / f"{name}.json").read_text()) for name in ("resumed", "whole"))
    for key in ("drafts", "decisions", "choice"):
        assert resumed[key] == straight[key]


def test_ctrl_c_stops_at_once_and_leaves_no_process_behind(small_lending: Path) -> None:
    process = subprocess.Popen(
        [TAMIS, "run", small_lending, "--owner", "none"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode in {130, 3}, said
    if process.returncode == 130:
        assert "the same command goes on from there" in said
        assert "Traceback" not in said
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


def test_a_second_run_at_the_same_time_gets_a_clear_message(tamis: Tamis, small_lending: Path) -> None:
    with Ledger(small_lending):  # as a run has it from its beginning to its end
        second = tamis("run", small_lending)
    assert second.returncode == 1
    assert f"another tamis is working on {small_lending} (process {os.getpid()})" in second.stderr
    assert tamis("check", small_lending).returncode == 0, "the lock went with its holder"


def test_show_tells_one_draft_whole(tamis: Tamis, small_lending: Path) -> None:
    tamis("run", small_lending, "--owner", "none")
    shown = tamis("show", small_lending, "draft_32")
    assert shown.returncode == 0, shown.stderr
    assert "broke" in shown.stdout
    assert "class LendingDesk" in shown.stdout
    missing = tamis("show", small_lending, "draft_71.py")
    assert missing.returncode == 2
    assert "no draft called 'draft_71.py'" in missing.stderr
    assert "did you mean draft_" in missing.stderr


def _run_with(draft: Path, source: str, folder: Path) -> str:
    place = folder / f"with_{draft.stem}"
    place.mkdir(exist_ok=True)
    (place / "lending.py").write_bytes(draft.read_bytes())
    ran = subprocess.run(
        [TAMIS.with_name("python"), "-c", source], cwd=place, capture_output=True, text=True, check=False
    )
    return ran.stdout + ran.stderr


def _printed(outcome: str) -> str:
    """How Python prints what a decision's option says: it writes the module before a date."""
    return outcome.replace("date(", "datetime.date(").replace('"', "'")
