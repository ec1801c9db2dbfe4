"""Into the box: the layers that the warm process puts on, once; each is noted, or why the machine does not give it.

A child puts on the rest (`Zygote`): what must not bind the process that forks it.
"""

from __future__ import annotations

import errno
import importlib
import os
import socket
from collections.abc import Callable

from . import layers

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would be copied into every child
    from typing import Any, TypeAlias

# A lean interpreter has no pathlib: every module it imports is copied into every child.

Json: TypeAlias = "Any"


class Entry:
    """The layers of one box. `config` is the supervisor's; `how` says what came of each layer."""

    def __init__(self, config: Json) -> None:
        self.config = config
        self.how: dict[str, str] = {}
        self.namespaces: set[str] = set()
        self.proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC) if layers.LINUX else -1
        self.ruleset: int | None = None
        self.filter: layers.Filter | None = None

    def _try(self, layer: str, put_on: Callable[[], str | None]) -> bool:
        """Puts a layer on where the machine gives it, and notes which; what it does not give is noted with why."""
        if layer in self.config["without"]:
            self.how[layer] = "off: not asked for"
            return False
        try:
            self.how[layer] = put_on() or "on"
        except OSError as error:
            self.how[layer] = f"off: {error.strerror or error}"
            return False
        return True

    def enter(self, control: socket.socket) -> None:
        """From here on this process is in the box. Where there is a PID namespace, it is a child that goes on."""
        root = os.getuid() == 0
        if not root:
            self._unshare("user", layers.NEWUSER)
            if "user" in self.namespaces:
                layers.map_own_ids(self.proc)
        if root or "user" in self.namespaces:
            kinds = {"mount": layers.NEWNS, "pid": layers.NEWPID, "ipc": layers.NEWIPC, "uts": layers.NEWUTS}
            if "network" not in self.config["allow"]:
                kinds["net"] = layers.NEWNET
            for name, flag in kinds.items():
                self._unshare(name, flag)
        else:
            for name in ("mount", "pid", "ipc", "uts", "net"):
                self.how.setdefault(name, "off: needs the user namespace")
        if not ("mount" in self.namespaces and self._try("root", self._new_root)):
            self.how.setdefault("root", "off: needs the mount namespace")
            _shutil()  # while it can still be imported
        self._fork_first(control)
        if root:
            self._try("uid", self._become_nobody)
        else:
            self.how["uid"] = f"on: {os.getuid()}"
        self._scratch()
        self._landlock()
        self._seccomp()
        if layers.LINUX:
            layers.no_new_privileges()
            layers.dumpable(False)
            if "pid" in self.namespaces:
                layers.die_with_parent()  # anew: a change of uid has taken it away
        self.how["rlimits"] = "on"
        os.chdir(self.config["scratch"])

    def _unshare(self, name: str, flag: int) -> None:
        if self._try(name, lambda: layers.unshare(flag, f"{name} namespace")):
            self.namespaces.add(name)

    def _new_root(self) -> str:
        layers.private_mounts()
        layers.new_root(self.config["root"], self.config["runtime"], self.config["masked"])
        return "on: only the runtime is there"

    def _fork_first(self, control: socket.socket) -> None:
        """In a new PID namespace the first child is its init: with it dies all that is in there."""
        if "pid" not in self.namespaces:
            if layers.LINUX:
                layers.adopt_orphans()
            return
        pid = os.fork()
        if pid:
            control.close()
            _, status = os.waitpid(pid, 0)
            os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
        layers.die_with_parent()

    def _become_nobody(self) -> str:
        """As root: the uid is given up before any draft runs, then a user namespace is made without rights outside."""
        uid, gid = self.config["nobody"]
        os.seteuid(uid)
        try:
            os.listdir(os.path.dirname(os.__file__))
        except OSError:
            raise OSError(errno.EACCES, "nobody can't read this interpreter's files") from None
        finally:
            os.seteuid(0)
        os.setgroups([])
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)
        layers.dumpable(True)
        if self._try("user", lambda: layers.unshare(layers.NEWUSER | layers.NEWNS, "user namespace")):
            layers.map_own_ids(self.proc)
            self.namespaces.add("user")
        return f"on: {uid}"

    def _scratch(self) -> None:
        if self.how.get("root", "off").startswith("on"):
            self.config["scratch"] = layers.SCRATCH
            self._try("scratch", self._fresh_scratch)
            return
        if os.getuid() == 0:  # it was made for nobody, and a draft has no right to write what is another's
            os.chown(self.config["scratch"], 0, 0)
        self.how["scratch"] = "on: a folder; each file capped, their number is not"

    def _fresh_scratch(self) -> str:
        layers.tmpfs(layers.SCRATCH, self.config["scratch_mb"])
        os.chdir(layers.SCRATCH)
        return f"on: {self.config['scratch_mb']} MB"

    def _landlock(self) -> None:
        def rules() -> str:
            c = self.config
            # in a root of its own nothing hidden is there; elsewhere it must be ruled around
            whole = self.how.get("root", "off").startswith("on")
            readable, listed = (c["runtime"], ["/"]) if whole else (c["readable"], c["listed"])
            self.ruleset = layers.landlock_ruleset(
                readable, listed, [c["scratch"], *c["devices"]],
                network="network" in c["allow"], execute="subprocess" in c["allow"],
            )  # fmt: skip
            return f"on: ABI {layers.landlock_abi()}"

        self._try("landlock", rules)

    def _seccomp(self) -> None:
        def make() -> str:
            guarded = not self.how.get("root", "off").startswith("on")
            self.filter = layers.seccomp_filter(allow=frozenset(self.config["allow"]), guarded_modes=guarded)
            return "on: told by the kernel what was tried" if self.config["listen"] else "on"

        self._try("seccomp", make)

    def clean(self) -> None:
        """An empty scratch folder for the next draft."""
        scratch = self.config["scratch"]
        with os.scandir(scratch) as found:
            if not any(True for _ in found):
                return
        if self.how["scratch"].startswith("on:") and self.how.get("root", "off").startswith("on"):
            os.chdir("/")
            layers.unmount(layers.SCRATCH)
            self._fresh_scratch()
            if self.ruleset is not None:  # its rules name the folder that was
                os.close(self.ruleset)
                self._landlock()
            return
        _empty(scratch)


def _shutil() -> Any:
    """Heavy, and needed only where the scratch folder is no mount of its own."""
    return importlib.import_module("shutil")


def _empty(folder: str) -> None:
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            os.chmod(entry.path, 0o700)
            _shutil().rmtree(entry.path, ignore_errors=True)
        else:
            os.unlink(entry.path)
