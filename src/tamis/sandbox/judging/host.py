"""The judge's process: pytest, started and collected once, then forked for each draft.

It runs as a pytest plugin whose test loop waits for drafts. In the fork, pytest's own protocol runs every test, and
what it reports is sent on; this process never sees a line of a draft.
"""

import contextlib
import gc
import inspect
import json
import os
import socket
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tamis.sandbox.judging.proxy import Module, World
from tamis.sandbox.judging.session import Conversation, Session

Json = Any
_CONFIGS = ("pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")


class Judge:
    """The plugin. `pytest_runtestloop` is where pytest hands over."""

    def __init__(self, control: socket.socket, world: World) -> None:
        self._control = control
        self._world = world
        self._errors: list[str] = []
        self._reports: list[Json] = []
        self.served = False

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._errors.append(str(report.longrepr))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._reports.append(report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.served = True
        self.collected([item.nodeid for item in session.items], plugins=_wants_plugins(session))
        if not self._errors and session.items:
            self._serve(session)
        return True

    def collected(self, ids: list[str], *, code: int = 0, plugins: bool = True) -> None:
        """What came of collecting. `plugins`: whether the tests may want what installed plugins of pytest give."""
        world = self._world
        unexplained = bool(self._errors) and not world.why_not and not world.missing
        self.tell({
            "ids": ids, "plugins": plugins or unexplained, "errors": self._errors, "code": code,
            "touched": sorted(world.touched), "missing": world.missing, "unproxyable": world.why_not,
        })  # fmt: skip

    def tell(self, message: Json) -> None:
        raw = json.dumps(message).encode()
        self._control.sendall(len(raw).to_bytes(4, "big") + raw)

    def _serve(self, session: pytest.Session) -> None:
        gc.collect()
        gc.freeze()  # else the first collection in a fork copies every page of pytest
        while True:
            word, fds, _, _ = socket.recv_fds(self._control, 1, 1)
            _reap(wait=not word)
            if not word:
                return
            pid = os.fork()
            if pid == 0:
                self._control.close()
                self._judge(session, socket.socket(fileno=fds[0]))
            os.close(fds[0])
            self.tell({"pid": pid})

    def _judge(self, session: pytest.Session, sock: socket.socket) -> None:
        """All tests on one draft; ends this process."""
        conversation = Conversation(sock)
        with contextlib.suppress(EOFError, OSError):
            start = conversation.receive()
            self._world.apply(start["surface"])
            self._world.session = Session(conversation, start)
            for number, item in enumerate(session.items):
                following = session.items[number + 1] if number + 1 < len(session.items) else None
                conversation.send(self._one(item, following, number + 1))
            own = self._world.session
            told = {"asked": own.asked, "read_messages": own.read_messages}
            conversation.send({"done": True, "cpu": time.process_time(), **told})
        os._exit(0)

    def _one(self, item: pytest.Item, following: pytest.Item | None, ordinal: int) -> Json:
        session = self._world.session
        assert session is not None
        self._reports = []
        session.begin(item.nodeid, ordinal)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        outcome, witness = _outcome(self._reports)
        if session.died and outcome in ("passed", "skipped"):
            outcome, witness = "failed", session.died
        return {
            "test": item.nodeid, "outcome": outcome, "witness": witness, "calls": session.end(),
            "died": session.died, "unproxyable": session.unproxyable,
        }  # fmt: skip


def _wants_plugins(session: pytest.Session) -> bool:
    """Whether a test names a fixture or a mark that nothing here defines, or is a coroutine. Plugins are loaded for
    those who need them only: together they can take longer to import than all tests take to run."""
    known = {line.partition(":")[0].partition("(")[0].strip() for line in session.config.getini("markers")}
    for item in session.items:
        info = getattr(item, "_fixtureinfo", None)
        defined = {"request", *(info.name2fixturedefs if info is not None else ())}
        if set(getattr(item, "fixturenames", ())) - defined:
            return True
        if any(mark.name not in known for mark in item.iter_markers()):
            return True
        if inspect.iscoroutinefunction(getattr(item, "function", None)):
            return True
    return False


def _reap(*, wait: bool) -> None:
    """Takes leave of judges that are done, so that what they used is counted."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, 0 if wait else os.WNOHANG)[0]:
            pass


def _outcome(reports: list[pytest.TestReport]) -> tuple[str, str]:
    """One word for a test's phases, and what a person needs to see."""
    for report in reports:
        if report.failed:
            return ("failed" if report.when == "call" else "error"), _witness(report)
    for report in reports:
        if report.skipped:
            return "skipped", str(getattr(report, "wasxfail", "") or _reason(report))
    return ("passed", "") if reports else ("error", "did not report")


def _reason(report: pytest.TestReport) -> str:
    return str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else ""


def _witness(report: pytest.TestReport) -> str:
    """The line of the test that failed and what was seen: "test_x.py:12: assert f(1) == 2" and pytest's own words."""
    entries = getattr(getattr(report.longrepr, "reprtraceback", None), "reprentries", [])
    crash = getattr(report.longrepr, "reprcrash", None)
    if not entries or crash is None:
        return str(report.longrepr)[:1000]
    lines = [str(line) for line in getattr(entries[-1], "lines", [])]
    source = next((line.strip("> ").strip() for line in lines if line.startswith(">")), "")
    where = getattr(entries[-1], "reprfileloc", None)
    place = f"{Path(where.path).name}:{where.lineno}" if where is not None else ""
    seen = "\n".join(line[1:].strip() for line in lines if line.startswith("E"))
    return f"{place}: {source}\n{seen or crash.message}".strip()[:1000]


def arguments(folder: str) -> list[str]:
    """How pytest is called: on this folder alone, with the configuration that lies in it or beside it, if any."""
    config = next((str(c) for name in _CONFIGS if (c := Path(folder) / name).exists()), os.devnull)
    quiet = ["-p", "no:cacheprovider", "-p", "no:terminal", "-p", "no:faulthandler", "--capture=sys"]
    return [folder, f"--rootdir={folder}", "-c", config, *quiet, "--import-mode=prepend", "-o", "addopts="]


def main(descriptor: int) -> None:
    sys.dont_write_bytecode = True
    control = socket.socket(fileno=descriptor)
    size = int.from_bytes(control.recv(4), "big")
    raw = bytearray()
    while len(raw) < size:
        raw += control.recv(size - len(raw))
    setup = json.loads(raw)
    world = World(setup["module"])
    world.apply(setup["surface"])
    sys.modules[setup["module"]] = Module(world)
    judge = Judge(control, world)
    code = pytest.main(arguments(setup["folder"]), plugins=[judge])
    if not judge.served:
        judge.collected([], code=int(code))
