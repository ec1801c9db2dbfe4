"""The parser's processes, seen from outside: hand in texts, get an answer for each, in order, whatever becomes of the
process that read it.

A process that dies is replaced. The text that it died on is tried once more, alone on a fresh one: what it breaks
twice is its own doing, and what only the machine can explain is told as that.
"""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

import msgspec

from tamis.errors import SandboxFault
from tamis.records import Record

T = TypeVar("T")
CPU_SECONDS = 10
"""What one text may use. Python's parser needs 2 ms for 200 lines; a few texts make it quadratic."""
PATIENCE_SECONDS = 300.0
"""Wall seconds after which a process that has not answered is given up: only a stalled machine takes so long."""
CHILD = Path(__file__).with_name("parser_child.py")


class Job(Record, frozen=True, kw_only=True):
    """A text to be read as a language: "python", "tree" for its canonical syntax tree, or a tree-sitter grammar.
    `file` is the file name that a Python module's code is wanted under, "" where it is not wanted. With "texts" it is
    several, of so many bytes each as `sizes` says, and what is taken of each comes back (`tamis.checks.shingling`); the
    tokens of those at the places `uncounted` are known."""

    language: str
    content: bytes
    keep: tuple[str, ...] = ()
    file: str = ""
    sizes: tuple[int, ...] = ()
    uncounted: tuple[int, ...] = ()


class Parsed(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a job. `problem` is what is wrong with the text, at a line and column from 1 where there is one;
    `missing` a grammar that is not installed, `lost` why there is no answer at all, by no fault of the text. `code` is
    how many bytes a module's code has, `marshalled` the code itself: made of a text that nobody has vetted, and for
    nobody to read but a box."""

    problem: str | None = None
    line: int | None = None
    column: int | None = None
    shape: str | None = None
    tree: str | None = None
    missing: str | None = None
    lost: str | None = None
    code: int = 0
    marshalled: bytes = b""


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


class ParserPool:
    """As many processes as there are cores to use, started when first needed, ended when the context is left."""

    def __init__(self, *, processes: int | None = None, cpu_seconds: int = CPU_SECONDS) -> None:
        self.size = processes or min(8, cores())
        self._cpu_seconds = cpu_seconds
        self._threads = ThreadPoolExecutor(self.size, thread_name_prefix="parser")
        self._mine = threading.local()
        self._all: list[_Process] = []

    def parse(self, items: Iterable[tuple[T, Job | None]]) -> Iterator[tuple[T, Parsed | None]]:
        """Each item with the answer to its job, in order; an item without a job is passed on without an answer. Only
        a few items are held at a time."""
        waiting: deque[tuple[T, Future[Parsed] | None]] = deque()
        for item, job in items:
            waiting.append((item, self._threads.submit(self._one, job) if job else None))
            if len(waiting) > 4 * self.size:
                yield _answered(waiting.popleft())
        while waiting:
            yield _answered(waiting.popleft())

    def submit(self, job: Job) -> "Future[Parsed]":
        """The answer to one job, when it is there. It raises SandboxFault where no process can be started."""
        return self._threads.submit(self._one, job)

    def cpu_seconds(self) -> float:
        """What its living processes have used so far."""
        return sum(process.cpu_seconds() for process in self._all if process.lives)

    def close(self) -> None:
        self._threads.shutdown(wait=True, cancel_futures=True)
        for process in self._all:
            process.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _one(self, job: Job) -> Parsed:
        process: _Process | None = getattr(self._mine, "process", None)
        answer = process.ask(job, self._cpu_seconds) if process and process.lives else None
        if isinstance(answer, Parsed):
            return answer
        if answer == -signal.SIGXCPU:  # counted for this text alone
            return _died_of(answer, self._cpu_seconds)
        fresh = _Process()
        self._mine.process = fresh
        self._all.append(fresh)
        answer = fresh.ask(job, self._cpu_seconds)
        return answer if isinstance(answer, Parsed) else _died_of(answer, self._cpu_seconds)


def _answered(waiting: tuple[T, Future[Parsed] | None]) -> tuple[T, Parsed | None]:
    item, future = waiting
    return item, future.result() if future else None


def _died_of(exit_status: int, cpu_seconds: int) -> Parsed:
    """What the end of a fresh process says about the one text that it was given."""
    match -exit_status:
        case signal.SIGXCPU:
            return Parsed(problem=f"takes more than {cpu_seconds} CPU seconds to parse")
        case signal.SIGKILL | signal.SIGTERM | signal.SIGINT | signal.SIGHUP:
            name = signal.Signals(-exit_status).name
            return Parsed(lost=f"the parser's process was killed ({name}), perhaps for want of memory")
        case signal.SIGSEGV | signal.SIGBUS | signal.SIGABRT | signal.SIGILL | signal.SIGFPE:
            return Parsed(problem=f"crashes the parser ({signal.Signals(-exit_status).name})")
        case _:
            return Parsed(lost=f"the parser's process ended by itself, with exit status {exit_status}")


class _Process:
    """One child. It shares nothing with us but two pipes, and ends when ours does."""

    def __init__(self) -> None:
        try:
            self._child = subprocess.Popen(
                [sys.executable, "-I", "-W", "ignore", str(CHILD)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                start_new_session=True,  # Ctrl-C is for us to hear; we end the child
            )
        except OSError as error:
            raise SandboxFault(f"the parser's process can't be started: {error.strerror or error}") from error
        self.lives = True

    def ask(self, job: Job, cpu_seconds: int) -> Parsed | int:
        """The answer, or the exit status of the child where it died instead."""
        request = {
            "as": job.language,
            "bytes": len(job.content),
            "cpu_seconds": cpu_seconds,
            "keep": job.keep,
            "file": job.file,
            "sizes": job.sizes,
            "uncounted": job.uncounted,
        }
        assert self._child.stdin is not None
        try:
            _write_all(self._child.stdin.fileno(), json.dumps(request).encode() + b"\n" + job.content)
            answer = self._answer()
        except OSError:
            answer = None
        if answer is not None:
            return answer
        self.lives = False
        with contextlib.suppress(
            subprocess.TimeoutExpired
        ):  # it may be dying still, and of what is what we want to know
            return self._child.wait(timeout=5)
        self._child.kill()
        return self._child.wait()

    def cpu_seconds(self) -> float:
        """As the kernel counts them; 0 where it can't be asked."""
        try:
            return time.clock_gettime((~self._child.pid << 3) | 2)  # the clock of that process, clock_getcpuclockid(3)
        except OSError:
            return 0.0

    def end(self) -> None:
        self.lives = False
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                pipe.close()
        self._child.kill()
        self._child.wait()

    def _answer(self) -> Parsed | None:
        """What the child says; None where it died before it had said all, or kept silent for too long."""
        said = bytearray()
        while b"\n" not in said:
            if not self._more(said):
                return None
        line, _, code = said.partition(b"\n")
        parsed = msgspec.json.decode(line, type=Parsed)
        while len(code) < parsed.code:
            if not self._more(code):
                return None
        return msgspec.structs.replace(parsed, marshalled=bytes(code)) if parsed.code else parsed

    def _more(self, said: bytearray) -> bool:
        assert self._child.stdout is not None
        descriptor = self._child.stdout.fileno()
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        if not poll.poll(PATIENCE_SECONDS * 1000):
            return False
        block = os.read(descriptor, 1 << 20)
        said += block
        return bool(block)


def _write_all(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
