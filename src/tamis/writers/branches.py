"""The branches of a git repository, each one draft: the patch from where it left the base to where it is.

Nobody trusts the repository either. Only commands that read objects are run (never a checkout, a fetch or a status), on
commits named by their hashes, with no hook, filter, pager, external diff, text conversion or transport allowed, with
none of the user's own settings, and with bounds on time and size.
"""

import contextlib
import fnmatch
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from tamis.errors import DraftsError, UsageError
from tamis.records import Fault, Record

GIT = "git:"
SECONDS = 120.0
MOST_BRANCHES = 100_000
_HARMLESS = (
    *("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.pager=cat"),
    *("-c", "protocol.allow=never", "-c", "safe.directory=*", "-c", "gc.auto=0", "-c", "maintenance.auto=false"),
    *("-c", "core.quotePath=true", "--no-pager", "--no-replace-objects", "--literal-pathspecs"),
)
_DIFF = (
    *("diff-tree", "-r", "-p", "--binary", "--full-index", "--no-renames", "--no-color", "--no-ext-diff"),
    *("--no-textconv", "--submodule=short", "--src-prefix=a/", "--dst-prefix=b/", "--no-commit-id"),
)


class Branches(Record, frozen=True, kw_only=True):
    """What "git:PATH#BASE..PATTERN" says. `base` is where the branches left from: HEAD where it isn't said."""

    path: str
    base: str = "HEAD"
    pattern: str = "*"


class Patch(Record, frozen=True, kw_only=True):
    """One branch and its patch, or why there is none. `content` is None where it is larger than the limit."""

    name: str
    content: bytes | None = b""
    problem: str | None = None
    fault: Fault = "draft"


def branches_of(source: str) -> Branches:
    """The source taken apart. Raises UsageError where it names no repository."""
    path, _, rest = source.removeprefix(GIT).partition("#")
    if not path:
        raise UsageError(f'"{source}" names no repository', hint='the form is "git:PATH" or "git:PATH#BASE..PATTERN"')
    base, dots, pattern = rest.rpartition("..")
    return Branches(path=path, base=base if dots and base else "HEAD", pattern=pattern or "*")


def patches(wanted: Branches, folder: Path, *, max_bytes: int) -> Iterator[Patch]:
    """Every branch's patch, by name. `folder` is what the path starts from. Raises DraftsError where there is no such
    repository, base or branch."""
    if shutil.which("git") is None:
        raise DraftsError("the drafts are branches of a git repository, and there is no git here", hint="install git")
    repository = Path(os.path.normpath(folder / Path(wanted.path).expanduser()))
    if not repository.is_dir():
        raise DraftsError(f"there is no repository {repository}", hint='the form is "git:PATH#BASE..PATTERN"')
    base = _base(repository, wanted.base)
    found = _heads(repository, wanted)
    if not found:
        raise DraftsError(f"no branch of {repository} matches '{wanted.pattern}', so there are no drafts")
    for name, commit in found:
        yield _patch(repository, name, commit, base, wanted.base, max_bytes=max_bytes)


def _base(repository: Path, base: str) -> str:
    try:
        told = _git(repository, ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}^{{commit}}"))
    except _GitFailed as failed:
        if "not a git repository" in failed.told:
            raise DraftsError(f"{repository} is no git repository") from failed
        raise DraftsError(
            f"{repository} has no commit '{base}' that branches could have left from{failed.after()}",
            hint='say which: from = "git:PATH#main..*"',
        ) from failed
    return told.decode().strip()


def _heads(repository: Path, wanted: Branches) -> list[tuple[str, str]]:
    """Names and commits of the branches that match, local ones, else those of remotes; the base itself is none."""
    try:
        own = {wanted.base, _git(repository, ("rev-parse", "--symbolic-full-name", "HEAD")).decode().strip()}
        for home in ("refs/heads/", "refs/remotes/"):
            listed = _git(
                repository, ("for-each-ref", f"--count={MOST_BRANCHES}", "--format=%(objectname) %(refname)", home)
            )
            refs = [line.partition(" ") for line in listed.decode("utf-8", "replace").splitlines()]
            found = [
                (name, commit)
                for commit, _, ref in refs
                if fnmatch.fnmatchcase(name := ref.removeprefix(home), wanted.pattern)
                and name not in own
                and (wanted.base != "HEAD" or ref not in own)
                and not name.endswith("/HEAD")
            ]
            if found:
                return found
    except _GitFailed as failed:
        raise DraftsError(f"the branches of {repository} can't be listed{failed.after()}") from failed
    return []


def _patch(repository: Path, name: str, commit: str, base: str, base_name: str, *, max_bytes: int) -> Patch:
    try:
        ancestor = _git(repository, ("merge-base", base, commit)).decode().strip()
    except _GitFailed as failed:
        if not failed.told:
            return Patch(name=name, problem=f"has no commit in common with {base_name}", fault="person")
        return Patch(name=name, problem=f"can't be read{failed.after()}", fault="person")
    try:
        content = _git(repository, (*_DIFF, ancestor, commit), max_bytes=max_bytes)
    except _TooLarge:
        return Patch(name=name, content=None, fault="budget")
    except _GitFailed as failed:
        return Patch(name=name, problem=f"can't be read{failed.after()}", fault="person")
    if not content:
        return Patch(name=name, problem=f"changes nothing: it is where it left {base_name}")
    return Patch(name=name, content=content)


class _GitFailed(Exception):
    """Git could not; `told` is its last line, empty where it said nothing."""

    def __init__(self, told: str) -> None:
        super().__init__(told)
        self.told = told

    def after(self) -> str:
        return f": {self.told}" if self.told else ""


class _TooLarge(Exception):
    """The output went over its bound, and was not read on."""


def _git(repository: Path, arguments: Sequence[str], *, max_bytes: int = 50_000_000) -> bytes:
    """What the command writes. Raises _GitFailed, and _TooLarge over `max_bytes`."""
    with tempfile.TemporaryFile() as complaints, _started(repository, arguments, complaints.fileno()) as process:
        assert process.stdout is not None
        late = threading.Event()

        def too_late() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(SECONDS, too_late)
        timer.start()
        try:
            content = process.stdout.read(max_bytes + 1)
            if len(content) > max_bytes:
                raise _TooLarge
            code = process.wait()
        finally:
            timer.cancel()
        if late.is_set():
            raise _GitFailed(f"git took longer than {SECONDS:.0f} seconds")
        if code != 0:
            complaints.seek(0)
            lines = complaints.read(10_000).decode("utf-8", "replace").strip().splitlines()
            raise _GitFailed(lines[-1][:300] if lines else "")
        return content


@contextlib.contextmanager
def _started(repository: Path, arguments: Sequence[str], complaints: int) -> Iterator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen(
        ["git", *_HARMLESS, "-C", str(repository), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=complaints,
        env=_environment(),
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        assert process.stdout is not None
        process.stdout.close()
        process.wait()


def _environment() -> dict[str, str]:
    """Nothing of the user's settings, and nothing that asks, fetches or locks."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
    }
