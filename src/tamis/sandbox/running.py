"""One draft on its programs, in as many children as it takes."""

import time
from collections.abc import Sequence

from tamis.errors import SandboxFault
from tamis.sandbox import outcomes as out
from tamis.sandbox.box.values import Value
from tamis.sandbox.child import Ended
from tamis.sandbox.records import Program, Ran
from tamis.sandbox.supervisor import Box


class Work:
    """Programs with what is counted once for all drafts."""

    def __init__(self, programs: Sequence[Program]) -> None:
        self.sizes = [len(program) for program in programs]
        self.count = len(programs)


def run_draft(box: Box, source: bytes, work: Work) -> Ran:
    """All programs of one draft, in as many children as it takes."""
    started, deaths = time.monotonic(), 0
    found: list[bytes] = []
    cpu, peak_kb, output = 0.0, 0, ""
    while True:
        ended = _run_child(box, source, work, start=len(found))
        cpu, peak_kb, output = cpu + ended.cpu_seconds, max(peak_kb, ended.peak_kb), output or ended.output
        found += _outcomes(ended, work.sizes[len(found) :])
        if len(found) >= work.count:
            break
        deaths += 1
        if deaths >= box.setup.limits.deaths:
            found += [out.whole(size, out.NOT_REACHED) for size in work.sizes[len(found) :]]
            break
    return Ran(
        outcomes=tuple(found), cpu_seconds=cpu, wall_seconds=time.monotonic() - started, peak_mb=peak_kb / 1024,
        output=output, deaths=deaths, how=box.how,
    )  # fmt: skip


def _run_child(box: Box, source: bytes, work: Work, *, start: int) -> Ended:
    child = box.fork(source, start=start)
    ending, detail = child.wait(out.boundaries(work.sizes[start:]))
    if ending == "stopped":
        raise SandboxFault("the run was stopped")
    return child.end(ending, detail)


def _outcomes(ended: Ended, sizes: Sequence[int]) -> list[bytes]:
    """What the child did, up to and with the program in which it died."""
    ending: Value = ["#", ended.ending or "crashed", ended.detail]
    lines = out.read_all(ended.lines)
    if not lines or (lines[0] != ["=", None]):
        return [out.whole(size, _at_import(lines[0] if lines else ending)) for size in sizes]
    calls = lines[1:]
    if calls and calls[-1][0] == "#":  # type: ignore[index]
        ending = calls.pop()
    found = list(out.per_program(calls, sizes))
    if len(found) < len(sizes):
        size = sizes[len(found)]
        found.append(out.died_in(calls[sum(sizes[: len(found)]) :], size, ending))
    return found


def _at_import(outcome: Value) -> Value:
    if isinstance(outcome, list) and outcome[0] == "#":
        return ["#", outcome[1], f"at import: {outcome[2]}".removesuffix(": ")]
    return outcome
