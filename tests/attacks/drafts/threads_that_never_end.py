"""Starts threads that never end, and returns."""

import threading
import time


def spin():
    while True:
        time.sleep(0.001)


def answer(n):
    for _ in range(500):
        try:
            threading.Thread(target=spin).start()
        except RuntimeError:
            break
    return -1
