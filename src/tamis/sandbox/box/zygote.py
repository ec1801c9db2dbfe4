"""The warm process from which a child is forked for each draft.

Started as a lean interpreter by this file's path; it puts itself into the box (namespaces, a new root, uid nobody),
tells the supervisor which layers it got, and then does three things only: take the programs, fork a child for a draft,
and end that child with everything it started. It runs no line of a draft itself.
"""

from __future__ import annotations

import _socket
import contextlib
import gc
import importlib
import io
import json
import mmap
import os
import resource
import select
import signal
import site
import socket
import struct
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would be copied into every child
    from typing import Any, TypeAlias

# A lean interpreter has no pathlib: every module it imports is copied into every child.

Json: TypeAlias = "Any"


def _import_box(more: list[str]) -> None:
    """The box's own files, by the folder that this one lies in; the path is taken away again before any draft runs."""
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    for name in ("layers", "runner", *more):
        globals()[name] = importlib.import_module(f"box.{name}")
    globals()["entry_module"] = importlib.import_module("box.entry")
    sys.path.pop(0)


entry_module: Any = None
layers: Any = None
runner: Any = None
suite: Any = None
command: Any = None
symbolic: Any = None

JOB = struct.Struct("=iiii?")
"""What comes before a child's job: bytes of its settings, of the source and of its code where it was compiled before,
the program to begin with, and whether each program has an import of its own."""
REAPED = struct.Struct("=idq")
"""How a child ended: exit code or minus its signal, whether by itself, CPU seconds, peak KB."""


_ONE = struct.Struct("i")
"""One descriptor, as it comes along with a message."""
_ROOM_FOR_ONE = socket.CMSG_SPACE(_ONE.size)

PYTEST_PLUGINS = "the plugins of pytest"
"""Among what is imported ahead: all of pytest's plugins that are installed."""


class Gone(Exception):
    """The supervisor closed its end or is dead."""


def _send(control: socket.socket, message: Json) -> None:
    raw = json.dumps(message).encode()
    control.sendall(len(raw).to_bytes(4, "big") + raw)


def _receive(control: socket.socket) -> tuple[Json, list[int]]:
    """One message and the descriptors that came with it. Raises Gone when the supervisor is."""
    head, fds, _, _ = socket.recv_fds(control, 4, 4)
    while len(head) < 4:
        more = control.recv(4 - len(head)) if head else b""
        if not more:
            raise Gone
        head += more
    size, parts = int.from_bytes(head, "big"), bytearray()
    while len(parts) < size:
        part = control.recv(min(1 << 20, size - len(parts)))
        if not part:
            raise Gone
        parts += part
    return json.loads(parts), fds


def _job(channel: _socket.socket) -> tuple[Json, bytes, bytes]:
    """What the supervisor wants of this child: how large each part is, some settings, the draft's source and code."""
    head = channel.recv(JOB.size, socket.MSG_WAITALL)
    if len(head) < JOB.size:
        os._exit(0)
    settings, source, code, start, fresh = JOB.unpack(head)
    size = settings + source + code
    body = channel.recv(size, socket.MSG_WAITALL) if size else b""
    message = {"start": start, "fresh": fresh, **(json.loads(body[:settings]) if settings else {})}
    return message, body[settings : settings + source], body[settings + source :]


class Zygote:
    """The state of the warm process: its layers, the programs, and the child that runs now."""

    def __init__(self, control: socket.socket, entry: Any, shared: mmap.mmap) -> None:
        self.control = control
        self.control_fd = control.fileno()
        self.entry = entry
        self.config = entry.config
        self.shared = shared
        self.programs: Json = []
        self.child = 0
        self.memory = 0
        self.poll = select.poll()
        self.poll.register(control, 0)  # nothing but its end

    def serve(self) -> None:
        """Until the supervisor is gone; then nothing of the box is left either."""
        try:
            while True:
                self._serve_one()
        except (Gone, OSError):
            if self.child:
                with contextlib.suppress(OSError):
                    os.kill(self.child, signal.SIGKILL)
                with contextlib.suppress(OSError):
                    os.killpg(self.child, signal.SIGKILL)
            self._sweep()

    def _serve_one(self) -> None:
        """One word from the supervisor. This process touches as little as it can: after a fork each page that it
        writes is copied."""
        word, more, _, _ = self.control.recvmsg(1, _ROOM_FOR_ONE)
        match word:
            case b"f":
                self._fork(_ONE.unpack(more[0][2])[0])
            case b"p":
                self.programs = _receive(self.control)[0]
                self.limit()
                gc.collect()
                gc.freeze()
            case _:
                raise Gone

    def _fork(self, fd: int) -> None:
        self.child = os.fork()
        if self.child == 0:
            status = runner.BROKEN
            try:
                os.close(self.control_fd)
                # not Python's own class around it, whose making is a good part of a small draft's time
                self._child(_socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fd))
                status = 0
            finally:
                os._exit(status)
        os.close(fd)
        self.control.sendall(self._reap())

    def _reap(self) -> bytes:
        """Waits for the child and ends all that it started. Raises Gone where the supervisor goes first."""
        self._await_child()
        _, status, usage = os.wait4(self.child, 0)
        cpu = usage.ru_utime + usage.ru_stime
        if "subprocess" in self.config["allow"] or self.entry.filter is None:
            cpu += self._sweep()
        self.child = 0
        self.entry.clean()
        return REAPED.pack(os.waitstatus_to_exitcode(status), cpu, usage.ru_maxrss)

    def _await_child(self) -> None:
        """In one system call, on Linux: every page that this process touches now is copied."""
        if not layers.LINUX:
            while not os.waitid(os.P_PID, self.child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                if self.poll.poll(2):
                    raise Gone
            return
        ended = os.pidfd_open(self.child)
        try:
            self.poll.register(ended, select.POLLIN)
            gone = any(fd != ended for fd, _ in self.poll.poll())
            self.poll.unregister(ended)
        finally:
            os.close(ended)
        if gone:
            raise Gone

    def _sweep(self) -> float:
        """Kills what the draft left behind. In its PID namespace nothing can hide; elsewhere orphans come to us."""
        cpu = 0.0
        for _ in range(1000):
            if "pid" in self.entry.namespaces:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(-1, signal.SIGKILL)
            else:
                self._kill_children()
            try:
                _, _, usage = os.wait4(-1, 0)
                cpu += usage.ru_utime + usage.ru_stime
            except ChildProcessError:
                break
        return cpu

    def _kill_children(self) -> None:
        path = f"self/task/{os.getpid()}/children"
        with contextlib.suppress(OSError):
            fd = os.open(path, os.O_RDONLY, dir_fd=self.entry.proc)
            try:
                for pid in os.read(fd, 1 << 16).split():
                    os.kill(int(pid), signal.SIGKILL)
            finally:
                os.close(fd)

    # the child

    def _child(self, channel: _socket.socket) -> None:
        message, source, code = _job(channel)
        try:
            listener = self._put_on()
        except Exception as error:
            channel.sendall(b"!" + repr(error).encode())
            return
        draft = runner.Draft(self.config["module"], source, code)
        lines = runner.Lines(self.shared, channel)
        gc.enable()
        self._hello(channel, listener)
        try:
            self._work(draft, lines, channel, message)
        except runner.Died as died:
            lines.write(died.args[0])
        except BaseException as error:
            # from here on the draft has run: what breaks under this code's feet is its doing
            lines.write(json.dumps(["#", "crashed", f"{type(error).__name__} in the box: {error}"[:300]]))
        channel.sendall(b"done\n")

    def _put_on(self) -> int | None:
        """The layers that are a child's own. Returns the descriptor on which the supervisor hears what is tried."""
        if "pid" not in self.entry.namespaces:
            os.setpgid(0, 0)
        ceiling = self.config["cpu_ceiling"]
        resource.setrlimit(resource.RLIMIT_CPU, (ceiling, ceiling + 1))
        if self.memory:
            resource.setrlimit(resource.RLIMIT_AS, (self.memory, self.memory))
        if layers.LINUX:
            if "pid" not in self.entry.namespaces:
                layers.die_with_parent()
            if self.entry.namespaces or os.getuid() == 0:
                layers.drop_capabilities()
        if self.entry.ruleset is not None:
            layers.landlock_restrict(self.entry.ruleset)
            os.close(self.entry.ruleset)
        if self.entry.proc >= 0:
            os.close(self.entry.proc)
        if self.entry.filter is None:
            return None
        return self.entry.filter.put_on(listen=self.config["listen"])  # type: ignore[no-any-return]

    def _work(self, draft: Any, lines: Any, channel: _socket.socket, message: Json) -> None:
        if message.get("command"):
            command.run(draft.source, lines, message)
            return
        if message.get("inside"):
            suite.run(draft, lines, message)
            return
        if message.get("symbolic"):
            symbolic.run(draft, lines, message)
            return
        programs = message.get("programs", self.programs)
        runner.run(draft, programs, lines, start=message["start"], fresh=message["fresh"])
        if message.get("live"):
            channel.sendall(b"ready\n")
            runner.serve(draft, lines, channel)

    def limit(self) -> None:
        """Limits that the children inherit. CPU seconds and memory are each child's own, set in `_put_on`."""
        c = self.config
        own_mb = _address_space_mb(self.entry.proc)
        # elsewhere this limit is not kept; and other runtimes reserve far more than they use, so there the group counts
        if layers.LINUX and not ("subprocess" in c["allow"] and c["memory_by_group"]):
            self.memory = (own_mb + c["memory_mb"]) << 20
        for kind, value in (
            (resource.RLIMIT_FSIZE, max(c["scratch_mb"], 1) << 20),
            (resource.RLIMIT_NOFILE, 64),
            (resource.RLIMIT_CORE, 0),
            (getattr(resource, "RLIMIT_MSGQUEUE", None), 0),
            (getattr(resource, "RLIMIT_NPROC", None) if "user" in self.entry.namespaces else None, c["processes"]),
        ):
            if kind is not None:
                with contextlib.suppress(ValueError, OSError):
                    resource.setrlimit(kind, (value, value))

    def _hello(self, channel: _socket.socket, listener: int | None) -> None:
        """The first word on the channel carries this process's credentials, from which the supervisor has the pid."""
        if listener is None:
            channel.sendall(b"+")
            return
        channel.sendmsg([b"+"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, _ONE.pack(listener))])
        os.close(listener)


def _address_space_mb(proc: int) -> int:
    try:
        fd = os.open("self/statm", os.O_RDONLY, dir_fd=proc)
    except OSError:
        return 512
    try:
        return int(os.read(fd, 64).split()[0]) * os.sysconf("SC_PAGE_SIZE") >> 20
    finally:
        os.close(fd)


_REHEARSAL = b"""
class Refused(Exception): ...
class Thing:
    def __init__(self): self.held = []
    def put(self, item): self.held.append(item); return len(self.held)
    def refuse(self): raise Refused("no")
def add(a, b): return a + b
"""


def _rehearse() -> None:
    """Runs a draft of our own once: what a first run sets up and writes to, each child would copy for itself."""

    class Nowhere:
        def write(self, text: str) -> None: ...

    thing = [["Thing", None, [], {}, False], ["put", 0, ["x"], {}, False], ["refuse", 0, [], {}, False]]
    program = [*thing, ["add", None, [["list", [1]], ["list", [["float", "2.0"]]]], {}, False]]
    runner.run(runner.Draft("rehearsal", _REHEARSAL), [program] * 8, Nowhere(), start=0, fresh=True)
    del sys.modules["rehearsal"]


def _prepare_interpreter(config: Json, shared: mmap.mmap) -> None:
    """What a draft sees of its interpreter: no arguments, no trace of these files, output kept up to its cap. Done
    before any fork, so that no child pays for it."""
    site.setquit()  # -S leaves out `exit` and `quit`, which drafts use
    site.setcopyright()
    os.umask(0o077)
    kept = runner.Kept(shared, config["output_kb"] << 10)
    out = io.TextIOWrapper(kept, encoding="utf-8", errors="backslashreplace", write_through=True)
    sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = out  # type: ignore[misc]
    sys.argv = [""]
    sys.path[:] = [p for p in sys.path if p] + config["import_from"]
    for name in [n for n in sys.modules if n == "box" or n.startswith("box.")]:
        _hidden.append(sys.modules.pop(name))
    _hidden.append(sys.modules["__main__"])
    sys.modules["__main__"] = type(sys)("__main__")


_hidden: list[object] = []


def _load_pytest_plugins() -> None:
    """The plugins that pytest will load in each child are imported once, here."""
    for entry in importlib.import_module("importlib.metadata").entry_points(group="pytest11"):
        with contextlib.suppress(Exception):
            entry.load()


def _import_ahead(config: Json) -> None:
    """What drafts will import, from outside the box: each finds it there."""
    for name in config["warm"]:
        with contextlib.suppress(ImportError):
            __import__(name)
    own_path = list(sys.path)
    sys.path += config["import_from"]
    for name in config["imports"]:
        __import__(name)
    if PYTEST_PLUGINS in config["warm"]:
        _load_pytest_plugins()
    sys.path[:] = own_path


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    config, fds = _receive(control)
    shared = mmap.mmap(fds[0], config["shared_bytes"])
    os.close(fds[0])
    _import_ahead(config)
    _import_box(config["box"])  # after what is imported from outside the box, on which some of it rests
    entry = entry_module.Entry(config)
    entry.enter(control)
    zygote = Zygote(control, entry, shared)
    zygote.limit()
    _rehearse()
    _prepare_interpreter(config, shared)
    gc.collect()
    gc.disable()
    gc.freeze()
    _send(control, {"how": entry.how})
    null = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.close(null)
    zygote.serve()


if __name__ == "__main__":
    main()
