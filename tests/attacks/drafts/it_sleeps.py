"""Sleeps for ever, using no CPU."""

import time


def answer(n):
    time.sleep(10**6)
