"""Given tests, judged outside the box: for each draft a fork of the collected suite, and a child in the box.

What the tests called of an earlier draft is run in the box first, all of it in one go; then the suite is run against
what came of it (`tamis.sandbox.judging`). Where a test asks something else, a child that has made the same calls up to
there answers. The suite is collected once for each shape that the drafts' modules have in what the tests touch.
"""

import json
import re
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tamis.errors import CheckError
from tamis.records import digest
from tamis.sandbox.foresee import SURFACE, Seen, foresee
from tamis.sandbox.judge_host import Host
from tamis.sandbox.judging.session import OPERATORS
from tamis.sandbox.judging_draft import Judging, MustBeInside
from tamis.sandbox.records import Judged, Suite, TestResult
from tamis.sandbox.supervisor import Box

Json = Any


@dataclass
class Foreseen:
    """What the tests called when last seen, in the order of the tests, and which version of that it is."""

    calls: dict[str, Json] = field(default_factory=dict)
    settled: set[str] = field(default_factory=set)
    version: int = 0

    def learn(self, test: str, calls: Json, passed: bool) -> None:
        """A passing run shows all that a test calls; a failing one only how far it came."""
        known = self.calls.get(test)
        if test in self.settled or (known is not None and len(known) >= len(calls) and not passed):
            return
        if passed:
            self.settled.add(test)
        if known != calls:
            self.calls[test] = calls
            self.version += 1


class Outside:
    """Judges the drafts of one suite from outside. Several threads use it, each with its own box."""

    def __init__(self, suite: Suite, *, remember: bool = True) -> None:
        self._suite = suite
        self._remember = remember
        self._hosts: dict[str, Host] = {}
        self._foreseen: dict[str, Foreseen] = {}
        self._touched: set[str] = set()
        self._unproxyable: dict[str, str] = {}
        """Shapes of modules whose tests can't be judged from outside, with why."""
        self._last = ""
        self._loaded: dict[Box, tuple[str, int]] = {}
        self._lock = threading.Lock()
        self._verdicts: dict[str, tuple[TestResult, ...]] = {}
        self.expected: tuple[str, ...] = ()
        self.plugins = False
        self._spare: Host | None = Host(suite, plugins=False)

    def close(self) -> None:
        if self._spare is not None:
            self._spare.close()
        for host in self._hosts.values():
            host.close()
        self._hosts = {}

    def judge(self, box: Box, source: bytes, *, code: bytes = b"") -> Judged:
        """`code` is what the parser has made of the source already, where it has."""
        started = time.monotonic()
        with self._lock:
            shape, calls, version = self._last, *self._now(self._last)
        if self._loaded.get(box) != (shape, version):
            box.load_plain([[SURFACE], *calls.values()])
            self._loaded[box] = (shape, version)
        seen = foresee(box, source, [(test, len(made)) for test, made in calls.items()], code=code)
        if seen.surface is None:
            return self._broken(seen, "the draft can't be imported", started, box)
        host, key = self._host(seen.surface)
        if host is None:
            return self._broken(seen, f"the draft lacks what the tests import: {key}", started, box)
        if key != shape:
            seen.outcomes, calls = {}, {}
        known = self._known(key, version, seen)
        judging = Judging(host, box, source, seen, calls, code=code)
        results = known or tuple(judging.run())
        if not known:
            self._learn(key, version, judging, results)
        return Judged(
            results=results, expected=tuple(host.collected["ids"]), cpu_seconds=seen.cpu_seconds + judging.cpu_seconds,
            wall_seconds=time.monotonic() - started, peak_mb=max(seen.peak_kb, judging.peak_kb) / 1024,
            output=seen.output, how={**box.how, "tests": "as run on the same outcomes" if known else "run"},
        )  # fmt: skip

    def _known(self, key: str, version: int, seen: Seen) -> tuple[TestResult, ...] | None:
        """The verdict, where the tests were run on exactly these outcomes of another draft: they see nothing else."""
        for messages in (False, True):
            if verdict := self._verdicts.get(_verdict_key(key, version, seen, messages=messages)):
                return verdict
        return None

    def _now(self, shape: str) -> tuple[dict[str, Json], int]:
        known = self._foreseen.get(shape)
        return (dict(known.calls), known.version) if known else ({}, 0)

    def _learn(self, key: str, version: int, judging: Judging, results: tuple[TestResult, ...]) -> None:
        with self._lock:
            if judging.repeatable and self._remember:
                name = _verdict_key(key, version, judging.seen, messages=judging.read_messages)
                self._verdicts[name] = results
            known = self._foreseen.setdefault(key, Foreseen())
            for test, calls, passed in judging.made:
                known.learn(test, calls, passed)
            self._last = key

    def _host(self, surface: Json) -> tuple[Host | None, str]:
        """The judge whose suite was collected with a module of this shape. None where the draft lacks a name that the
        tests import."""
        with self._lock:
            key = self._key(surface)
            if key in self._unproxyable:
                raise MustBeInside(self._unproxyable[key])
            if key not in self._hosts:
                host = self._start(surface[1])
                self._touched |= set(host.collected["touched"])
                key = self._key(surface)
                if why := host.collected["unproxyable"]:
                    host.close()
                    self._unproxyable[key] = why
                    raise MustBeInside(why)
                lacking = host.collected["missing"]
                if not host.collected["ids"] or host.collected["errors"]:
                    said = "\n".join(host.collected["errors"]) or host.words()
                    host.close()
                    if lacking:
                        return None, ", ".join(sorted(set(lacking)))
                    raise CheckError(_not_collected(self._suite, said, host.collected["code"]))
                self._hosts[key] = host
                self.expected = self.expected or tuple(host.collected["ids"])
            return self._hosts[key], key

    def _start(self, surface: Json) -> Host:
        """Without the plugins that happen to be installed, where the tests do not want them."""
        host, self._spare = self._spare or Host(self._suite, plugins=self.plugins), None
        host.collect(surface)
        if host.collected["plugins"] and not self.plugins:
            host.close()
            self.plugins = True
            host = Host(self._suite, plugins=True)
            host.collect(surface)
        return host

    def _key(self, surface: Json) -> str:
        """The shape of a module in what the tests touch: kinds of names, constants, and what exceptions derive from."""
        natures = dict(surface[1])
        if not self._touched:
            return "?" + digest(json.dumps(surface[1]))
        return digest(json.dumps([[n, _shape(natures.get(n), natures)] for n in sorted(self._touched)]))

    def _broken(self, seen: Seen, why: str, started: float, box: Box) -> Judged:
        """A draft that no test can be run on: every test that is known fails for that reason."""
        witness = f"{why}: {seen.import_error}" if seen.import_error else why
        ids = self.expected or ("every test",)
        return Judged(
            results=tuple(TestResult(id=i, outcome="error", witness=witness) for i in ids), expected=self.expected,
            cpu_seconds=seen.cpu_seconds, wall_seconds=time.monotonic() - started, peak_mb=seen.peak_kb / 1024,
            output=seen.output, how=box.how,
        )  # fmt: skip


def _verdict_key(shape: str, version: int, seen: Seen, *, messages: bool) -> str:
    """The name of all that the tests see of a draft. Exception messages count only where a test has looked at one."""
    lines = [line for lines in seen.outcomes.values() for line in lines]
    if not messages:
        lines = [json.dumps(json.loads(line)[:3]) if line.startswith('["!"') else line for line in lines]
    return digest(shape, str(version), str(messages), json.dumps(_operators(seen.surface[1], lines)), *lines)


def _operators(surface: Json, lines: Sequence[str]) -> Json:
    """The operators of every class whose objects the tests hold: whether `if desk:` asks the draft depends on them."""
    held = {name for line in lines for name in _HELD.findall(line)}
    return sorted([n[2], [d for d in n[4] if d in OPERATORS]] for _, n in surface if n[0] == "class" and n[2] in held)


_HELD = re.compile(r'\["(?:object|data|named|enum|sub)","([^"]+)"')


def _shape(nature: Json, natures: Mapping[str, Json]) -> Json:
    if nature is None or nature[0] != "class":
        return nature
    _, module, name, bases, _, _, members = nature
    return [
        "class",
        module,
        name,
        [[m, n, _shape(natures.get(n), natures) if not m else None] for m, n in bases],
        members,
    ]


def _not_collected(suite: Suite, said: str, code: int) -> str:
    if code == 5 or not said:
        return f"no tests were found in {suite.folder}"
    return f"the tests in {suite.folder} can't be collected:\n{said}"
