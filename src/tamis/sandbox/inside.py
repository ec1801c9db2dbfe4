"""Given tests judged inside the box, where they can't be judged from outside: they pass functions or objects of their
own to the draft, replace parts of it, or look into it.

Such a draft shares a process with its judge, so there are controls. A module that is wrong in everything must fail.
Every expected test must report, once. Beside the owner's tests lie traps with names and values made for this run:
some must fail, some must pass; where one does otherwise the draft has reached its judge, and no test of it counts.
"""

import random
import re
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tamis.errors import CheckError, SandboxFault
from tamis.sandbox import outcomes as out
from tamis.sandbox.child import Ended
from tamis.sandbox.records import Judged, Suite, TestResult
from tamis.sandbox.supervisor import Box

Json = Any
_FILES_MB = 8
_WRONG = b"""
class _Wrong(type):
    def __getattr__(cls, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return _fail

def _fail(*args, **kwargs):
    raise NotImplementedError("this draft is wrong in everything")

def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return _Wrong(name, (Exception,), {"__init__": _fail, "__new__": _fail})
"""
"""A module that has every name, and does nothing right."""


@dataclass
class Seen:
    """What a run of the suite inside reported."""

    collected: list[str] = field(default_factory=list)
    results: dict[str, TestResult] = field(default_factory=dict)
    twice: set[str] = field(default_factory=set)
    broken: list[str] = field(default_factory=list)
    began: str = ""
    over: bool = False
    cpu_seconds: float = 0.0
    peak_kb: int = 0
    output: str = ""


_NEEDS = re.compile(r"fixture '\w+' not found|async def functions are not natively supported|PytestUnknownMark")


class WantsPlugins(Exception):
    """The tests can't be run without the plugins of pytest that are installed here."""


class Inside:
    """Judges drafts in the box. `because` is why it must be so."""

    def __init__(self, suite: Suite, because: str, rng: random.Random, *, plugins: bool) -> None:
        self._suite = suite
        self._plugins = plugins
        self._lock = threading.Lock()
        self._because = because
        self._rng = rng
        self._files = _files(suite)
        self._expected: tuple[str, ...] | None = None

    def judge(self, box: Box, source: bytes) -> Judged:
        started = time.monotonic()
        with self._lock:
            if self._expected is None:
                self._expected = self._control(box)
        trap = Trap(self._rng)
        seen = self._run(box, source, trap)
        expected = self._expected or tuple(i for i in seen.collected if not trap.owns(i))
        results, caught = self._results(seen, expected, trap)
        return Judged(
            results=results, judged="inside", expected=expected, because=caught or self._because,
            cpu_seconds=seen.cpu_seconds, wall_seconds=time.monotonic() - started, peak_mb=seen.peak_kb / 1024,
            output=seen.output, how={**box.how, "tests": "run inside the box"},
        )  # fmt: skip

    def _control(self, box: Box) -> tuple[str, ...]:
        """The wrong draft must fail; the tests that it was collected for are the expected ones."""
        trap = Trap(self._rng)
        seen = self._run(box, _WRONG, trap)
        own = tuple(i for i in seen.collected if not trap.owns(i))
        if not self._plugins and (seen.broken or any(_NEEDS.search(r.witness) for r in seen.results.values())):
            raise WantsPlugins
        passed = [i for i in own if i in seen.results and seen.results[i].outcome == "passed"]
        if own and len(passed) == len(own) and not seen.broken:
            raise CheckError(
                f"the tests in {self._suite.folder} pass a module that does nothing right",
                hint="judged inside the box they can't tell a good draft from a bad one",
            )
        return () if seen.broken else own

    def _run(self, box: Box, source: bytes, trap: "Trap") -> Seen:
        """The suite on one draft; where the draft dies in a test, the others run in a fresh child."""
        seen = Seen()
        for _ in range(box.setup.limits.deaths):
            done = [*seen.results, *([seen.began] if seen.began else [])]
            child = box.fork(
                source, inside=True, files={**self._files, **trap.files()}, done=done, plugins=self._plugins
            )
            ending, detail = child.wait(list(range(1, 100_000)))
            ended = child.end(ending, detail)
            if ending == "stopped":
                raise SandboxFault("the run was stopped")
            _read(seen, ended)
            if seen.over or not seen.began:
                break
            words = f"{ended.ending or 'crashed'}: {ended.detail}".removesuffix(": ")
            seen.results[seen.began] = TestResult(id=seen.began, outcome="failed", witness=words)
        return seen

    def _results(self, seen: Seen, expected: tuple[str, ...], trap: "Trap") -> tuple[tuple[TestResult, ...], str]:
        """A result for every expected test, and what a control caught."""
        missing = "; ".join(seen.broken)[:1000] or "did not report"
        caught = trap.caught(seen)
        if caught and not seen.broken:
            bad = tuple(TestResult(id=i, outcome="error", witness=caught) for i in expected)
            return bad or (TestResult(id="every test", outcome="error", witness=caught),), caught
        results = [seen.results.get(i) or TestResult(id=i, outcome="error", witness=missing) for i in expected]
        return tuple(results) or (TestResult(id="every test", outcome="error", witness=missing),), ""


def _read(seen: Seen, ended: Ended) -> None:
    """Takes in the lines of one child. What no reporter wrote says nothing."""
    seen.cpu_seconds += ended.cpu_seconds
    seen.peak_kb = max(seen.peak_kb, ended.peak_kb)
    seen.output = seen.output or ended.output
    seen.began = ""
    for line in ended.lines:
        value: Json = out.read(line)
        match value[1] if value[0] == "=" else None:
            case ["collected", list() as ids]:
                seen.collected = seen.collected or [str(i) for i in ids]
            case ["not collected", str() as words]:
                seen.broken.append(words)
            case ["began", str() as test]:
                seen.began = test
            case ["ended", str() as test, "passed" | "failed" | "error" | "skipped" as outcome, str() as words]:
                if test in seen.results:
                    seen.twice.add(test)
                seen.results[test] = TestResult(id=test, outcome=outcome, witness=words)
                seen.began = ""
            case ["over"]:
                seen.over = True


class Trap:
    """Tests that lie before and after the owner's: what they must come to is known, and made anew for every draft."""

    def __init__(self, rng: random.Random) -> None:
        self._names = [f"{rng.getrandbits(64):016x}" for _ in range(6)]
        self._numbers = [rng.randrange(10**6, 10**9) for _ in range(4)]

    def files(self) -> dict[str, str]:
        first, second = self._names[:3], self._names[3:]
        return {
            f"test_0{first[0]}.py": self._text(first, 0).hex(),
            f"test_zz{second[0]}.py": self._text(second, 2).hex(),
        }

    def _text(self, names: list[str], at: int) -> bytes:
        a, b = self._numbers[at : at + 2]
        return (
            f"import pytest\ndef test_{names[0]}():\n    x = {a}\n    assert x == {a}\n"
            f"def test_{names[1]}():\n    x = {a}\n    assert x == {a + b}\n"
            f"def test_{names[2]}():\n    with pytest.raises(ZeroDivisionError):\n        {a} + {b}\n"
        ).encode()

    def owns(self, test: str) -> bool:
        return any(name in test for name in self._names)

    def caught(self, seen: Seen) -> str:
        """What of the traps came out otherwise than it must, "" where nothing did."""
        for at in (0, 3):
            for name, must in zip(self._names[at : at + 3], ("passed", "failed", "failed"), strict=True):
                got = next((r.outcome for i, r in seen.results.items() if i.endswith(f"test_{name}")), "did not report")
                if got != must:
                    return f"the draft reached its judge: a trap that must have {must} {got}"
        if seen.twice:
            return f"the draft reached its judge: {sorted(seen.twice)[0]} reported twice"
        return ""


def _files(suite: Suite) -> dict[str, str]:
    """The owner's test folder, file by file, hex."""
    root, found, size = Path(suite.folder), {}, 0
    for path in sorted(root.rglob("*")):
        parts = path.relative_to(root).parts
        if path.is_file() and "__pycache__" not in parts and not parts[0].startswith(".git"):
            size += path.stat().st_size
            if size > _FILES_MB << 20:
                raise CheckError(
                    f"{suite.folder} holds more than {_FILES_MB} MB, too much to be laid into the box",
                    hint='tests that can be judged outside ([tests] judged = "outside") may be of any size',
                )
            found[str(path.relative_to(root))] = path.read_bytes().hex()
    return found
