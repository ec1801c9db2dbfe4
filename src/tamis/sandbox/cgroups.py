"""Control groups for memory and processes, version 1 or 2, where this user may write them.

One group per box. The rlimits already cap one process; a group also caps what many processes and their files in memory
take together, and tells a kill for memory from every other kill.
"""

import contextlib
import os
import uuid
from pathlib import Path

_ROOT = Path("/sys/fs/cgroup")
_INTERPRETER_MB = 96
"""What the warm process itself may need beside its draft."""


class Group:
    """The groups of one box. `how` says what is in force."""

    def __init__(self, *, memory_mb: int, processes: int) -> None:
        self._folders: list[Path] = []
        self._memory: Path | None = None
        self.how = ""
        name = f"tamis-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        limits = (("memory", (memory_mb + _INTERPRETER_MB) << 20), ("pids", processes))
        notes = [self._make(kind, name, limit) for kind, limit in limits]
        self.how = "; ".join(notes)

    def _make(self, kind: str, name: str, limit: int) -> str:
        parent, version = _parent(kind)
        if parent is None:
            return f"{kind} off: no such controller here"
        folder = parent / name
        try:
            folder.mkdir(exist_ok=True)
            (folder / _LIMIT[kind, version]).write_text(str(limit))
        except OSError as error:
            with contextlib.suppress(OSError):
                folder.rmdir()
            return f"{kind} off: {error.strerror}"
        if folder not in self._folders:
            self._folders.append(folder)
        if kind == "memory":
            self._memory = folder
        return f"{kind} on (version {version})"

    def add(self, pid: int) -> None:
        """Moves a process in; what it forks later is in as well."""
        for folder in list(self._folders):
            try:
                (folder / "cgroup.procs").write_text(str(pid))
            except OSError as error:
                self.how = f"off: {error.strerror}"
                self.close()

    def kills_for_memory(self) -> int:
        """How often the kernel has killed in this group since memory ran out."""
        if self._memory is None:
            return 0
        for name in ("memory.events", "memory.oom_control"):
            with contextlib.suppress(OSError):
                lines = (self._memory / name).read_text().split("\n")
                return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)
        return 0

    def close(self) -> None:
        for folder in self._folders:
            with contextlib.suppress(OSError):
                folder.rmdir()
        self._folders, self._memory = [], None


_LIMIT = {
    ("memory", 1): "memory.limit_in_bytes",
    ("memory", 2): "memory.max",
    ("pids", 1): "pids.max",
    ("pids", 2): "pids.max",
}


def _parent(kind: str) -> tuple[Path | None, int]:
    """The group that this process is in, by /proc/self/cgroup, and which version holds this controller."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return None, 0
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if kind in controllers.split(","):
            return _existing(_ROOT / kind, path), 1
        if controllers == "" and (_ROOT / "cgroup.controllers").exists():
            parent = _existing(_ROOT, path)
            if parent is not None and kind in (parent / "cgroup.subtree_control").read_text().split():
                return parent, 2
    return None, 0


def _existing(root: Path, path: str) -> Path | None:
    """The group's folder; within a container the path that /proc tells may lie outside what is mounted."""
    inside = root / path.lstrip("/")
    return inside if inside.is_dir() else root if root.is_dir() else None
