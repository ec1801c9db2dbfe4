"""A campaign from the command line: run, fill in the sheet, measure, and the next batch is there."""

import csv
import json

import pytest
from typer.testing import CliRunner

from tamis.cli.app import app
from tamis.errors import UsageError

from .lab_helpers import filled

TOML = """
[brief]
desk = "lab"
[drafts]
from = "ideas.csv"
[lab]
goal = "minimize overpotential_V"
unit = "V"
range = [0.0, 2.0]
batch = 4
composition = ["Ni", "Fe", "Co"]
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "BRIEF.md").write_text("# The anode\n\nThe least overpotential.\n", encoding="utf-8")
    (tmp_path / "tamis.toml").write_text(TOML, encoding="utf-8")
    with (tmp_path / "ideas.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "Ni", "Fe", "Co"])
        for a in range(6):
            writer.writerows([f"i{a}{b}", a / 5, b / 5, (5 - a - b) / 5] for b in range(6 - a))
        writer.writerow(["bad", 0.5, 0.1, 0.1])
    return tmp_path


def tamis(*words: object, code: int):
    done = CliRunner().invoke(app(), [str(word) for word in words])
    assert done.exit_code == code, (done.output, done.exception)
    return done.output


def test_a_campaign_from_the_command_line(folder):
    said = tamis("run", folder, code=3)
    sheet = folder / "batches" / "batch-01.csv"
    assert sheet.exists()
    assert "22 ideas > 21 valid" in said
    results = filled(sheet)
    said = tamis("measure", results, "--by", "Ana", "--json", folder / "out.json", code=0)
    assert "4 measured" in said
    assert (folder / "batches" / "batch-02.csv").exists()
    view = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    assert [len(batch) for batch in view["batches"]] == [4, 4]
    assert {"name", "value", "low", "high", "rung"} <= view["best"][0].keys()
    said = tamis("measure", folder, results, code=0)
    assert "4 recorded already" in said
    assert not (folder / "batches" / "batch-03.csv").exists()


def test_bad_rows_are_told_and_end_with_1(folder):
    tamis("run", folder, code=3)
    said = tamis("measure", filled(folder / "batches" / "batch-01.csv", {0: {"unit": "kg"}}), code=1)
    assert "line 2:" in said
    assert "3 measured, 1 not taken" in said


@pytest.mark.parametrize("words", [("measure",), ("measure", "FOLDER"), ("measure", "FOLDER", "FOLDER")])
def test_nothing_to_record_is_wrong_usage(folder, words):
    done = CliRunner().invoke(app(), [str(folder) if word == "FOLDER" else word for word in words])
    assert done.exit_code == 2 or isinstance(done.exception, UsageError)


@pytest.mark.parametrize(
    ("was", "now", "said"),
    [
        ('goal = "minimize overpotential_V"', "", "the lab has no goal"),
        ('unit = "V"', 'unit = "vlots"', "no unit 'vlots'"),
        ('composition = ["Ni", "Fe", "Co"]', 'composition = ["Ni"]', "none of 22 ideas is valid"),
        ('goal = "minimize overpotential_V"', 'goal = "the best one"', "can't be understood"),
    ],
)
def test_a_brief_that_makes_no_sense_is_refused_in_a_sentence(folder, was, now, said):
    text = TOML.replace(was, now) + ('constraints = ["Ni > 2"]\n' if "none of" in said else "")
    (folder / "tamis.toml").write_text(text, encoding="utf-8")
    done = CliRunner().invoke(app(), ["run", str(folder)])
    assert done.exit_code != 0
    assert said in str(done.exception)
    assert not (folder / "batches").exists()


def test_several_batches_go_out_for_a_lab_whose_results_come_late(folder):
    said = tamis("run", folder, "--batches", 3, code=3)
    sheets = sorted((folder / "batches").iterdir())
    assert [sheet.name for sheet in sheets] == ["batch-01.csv", "batch-02.csv", "batch-03.csv"]
    assert said.count("next: measure") == 3
    assert "3 on the bench" in said
    tamis("measure", filled(sheets[1]), "--no-propose", code=0)
    report = (folder / ".tamis" / "report.html").read_text(encoding="utf-8")
    assert "3 batches, 12 places: 4 measured" in report
    assert "<svg" in report
