"""One box: a warm zygote in its namespaces, and the child that runs one draft in it at a time.

The supervisor is this process, outside. It forks through the zygote, hears from the kernel what the child tries that no
draft may, keeps the deadline, reads the outcomes from shared memory, and ends the child. Nothing that the child says is
believed to be more than the draft's own answer.
"""

import contextlib
import fcntl
import itertools
import json
import mmap
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tamis.errors import SandboxFault
from tamis.sandbox import cgroups, runtime, watch
from tamis.sandbox.box import layers
from tamis.sandbox.box.runner import OUTPUT_BYTES
from tamis.sandbox.box.zygote import JOB, REAPED
from tamis.sandbox.child import Child, Reaped
from tamis.sandbox.leftovers import OwnFolder
from tamis.sandbox.records import Limits, Program

SHARED_BYTES = 8 << 20
CROSSHAIR = "crosshair.core_and_libs"
"""Among what is imported ahead: what the box's search for inputs rests on."""
_SOLVER_WORK = {"CROSSHAIR_SMT_RLIMIT": "3000000"}
"""How much its solver may do for one answer, in the solver's own units and not in seconds, so that a busy machine finds
what a quiet one does. About a second's work."""
_PROCESSES = 96
_NOBODY = 65534


_turns = itertools.count()


def _keep_together(pid: int) -> None:
    """The warm process and its children on one core, each box on the next: they work in turns, and a child copies fewer
    cold pages. Threads of a draft share that core."""
    with contextlib.suppress(OSError, AttributeError):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(pid, {cores[next(_turns) % len(cores)]})


_FOLDER = "tamis-box."


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


class Box:
    """A zygote and the memory it shares with us. Not thread-safe, but for `kill`."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.how: dict[str, str] = {}
        self.dead = False
        self._own = OwnFolder(_FOLDER)
        self._folder = self._own.path
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
            env=self._environment(), cwd="/", start_new_session=True,
        )  # fmt: skip
        theirs.close()  # else we would not hear that the process is gone
        self._group.add(self._process.pid)
        _keep_together(self._process.pid)
        self._send(self._config(), [self._fd])
        self.how = {**self._receive()["how"], "cgroups": self._group.how, "deadline": watch.HOW}

    def _environment(self) -> Mapping[str, str]:
        own = _environment(self.setup.hash_seed)
        return {**own, **_SOLVER_WORK} if CROSSHAIR in self.setup.imports else own

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
            "box": [
                *(["command"] if tools else []), *(["suite"] if "pytest" in self.setup.imports else []),
                *(["symbolic"] if CROSSHAIR in self.setup.imports else []),
            ],
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

    def fork(self, source: bytes, *, code: bytes = b"", start: int = 0, fresh: bool = True, **what: Any) -> Child:
        """A child that runs `source`, from program number `start` on; `code` is what the parser has made of it, where
        it has. Raises SandboxFault where it could not be put into its layers."""
        self._wipe()
        ours, theirs = socket.socketpair()
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1) if layers.LINUX else None
        try:
            socket.send_fds(self._control, [b"f"], [theirs.fileno()])
            settings = json.dumps(what).encode() if what else b""
            ours.sendall(JOB.pack(len(settings), len(source), len(code), start, fresh) + settings + source + code)
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

    def reap(self) -> Reaped:
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
        self._own.close()


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
