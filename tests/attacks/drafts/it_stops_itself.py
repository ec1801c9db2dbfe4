"""Stops its own process, so that no CPU is used."""

import os
import signal


def answer(n):
    os.kill(os.getpid(), signal.SIGSTOP)
