"""Folders that a process makes for itself below the temporary one, which nothing that ends it may leave there for good.

Whoever makes one holds a lock on it as long as it lives, and the kernel drops the lock however it ends. So the next
that makes one can tell what a kill left from what is in use, whatever numbers processes have in containers beside it.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self


class OwnFolder:
    """A new folder of this process at `path`, which `close` removes. Use it as a context where it has an end."""

    def __init__(self, prefix: str) -> None:
        """`prefix` begins its name and those of its like, which are cleared up first."""
        _clear_up(prefix)
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=prefix))
            lock = _locked(self.path)
            if lock is not None:
                break  # else somebody who clears up was faster and takes it for a leftover, which it will be
        self._lock = lock

    def close(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock >= 0:
            os.close(self._lock)
        self._lock = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _clear_up(prefix: str) -> None:
    """Removes this user's folders that nobody holds."""
    for folder in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        with contextlib.suppress(OSError):
            if folder.stat().st_uid != os.geteuid():
                continue
            lock = _locked(folder)
            if lock is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)


def _locked(folder: Path) -> int | None:
    """The folder's lock, None where somebody else holds it or the folder has gone meanwhile."""
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if folder.exists():
            return lock
    except BlockingIOError:
        pass
    os.close(lock)
    return None
