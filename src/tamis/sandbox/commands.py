"""Drafts that are no Python modules: a command compiles and runs them in the box, and cases of standard input and
output judge them from outside."""

import math
import time
from collections.abc import Sequence
from typing import Any

from tamis.errors import SandboxFault
from tamis.records import Record
from tamis.sandbox import outcomes as out
from tamis.sandbox.box.values import Value
from tamis.sandbox.records import Judged, Ran, TestResult
from tamis.sandbox.supervisor import Box


class Command(Record, frozen=True, kw_only=True):
    """How a draft becomes a program: its bytes are written to `file`, `compile` is called once (where it is not empty),
    `run` for every case, all in the box's own folder."""

    file: str
    run: tuple[str, ...]
    compile: tuple[str, ...] = ()


class Case(Record, frozen=True, kw_only=True):
    """One given test: what the program reads and what it must write. Blanks at the ends of lines and empty lines at the
    end of the text make no difference."""

    name: str
    stdin: str = ""
    stdout: str


def run_draft(box: Box, source: bytes, command: Command, inputs: Sequence[str]) -> Ran:
    """The program on every input; each outcome is one JSON array with the outcome of its one call."""
    started, deaths, cpu, peak_kb = time.monotonic(), 0, 0.0, 0
    found: list[bytes] = []
    settings: dict[str, Any] = {
        "command": True, "file": command.file, "compile": list(command.compile), "run": list(command.run),
        "inputs": list(inputs), "cpu_seconds": math.ceil(box.setup.limits.cpu_seconds),
    }  # fmt: skip
    while len(found) < len(inputs) and deaths < box.setup.limits.deaths:
        child = box.fork(source, start=len(found), **settings)
        ending, detail = child.wait(out.boundaries([1] * (len(inputs) - len(found))))
        ended = child.end(ending, detail)
        if ending == "stopped":
            raise SandboxFault("the run was stopped")
        cpu, peak_kb = cpu + ended.cpu_seconds, max(peak_kb, ended.peak_kb)
        lines = [out.read(line) for line in ended.lines]
        if not lines or lines[0] != ["=", None]:
            why: Value = lines[0] if lines else ["#", ended.ending or "crashed", ended.detail]
            found += [out.whole(1, why)] * (len(inputs) - len(found))
            break
        found += [out.whole(1, line) for line in lines[1:]]
        if len(found) < len(inputs):
            deaths += 1
            found.append(out.whole(1, ["#", ended.ending or "crashed", ended.detail]))
    found += [out.whole(1, out.NOT_REACHED)] * (len(inputs) - len(found))
    return Ran(
        outcomes=tuple(found), cpu_seconds=cpu, wall_seconds=time.monotonic() - started, peak_mb=peak_kb / 1024,
        deaths=deaths, how=box.how,
    )  # fmt: skip


def judge(ran: Ran, cases: Sequence[Case]) -> Judged:
    """Compares, outside, what the program wrote with what it must write."""
    ids = tuple(case.name for case in cases)
    if ran.fault is not None:
        return Judged(expected=ids, fault=ran.fault)
    results = tuple(_compare(case, outcome) for case, outcome in zip(cases, ran.outcomes, strict=True))
    return Judged(
        results=results, expected=ids, cpu_seconds=ran.cpu_seconds, wall_seconds=ran.wall_seconds, peak_mb=ran.peak_mb,
        output=ran.output, how=ran.how,
    )  # fmt: skip


def _compare(case: Case, outcome: bytes) -> TestResult:
    call: Any = out.read(outcome[1:-1])
    if call[0] == "=" and isinstance(call[1], str):
        if _text(call[1]) == _text(case.stdout):
            return TestResult(id=case.name, outcome="passed")
        return TestResult(id=case.name, outcome="failed", witness=f"wrote {call[1][:300]!r}, not {case.stdout[:300]!r}")
    words = call[3] if call[0] == "!" else f"{call[1]}: {call[2]}" if len(call) > 2 else str(call[1])
    return TestResult(id=case.name, outcome="failed", witness=str(words)[:1000])


def _text(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().splitlines()]
