"""What a verdict costs, side by side in one run: CPU seconds of the whole process tree, medians over rounds.

    python benchmarks/verdicts.py [--small] [--evalplus PYTHON]

Contenders take turns within each round, so a busy machine slows all of them alike; ratios are what to read. EvalPlus is
skipped aloud where neither this interpreter nor the one given has it.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from pathlib import Path

from tamis.sandbox import Call, Program, Sandbox, Suite, encode

ROOT = Path(__file__).resolve().parents[1]
LENDING = ROOT / "examples" / "lending"
LAYERS = ("user", "mount", "pid", "ipc", "uts", "net", "root", "uid", "landlock", "seccomp", "cgroups")
FUNCTION = b"""
def close_pairs(numbers, gap):
    found = []
    for i, a in enumerate(numbers):
        for b in numbers[i + 1:]:
            if abs(a - b) < gap:
                found.append((a, b))
    return len(found)
"""
CASES = [([1.0, 2.5, 2.4, 9.0], 0.5), ([], 1.0), ([3.0] * 8, 0.1)] + [
    ([float(n), n + 0.3, n * 2.0], 0.4) for n in range(7)
]

EVALPLUS = """
import json, resource, sys, time
from evalplus.eval import untrusted_check
code, cases, expected, rounds = json.loads(sys.stdin.read())
def once(n):
    for _ in range(n):
        assert untrusted_check("humaneval", code, cases, "close_pairs", expected, 0, [0.01] * len(cases))[0] == "pass"
once(3)
def used():
    rows = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(row.ru_utime + row.ru_stime for row in rows)
before = used(); once(rounds); print((used() - before) / rounds)
"""


def used() -> float:
    """CPU seconds of this process and of all that it has waited for."""
    rows = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(row.ru_utime + row.ru_stime for row in rows)


def tree(sandbox: Sandbox) -> float:
    """CPU seconds of this process and of the living boxes of a sandbox, with all that those have waited for."""
    pids = [str(pid) for pid in sandbox.pids()]
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += sum(map(int, fields[11:15]))
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


def function_programs(cases: Sequence[tuple[list[float], float]]) -> list[Program]:
    return [(Call(name="close_pairs", args=(encode(numbers), encode(gap))),) for numbers, gap in cases]


def boxed(drafts: int, without: Sequence[str]) -> float:
    """Seconds for a verdict on a function draft with ten cases, the box warm."""
    programs = function_programs(CASES)
    with Sandbox(module="draft", workers=1, without=without) as sandbox:
        dict(sandbox.run({"warm": FUNCTION}, programs))
        before = tree(sandbox)
        for _, ran in sandbox.run({str(n): FUNCTION for n in range(drafts)}, programs):
            assert ran.fault is None and len(ran.outcomes) == len(CASES)
        return (tree(sandbox) - before) / drafts


def evalplus(python: str, drafts: int) -> float | None:
    namespace: dict[str, Callable[..., int]] = {}
    exec(FUNCTION, namespace)
    expected = [namespace["close_pairs"](*case) for case in CASES]
    asked = json.dumps([FUNCTION.decode(), CASES, expected, drafts])
    done = subprocess.run([python, "-c", EVALPLUS], input=asked, capture_output=True, text=True, check=False)
    return float(done.stdout) if done.returncode == 0 else None


def pytest_process(*, plugins: bool) -> float:
    """Seconds for one pytest process on one lending draft."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(LENDING / "drafts" / "draft_01.py", Path(folder) / "lending.py")
        shutil.copy(LENDING / "tests" / "test_lending.py", folder)
        environment = os.environ | ({} if plugins else {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"})
        before = used()
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True)
        return used() - before


def judged(drafts: dict[str, bytes], *, remember: bool) -> tuple[float, float]:
    """Seconds for a verdict of the lending tests: each draft's share of everything from the first process on, and
    what each further draft costs."""
    suite = Suite(folder=str(LENDING / "tests"), module="lending")
    shares = []
    for count in (len(drafts), 3 * len(drafts)):
        names = list(drafts) * 3
        before = used()
        with Sandbox(module="lending", workers=1, without=() if remember else ("same outcomes",)) as sandbox:
            for _, verdict in sandbox.judge({f"{n}/{names[n]}": drafts[names[n]] for n in range(count)}, suite):
                assert verdict.fault is None and len(verdict.results) == 11
        shares.append((count, used() - before))
    (few, little), (many, much) = shares
    return little / few, (much - little) / (many - few)


def inputs_per_second(inputs: int) -> float:
    """Outcomes for each CPU second: one function draft on many inputs."""
    programs = [(Call(name="add", args=(n, n + 1)),) for n in range(inputs)]
    with Sandbox(module="draft", workers=1) as sandbox:
        source = b"def add(a, b):\n    return a + b\n"
        dict(sandbox.run({"warm": source}, programs))
        before = tree(sandbox)
        for _, ran in sandbox.run({str(n): source for n in range(20)}, programs):
            assert len(ran.outcomes) == inputs
        return 20 * inputs / (tree(sandbox) - before)


def calls_per_second(drafts: dict[str, bytes], sequences: int) -> float:
    """Calls for each CPU second: lending drafts on call sequences of ten calls each."""
    programs = [_sequence(n) for n in range(sequences)]
    with Sandbox(module="lending", workers=1) as sandbox:
        dict(sandbox.run(dict(list(drafts.items())[:1]), programs))
        before = tree(sandbox)
        for _, ran in sandbox.run(drafts, programs):
            assert len(ran.outcomes) == sequences
        return len(drafts) * sequences * 10 / (tree(sandbox) - before)


def _sequence(n: int) -> Program:
    day = [encode(date(2026, 3, 1) + timedelta(days=(n * k) % 23)) for k in range(5)]
    desk = Call(name="LendingDesk")
    calls = [
        ("add_tool", "drill"), ("add_member", "ann"), ("lend", "drill", "ann", day[0]),
        ("hold", "drill", "bob", day[1]),
        ("renew", "drill", day[2]), ("give_back", "drill", day[3]), ("owes", "ann"), ("available", "drill", day[4]),
        ("overdue", day[4]),
    ]  # fmt: skip
    return (desk, *(Call(name=name, on=0, args=tuple(args)) for name, *args in calls))


def growth(drafts: int) -> tuple[float, float, float]:
    """MB of the supervisor after a tenth of the drafts and after all, and the peak of one box."""
    programs, peak, early, own = function_programs(CASES), 0.0, 0.0, 0.0
    with Sandbox(module="draft") as sandbox:
        for done, (_, ran) in enumerate(sandbox.run({str(n): FUNCTION for n in range(drafts)}, programs)):
            peak = max(peak, ran.peak_mb)
            if done == drafts // 10:
                early = _resident_mb()
        own = _resident_mb()
    return early, own, peak


def _resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def row(what: str, found: float, unit: str, target: str, ok: bool | None) -> None:
    mark = "" if ok is None else "held" if ok else "NOT HELD"
    print(f"{what:64} {found:12,.2f} {unit:8} {target:28} {mark}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a quick look, for CI")
    parser.add_argument("--evalplus", default=sys.executable, metavar="PYTHON", help="an interpreter that has EvalPlus")
    options = parser.parse_args()
    rounds, drafts, many = (1, 20, 300) if options.small else (3, 200, 10_000)
    sources = {path.name: path.read_bytes() for path in sorted((LENDING / "drafts").glob("*.py"))}

    layered, bare, theirs, ratios, against = [], [], [], [], []
    for _ in range(3 * rounds):  # a shared machine's speed changes from one second to the next
        layered.append(boxed(drafts, ()))
        bare.append(boxed(drafts, LAYERS))
        ratios.append(layered[-1] / bare[-1])
        other = evalplus(options.evalplus, drafts)
        if other is not None:
            theirs.append(other)
            against.append(layered[-1] / other)
    row("function draft, 10 cases, all layers", 1e3 * statistics.median(layered), "ms", "", None)
    row("the same zygote with no layers", 1e3 * statistics.median(bare), "ms", "", None)
    row("  all layers / none", statistics.median(ratios), "", "at most 1.3", statistics.median(ratios) <= 1.3)
    if theirs:
        row("EvalPlus untrusted_check", 1e3 * statistics.median(theirs), "ms", "", None)
        row("  all layers / EvalPlus", statistics.median(against), "", "at most 0.5", statistics.median(against) <= 0.5)
    else:
        print("SKIPPED: EvalPlus is not installed here (--evalplus PYTHON names an interpreter that has it)")

    processes, loaded, fractions, whole, further, unseen = [], [], [], [], [], []
    for _ in range(rounds):
        processes.append(pytest_process(plugins=False))
        loaded.append(pytest_process(plugins=True))
        share, more = judged(sources, remember=True)
        whole.append(share)
        further.append(more)
        unseen.append(judged(sources, remember=False)[1])
        fractions.append(share / loaded[-1])
    row("lending, 11 tests: one pytest process, no plugins", 1e3 * statistics.median(processes), "ms", "", None)
    row("one pytest process, with the plugins installed here", 1e3 * statistics.median(loaded), "ms", "", None)
    row("lending, 11 tests: judged, all starts shared by 40 drafts", 1e3 * statistics.median(whole), "ms", "", None)
    row("  / a pytest process", statistics.median(fractions), "", "at most 0.05", statistics.median(fractions) <= 0.05)
    row("each further draft", 1e3 * statistics.median(further), "ms", "", None)
    part = statistics.median(f / p for f, p in zip(further, processes, strict=True))
    row("  / a pytest process without plugins", part, "", "at most 0.05", part <= 0.05)
    row("each further draft, tests run anew on the same outcomes", 1e3 * statistics.median(unseen), "ms", "", None)

    rate = statistics.median(inputs_per_second(1000) for _ in range(rounds))
    row("1,000 inputs to one function draft", rate, "/CPU s", "at least 50,000 outcomes", rate >= 50_000)
    rate = statistics.median(calls_per_second(sources, 100) for _ in range(rounds))
    row("lending call sequences, 10 calls each", rate, "/CPU s", "at least 10,000 calls", rate >= 10_000)

    early, late, peak = growth(many)
    row("peak memory of a box", peak, "MB", "", None)
    row(f"supervisor after {many // 10:,} drafts", early, "MB", "", None)
    row(f"supervisor after {many:,} drafts", late, "MB", "grown by at most 2 MB", late - early <= 2)
    row(
        "peak memory of the supervisor's process",
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "MB",
        "",
        None,
    )


if __name__ == "__main__":
    main()
