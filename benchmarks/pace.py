"""Does tamis keep up with a writer of a million tokens a second?

Three loads arrive at that speed and take the path that any run takes: the sieve, its desk and a ledger on disk. What
counts is the time from the last token's arrival until the last result of the load's work is on disk, against the time
that writing took. The floor is what reading the bytes and hashing them takes, and nothing else. Then growth: ten and a
hundred times the drafts, as fast as they are taken, with the memory that the process took at most.

    python benchmarks/pace.py [--small] [--load NAME] [--times N] [--growth FACTOR ...] [--speed TOKENS_A_SECOND]
    python benchmarks/pace.py --simulated     the drafts come from `tamis simulate` in another process, over HTTP
    python benchmarks/pace.py --peers         the libraries that this rests on, beside others

With --simulated, server and reader take their share of the same cores, so it is told and not judged. Ends with 1
where a load takes longer than it may, or growth is worse than promised.
"""

import argparse
import asyncio
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from _pace_loads import LOADS, Load, MemoryWriter, Timed
from _pace_peers import table

from tamis.brief import LoadedBrief, load_brief
from tamis.cli.desk import desk_of
from tamis.ledger import Ledger
from tamis.records import AnyRecord, Span, digest
from tamis.sieve import Sieve
from tamis.simulate import Simulated
from tamis.simulate.process import started
from tamis.time.tree import tree
from tamis.writers.base import Written
from tamis.writers.server import ServerWriter

SPEED = 1_000_000.0
"""Tokens a second."""
LAST_WORK = {"endings": "features", "modules": "tests", "ideas": "features"}
"""The span with which a load's work is done; what comes after it is the choice (for modules, nothing)."""
MAY_GROW, MAY_TAKE_MB = 1.3, 2_000.0
STREAMS = 16
"""So many streams of the simulated writer share the speed."""


@dataclass
class Ran:
    """One run. Seconds are on the wall but for `cpu`; `writing` is what the tokens take at the speed, `arriving` what
    they took; `after` is from the last token's arrival until the work was on
    disk, `whole` until the choice was. `parts` are the working seconds and CPU seconds of each stage."""

    drafts: int
    tokens: int
    writing: float
    arriving: float
    work: float
    after: float
    whole: float
    cpu: float
    floor: float
    peak_mb: float
    parts: dict[str, tuple[float, float]] = field(default_factory=dict)


class Watched(Ledger):
    """A ledger that says when the work was on disk: when its last span had been recorded."""

    last_work = ""
    done_at = 0.0

    def add(self, record: AnyRecord) -> None:
        super().add(record)
        if isinstance(record, Span) and record.name == self.last_work:
            self.flush()
            self.done_at = time.monotonic()


def run(load: Load, drafts: Sequence[tuple[Written, int]] | Iterator[tuple[Written, int]], speed: float | None) -> Ran:
    """The load through the sieve, in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="tamis-pace-") as place:
        loaded = load_brief(load.brief(Path(place) / "brief"))
        return _sifted(load, loaded, MemoryWriter(drafts, speed))


def run_simulated(load: Load, drafts: Sequence[tuple[Written, int]], speed: float) -> Ran:
    """The same, written by a server in another process that has the drafts' texts and their speed."""
    with tempfile.TemporaryDirectory(prefix="tamis-pace-") as place:
        texts = Path(place) / "texts.jsonl"
        rows = (json.dumps({"text": written.content.decode()}) + "\n" for written, _ in drafts)
        texts.write_text("".join(rows), encoding="utf-8")
        most = 4 * load.tokens
        simulated = Simulated(
            stream_speed=speed / STREAMS,
            streams=STREAMS,
            first_token_ms=0,
            tokens_per_event=50,
            output_cap=most,
            context=2 * most + 10_000,
            replay=str(texts),
        )
        with started(simulated) as address:
            writer = f"""
[writer]
url = "{address}"
n = {len(drafts)}
streams = {STREAMS}
api = "completions"
max_tokens = {most}
"""
            loaded = load_brief(load.brief(Path(place) / "brief", more=writer))
            return _sifted(load, loaded, Timed(ServerWriter(loaded)))


def _sifted(load: Load, loaded: LoadedBrief, writer: MemoryWriter | Timed) -> Ran:
    with Watched(loaded.folder) as ledger:
        ledger.last_work = LAST_WORK[load.name]
        cpu, began = _cpu_seconds(), time.monotonic()
        with Sieve(loaded, ledger, writer, desk_of("none")) as sieve:
            # what comes after a module's tests is the exploring of behaviour, which is no part of keeping up
            asyncio.run(sieve.check() if load.desk == "software" else sieve.run())
            ledger.flush()
            ended = time.monotonic()
        spans = list(ledger.all(Span))
    return Ran(
        drafts=writer.drafts,
        tokens=writer.tokens,
        writing=writer.tokens / SPEED,
        arriving=writer.last_due - writer.first_at,
        work=ledger.done_at - began,
        after=ledger.done_at - writer.last_due,
        whole=ended - writer.last_due,
        cpu=_cpu_seconds() - cpu,
        floor=writer.floor,
        peak_mb=_peak_mb(),
        parts=_parts(spans),
    )


def _parts(spans: Sequence[Span]) -> dict[str, tuple[float, float]]:
    """Working seconds and CPU seconds by the name of the span; the tests of single drafts count to the tests."""
    known = tree(spans)
    parts: dict[str, tuple[float, float]] = {}
    for span in known.everything():
        parent = next((one for one in spans if one.id == span.parent), None) if span.stage == "tests" else None
        if span.stage == "whole" or span.name == "reading" or (parent is not None and parent.name == "tests"):
            continue
        wall, cpu = parts.get(span.name, (0.0, 0.0))
        parts[span.name] = (wall + max(0.0, span.seconds - span.waited), cpu + (span.cpu_seconds or 0.0))
    return parts


def apart(load: Load, count: int, speed: float | None, *, simulated: bool = False) -> Ran:
    """One run in a process of its own, so that memory and caches are its own too."""
    command = [sys.executable, __file__, "--one", load.name, str(count), str(speed or 0)]
    command += ["--simulated"] if simulated else []
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    if said.returncode:
        raise SystemExit(f"{load.name} with {count:,} drafts failed:\n{said.stderr[-3000:]}")
    return Ran(**json.loads(said.stdout))


def pace(load: Load, times: int, speed: float, *, small: bool, simulated: bool = False) -> bool:
    count = max(10, load.count // 10) if small else load.count
    ran = [apart(load, count, speed, simulated=simulated) for _ in range(times)]
    writing = ran[0].writing * SPEED / speed
    arriving = statistics.median(one.arriving for one in ran)
    how = f" by `tamis simulate` over HTTP, arrived in {arriving:.2f} s" if simulated else ""
    after, floor = (statistics.median(getattr(one, name) for one in ran) for name in ("after", "floor"))
    ratio = after / writing
    print(f"\n{load.name}: {ran[0].drafts:,} drafts, {ran[0].tokens:,} tokens, written in {writing:.2f} s{how}")
    print(f"  {load.work}")
    all_after = ", ".join(f"{one.after:.2f}" for one in sorted(ran, key=lambda one: one.after))
    print(f"  after the last token  {after:.2f} s = {ratio:.2f} × writing (may be {load.must:.1f} ×)   of {all_after}")
    whole, cpu = (statistics.median(getattr(one, name) for one in ran) for name in ("whole", "cpu"))
    print(f"  until the choice      {whole:.2f} s;  CPU {cpu:.2f} s;  peak {max(one.peak_mb for one in ran):,.0f} MB")
    print(f"  floor                 {floor:.3f} s to read the bytes and hash them; {after / floor:,.0f} × that")
    names = sorted(ran[0].parts, key=lambda name: -ran[0].parts[name][1])
    total = statistics.median(one.cpu for one in ran)
    for name in names:
        wall, cpu = (statistics.median(one.parts.get(name, (0.0, 0.0))[at] for one in ran) for at in (0, 1))
        print(f"    {name:<18}{wall:>8.3f} s at work{cpu:>9.3f} s CPU{cpu / total:>7.0%}")
    return small or simulated or ratio <= load.must


def growth(load: Load, factors: Sequence[int], *, small: bool) -> bool:
    base = max(10, load.count // 10) if small else load.count
    print(f"\ngrowth: {load.name}, as fast as they are taken")
    first: Ran | None = None
    fine = True
    for factor in (1, *factors):
        ran = apart(load, base * factor, None)
        first = first or ran
        grown = (ran.cpu / ran.drafts) / (first.cpu / first.drafts)
        fine = fine and (grown <= MAY_GROW or small) and ran.peak_mb <= MAY_TAKE_MB
        wall, cpu = (seconds / ran.drafts * 1e6 for seconds in (ran.work, ran.cpu))
        print(
            f"  {ran.drafts:>9,} drafts  {wall:>9,.0f} µs each, {cpu:>9,.0f} µs CPU ({grown:.2f} ×)"
            f"   peak {ran.peak_mb:>6,.0f} MB"
        )
    return fine


def _cpu_seconds() -> float:
    t = os.times()
    return t.user + t.system + t.children_user + t.children_system


def _peak_mb() -> float:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def floor_of(drafts: Sequence[tuple[Written, int]]) -> float:
    """Seconds to read every byte and hash it, from memory, where the drafts arrive as well."""
    started = time.perf_counter()
    for written, _ in drafts:
        digest(bytes(bytearray(written.content)))
    return time.perf_counter() - started


def one(name: str, count: int, speed: float, *, simulated: bool) -> None:
    """One run, told as JSON. A load that arrives at a speed is made before, so that making it takes no part in it."""
    load = next(load for load in LOADS if load.name == name)
    if speed:
        drafts = list(load.drafts(count))
        ran = run_simulated(load, drafts, speed) if simulated else run(load, drafts, speed)
        ran.floor = floor_of(drafts)
    else:
        ran = run(load, load.drafts(count), None)
    print(json.dumps(asdict(ran)))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="a tenth of the drafts, once, and nothing is judged")
    parser.add_argument("--load", choices=[load.name for load in LOADS], help="this load alone")
    parser.add_argument("--times", type=int, default=5, help="runs whose median is told")
    parser.add_argument(
        "--growth", type=int, nargs="*", metavar="FACTOR", help="so many times the drafts; 10 if not said"
    )
    parser.add_argument("--speed", type=float, default=SPEED, help="tokens a second")
    parser.add_argument("--simulated", action="store_true", help="written by `tamis simulate` in another process")
    parser.add_argument("--peers", action="store_true", help="the libraries that this rests on, beside others")
    parser.add_argument("--one", nargs=3, metavar=("LOAD", "COUNT", "SPEED"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        one(options.one[0], int(options.one[1]), float(options.one[2]), simulated=options.simulated)
        return 0
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count()
    machine, python = platform.processor() or platform.machine(), platform.python_version()
    print(f"{machine}, {cores} cores, Python {python}; load average {os.getloadavg()[0]:.1f}")
    if options.peers:
        table(small=options.small)
        return 0
    loads = [load for load in LOADS if options.load in (None, load.name)]
    times = 1 if options.small else options.times
    fine = [pace(load, times, options.speed, small=options.small, simulated=options.simulated) for load in loads]
    if options.simulated:
        return 0
    factors = ([3] if options.small else [10]) if options.growth is None else options.growth
    fine += [growth(load, factors, small=options.small) for load in loads if factors]
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main())
