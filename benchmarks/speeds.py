"""The four speeds, measured where they are known: the simulated writer set to speeds, and what the meter says of them.

    python benchmarks/speeds.py [--small] [--only writer,stream,input,throughput,limits,peers]
        [--aiperf PATH --guidellm PATH --tokenizer FOLDER]

`writer` has the simulated writer read by a reader that is not tamis's. Where AIPerf's and GuideLLM's commands are
given, `peers` puts them on the same server. Timings on shared machines are noisy: medians are printed.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from statistics import median

from _speeds_peers import aiperf, guidellm

from tamis.simulate import Batching, Simulated
from tamis.simulate.process import started
from tamis.speed import Budget, find_source, measure
from tamis.speed.ceiling import Ceiling, own_ceiling
from tamis.speed.figures import Figure
from tamis.speed.meter import Part, Speeds
from tamis.speed.told import value_of

READER = Path(__file__).with_name("_speeds_raw.py")
PARTS = ("writer", "stream", "input", "throughput", "limits", "peers")
BIG = {"output_cap": 10**7, "context": 10**8}


def main() -> None:
    options = _options()
    ceiling = own_ceiling()
    print(
        f"this meter's own ceiling here: {ceiling.stream:,.0f} tokens/s of one stream, {ceiling.together:,.0f} of many"
    )
    run = {
        "writer": lambda: writer(options.small),
        "stream": lambda: stream(options.small, ceiling),
        "input": lambda: inputs(options.small, ceiling),
        "throughput": lambda: throughput(options.small, ceiling),
        "limits": limits,
        "peers": lambda: peers(options),
    }
    for part in PARTS:
        if part in options.only.split(","):
            run[part]()


def writer(small: bool) -> None:
    """Does the simulated writer keep its rates, by a reader that is not ours?"""
    print("\nthe simulated writer, read by bare sockets in another process (medians)")
    times = 1 if small else 5
    runs = [_read(1e6, 1, 2_000_000, 30) for _ in range(times)]
    _say("1 stream × 1,000,000/s, 2 s", 1e6, [_rate(one[0]) for one in runs], "within 1 %")
    many = 500 if small else 10_000
    told = [_read(100.0, many, 1000, 60) for _ in range(1 if small else 3)]
    _say(f"{many:,} streams × 100/s, together", 100.0 * many, [_together(one) for one in told], "within 2 %")
    within = [sum(abs(_rate(s) / 100 - 1) < 0.05 for s in one) / len(one) for one in told]
    worst = [max(abs(_rate(s) / 100 - 1) for s in one) for one in told]
    per_read = [sum(s["tokens"] for s in one) / sum(s["reads"] for s in one) for one in told]

    spread = f"{median(within):.2%} within 5 %, the worst {median(worst):.2%} off"
    print(f"    each stream: {spread}; {median(per_read):.0f} tokens a read")
    slow = [_read(100.0, 1, 300, 10)[0] for _ in range(times)]
    _say("1 stream × 100/s", 100.0, [_rate(one) for one in slow], "within 0.5 %")
    gaps = [abs(gap - 0.01) * 1000 for one in slow for gap in one["gaps"]]
    print(
        f"    between tokens: {sum(gap < 2 for gap in gaps) / len(gaps):.1%} within 2 ms of 10 ms, "
        f"the worst {max(gaps):.2f} ms off"
    )


def _read(speed: float, streams: int, tokens: int, seconds: float) -> list[dict]:
    settings = Simulated(stream_speed=speed, first_token_ms=200 if streams == 1 else 4000, **BIG)
    with started(settings) as url:
        port = url.rpartition(":")[2]
        command = [sys.executable, str(READER), port, str(streams), str(tokens), str(seconds)]
        return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["streams"]


def _rate(stream: dict) -> float:
    return stream["after_first"] / (stream["last"] - stream["first"])


def _together(streams: list[dict]) -> float:
    """All tokens after each stream's first read, over each one's own time: the sum of their rates."""
    return sum(_rate(one) for one in streams)


def _say(what: str, truth: float, found: list[float], wanted: str) -> None:
    middle = median(found)
    print(f"  {what:<36} {middle:>14,.1f} tokens/s   {middle / truth - 1:+.3%}   ({wanted}; {len(found)} runs)")


def stream(small: bool, ceiling: Ceiling) -> None:
    """Stream speed over a grid of speeds, tokens per event and usage told or not."""
    print("\nstream speed: the meter's error")
    print(f"  {'set':>12} {'an event':>9} {'usage':>6} {'measured':>22} {'error':>9}  flags")
    rates = (100.0, 100_000.0) if small else (10.0, 100.0, 1_000.0, 10_000.0, 100_000.0, 1_000_000.0)
    for rate in rates:
        for per_event in (1, 10) if small else (1, 10, 100):
            if per_event > rate:
                continue  # an event would take longer than a run
            for usage in ("asked", "never"):
                settings = Simulated(stream_speed=rate, tokens_per_event=per_event, usage=usage, **BIG)
                speeds = _measured(settings, ("stream",), 3_000_000 if rate < 1e5 else 20_000_000, ceiling)
                row = f"  {rate:>12,.0f} {per_event:>9} {'yes' if usage == 'asked' else 'no':>6}"
                print(row, _compared(speeds.stream, rate))


def inputs(small: bool, ceiling: Ceiling) -> None:
    """Input speed, growing and fixed."""
    print("\ninput speed: the meter's error")
    for speed in (20_000.0, None) if small else (2_000.0, 20_000.0, 200_000.0, 1_000_000.0, None):
        settings = Simulated(stream_speed=1000, input_speed=speed, context=2_000_000)
        found = _measured(settings, ("input",), 4_000_000, ceiling).input
        print(f"  {'a fixed delay' if speed is None else f'{speed:,.0f}':>14}", _compared(found, speed))


def throughput(small: bool, ceiling: Ceiling) -> None:
    """All streams together: independent ones, and a batch."""
    print("\nthroughput: the meter's error at each load")
    fixed = Simulated(stream_speed=50, **BIG)
    batch = Simulated(batching=Batching(seconds=0.010, seconds_per_stream=0.0005), **BIG)
    most = 16 if small else 512
    for name, settings in (("independent, 50/s each", fixed), ("a batch, 10 ms + 0.5 ms a stream", batch)):
        speeds = _measured(settings, ("throughput",), 3_000_000, ceiling, most)
        print(f"  {name}: {value_of(speeds.throughput)}, flags: {'; '.join(speeds.throughput.flags) or 'none'}")
        for point in speeds.together.points if speeds.together else []:
            each = 50.0 if settings.batching is None else 1 / settings.batching.step_seconds(point.streams, 0)
            print(
                f"    {point.streams:>4} streams: together {point.throughput:>10,.1f} "
                f"({point.throughput / (each * point.streams) - 1:+.2%}), "
                f"each {point.stream_speed:>8,.2f} ({point.stream_speed / each - 1:+.2%})"
            )


def limits() -> None:
    """Context capacity and output cap, announced and not."""
    print("\nlimits")
    for context, cap, announce in ((8192, 1024, True), (131_072, 32_768, True), (20_000, 4096, False)):
        settings = Simulated(context=context, output_cap=cap, announce=announce, stream_speed=1000)
        speeds = _measured(settings, ("limits",), 2_000_000, None)
        print(
            f"  set {context:>7,} and {cap:>6,}: {value_of(speeds.context)} and {value_of(speeds.output_cap)}", end="  "
        )
        print(f"({speeds.context.flags[0]}; {speeds.spent_tokens:,} tokens)")


def peers(options: argparse.Namespace) -> None:
    """Stream speed by AIPerf and GuideLLM on the same settings."""
    if not (options.aiperf or options.guidellm) or not options.tokenizer:
        print("\npeers: skipped; give --aiperf, --guidellm and --tokenizer")
        return
    print("\nstream speed of the same server by the meter and its peers (error; – where they report nothing)")
    print(f"  {'set':>12} {'an event':>9} {'usage':>6} {'meter':>12} {'AIPerf':>12} {'GuideLLM':>12}")
    grid = (
        (100.0, 1, True),
        (10_000.0, 1, True),
        (100_000.0, 1, True),
        (1_000_000.0, 1, True),
        (1000.0, 10, True),
        (1000.0, 10, False),
    )
    for rate, per_event, usage in grid[:1] if options.small else grid:
        settings = Simulated(stream_speed=rate, tokens_per_event=per_event, usage="asked" if usage else "never", **BIG)
        tokens = int(min(max(rate, 200), 200_000))
        ours = _measured(settings, ("stream",), 20_000_000, None).stream.value
        with started(settings) as url:
            theirs = [
                aiperf(options.aiperf, options.tokenizer, url, tokens, usage=usage) if options.aiperf else None,
                guidellm(options.guidellm, options.tokenizer, url, tokens) if options.guidellm else None,
            ]
        errors = " ".join(f"{'–' if found is None else f'{found / rate - 1:+.2%}':>12}" for found in (ours, *theirs))
        print(f"  {rate:>12,.0f} {per_event:>9} {'yes' if usage else 'no':>6} {errors}", flush=True)


def _measured(
    settings: Simulated, parts: tuple[Part, ...], tokens: int, ceiling: Ceiling | None, most_streams: int = 64
) -> Speeds:
    with started(settings) as url:
        budget = Budget(tokens, 240)
        source = find_source(url, model="simulated", api="chat", key=None, extra={}, budget=budget)
        own = None if ceiling is None else (lambda: ceiling)
        return measure(source, budget, parts=parts, most_streams=most_streams, ceiling=own)


def _compared(figure: Figure, truth: float | None) -> str:
    if figure.value is None or truth is None:
        return f"{value_of(figure):>22} {'':>9}  {'; '.join(figure.flags)}"
    return f"{value_of(figure):>22} {figure.value / truth - 1:>+9.3%}  {'; '.join(figure.flags)}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--aiperf", type=Path)
    parser.add_argument("--guidellm", type=Path)
    parser.add_argument("--tokenizer", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
