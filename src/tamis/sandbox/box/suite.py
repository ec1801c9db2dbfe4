"""Given tests run inside the box, in one process with the draft: only for suites that can't be judged from outside.

The draft can then reach what judges it, so this file's word alone is not enough: the supervisor sets traps beside the
tests, counts every report, and says "judged inside" in the evidence.
"""

# A lean interpreter has no pathlib: every module it imports is copied into every child.

from __future__ import annotations

import importlib
import os
import sys

from .values import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would be copied into every child
    from typing import Any, TypeAlias

Json: TypeAlias = "Any"
_QUIET = ("-p", "no:cacheprovider", "-p", "no:terminal", "-p", "no:faulthandler", "--capture=sys", "-o", "addopts=")
_CONFIGS = ("pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")


class Reporter:
    """A pytest plugin: one line when a test begins, one when it has ended."""

    def __init__(self, lines: Any, done: list[str]) -> None:
        self._lines = lines
        self._done = set(done)
        self._phases: list[Any] = []

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self._lines.write(dumps(["=", ["not collected", str(report.longrepr)[-3000:]]]))

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        self._lines.write(dumps(["=", ["collected", [item.nodeid for item in items]]]))
        items[:] = [item for item in items if item.nodeid not in self._done]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._phases = []
        self._lines.write(dumps(["=", ["began", nodeid]]))

    def pytest_runtest_logreport(self, report: Any) -> None:
        self._phases.append(report)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._lines.write(dumps(["=", ["ended", nodeid, *outcome(self._phases)]]))


def outcome(phases: list[Any]) -> tuple[str, str]:
    for report in phases:
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            words = f"{os.path.basename(crash.path)}:{crash.lineno}: {crash.message}" if crash else str(report.longrepr)
            return ("failed" if report.when == "call" else "error"), words[:1000]
    if any(report.skipped for report in phases):
        return "skipped", ""
    return ("passed", "") if phases else ("error", "did not report")


def run(draft: Any, lines: Any, message: Json) -> None:
    """Lays the owner's files and the draft into the scratch folder and runs pytest on them."""
    pytest = importlib.import_module("pytest")
    if not message["plugins"]:
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    here = os.getcwd()
    for name, text in {**message["files"], f".draft/{draft.name}.py": draft.source.hex()}.items():
        path = os.path.join(here, "tests" if not name.startswith(".draft/") else "", name.removeprefix("."))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(bytes.fromhex(text))
    sys.path.insert(0, os.path.join(here, "draft"))
    folder = os.path.join(here, "tests")
    config = next((os.path.join(folder, c) for c in _CONFIGS if c in message["files"]), "/dev/null")
    arguments = [folder, f"--rootdir={folder}", "-c", config, *_QUIET]
    pytest.main(arguments, plugins=[Reporter(lines, message["done"])])
    lines.write(dumps(["=", ["over"]]))
