"""Calls itself without end, with no limit to it."""

import sys

sys.setrecursionlimit(10**9)


def answer(n):
    return answer(n + 1) + 1
