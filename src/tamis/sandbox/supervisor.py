"""One box: a warm zygote in its namespaces, and the child that runs one draft in it at a time.

The supervisor is this process, outside. It forks through the zygote, hears from the kernel what the child tries that no
draft may, keeps the deadline, reads the outcomes from shared memory, and ends the child. Nothing that the child says is
believed to be more than the draft's own answer.
"""

import contextlib
import fcntl
import json
import mmap
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tamis.errors import SandboxFault
from tamis.sandbox import cgroups, runtime, watch
from tamis.sandbox.box import layers
from tamis.sandbox.box.runner import BROKEN, OUTPUT_BYTES
from tamis.sandbox.box.zygote import JOB, REAPED
from tamis.sandbox.records import Limits, Program

SHARED_BYTES = 8 << 20
_NOTIFICATION_BYTES = 80
_RECEIVE_NOTIFICATION = 0xC0502100
_PROCESSES = 96
_NOBODY = 65534
_HELLO_SECONDS = 60.0
_GRACE_SECONDS = 0.25
"""How long a child may take to end after its last word."""


@dataclass(frozen=True)
class Setup:
    """What makes two boxes interchangeable: limits, module name, hash seed, what is imported ahead (`imports` must be
    there, `warm` is the standard library's), and which layers are left off."""

    limits: Limits
    module: str
    hash_seed: int = 0
    imports: tuple[str, ...] = ()
    warm: tuple[str, ...] = ()
    without: frozenset[str] = frozenset()


@dataclass
class Ended:
    """How one child ended. `ending` is None where it finished all that it was given."""

    ending: str | None
    detail: str
    cpu_seconds: float = 0.0
    peak_kb: int = 0
    lines: list[bytes] = field(default_factory=list)
    output: str = ""


class Reaped(NamedTuple):
    """What the kernel tells of a child that is gone: exit code or minus its signal, and what it used."""

    code: int
    cpu_seconds: float
    peak_kb: int


class Box:
    """A zygote and the memory it shares with us. Not thread-safe, but for `kill`."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.how: dict[str, str] = {}
        self.dead = False
        self._folder = Path(tempfile.mkdtemp(prefix="tamis-box-"))
        self._group = cgroups.Group(memory_mb=setup.limits.memory_mb, processes=_PROCESSES)
        self._kills = 0
        self._fd, self._shared = _shared_memory()
        self._control, theirs = socket.socketpair()
        self._stop = threading.Event()
        try:
            self._start(theirs)
        except (OSError, EOFError) as error:
            why = self._last_words()
            self.close()
            hint = "`tamis doctor` shows what this machine allows"
            raise SandboxFault(f"the box did not start: {why or error}", hint=hint) from error
        finally:
            theirs.close()

    # the zygote

    def _start(self, theirs: socket.socket) -> None:
        script = str(Path(layers.__file__).with_name("zygote.py"))
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 (it lives as long as the box)
        self._process = subprocess.Popen(
            [sys.executable, "-S", "-s", "-P", "-B", script, str(theirs.fileno())],
            pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=self._words, stderr=self._words,
            env=_environment(self.setup.hash_seed), cwd="/", start_new_session=True,
        )  # fmt: skip
        theirs.close()  # else we would not hear that the process is gone
        self._group.add(self._process.pid)
        self._send(self._config(), [self._fd])
        self.how = {**self._receive()["how"], "cgroups": self._group.how, "deadline": watch.HOW}

    def _config(self) -> dict[str, Any]:
        limits = self.setup.limits
        root, scratch = self._folder / "root", self._folder / "scratch"
        for folder in (root, scratch):
            folder.mkdir()
        if os.getuid() == 0:
            self._folder.chmod(0o711)
            os.chown(scratch, _NOBODY, _NOBODY)
        tools = "subprocess" in limits.allow
        reading, listing = runtime.rules(tools=tools)
        return {
            "box": [*(["command"] if tools else []), *(["suite"] if "pytest" in self.setup.imports else [])],
            "module": self.setup.module, "imports": self.setup.imports, "warm": self.setup.warm,
            "without": sorted(self.setup.without),
            "allow": limits.allow, "memory_mb": limits.memory_mb, "scratch_mb": limits.scratch_mb,
            "output_kb": limits.output_kb, "cpu_ceiling": int(limits.total_cpu_seconds) + 2, "processes": _PROCESSES,
            "memory_by_group": self._group.how.startswith("memory on"),
            "root": str(root), "scratch": str(scratch), "nobody": [_NOBODY, _NOBODY], "shared_bytes": SHARED_BYTES,
            "runtime": runtime.readable(tools=tools), "masked": runtime.masked(), "readable": reading,
            "listed": listing,
            "devices": ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"],
            "import_from": runtime.packages(), "listen": "listen" not in self.setup.without,
        }  # fmt: skip

    def _send(self, message: Any, fds: Sequence[int] = ()) -> None:
        raw = json.dumps(message).encode()
        socket.send_fds(self._control, [len(raw).to_bytes(4, "big")], fds)
        self._control.sendall(raw)

    def _receive(self) -> Any:
        """One answer; there is never more than one on its way."""
        parts = bytearray()
        while len(parts) < 4 or len(parts) < 4 + int.from_bytes(parts[:4], "big"):
            part = self._control.recv(1 << 16)
            if not part:
                raise EOFError("the warm process is gone")
            parts += part
        return json.loads(parts[4:])

    def _last_words(self) -> str:
        with contextlib.suppress(OSError, AttributeError, ValueError):
            self._words.seek(0)
            return self._words.read()[-600:].decode(errors="replace").strip()
        return ""

    def load(self, programs: Sequence[Program]) -> None:
        """Gives the zygote the programs that every draft will run, so that each child finds them there."""
        self.load_plain(plain(programs))

    def load_plain(self, programs: Sequence[Any]) -> None:
        self._control.sendall(b"p")
        self._send(programs)

    # a child

    def fork(self, source: bytes, *, start: int = 0, fresh: bool = True, **what: Any) -> "Child":
        """A child that runs `source`, from program number `start` on. Raises SandboxFault where it could not be put
        into its layers."""
        self._wipe()
        ours, theirs = socket.socketpair()
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1) if layers.LINUX else None
        try:
            socket.send_fds(self._control, [b"f"], [theirs.fileno()])
            settings = json.dumps(what).encode() if what else b""
            ours.sendall(JOB.pack(len(settings), len(source), start, fresh) + settings + source)
        except OSError as error:
            self.dead = True
            ours.close()
            raise SandboxFault(f"the warm process is gone: {error}") from error
        finally:
            theirs.close()
        return Child(self, ours)

    def answers(self, seconds: float) -> bool:
        """Whether the warm process has something to say within so many seconds: that the child has ended."""
        return bool(select.select([self._control], [], [], seconds)[0])

    def reap(self) -> "Reaped":
        """How the child ended, which the warm process tells when it has."""
        try:
            said = self._control.recv(REAPED.size, socket.MSG_WAITALL)
        except OSError as error:
            said = str(error).encode()
        if len(said) < REAPED.size:
            self.dead = True
            raise SandboxFault("the warm process was lost")
        return Reaped(*REAPED.unpack(said))

    def killed_for_memory(self) -> bool:
        """Whether the kernel has killed for memory in this box since this was last asked."""
        before, self._kills = self._kills, self._group.kills_for_memory()
        return self._kills > before

    def _wipe(self) -> None:
        """Nothing of one draft is left in shared memory for the next."""
        if layers.LINUX:
            layers.punch(self._fd, SHARED_BYTES)
        else:
            self._shared[:] = bytes(SHARED_BYTES)

    def taken(self, at: int) -> tuple[bytes, int]:
        """The complete lines written since `at`, and where they end."""
        end = self._shared.find(b"\0", at)
        last = self._shared.rfind(b"\n", at, end if end >= 0 else SHARED_BYTES)
        return (self._shared[at : last + 1], last + 1) if last >= 0 else (b"", at)

    def output(self) -> str:
        """What the draft printed, its beginning and its end."""
        total = int.from_bytes(self._shared[0:8], "little")
        half = min(self.setup.limits.output_kb << 10, OUTPUT_BYTES - 16) // 2
        head = self._shared[16 : 16 + min(total, half)]
        rest = max(0, total - half)
        ring = self._shared[16 + half : 16 + 2 * half]
        turn = rest % half if rest > half else 0
        tail = ring[:rest] if rest <= half else ring[turn:] + ring[:turn]
        cut = f"\n… {rest - half} bytes cut …\n".encode() if rest > half else b""
        return (head + cut + tail).decode("utf-8", "replace")

    def pids(self) -> list[int]:
        """The warm process, and in a PID namespace the one that waits for it."""
        found = [self._process.pid]
        with contextlib.suppress(OSError):
            found += map(int, Path(f"/proc/{found[0]}/task/{found[0]}/children").read_text().split())
        return found

    def kill(self) -> None:
        """Ends all at once, from any thread."""
        self.dead = True
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.kill()
        if hasattr(self, "_process"):
            try:
                self._process.wait(0.5)
            except subprocess.TimeoutExpired:
                with contextlib.suppress(OSError):
                    os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
            self._words.close()
        self._control.close()
        self._shared.close()
        os.close(self._fd) if self._fd >= 0 else None
        self._fd = -1
        self._group.close()
        shutil.rmtree(self._folder, ignore_errors=True)


class Child:
    """One draft at work in the box."""

    def __init__(self, box: Box, channel: socket.socket) -> None:
        self._box = box
        self._channel = channel
        self._listener: int | None = None
        self._at = OUTPUT_BYTES
        self._expected = 0
        self.lines: list[bytes] = []
        limits = box.setup.limits
        self._pidfd: int | None = None
        pid = self._hello()
        with contextlib.suppress(OSError):
            self._pidfd = os.pidfd_open(pid) if layers.LINUX else None
        self.watch = watch.Watch(pid, limits.cpu_seconds, limits.total_cpu_seconds, limits.idle_seconds)
        if "subprocess" in limits.allow:
            self.watch.root = box.pids()[-1]
        self._poll = select.poll()
        self._poll.register(channel, select.POLLIN)
        if self._listener is not None:
            self._poll.register(self._listener, select.POLLIN)

    def _hello(self) -> int:
        """The child's first word: its pid as the kernel tells it, and the descriptor to listen on."""
        self._channel.settimeout(_HELLO_SECONDS)
        pid = 0
        try:
            word, extra, _, _ = self._channel.recvmsg(512, 512)
        except OSError:
            word, extra = b"", []
        for level, kind, data in extra:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                self._listener = struct.unpack("i", data[:4])[0]
            elif level == socket.SOL_SOCKET and layers.LINUX and kind == socket.SCM_CREDENTIALS:
                pid = struct.unpack("iii", data[:12])[0]
        self._channel.settimeout(None)
        if word[:1] != b"+":
            self._forget()
            self._box.dead = True
            raise SandboxFault(
                f"a child could not enter the box: {word[1:].decode(errors='replace') or 'no word from it'}"
            )
        return pid

    def take(self) -> None:
        """Reads the lines that are there by now."""
        text, self._at = self._box.taken(self._at)
        room = self._expected - len(self.lines)
        if text and room > 0:
            self.lines += text[:-1].split(b"\n", room)[:room]

    def ask(self, index: int, call: Any) -> bytes | tuple[str | None, str]:
        """One more call of a child that waits for them: its outcome's line, or how the child ended."""
        before = len(self.lines)
        self.watch.mark()
        try:
            self._channel.sendall(json.dumps([index, call]).encode() + b"\n")
        except OSError:
            return "died", ""
        said = self.wait([], live=True)
        self.take()
        return self.lines[-1] if said[0] == "ready" and len(self.lines) > before else said

    def wait(self, finished: list[int], *, live: bool = False) -> tuple[str | None, str]:
        """Until the child has done all, has died, or must end. `finished` holds, for each program, how many lines
        there are when it is done. A `live` child is "ready" when it waits for a call."""
        look = 0.005
        self._expected = finished[-1] if finished else len(self.lines) + 2  # more lines than that are not ours to read
        while True:
            events = self._poll.poll(look * 1000)
            if self._box.dead:
                return "stopped", "the run was stopped"
            if not events:
                look = min(look * 2, watch.LOOK_SECONDS)
                self.take()
                why = self.watch.look(bisect_right(finished, len(self.lines)))
                if why:
                    return "timed out", why
                continue
            said = self._heard(events, live)
            if said is not None:
                return said

    def _heard(self, events: list[tuple[int, int]], live: bool) -> tuple[str | None, str] | None:
        ready = {fd for fd, event in events if event & select.POLLIN}
        if self._listener is not None and self._listener in ready:
            with contextlib.suppress(OSError):
                return "forbidden", self._tried()
        if self._channel.fileno() not in {fd for fd, _ in events}:
            self._poll.unregister(self._listener) if self._listener is not None else None
            return None
        word = self._said()
        if word == b"":
            return "died", ""
        if b"done\n" in word:
            return None, ""
        if live and (b"ready\n" in word or b"." in word):
            return "ready", ""
        if b"full\n" in word:
            self.take()
            self._box._wipe()
            self._at = OUTPUT_BYTES
            self._channel.send(b".")
        return None

    def _said(self) -> bytes:
        try:
            return self._channel.recv(4096)
        except OSError:
            return b""

    def _tried(self) -> str:
        """What the kernel holds the child for."""
        note = bytearray(_NOTIFICATION_BYTES)
        fcntl.ioctl(self._listener or -1, _RECEIVE_NOTIFICATION, note, True)
        return layers.words_for(struct.unpack_from("=i", note, 16)[0])

    def end(self, ending: str | None, detail: str) -> Ended:
        """Ends the child and says how it ended: what the supervisor saw, else what the kernel tells."""
        by_itself = ending in (None, "died") and self._box.answers(_GRACE_SECONDS)
        if not by_itself:
            self._kill()
        status = self._box.reap()
        self.take()
        if ending == "died":
            ending, detail = self._died(status) if by_itself else ("crashed", "closed its own channel")
        ended = Ended(ending, detail, status.cpu_seconds, status.peak_kb, self.lines, self._box.output())
        self._forget()
        return ended

    def _died(self, status: "Reaped") -> tuple[str, str]:
        """What the kernel tells of a child that ended without a word."""
        match status.code:
            case _ if status.code == BROKEN:
                return "crashed", "broke what runs it"
            case code if code >= 0:
                return "exited", f"exit code {code}"
            case signal_ if -signal_ == signal.SIGKILL and self._box.killed_for_memory():
                return "out of memory", "killed for memory"
            case signal_:
                return _SIGNALS.get(-signal_) or ("crashed", _signal_name(-signal_))

    def _kill(self) -> None:
        """Ends the child. It can't have been reaped and its pid given away, while we hold its descriptor."""
        with contextlib.suppress(ProcessLookupError):
            if self._pidfd is not None:
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
            else:
                os.kill(self.watch.pid, signal.SIGKILL)

    def _forget(self) -> None:
        self._channel.close()
        if self._pidfd is not None:
            os.close(self._pidfd)
            self._pidfd = None
        if self._listener is not None:
            os.close(self._listener)
            self._listener = None


_SIGNALS: dict[int, tuple[str, str]] = {
    signal.SIGXCPU: ("timed out", "the kernel's own CPU limit"),
    signal.SIGSYS: ("forbidden", "do what no draft may (a foreign system call)"),
}


def _signal_name(number: int) -> str:
    return signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"


def plain(programs: Sequence[Program]) -> list[list[list[Any]]]:
    """Programs as the box reads them."""
    return [[[c.name, c.on, list(c.args), dict(c.kwargs), c.get] for c in program] for program in programs]


def _shared_memory() -> tuple[int, mmap.mmap]:
    """Memory that box and supervisor both see. Sealed, so that the box can't shrink it under our reading."""
    if layers.LINUX:
        fd = os.memfd_create("tamis", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(fd, SHARED_BYTES)
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
    else:
        with tempfile.TemporaryFile() as file:
            fd = os.dup(file.fileno())
        os.ftruncate(fd, SHARED_BYTES)
    return fd, mmap.mmap(fd, SHARED_BYTES)


def _environment(hash_seed: int) -> Mapping[str, str]:
    """The whole environment of the box: fixed locale, time zone and hash seed, and nothing of ours."""
    one_thread = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")}
    fixed = {"LC_ALL": "C.UTF-8", "LANG": "C.UTF-8", "TZ": "UTC", "HOME": "/tmp", "TMPDIR": "/tmp", "USER": "nobody"}
    return {**fixed, **one_thread, "PATH": "/usr/local/bin:/usr/bin:/bin", "PYTHONHASHSEED": str(hash_seed)}
