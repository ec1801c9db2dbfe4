"""Runs a program."""

import subprocess


def answer(n):
    return int(subprocess.check_output(["echo", str(n * n)]))
