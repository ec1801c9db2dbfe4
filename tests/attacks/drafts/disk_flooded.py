"""Writes files until there is no room."""

import os


def answer(n):
    written = 0
    for number in range(10_000):
        try:
            with open(f"/tmp/{number}", "wb") as file:
                for _ in range(64):
                    file.write(bytes(1 << 20))
                    file.flush()
                    written += 1
        except OSError:
            break
    return written if written > 16 else -1
