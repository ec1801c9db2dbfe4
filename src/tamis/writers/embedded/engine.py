"""The model's process, seen from here: started, asked, heard, and stopped without a trace.

Everything that the library can do to a process, a crash, a hang while loading, a flood of log lines, happens over
there. Here it is `EngineLost`, with what was last heard from it.
"""

import asyncio
import contextlib
import shutil
import signal
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO

import msgspec

from tamis.records import Finish, Record
from tamis.writers.jsonl import FINISHES, Usage

CHILD = "from tamis.writers.embedded.child import main; main()"
LONGEST_ANSWER_BYTES = 64_000_000
LONGEST_SOCKET_PATH = 100
LOG_TAIL_BYTES = 4_000


class Load(Record, frozen=True, kw_only=True):
    """How the model is loaded. `context` is in tokens of one stream; `speculate` holds how many tokens must repeat,
    and how many are then proposed, None for no speculation."""

    model: str
    streams: int
    context: int
    threads: int
    speculate: tuple[int, int] | None = None


class Answer(Record, frozen=True, kw_only=True):
    """What came of one ask: a text with how it ended, or why there is none. `tokens` and `tokens_in` are the
    model's own count, `proposed` and `accepted` those of speculation; `cpu_seconds` is what its process used so far."""

    number: int
    text: str = ""
    finish: Finish = "stop"
    tokens: int | None = None
    tokens_in: int = 0
    cpu_seconds: float = 0.0
    proposed: int = 0
    accepted: int = 0
    error: str | None = None


class EngineLost(Exception):
    """The process is gone, or never came to be ready."""


class _Message(msgspec.Struct, frozen=True):
    content: str | None = None


class _Choice(msgspec.Struct, frozen=True):
    finish_reason: str | None = None
    message: _Message | None = None
    text: str | None = None


class _Usage(Usage, frozen=True):
    prompt_tokens: int = 0


class _Timings(msgspec.Struct, frozen=True):
    draft_n: int = 0
    draft_n_accepted: int = 0


class _Error(msgspec.Struct, frozen=True):
    message: str


class _Reply(msgspec.Struct, frozen=True):
    choices: tuple[_Choice, ...] = ()
    usage: _Usage | None = None
    timings: _Timings = _Timings()
    error: _Error | None = None


class _Told(msgspec.Struct, frozen=True):
    number: int = -1
    reply: _Reply = _Reply()
    ready: bool = False
    cpu_seconds: float = 0.0


_decode = msgspec.json.Decoder(_Told).decode


class Engine:
    """One loaded model. Use as an async context; whatever happens, its process is gone when the context is left."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._process: asyncio.subprocess.Process | None = None
        self._folder: Path | None = None
        self._log: IO[bytes] | None = None

    async def __aenter__(self) -> "Engine":
        """Raises EngineLost where the model does not load."""
        try:
            await self._start()
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            if process.stdin is not None:
                process.stdin.close()
            # shielded, so that a second Ctrl-C doesn't leave the process unwaited for
            await asyncio.shield(process.wait())
        if self._log is not None:
            self._log.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    async def ask(self, number: int, body: Mapping[str, object]) -> None:
        """Puts one ask in its queue. Raises EngineLost."""
        process = self._running()
        assert process.stdin is not None
        try:
            process.stdin.write(msgspec.json.encode({"number": number, "body": body}) + b"\n")
            await process.stdin.drain()
        except (ConnectionError, BrokenPipeError) as error:
            raise await self._lost() from error

    async def next_answer(self) -> Answer:
        """The next one that is finished, in whatever order. Raises EngineLost."""
        told = await self._hear()
        return msgspec.structs.replace(_answer(told.number, told.reply), cpu_seconds=told.cpu_seconds)

    async def _start(self) -> None:
        self._folder = _private_folder()
        self._log = (self._folder / "log").open("w+b")
        told = msgspec.to_builtins(self._load) | {"socket": str(self._folder / "s.sock")}
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", CHILD, msgspec.json.encode(told).decode()),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=self._log,
            limit=LONGEST_ANSWER_BYTES,
            start_new_session=True,  # Ctrl-C is for us to pass on
        )
        await self._hear()

    async def _hear(self) -> _Told:
        process = self._running()
        assert process.stdout is not None
        try:
            line = await process.stdout.readline()
            if line.endswith(b"\n"):
                return _decode(line)
        except (ValueError, msgspec.DecodeError) as error:
            raise EngineLost(f"the embedded model answered in a way that is not understood: {error}") from error
        raise await self._lost()

    def _running(self) -> asyncio.subprocess.Process:
        if self._process is None:
            raise EngineLost("the embedded model is not running")
        return self._process

    async def _lost(self) -> EngineLost:
        code = await self._running().wait()
        return EngineLost(f"the embedded model's process {_how_it_ended(code)}{self._last_words()}")

    def _last_words(self) -> str:
        """The error that its log ends with, as the end of a sentence."""
        assert self._log is not None
        self._log.seek(0, 2)
        self._log.seek(max(0, self._log.tell() - LOG_TAIL_BYTES))
        lines = [line.strip() for line in self._log.read().decode("utf-8", "replace").splitlines() if line.strip()]
        telling = [line.partition(": ")[2] for line in lines if "error loading model" in line] or lines[-1:]
        return f": {telling[0][:300]}" if telling else ""


def _private_folder() -> Path:
    """A folder that only this user can look into, with a path short enough for a socket."""
    folder = Path(tempfile.mkdtemp(prefix="tamis-"))
    if len(str(folder)) <= LONGEST_SOCKET_PATH - len("/s.sock"):
        return folder
    folder.rmdir()
    return Path(tempfile.mkdtemp(prefix="tamis-", dir="/tmp"))


def _how_it_ended(code: int) -> str:
    if code >= 0:
        return f"ended with code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"


def _answer(number: int, reply: _Reply) -> Answer:
    if reply.error is not None:
        return Answer(number=number, error=reply.error.message)
    if not reply.choices:
        return Answer(number=number, error="it answered with no choice")
    choice = reply.choices[0]
    text = choice.message.content if choice.message is not None else choice.text
    finish = FINISHES.get((choice.finish_reason or "").lower())
    if finish is None:
        return Answer(number=number, error=f"it ended for a reason that is not known: {choice.finish_reason}")
    return Answer(
        number=number,
        text=text or "",
        finish=finish,
        tokens=reply.usage.tokens if reply.usage else None,
        tokens_in=reply.usage.prompt_tokens if reply.usage else 0,
        proposed=reply.timings.draft_n,
        accepted=reply.timings.draft_n_accepted,
    )
