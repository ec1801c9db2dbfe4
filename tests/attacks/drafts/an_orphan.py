"""Leaves a process behind that outlives it."""

import os
import time


def answer(n):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            while True:
                time.sleep(1)
        os._exit(0)
    return n * n
