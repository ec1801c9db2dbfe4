"""Reads from nowhere."""

import ctypes


def answer(n):
    return ctypes.string_at(0)
