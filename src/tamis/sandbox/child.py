"""One draft at work in a box, seen from outside: heard, watched, read and ended.

Its lines are its answers and are read from shared memory; what it tried that no draft may, the kernel tells; how long
it may take is kept here. It ends with everything that it started.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import signal
import socket
import struct
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from tamis.errors import SandboxFault
from tamis.sandbox import watch
from tamis.sandbox.box import layers
from tamis.sandbox.box.runner import BROKEN, OUTPUT_BYTES

if TYPE_CHECKING:
    from tamis.sandbox.supervisor import Box

_NOTIFICATION_BYTES = 80
_RECEIVE_NOTIFICATION = 0xC0502100
_HELLO_SECONDS = 60.0
_GRACE_SECONDS = 0.25
"""How long a child may take to end after its last word."""


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

    def _died(self, status: Reaped) -> tuple[str, str]:
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
