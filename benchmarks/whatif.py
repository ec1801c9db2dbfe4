"""Is the what-if right? A small workflow is run for real, changed, and run again; what was predicted from the first run
stands beside what then happened.

The workflow: three calls that each wait for the one before, then eight drafts side by side, each tested when it is
written (two at a time), then a choice. The writer is `tamis simulate` in a process of its own, at a set speed. A test
takes a fixed time, so that the table shows the prediction's error and not the noise of the machine's other work.

    python benchmarks/whatif.py [--small]

Ends with 1 where a prediction is further off than 5 %.
"""

import argparse
import asyncio
import contextlib
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tamis.clock import Clock, Spans
from tamis.records import Span
from tamis.simulate.process import started
from tamis.simulate.settings import Simulated
from tamis.time.account import account
from tamis.time.whatif import Changes, what_if

FIRST_TOKEN_SECONDS = 0.05
ALLOWED = 0.05
PROMPT = [{"role": "user", "content": "Write."}]
TOKEN = b'"delta":{"content":'
"""What each event of a token holds, and the first one, which says the role, does not."""


@dataclass(frozen=True)
class Setting:
    """How the workflow is run. The speed is in tokens per second of one stream."""

    stream_speed: float = 100.0
    streams: int = 8
    cores: int = 2
    test_seconds: float = 0.5
    chain_tokens: int = 120
    draft_tokens: int = 200


@contextlib.contextmanager
def writer_process(setting: Setting) -> Iterator[int]:
    """The simulated writer in a process of its own, by its port."""
    simulated = Simulated(
        stream_speed=setting.stream_speed, streams=setting.streams, queue=100, first_token_ms=1000 * FIRST_TOKEN_SECONDS
    )
    with started(simulated) as address:
        yield int(address.rstrip("/").rpartition(":")[2])


# The workflow, recorded as any run is.


class Workflow:
    def __init__(self, setting: Setting, port: int, spans: Spans) -> None:
        self.setting, self.port, self.spans = setting, port, spans
        self.writing = asyncio.Semaphore(setting.streams)
        self.testing = asyncio.Semaphore(setting.cores)

    async def run(self) -> None:
        with self.spans.span("whole", "workflow"):
            before: tuple[str, ...] = ()
            for number in range(3):
                before = (await self.call(f"call {number + 1}", self.setting.chain_tokens, after=before),)
            tests = await asyncio.gather(*(self.draft(f"draft {n + 1}", before) for n in range(8)))
            with self.spans.span("ranking", "choose", after=tuple(tests)):
                await asyncio.sleep(0.05)

    async def draft(self, name: str, after: tuple[str, ...]) -> str:
        written = await self.call(name, self.setting.draft_tokens, after=after)
        async with self.testing:
            with self.spans.span("tests", f"test of {name}", after=(written,), resource="core") as span:
                await asyncio.sleep(self.setting.test_seconds)
        return span.id

    async def call(self, name: str, tokens: int, *, after: tuple[str, ...]) -> str:
        async with self.writing:
            with self.spans.span("writing", name, after=after, resource="writer") as span:
                reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
                body = json.dumps({"model": "any", "stream": True, "max_tokens": tokens, "messages": PROMPT}).encode()
                head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: here\r\nContent-Length: {len(body)}\r\n"
                head += "Connection: close\r\n\r\n"
                writer.write(head.encode() + body)
                while chunk := await reader.read(1 << 20):
                    events = chunk.count(TOKEN)
                    if events and span.first_token_at is None:
                        span.first_token_at = self.spans.clock.now()
                    span.tokens_out += events
                writer.close()
        assert span.tokens_out == tokens, f"{span.tokens_out} tokens came of {tokens}"
        return span.id


def recorded(setting: Setting) -> list[Span]:
    spans: list[Span] = []
    with writer_process(setting) as port:
        asyncio.run(Workflow(setting, port, Spans(Clock(), spans.append)).run())
    return spans


def cases(base: Setting) -> list[tuple[str, Changes, Setting]]:
    """What is changed, for the what-if and for real."""
    faster = [
        (f"streams of {speed:,.0f} tokens/s", Changes(stream_speed=speed), replace(base, stream_speed=speed))
        for speed in (100.0, 1_000.0, 10_000.0, 1_000_000.0)
    ]
    return [
        *faster,
        ("2 streams instead of 8", Changes(places={"writer": 2}), replace(base, streams=2)),
        (
            "2 streams of 1,000 tokens/s",
            Changes(stream_speed=1_000.0, places={"writer": 2}),
            replace(base, stream_speed=1_000.0, streams=2),
        ),
        ("tests in half the time", Changes(stages={"tests": 0.5}), replace(base, test_seconds=base.test_seconds / 2)),
        ("8 cores instead of 2", Changes(places={"core": 8}), replace(base, cores=8)),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--small", action="store_true", help="shorter texts, each change run twice instead of four times"
    )
    options = parser.parse_args(arguments)
    base = Setting(chain_tokens=40, draft_tokens=60, test_seconds=0.3) if options.small else Setting()
    first = recorded(base)
    print(f"recorded: {account(first).total_seconds:.3f} s, {sum(s.tokens_out for s in first):,} tokens; from it:")
    print(f"{'change':<40}{'predicted':>12}{'happened':>12}{'off by':>9}")
    worst = 0.0
    for name, changes, setting in cases(base):
        predicted = what_if(first, changes).changed.seconds
        # the best of some runs: what the machine's other work adds to one is no part of the workflow
        happened = min(account(recorded(setting)).total_seconds for _ in range(2 if options.small else 4))
        off = predicted / happened - 1
        worst = max(worst, abs(off))
        print(f"{name:<40}{predicted:>10.3f} s{happened:>10.3f} s{off:>+9.1%}")
    print(f"worst: {worst:.1%}, allowed: {ALLOWED:.0%}")
    return int(worst > ALLOWED)


if __name__ == "__main__":
    sys.exit(main())
