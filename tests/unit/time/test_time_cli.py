import json

import pytest
import typer
from typer.testing import CliRunner

from tamis.cli.plan import plan_command
from tamis.cli.time import time_command
from tamis.errors import UsageError
from tamis.ledger import Ledger
from tamis.records import Brief
from tamis.time.exports import otlp_json

from .time_made import fan_out, span, whole

app = typer.Typer()
app.command("time")(time_command)
app.command("plan")(plan_command)


def tamis(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "trace.json"
    path.write_bytes(otlp_json(fan_out()))
    return path


@pytest.fixture
def folder(tmp_path):
    with Ledger(tmp_path) as ledger:
        ledger.add(Brief(id="b", title="a brief", text="", desk="software"))
        for one in [whole(0, 5), span("tests", "tests", 0, 5)]:
            ledger.add(one)
    return tmp_path


def test_the_time_of_a_run_is_read_from_its_ledger(folder):
    said = tamis("time", folder)
    assert "5.0 s in 1 run" in said
    assert "5.00 (100%)" in said


def test_the_sentence_that_ends_an_argument_is_said(trace):
    assert "writing 10,000 times faster makes the whole 2.00 times faster" in tamis(
        "time", trace, "--writer-speed", "10000x"
    )


def test_stages_and_workers_are_changed_together(trace):
    said = tamis("time", trace, "--stage", "tests=0.5x", "--workers", 4)
    assert "with these changes the whole is 1.08 times faster" in said


def test_json_on_stdout_is_nothing_but_json(trace):
    found = json.loads(tamis("time", trace, "--json", "-", "--stream-speed", "1e6"))
    assert found["account"]["total_seconds"] == pytest.approx(40)
    assert found["what_if"]["floor_seconds"] == pytest.approx(20)
    assert found["tokens"] == {"longest_chain": 1_000, "all": 4_000}


def test_exports_and_pictures_are_written_where_asked(trace, tmp_path):
    tamis("time", trace, "--chrome", tmp_path / "c.json", "--otlp", tmp_path / "o.json", "--svg", tmp_path / "svg")
    assert json.loads((tmp_path / "c.json").read_bytes())["traceEvents"]
    assert "40 s in 1 run" in tamis("time", tmp_path / "o.json")
    assert sorted(path.name for path in (tmp_path / "svg").iterdir()) == ["curve.svg", "speeds.svg", "waterfall.svg"]


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("--stage", "test=0.1x"), "did you mean 'tests'"),
        (("--stage", "tests=fast"), "is no number"),
        (("--writer-speed", "quick"), "is no number"),
        (("--places", "core=0"), "nothing would ever be done"),
        (("--writer-speed", "10", "--stream-speed", "10"), "twice over"),
    ],
)
def test_options_that_make_no_sense_are_refused(trace, arguments, what):
    with pytest.raises(UsageError, match=what):
        tamis("time", trace, *arguments)


def test_the_plans_that_ship_are_listed():
    said = tamis("plan")
    assert [line.split()[0] for line in said.splitlines()] == ["agent", "catalyst", "lending", "story", "streams"]


def test_a_plan_shows_its_arithmetic_and_what_it_leaves_out(tmp_path):
    said = tamis("plan", "lending", "--runs", 20, "--svg", tmp_path / "curve.svg")
    assert "40 × 20,000 tokens = 800,000 tokens ÷ 1,000,000 tokens/s in all   = 0.8 s" in said
    assert "left out here too: writing down what is wanted" in said
    assert "flat from" in said
    assert (tmp_path / "curve.svg").read_text().startswith("<svg")


def test_a_plan_as_json_is_nothing_but_json():
    found = json.loads(tamis("plan", "streams", "--runs", 5, "--json", "-"))
    assert found["runs"] == 5
    assert found["sweep"]["more streams"]["1e+07"] >= found["sweep"]["any"]["1e+07"]


def test_a_plan_is_not_played_no_times():
    with pytest.raises(UsageError, match="can't be played 0 times"):
        tamis("plan", "streams", "--runs", 0)
