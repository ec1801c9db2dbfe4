"""One draft before the judge: the conversation between the forked tests and the draft in its box."""

import contextlib
import json
import os
import signal
import socket
from collections.abc import Mapping
from typing import Any

from tamis.errors import SandboxFault
from tamis.sandbox import outcomes as out
from tamis.sandbox import watch
from tamis.sandbox.child import Child, Ended
from tamis.sandbox.foresee import Seen, own_end
from tamis.sandbox.judge_host import Host, Lines
from tamis.sandbox.records import TestResult
from tamis.sandbox.supervisor import Box

Json = Any
_JUDGE_CPU_SECONDS = 60.0
"""What the tests themselves may use on one draft: they may wait in a loop for what never comes."""


class MustBeInside(Exception):
    """The suite does with a draft what can't be done from outside."""


class Judging:
    """One draft before the judge."""

    def __init__(
        self, host: Host, box: Box, source: bytes, seen: Seen, calls: Mapping[str, Json], *, code: bytes = b""
    ) -> None:
        self._host, self._box, self._source, self.seen, self._calls = host, box, source, seen, calls
        self._code = code
        self._live: Child | None = None
        self.made: list[tuple[str, Json, bool]] = []
        self.cpu_seconds = 0.0
        self.peak_kb = 0
        self._unproxyable = ""
        self.repeatable = False
        self.read_messages = True

    def run(self) -> list[TestResult]:
        """The result of every expected test. Raises MustBeInside where a test can't be judged from outside."""
        pid, sock = self._host.fork()
        results: dict[str, TestResult] = {}
        why = "did not report"
        try:
            start = {"surface": self.seen.surface[1], "stateless": not self.seen.surface[0]}
            self._send(sock, {**start, "calls": self._calls, "outcomes": self.seen.outcomes})
            why = self._converse(pid, sock, results) or why
        finally:
            self._end_live()
            sock.close()
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if self._unproxyable:
            raise MustBeInside(self._unproxyable)
        ids = self._host.collected["ids"]
        return [results.get(i) or TestResult(id=i, outcome="error", witness=why) for i in ids]

    def _send(self, sock: socket.socket, message: Json) -> None:
        sock.sendall(json.dumps(message).encode() + b"\n")

    def _converse(self, pid: int, sock: socket.socket, results: dict[str, TestResult]) -> str | None:
        """Answers the judge until it is done. Returns why it is not, where it is not."""
        eye = watch.Watch(pid, _JUDGE_CPU_SECONDS, _JUDGE_CPU_SECONDS, _JUDGE_CPU_SECONDS)
        lines = Lines(sock)
        while True:
            while (line := lines.next(watch.LOOK_SECONDS)) is None:
                if self._box.dead:
                    raise SandboxFault("the run was stopped")
                if eye.look(len(results)):
                    return f"timed out: the test used {_JUDGE_CPU_SECONDS:g} CPU seconds with what this draft gave it"
            if not line:
                return "the tests ended their own process"
            message = json.loads(line)
            if "call" in message:
                index, call = message["call"]
                self._send(sock, {"line": self._answer(index, call, message["history"])})
            elif "test" in message:
                self._note(message, results)
            else:
                self.cpu_seconds += message["cpu"]
                self.repeatable, self.read_messages = not message["asked"], message["read_messages"]
                return None

    def _note(self, message: Json, results: dict[str, TestResult]) -> None:
        test, outcome = message["test"], message["outcome"]
        self._unproxyable = self._unproxyable or message["unproxyable"]
        results[test] = TestResult(id=test, outcome=outcome, witness=message["witness"])
        if message["calls"] is not None:
            self.made.append((test, message["calls"], outcome == "passed"))

    # calls that were not foreseen

    def _answer(self, index: int, call: Json, history: Json) -> str:
        if history is not None:
            self._end_live()
            if self.seen.deaths >= self._box.setup.limits.deaths:
                return '["#","not reached",""]'
            self._start_live(history)
        child = self._live
        if child is None:
            return '["#","not reached","it ended before"]'
        said = child.ask(index, call)
        if isinstance(said, bytes):
            return out.sensible(said)
        return self._died(said)

    def _start_live(self, history: Json) -> None:
        """A child that has made the calls of `history`, and waits for the next."""
        child = self._box.fork(self._source, code=self._code, programs=[history], fresh=False, live=True)
        self._live = child
        ending, detail = child.wait([len(history) + 1], live=True)
        if ending != "ready":
            self._died((ending, detail))

    def _died(self, said: tuple[str | None, str]) -> str:
        ended = self._end_live(*said)
        self.seen.deaths += 1
        if ended is None:
            return '["#","not reached",""]'
        if ended.ending is None or ended.ending == "died":
            return own_end(ended)
        return json.dumps(["#", ended.ending, ended.detail])

    def _end_live(self, ending: str | None = "over", detail: str = "") -> Ended | None:
        child, self._live = self._live, None
        if child is None:
            return None
        ended = child.end(ending, detail)
        self.seen.add(ended)
        return ended
