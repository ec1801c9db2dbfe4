import json
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from tamis.cli.simulate import simulate_command
from tamis.errors import UsageError
from tamis.simulate import Simulated
from tamis.simulate.process import started
from tamis.speed.http import address
from tamis.speed.source import ServerSource

app = typer.Typer()
app.command()(simulate_command)


def _explained(*arguments: str) -> dict[str, object]:
    result = CliRunner().invoke(app, [*arguments, "--explain", "--json", "-"], catch_exceptions=False)
    assert result.exit_code == 0
    return json.loads(result.stdout)


def test_flags_go_before_the_file_and_the_file_before_what_is_usual(tmp_path) -> None:
    file = tmp_path / "fast.toml"
    file.write_text("stream_speed = 500\ncontext = 9000\n")
    told = _explained("--settings", str(file), "--stream-speed", "700", "--fail", "429=0.1,cut=0.2", "--hide-limits")
    settings = told["settings"]
    assert isinstance(settings, dict)
    assert (settings["stream_speed"], settings["context"], settings["output_cap"]) == (700, 9000, 32_768)
    assert (settings["failures"]["too_many"], settings["failures"]["cut"], settings["announce"]) == (0.1, 0.2, False)


def test_a_preset_brings_its_streams_and_numbers_are_in_milliseconds() -> None:
    preset = _explained("--batching", "llama-3.3-70b-2xh100")["settings"]
    assert isinstance(preset, dict) and preset["streams"] == 80
    own = _explained("--batching", "10,0.5,2", "--speculation", "0.7,4")["settings"]
    assert isinstance(own, dict)
    assert own["batching"] == {"seconds": 0.01, "seconds_per_stream": 0.0005, "seconds_per_context_token": 2e-6}
    assert own["speculation"]["draft_length"] == 4


@pytest.mark.parametrize(
    "wrong",
    [
        ["--fail", "428=1"],
        ["--fail", "429=often"],
        ["--batching", "10,x"],
        ["--batching", "llama"],
        ["--speculation", "0.7"],
        ["--usage", "sometimes"],
        ["--stream-speed", "0"],
    ],
)
def test_a_flag_that_makes_no_sense_is_refused_in_words(wrong: list[str]) -> None:
    with pytest.raises(UsageError):
        CliRunner().invoke(app, [*wrong, "--explain"], catch_exceptions=False)


def test_it_is_ready_when_it_prints_its_address_and_ends_on_request() -> None:
    code = "from tamis.cli.simulate import simulate_command as c; import typer; a = typer.Typer(); a.command()(c); a()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        assert process.stdout is not None
        url = process.stdout.readline().decode().strip()
        assert ServerSource(address(url), model="", api="chat").told("/health") == {
            "status": "ok",
            "model": "simulated",
        }
    finally:
        process.terminate()
        process.communicate()


def test_one_in_a_process_of_its_own_ends_with_who_started_it() -> None:
    with started(Simulated(stream_speed=1000)) as url:
        assert ServerSource(address(url), model="", api="chat").told("/health") is not None
    with pytest.raises(Exception, match="no connection"):
        ServerSource(address(url), model="", api="chat").told("/health")


def test_presets_are_inside_the_package() -> None:
    import tamis.simulate

    assert (Path(tamis.simulate.__file__).parent / "presets.toml").is_file()
