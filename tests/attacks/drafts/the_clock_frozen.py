"""Stops every clock that Python shows, and loops."""

import time

for name in ("time", "monotonic", "perf_counter", "process_time", "time_ns", "monotonic_ns"):
    setattr(time, name, lambda: 0)


def answer(n):
    while time.time() < 1:
        pass
    return -1
