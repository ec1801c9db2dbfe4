"""Drafts in other languages: compiled and run by the machine's own tools, in the same box, fed by standard input.

This child starts the draft's program and hands on what it wrote. The program is a process of its own: what it does to
this one is its own doing, and what was expected of it is not here.
"""

# A lean interpreter has no pathlib: every module it imports is copied into every child.

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
from typing import Any

from .values import Value, dumps

Json = Any
KEPT_BYTES = 1 << 20


def run(source: bytes, lines: Any, message: Json) -> None:
    """Writes the draft's file, compiles it, and runs it on each input from number `start` on: a line for each."""
    with open(message["file"], "wb") as file:
        file.write(source)
    if message["compile"]:
        outcome = _start(message["compile"], b"", 60)
        if outcome[0] != "=":
            lines.write(dumps(["!", "CompileError", ["Exception"], str(outcome[-1])]))
            return
    lines.write('["=",null]')
    for text in message["inputs"][message["start"] :]:
        lines.write(dumps(_start(message["run"], text.encode("utf-8", "surrogateescape"), message["cpu_seconds"])))


def _start(command: list[str], stdin: bytes, cpu_seconds: int) -> list[Value]:
    """One outcome: what it wrote, the exit code it ended with, or the signal."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))

    with open("/tmp/.in" if os.access("/tmp", os.W_OK) else ".in", "w+b") as given, open(_name(".out"), "w+b") as out:
        given.write(stdin)
        given.seek(0)
        with open(_name(".err"), "w+b") as err:
            try:
                # one thread runs here, and each program needs CPU seconds of its own
                process = subprocess.Popen(
                    command,
                    stdin=given,
                    stdout=out,
                    stderr=err,
                    preexec_fn=limit,  # noqa: PLW1509
                    start_new_session=True,
                )
            except OSError as error:
                return ["!", "NotStarted", ["Exception"], f"{command[0]}: {error.strerror}"]
            code = process.wait()
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            return _outcome(code, _read(out), _read(err))


def _name(name: str) -> str:
    return f"/tmp/{name}" if os.access("/tmp", os.W_OK) else name


def _read(file: Any) -> str:
    file.seek(0)
    return str(file.read(KEPT_BYTES).decode("utf-8", "backslashreplace"))


def _outcome(code: int, out: str, err: str) -> list[Value]:
    if code == 0:
        return ["=", out]
    if code == -signal.SIGXCPU:
        return ["#", "timed out", "CPU seconds"]
    if code == -signal.SIGXFSZ:
        return ["#", "crashed", "wrote too much"]
    if code < 0:
        return ["#", "crashed", signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"]
    return ["!", "ExitCode", ["Exception"], f"exit code {code}: {err[-400:]}".strip(": ")]
