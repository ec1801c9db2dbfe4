"""The attack table: what each draft of tests/attacks tried, and what came of it, run and judged on this machine.

python benchmarks/attacks.py [--small]
"""

import argparse
import sys
import tempfile
from pathlib import Path

import msgspec

from tamis.sandbox import Sandbox, Suite

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "attacks"))

import test_attacks as attacks  # noqa: E402 (a module of the tests, by its folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="the first eight only, for CI")
    names = attacks.ATTACKS[:8] if parser.parse_args().small else attacks.ATTACKS
    with tempfile.TemporaryDirectory() as folder, Sandbox(attacks.LIMITS, module="module") as sandbox:
        world = attacks.World(Path(folder))
        sources = {"an honest draft": attacks.HONEST, **{name: world.source(name) for name in names}}
        ran = dict(sandbox.run(sources, attacks.PROGRAMS))
        suite = Suite(folder=str(world.tests), module="module", cpu_seconds=0.3)
        judged = dict(sandbox.judge(sources, suite))
        for name in sources:
            first = msgspec.json.decode(ran[name].outcomes[0])[0]
            passed = sum(result.outcome == "passed" for result in judged[name].results)
            right = "right" if attacks.calls(ran[name]) == attacks.RIGHT else "wrong"
            did = " ".join(str(part) for part in (first[1:] if first[0] == "#" else first[:2]))
            print(f"{name:34} {right:6} {passed} of {len(judged[name].expected)} tests   {did[:70]}")
        intact = world.file.read_text() == "9" and world.heard == []
        print(f"the owner's file is as it was and nobody was called: {intact}")
        world.server.close()


if __name__ == "__main__":
    main()
