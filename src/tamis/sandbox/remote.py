"""The box of the owner: a container or a virtual machine, where this machine's own layers do not do.

Her command starts `python -m tamis.sandbox.remote` somewhere with Linux, tamis and no network, with standard input and
output joined to ours. There a whole sandbox runs, supervisor, judge and boxes; here go in the drafts, the programs and
the tests, and out come records. For instance, in tamis.toml:

    [sandbox]
    command = ["docker", "run", "--rm", "-i", "--network=none", "my-tamis", "python", "-m", "tamis.sandbox.remote"]
"""

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import msgspec

from tamis.errors import CheckError, SandboxFault, TamisError
from tamis.records import Record
from tamis.sandbox.records import Call, Judged, Limits, Ran, Suite


class Job(Record, frozen=True, kw_only=True):
    """All that the other side needs for one iteration. `files` is the owner's test folder where `suite` is given."""

    version: str
    module: str
    limits: Limits
    sources: Mapping[str, bytes]
    workers: int | None = None
    imports: tuple[str, ...] = ()
    hash_seed: int = 0
    programs: tuple[tuple[Call, ...], ...] = ()
    suite: Suite | None = None
    files: Mapping[str, bytes] = {}


class Answer(Record, frozen=True, kw_only=True):
    """One line of the other side: a draft's record, or why there is none."""

    key: str = ""
    ran: Ran | None = None
    judged: Judged | None = None
    check_error: str = ""
    fault: str = ""
    over: bool = False


def own_version() -> str:
    try:
        return version("tamis")
    except PackageNotFoundError:
        return "unknown"


def ask(command: Sequence[str], job: Job) -> Iterator[Answer]:
    """Starts the command, gives it the job, yields its answers. Ends it when the iteration ends, however it does."""
    with tempfile.TemporaryFile() as words:
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=words, start_new_session=True
            )
        except OSError as error:
            raise SandboxFault(
                f"the box's command {command[0]!r} does not start: {error.strerror}",
                hint="[sandbox] command in tamis.toml is called as it stands there, without a shell",
            ) from error
        assert process.stdin is not None and process.stdout is not None
        try:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(msgspec.json.encode(job) + b"\n")
                process.stdin.flush()
            for line in process.stdout:
                answer = msgspec.json.decode(line, type=Answer)
                if answer.check_error:
                    raise CheckError(answer.check_error)
                if answer.fault:
                    raise SandboxFault(f"in the box of your command: {answer.fault}")
                if answer.over:
                    return
                yield answer
            words.seek(0)
            said = words.read()[-600:].decode(errors="replace").strip()
            raise SandboxFault(f"the box's command ended before it was done: {said or 'it said nothing'}")
        except msgspec.DecodeError as error:
            raise SandboxFault(f"the box's command writes what is no answer: {error}") from error
        finally:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()  # the other side ends everything when we are gone
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(2.0)
            process.kill()
            process.stdout.close()
            process.wait()


def files_of(folder: str) -> dict[str, bytes]:
    """The owner's test folder, without what Python keeps there."""
    root = Path(folder)
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def main() -> None:
    """The other side. Reads one job, writes an answer a line; dies with its input."""
    out, sys.stdout = sys.stdout.buffer, sys.stderr

    def say(answer: Answer) -> None:
        out.write(msgspec.json.encode(answer) + b"\n")
        out.flush()

    try:
        job = msgspec.json.decode(sys.stdin.buffer.readline(), type=Job)
        threading.Thread(target=_end_with_input, daemon=True).start()
        if job.version != own_version():
            raise SandboxFault(f"tamis {own_version()} is installed there, and {job.version} here")
        for answer in _work(job):
            say(answer)
        say(Answer(over=True))
    except CheckError as error:
        say(Answer(check_error=error.what))
    except (TamisError, msgspec.DecodeError) as error:
        say(Answer(fault=str(error)))


def _end_with_input() -> None:
    """When the asking side is gone, so are we; the boxes hear it from the kernel."""
    sys.stdin.buffer.read()
    os._exit(1)


def _work(job: Job) -> Iterator[Answer]:
    from tamis.sandbox.sandbox import Sandbox  # noqa: PLC0415 (that module asks this one)

    with (
        Sandbox(job.limits, module=job.module, workers=job.workers, imports=job.imports) as sandbox,
        tempfile.TemporaryDirectory() as folder,
    ):
        if job.suite is None:
            for key, ran in sandbox.run(job.sources, job.programs, hash_seed=job.hash_seed):
                yield Answer(key=key, ran=ran)
            return
        for name, content in job.files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        for key, judged in sandbox.judge(job.sources, msgspec.structs.replace(job.suite, folder=folder)):
            yield Answer(key=key, judged=judged)


if __name__ == "__main__":
    main()
