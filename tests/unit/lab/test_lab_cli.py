"""A campaign from the command line: run, fill in the sheet, measure, and the next batch is there."""

import csv
import json

import pytest
from typer.testing import CliRunner

from tamis.cli.app import app
from tamis.errors import BriefError, UsageError
from tamis.ledger import Ledger
from tamis.records import Span

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
    assert "line 2, B01-01-" in said
    assert "3 measured, 1 not taken" in said


@pytest.mark.parametrize("words", [("measure",), ("measure", "FOLDER"), ("measure", "FOLDER", "FOLDER")])
def test_nothing_to_record_is_wrong_usage(folder, words):
    done = CliRunner().invoke(app(), [str(folder) if word == "FOLDER" else word for word in words])
    assert done.exit_code == 2 or isinstance(done.exception, UsageError)


def refused(*words: object) -> tuple[str, str]:
    done = CliRunner().invoke(app(), [str(word) for word in words])
    assert isinstance(done.exception, UsageError | BriefError), done.output
    return done.exception.what, done.exception.hint or ""


def test_a_sheet_that_is_not_there_is_told_as_that_and_where_it_may_be(folder, tmp_path):
    tamis("run", folder, code=3)
    assert refused("measure", tmp_path / "results.csv")[0] == f"there is no file {tmp_path / 'results.csv'}"
    what, hint = refused("measure", folder, folder / "batch-01.csv")
    assert what.startswith("there is no file")
    assert str(folder / "batches" / "batch-01.csv") in hint


def test_the_folder_of_the_sheets_stands_for_the_campaign(folder):
    tamis("run", folder, code=3)
    what, hint = refused("measure", folder / "batches")
    assert what == f"nothing to record in the campaign of {folder}"
    assert str(folder / "batches" / "batch-01.csv") in hint
    assert "1 rows" not in tamis("measure", folder / "batches", "--sent", 1, code=0)
    assert "noted as sent already" in tamis("measure", folder / "batches", "--sent", 1, code=0)


def test_nothing_is_measured_at_another_desk(tmp_path):
    (tmp_path / "BRIEF.md").write_text("# Texts\n")
    (tmp_path / "tamis.toml").write_text('[brief]\ndesk = "prose"\n')
    assert "a brief of the prose desk, where nothing is measured" in refused("measure", tmp_path)[0]


def test_a_row_that_cannot_be_taken_back_is_told_with_those_that_can(folder):
    tamis("run", folder, code=3)
    what, hint = refused("measure", folder, "--withdraw", "B09-01-aaaa")
    assert what == "row B09-01-aaaa was never proposed"
    assert hint.count("B01-") == 4
    assert refused("measure", folder, "--sent", 7)[1] == "proposed so far: batch 1"


def test_where_no_idea_is_valid_each_can_be_looked_up_with_its_reason(folder):
    (folder / "tamis.toml").write_text(TOML + 'constraints = ["Ni > 2"]\n', encoding="utf-8")
    what, hint = refused("run", folder, "--owner", "none")
    assert "most often (21 times) because it breaks the constraint Ni > 2" in what
    assert "The first begins: {" in what
    assert "tamis check" in hint
    said = tamis("show", folder, code=0)
    assert "21 refused: breaks the constraint" in said
    assert "22 ideas\n" in said
    assert "given tests" not in said


def test_show_tells_a_campaign_batch_by_batch_with_its_ladder(folder):
    tamis("run", folder, code=3)
    assert "batch 1: 4 awaited; with results filled in: tamis measure" in tamis("show", folder, code=0)
    tamis("measure", filled(folder / "batches" / "batch-01.csv"), code=0)
    said = tamis("show", folder, code=0)
    assert "22 ideas > 21 valid > 21 distinct > 21 predicted > 4 measured once" in said
    assert "batch   2   4 places" in said
    assert "batch 1: 4 awaited" not in said
    assert "given tests" not in said
    view = json.loads(tamis("show", folder, "--json", "-", code=0))
    assert view["ladder"]["measured once"] == 4
    assert [row["state"] for row in view["batches"][0]] == ["measured"] * 4


def test_a_sheet_sent_again_after_a_kill_brings_the_batch_that_was_due(folder):
    tamis("run", folder, code=3)
    results = filled(folder / "batches" / "batch-01.csv")
    tamis("measure", results, "--no-propose", code=0)  # as far as a kill right after the results were recorded gets
    assert "4 recorded already" in tamis("measure", results, code=0)
    assert (folder / "batches" / "batch-02.csv").exists()


def test_what_comes_after_a_batch_waited_for_the_bench(folder):
    tamis("run", folder, code=3)
    tamis("measure", filled(folder / "batches" / "batch-01.csv"), code=0)
    with Ledger(folder, read_only=True) as ledger:
        spans = list(ledger.all(Span))
    bench = next(span for span in spans if span.name == "batch 1")
    later = [span for span in spans if span.ended > bench.ended]
    assert later
    assert all(span.started >= bench.ended for span in later)
    assert "the bench" in tamis("show", folder, code=0)


def test_sheets_sent_together_are_not_taken_by_half(folder):
    tamis("run", folder, code=3)
    (folder / "other.csv").write_text("row,idea\n", encoding="utf-8")
    done = CliRunner().invoke(
        app(), ["measure", str(filled(folder / "batches" / "batch-01.csv")), f"{folder}/other.csv"]
    )
    assert "has no column 'overpotential_V'" in str(done.exception)
    assert "batch 1: 4 awaited" in tamis("show", folder, code=0)


def test_show_tells_every_run_of_an_idea(folder):
    tamis("run", folder, code=3)
    sheet = folder / "batches" / "batch-01.csv"
    tamis("measure", filled(sheet), "--no-propose", code=0)
    tamis("measure", filled(sheet, {0: {"overpotential_V": "0.9"}}), "--no-propose", code=0)
    with sheet.open(encoding="utf-8", newline="") as file:
        name = next(csv.DictReader(file))["idea"]
    assert tamis("show", folder, name, code=0).count("goal overpotential_V") == 2


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


def test_results_stay_with_their_ideas_when_the_file_of_ideas_changes(folder):
    tamis("run", folder, code=3)
    tamis("measure", filled(folder / "batches" / "batch-01.csv"), code=0)
    path, out = folder / "ideas.csv", folder / "out.json"
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([header, "fresh,0.1,0.15,0.75", *lines]) + "\n", encoding="utf-8")
    said = tamis("run", folder, "--json", out, code=3)
    assert "4 measured once" in said
    assert "no longer among the ideas" not in said
    view = json.loads(out.read_text(encoding="utf-8"))
    measured = [one["name"] for one in view["batches"][0]]
    assert {one["name"] for one in view["best"]} == set(measured)
    path.write_text("\n".join([header, *(line for line in lines if not line.startswith(f"{measured[0]},"))]) + "\n")
    assert f"no longer among the ideas, so nothing is learned from their results: {measured[0]}" in tamis(
        "run", folder, code=3
    )


def test_a_sheet_filled_in_row_by_row_brings_one_further_batch_and_not_one_each_time(folder):
    tamis("run", folder, code=3)
    sheet = folder / "batches" / "batch-01.csv"
    for count in range(1, 5):
        empty = {place: {"overpotential_V": "", "unit": ""} for place in range(count, 4)}
        tamis("measure", filled(sheet, empty), code=0)
    assert sorted(path.name for path in (folder / "batches").glob("batch-*.csv")) == ["batch-01.csv", "batch-02.csv"]


def test_another_goal_in_the_middle_of_a_campaign_is_refused_in_words(folder):
    tamis("run", folder, code=3)
    tamis("measure", filled(folder / "batches" / "batch-01.csv"), code=0)
    path = folder / "tamis.toml"
    path.write_text(path.read_text(encoding="utf-8").replace("overpotential_V", "eta_V"), encoding="utf-8")
    what, hint = refused("run", folder)
    assert "this campaign has results of overpotential_V, and [lab] goal now asks for eta_V" in what
    assert "folder of its own" in hint


@pytest.mark.parametrize(
    ("was", "now", "said"),
    [
        ('composition = ["Ni", "Fe", "Co"]', 'category = ["row"]', "'row'"),
        ("minimize overpotential_V", "minimize unit", "'unit'"),
        ("minimize overpotential_V", "minimize Ni", "'Ni'"),
        ('"minimize overpotential_V"', '["minimize a", "maximize a"]', "names a twice"),
    ],
)
def test_a_name_that_the_sheet_could_not_tell_from_another_is_refused(folder, was, now, said):
    path, ideas = folder / "tamis.toml", folder / "ideas.csv"
    path.write_text(path.read_text(encoding="utf-8").replace(was, now), encoding="utf-8")
    ideas.write_text(ideas.read_text(encoding="utf-8").replace("name,", "row,", 1), encoding="utf-8")
    what, _ = refused("run", folder)
    assert said in what
