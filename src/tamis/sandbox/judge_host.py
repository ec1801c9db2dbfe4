"""The judge's process, seen from the supervisor: started once for each shape of the drafts' module, and
forked for each draft."""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from tamis.errors import CheckError, SandboxFault
from tamis.sandbox.records import Suite

Json = Any
_START_SECONDS = 120.0


class Host:
    """The judge's process for one shape of the module. It starts before that shape is known, since pytest takes a while
    to import; `collect` tells it. Drafts are forked from it one at a time."""

    def __init__(self, suite: Suite, *, plugins: bool) -> None:
        self._suite = suite
        self.collected: Json = None
        self._lock = threading.Lock()
        self._control, theirs = socket.socketpair()
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 (it lives as long as this)
        root = str(Path(__file__).resolve().parents[2])
        start = f"import sys; sys.path.insert(0, {root!r}); from tamis.sandbox.judging.host import main"
        code = f"{start}; main({theirs.fileno()})"
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", code], pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL,
                stdout=self._words, stderr=self._words, env=_environment(plugins=plugins), cwd=suite.folder,
                start_new_session=True,
            )  # fmt: skip
        finally:
            theirs.close()

    def collect(self, surface: Json) -> None:
        """Collects the suite with a module of this shape; `collected` is what came of it. Raises CheckError where the
        process does not answer."""
        with contextlib.suppress(OSError):  # that it is gone is told by its silence
            self._tell({"module": self._suite.module, "folder": self._suite.folder, "surface": surface})
        self.collected = self._hear()

    def _tell(self, message: Json) -> None:
        raw = json.dumps(message).encode()
        self._control.sendall(len(raw).to_bytes(4, "big") + raw)

    def _hear(self) -> Json:
        self._control.settimeout(_START_SECONDS)
        try:
            size = int.from_bytes(self._exactly(4), "big")
            return json.loads(self._exactly(size))
        except (OSError, EOFError) as error:
            words = self.words()
            self.close()
            raise CheckError(f"the given tests did not start: {words or error}") from error

    def _exactly(self, size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            part = self._control.recv(size - len(parts))
            if not part:
                raise EOFError("the judge's process ended")
            parts += part
        return bytes(parts)

    def words(self) -> str:
        """What pytest said, for the owner."""
        with contextlib.suppress(ValueError, OSError):
            self._words.seek(0)
            return self._words.read()[-3000:].decode(errors="replace").strip()
        return ""

    def fork(self) -> tuple[int, socket.socket]:
        """A judge for one draft: its pid, and the conversation with it."""
        ours, theirs = socket.socketpair()
        with self._lock, theirs:
            try:
                socket.send_fds(self._control, [b"f"], [theirs.fileno()])
                return int(self._hear()["pid"]), ours
            except (OSError, CheckError) as error:
                ours.close()
                raise SandboxFault(f"the judge was lost: {error}") from error

    def close(self) -> None:
        self._control.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        with contextlib.suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._words.close()


class Lines:
    """Lines from a socket, with a limit to how long one waits for the next."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._buffer = bytearray()
        self._poll = select.poll()
        self._poll.register(sock, select.POLLIN)

    def next(self, seconds: float) -> bytes | None:
        """The next line, b"" at the end, None where none came in so many seconds."""
        while (end := self._buffer.find(b"\n")) < 0:
            if not self._poll.poll(seconds * 1000):
                return None
            part = self._sock.recv(1 << 16)
            if not part:
                return b""
            self._buffer += part
        line = bytes(self._buffer[: end + 1])
        del self._buffer[: end + 1]
        return line


def _environment(*, plugins: bool) -> dict[str, str]:
    """The owner's own environment, for her tests, without what would change how pytest runs."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "PYTHON", "COV_"))}
    alone = {} if plugins else {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return {**kept, **alone, "PYTHONHASHSEED": "0", "TZ": "UTC"}
