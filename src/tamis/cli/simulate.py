"""`tamis simulate`: a server that writes at any speed. A flag goes before the file, the file before what is usual."""

import asyncio
import contextlib
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from tamis.cli import show
from tamis.errors import UsageError
from tamis.records import Record
from tamis.simulate import Batching, Failures, Simulated, Speculation, read_settings
from tamis.simulate.account import Account, StreamReport
from tamis.simulate.explain import implied, loads
from tamis.simulate.presets import Preset, preset, presets
from tamis.simulate.process import collect_rarely
from tamis.simulate.server import serving


def simulate_command(
    *,
    settings: Annotated[Path | None, typer.Option(help="A TOML file of settings.")] = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port; 0 takes any that is free.")] = None,
    model: Annotated[str | None, typer.Option(help="The model's name.")] = None,
    stream_speed: Annotated[float | None, typer.Option(help="Tokens per second of one stream.")] = None,
    as_fast_as_read: Annotated[bool, typer.Option("--as-fast-as-read", help="No rate: as fast as it is read.")] = False,
    first_token_ms: Annotated[float | None, typer.Option(help="Time to first token, for any prompt.")] = None,
    input_speed: Annotated[float | None, typer.Option(help="Prompt tokens read per second.")] = None,
    context: Annotated[int | None, typer.Option(help="Context capacity in tokens.")] = None,
    output_cap: Annotated[int | None, typer.Option(help="Most tokens of one answer.")] = None,
    hide_limits: Annotated[bool, typer.Option("--hide-limits", help="The list of models tells no limits.")] = False,
    streams: Annotated[int | None, typer.Option(help="Streams that write at once.")] = None,
    queue: Annotated[int | None, typer.Option(help="Requests that may wait; more are answered 429.")] = None,
    tokens_per_event: Annotated[int | None, typer.Option(help="Tokens in each event.")] = None,
    length: Annotated[int | None, typer.Option(help="Tokens after which a text ends by itself.")] = None,
    usage: Annotated[str | None, typer.Option(help="When usage is told: asked, always or never.")] = None,
    reasoning: Annotated[int | None, typer.Option(help="Tokens of a chat that come first, as reasoning.")] = None,
    hide_reasoning: Annotated[bool, typer.Option("--hide-reasoning", help="Reasoning is counted, not shown.")] = False,
    replay: Annotated[
        str | None, typer.Option(help="Write these: a folder of drafts, JSONL, or a brief's run.")
    ] = None,
    batching: Annotated[str | None, typer.Option(help="A preset, or ms,ms_per_stream,ms_per_1000_context.")] = None,
    speculation: Annotated[str | None, typer.Option(help="acceptance,draft_length[,draft_cost]: 0.7,4")] = None,
    fail: Annotated[str | None, typer.Option(help="Shares: 429=0.1,5xx=0.05,stall=0.02,cut=0.05")] = None,
    seed: Annotated[int | None, typer.Option(help="The same seed writes and fails the same.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say what the settings imply, and end.")] = False,
    as_json: Annotated[str | None, typer.Option("--json", help="With --explain: to a file, or - for stdout.")] = None,
) -> None:
    """A server that writes at any speed, up to a million tokens a second in one stream. OpenAI's and Anthropic's
    protocols. It is ready when it prints its address."""
    given = {
        "host": host, "port": port, "model": model, "stream_speed": stream_speed, "first_token_ms": first_token_ms,
        "input_speed": input_speed, "context": context, "output_cap": output_cap, "streams": streams, "queue": queue,
        "tokens_per_event": tokens_per_event, "length": length, "usage": usage, "reasoning": reasoning,
        "replay": replay, "seed": seed,
        "announce": False if hide_limits else None,
        "reasoning_shown": False if hide_reasoning else None,
        "speculation": speculation and _speculation(speculation),
        "failures": fail and _failures(fail),
    }  # fmt: skip
    if usage not in (None, "asked", "always", "never"):
        raise UsageError(f"--usage {usage}: it is asked, always or never")
    told = read_settings(settings) if settings else Simulated(port=8000)
    changes: dict[str, object] = {name: value for name, value in given.items() if value is not None}
    published = preset(batching) if batching in presets() else None
    if batching:
        changes |= _batching(batching, published, streams)
    if as_fast_as_read:
        changes["stream_speed"] = None
    told = msgspec.structs.replace(told, **changes)
    if explain:
        _explain(told, published, as_json)
    else:
        with contextlib.suppress(KeyboardInterrupt):  # which is how one ends it
            asyncio.run(_serve(told))


async def _serve(settings: Simulated) -> None:
    collect_rarely()
    account = Account()

    def note(report: StreamReport) -> None:
        account.add(report)
        if report.is_late:
            show.say(str(report))

    try:
        async with serving(settings, report=note) as address:
            show.raw(f"{address}\n".encode())
            show.say("the simulated writer is ready; Ctrl-C ends it")
            await asyncio.Event().wait()
    except asyncio.CancelledError:
        show.say(str(account))


def _explain(settings: Simulated, published: Preset | None, as_json: str | None) -> None:
    if as_json is not None:
        told = {"settings": settings, "loads": loads(settings), "says": list(implied(settings))}
        show.json_to(as_json, msgspec.json.format(msgspec.json.encode(told)))
        return
    for sentence in implied(settings):
        show.line(sentence)
    if published is not None:
        about = published.published
        show.line(f"Batching fitted to {about.what} ({about.source}, {about.date}).")
        show.line(f"The published point farthest from the fitted line is {published.worst_error:.1%} off.")
    table = show.table(">streams at once", ">tokens/s each", ">tokens/s together")
    for load in loads(settings):
        table.add_row(f"{load.streams:,}", f"{load.stream_speed:,.4g}", f"{load.throughput:,.6g}")
    if table.row_count:
        show.line()
        show.out.print(table)


def _numbers(text: str, what: str, least: int, most: int) -> list[float]:
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not least <= len(numbers) <= most:
        raise UsageError(f"{what} {text!r}: {least} to {most} numbers with commas between were expected")
    return numbers


def _batching(text: str, published: Preset | None, streams: int | None) -> dict[str, object]:
    if published is not None:
        return {"batching": published.batching, "streams": streams or published.published.streams}
    if not text[0].isdigit():
        preset(text)  # which says what is known
    a, b, c = (*_numbers(text, "--batching", 1, 3), 0.0, 0.0)[:3]
    return {"batching": Batching(seconds=a / 1e3, seconds_per_stream=b / 1e3, seconds_per_context_token=c / 1e6)}


def _speculation(text: str) -> Record:
    acceptance, length, cost = (*_numbers(text, "--speculation", 2, 3), 0.0)[:3]
    return Speculation(acceptance=acceptance, draft_length=int(length), draft_cost=cost)


def _failures(text: str) -> Record:
    names = {"429": "too_many", "5xx": "broken", "stall": "stall", "cut": "cut", "stall_seconds": "stall_seconds"}
    shares: dict[str, float] = {}
    for part in text.split(","):
        name, _, share = part.partition("=")
        try:
            shares[names[name.strip()]] = float(share)
        except (KeyError, ValueError) as error:
            raise UsageError(f"--fail {part!r}: expected one of {', '.join(names)} with =share") from error
    return msgspec.convert(shares, Failures)
