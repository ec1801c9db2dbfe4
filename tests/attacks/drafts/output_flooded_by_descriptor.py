"""Writes to its descriptors without end."""

import os


def answer(n):
    while True:
        os.write(1, b"x" * 65536)
        os.write(2, b"x" * 65536)
