"""Ends the process with no clean-up when asked."""

import os


def answer(n):
    os._exit(0)
