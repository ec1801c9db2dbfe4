"""The deadline, kept outside the box. A child's CPU seconds are read from the kernel by its pid, so nothing that the
draft does to clocks, signals or timers matters, and a busy machine costs it nothing: starved time is not CPU time.

A draft that sleeps or waits is told from one that is starved by its threads' states: all of them asleep at every look
and no CPU used since the last one. A thread that is ready to run but gets no processor is in state R, one that waits
for the disk in D; neither counts. Two looks that lie far apart, since this process was itself starved, count as near.
"""

import os
import time
from dataclasses import dataclass, field
from pathlib import Path

LOOK_SECONDS = 0.05
_STILL_CPU_SECONDS = 0.0005

HOW = "CPU seconds read by pid; idle by thread state" if Path("/proc/self/task").is_dir() else "wall seconds only"


def cpu_seconds_of(pid: int) -> float | None:
    """CPU seconds that a living process has used, all its threads together. None where it is gone."""
    try:
        return time.clock_gettime((~pid << 3) | 2)
    except (OSError, OverflowError):
        return None


def asleep(pid: int) -> bool:
    """Whether every thread of the process sleeps until something wakes it."""
    try:
        for task in os.scandir(f"/proc/{pid}/task"):
            if Path(task, "stat").read_bytes().rpartition(b")")[2].split()[0] not in (b"S", b"t", b"T"):
                return False
    except OSError:
        return False
    return True


def family_of(root: int) -> list[int]:
    """Every process below `root`, not itself: in a box nothing can leave it."""
    found: list[int] = []
    todo = [root]
    while todo:
        try:
            text = Path(f"/proc/{(pid := todo.pop())}/task/{pid}/children").read_text()
        except OSError:
            continue
        children = [int(child) for child in text.split()]
        found += children
        todo += children
    return found


def cpu_seconds_with_waited(pid: int) -> float:
    """CPU seconds of a process and of its children that are gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (cpu_seconds_of(pid) or 0.0) + (int(fields[13]) + int(fields[14])) / _TICKS


_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Watch:
    """One child's use of its limits. `look` is called every so often and says what limit was reached."""

    pid: int
    cpu_seconds: float
    total_cpu_seconds: float
    idle_seconds: float
    root: int | None = None
    """Where a draft may start processes: all below this one count."""
    used: float = 0.0
    _idle: float = 0.0
    _mark: float = 0.0
    _progress: int = -1
    _last: float = field(default_factory=time.monotonic)

    def mark(self) -> None:
        """What is asked next has its own CPU seconds."""
        self.used = self._use()
        self._mark, self._idle, self._last = self.used, 0.0, time.monotonic()

    def _pids(self) -> list[int]:
        return [self.pid] if self.root is None else family_of(self.root)

    def _use(self) -> float:
        if self.root is None:
            return cpu_seconds_of(self.pid) or self.used
        return max(self.used, sum(map(cpu_seconds_with_waited, self._pids())))

    def look(self, progress: int) -> str | None:
        """`progress` is the number of programs finished: each has its own CPU seconds. Returns why it must end."""
        now, before = time.monotonic(), self.used
        step, self._last = min(now - self._last, 2 * LOOK_SECONDS), now
        self.used = self._use()
        if progress != self._progress:
            self._progress, self._mark, self._idle = progress, self.used, 0.0
        if self.used - self._mark > self.cpu_seconds:
            return f"{self.cpu_seconds:g} CPU seconds"
        if self.used > self.total_cpu_seconds:
            return f"{self.total_cpu_seconds:g} CPU seconds in all"
        if self.used - before < _STILL_CPU_SECONDS and all(map(asleep, self._pids())):
            self._idle += step
        if self._idle > self.idle_seconds:
            return f"asleep for {self.idle_seconds:g} seconds"
        return None
