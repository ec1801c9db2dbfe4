"""What the tests will call, run in the box before they do: one go for a whole suite, and its outcomes test by test."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tamis.errors import SandboxFault
from tamis.sandbox import outcomes as out
from tamis.sandbox.child import Child, Ended
from tamis.sandbox.supervisor import Box

Json = Any
Plan = Sequence[tuple[str, int]]
"""The foreseen tests in their order, each with the number of its calls."""
SURFACE: Json = [0, ["#surface", None, [], {}, False]]
"""The first call of every child: what the module offers."""


@dataclass
class Seen:
    """What the box did before the judge asked: the surface, and the outcomes of what was foreseen."""

    surface: Json = None
    outcomes: dict[str, list[str]] = field(default_factory=dict)
    import_error: str = ""
    cpu_seconds: float = 0.0
    peak_kb: int = 0
    output: str = ""
    deaths: int = 0

    def add(self, ended: Ended) -> None:
        self.cpu_seconds += ended.cpu_seconds
        self.peak_kb = max(self.peak_kb, ended.peak_kb)
        self.output = self.output or ended.output


def foresee(box: Box, source: bytes, plan: Plan, *, code: bytes = b"") -> Seen:
    """Runs the surface and the foreseen calls; a draft that dies in one test goes on with the next in a new child."""
    seen, at = Seen(), 0
    while True:
        child = box.fork(source, code=code, start=at, fresh=False)
        counts = [1, *(size for _, size in plan)][at:]
        ended = _finish(child, out.boundaries(counts))
        seen.add(ended)
        lines = [out.sensible(line) for line in ended.lines]
        if not lines or lines[0] != '["=",null]':
            if at == 0:
                seen.import_error = _words(ended, lines)
                return seen
            lines = ['["=",null]']
        at = _sort(seen, ended, lines[1:], at, plan)
        if at > len(plan) or seen.surface is None:
            return seen
        seen.deaths += 1
        if seen.deaths >= box.setup.limits.deaths:
            for test, size in plan[at - 1 :]:
                seen.outcomes[test] = ['["#","not reached",""]'] * size
            return seen


def _sort(seen: Seen, ended: Ended, lines: list[str], at: int, plan: Plan) -> int:
    """Gives each test its lines. Returns the number of the program to go on with."""
    if at == 0:
        seen.surface = _surface(lines[0]) if lines else None
        if seen.surface is None:
            seen.import_error = seen.import_error or _words(ended, lines)
        lines, at = lines[1:], 1
    for number, (test, size) in enumerate(plan[at - 1 :], at - 1):
        mine, lines = lines[:size], lines[size:]
        if len(mine) < size or (mine and mine[-1].startswith('["#"')):
            mine = [line for line in mine if not line.startswith('["#"')]
            mine.append(json.dumps(["#", ended.ending or "crashed", ended.detail]) if ended.ending else own_end(ended))
            seen.outcomes[test] = mine + ['["#","not reached",""]'] * (size - len(mine))
            return number + 2
        seen.outcomes[test] = mine
    return len(plan) + 1


def own_end(ended: Ended) -> str:
    last = out.sensible(ended.lines[-1]) if ended.lines else ""
    return last if last.startswith('["#"') else '["#","crashed",""]'


def _surface(line: str) -> Json:
    """The surface that the draft showed; anything else in its place is no surface."""
    outcome = out.read(line.encode())
    if isinstance(outcome, list) and outcome[0] == "=":
        surface = outcome[1]
        if isinstance(surface, list) and len(surface) == 2 and isinstance(surface[1], list):
            return surface
    return None


def _words(ended: Ended, lines: Sequence[str]) -> str:
    if lines and lines[0].startswith(('["!"', '["#"')):
        outcome: Json = out.read(lines[0].encode())
        return f"{outcome[1]}: {outcome[-1] if outcome[0] == '#' else outcome[3]}"
    return f"{ended.ending or 'crashed'}: {ended.detail}".removesuffix(": ")


def _finish(child: Child, finished: list[int]) -> Ended:
    ending, detail = child.wait(finished)
    if ending == "stopped":
        child.end(ending, detail)
        raise SandboxFault("the run was stopped")
    return child.end(ending, detail)
