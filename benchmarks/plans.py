"""How fast are plans played? 10,000 runs of a plan of 100 steps, with queues and lognormal lengths, by tamis's own
simulation and by SimPy, the same plan and the same lengths; both must come to the same times.

    python benchmarks/plans.py [--small]

SimPy is no dependency of tamis: where it isn't installed (pip install simpy), its half is left out, aloud.
"""

import argparse
import math
import random
import sys
import time
from collections.abc import Iterator, Sequence

from tamis.time.plan_reading import read_plan
from tamis.time.playing import Playable

try:
    import simpy
except ImportError:
    simpy = None

ROUNDS, LINES = 10, 8
PLAN = """
[plan]
title = "ten rounds of eight drafts, each written, tested by turns and looked at"
[writer]
stream_speed = 1e6
[resources.core]
places = 2
""" + "".join(
    f"""
[[step]]
name = "tests {n}"
stage = "tests"
count = {LINES}
needs = "core"
takes = {{ median = 10, p90 = 30 }}
[[step]]
name = "look {n}"
stage = "people"
takes = {{ median = 60, p90 = 120 }}
"""
    for n in range(ROUNDS)
)


def own(runs: int) -> tuple[float, ...]:
    return Playable(read_plan(PLAN)).play(runs).seconds


def by_simpy(runs: int) -> tuple[float, ...]:
    rng = random.Random(1)
    return tuple(sorted(_one(rng) for _ in range(runs)))


def _one(rng: random.Random) -> float:
    environment = simpy.Environment()
    cores = simpy.Resource(environment, capacity=2)

    def test(seconds: float) -> Iterator[object]:
        with cores.request() as place:
            yield place
            yield environment.timeout(seconds)

    def workflow() -> Iterator[object]:
        for _ in range(ROUNDS):
            tests = [environment.process(test(_lognormal(rng, 10, 30))) for _ in range(LINES)]
            yield environment.all_of(tests)
            yield environment.timeout(_lognormal(rng, 60, 120))

    environment.process(workflow())
    environment.run()
    return float(environment.now)


def _lognormal(rng: random.Random, median: float, p90: float) -> float:
    return median * math.exp(math.log(p90 / median) / 1.2815515655446004 * rng.gauss(0.0, 1.0))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="1,000 runs instead of 10,000")
    runs = 1_000 if parser.parse_args(arguments).small else 10_000
    steps = Playable(read_plan(PLAN)).single_steps
    medians = []
    for name, play in (("tamis", own), ("simpy", by_simpy)):
        if play is by_simpy and simpy is None:
            print("simpy      not installed: left out")
            continue
        wall, cpu = time.perf_counter(), time.process_time()
        seconds = play(runs)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        medians.append(seconds[len(seconds) // 2])
        each = cpu / runs / steps * 1e6
        print(
            f"{name:<10} {runs:,} runs of {steps} steps: {cpu:.2f} CPU s ({each:.1f} µs a step), {wall:.2f} s on the"
            f" wall; median {medians[-1]:.0f} s"
        )
    if len(medians) == 2 and abs(medians[0] / medians[1] - 1) > 0.02:
        print("the two disagree")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
