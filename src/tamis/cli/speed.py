"""`tamis speed`: which of the four speeds is what, for any server, how sure that is, and what could not be seen."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec
import typer

from tamis.cli import show
from tamis.errors import UsageError, nearest
from tamis.report.speed_page import speed_page
from tamis.speed import Budget, Speeds, find_source, measure
from tamis.speed.cards import Card, card
from tamis.speed.ceiling import Ceiling, own_ceiling
from tamis.speed.dialect import PATHS, Api
from tamis.speed.embedded import Row, embedded_source, measure_loads, served
from tamis.speed.meter import PARTS, Part
from tamis.speed.source import Source
from tamis.speed.throughput import Point
from tamis.speed.told import NAMES, as_json, beside, figures, interval_of, value_of
from tamis.writers.embedded.model import find_model, most_threads


def speed_command(
    *,
    url: Annotated[str | None, typer.Argument(help="The server's address, such as http://127.0.0.1:8000.")] = None,
    model: Annotated[str | None, typer.Option(help="The model; the first that the server lists.")] = None,
    api: Annotated[str | None, typer.Option(help="chat, completions or messages; else the first answered.")] = None,
    key_env: Annotated[str | None, typer.Option(help="Name of the environment variable that holds the key.")] = None,
    tokens: Annotated[int, typer.Option(help="Tokens that measuring may cost, in and out.")] = 300_000,
    seconds: Annotated[float, typer.Option(help="Seconds that measuring may take.")] = 180.0,
    most_streams: Annotated[int, typer.Option("--max-streams", help="Streams at once at most.")] = 128,
    only: Annotated[str | None, typer.Option(help="Some of limits,stream,input,throughput.")] = None,
    extra: Annotated[str | None, typer.Option(help="JSON added to each request: '{\"ignore_eos\": true}'")] = None,
    no_ceiling: Annotated[bool, typer.Option("--no-ceiling", help="Skip the reader's own ceiling.")] = False,
    as_json_to: Annotated[str | None, typer.Option("--json", help="To a file, or - for stdout.")] = None,
    html: Annotated[Path | None, typer.Option(help="A page with two pictures.")] = None,
    embedded: Annotated[bool, typer.Option("--embedded", help="The model that comes along, on this machine.")] = False,
    gguf: Annotated[Path | None, typer.Option(help="Another model's GGUF file, embedded.")] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Threads of the embedded model; all cores but one.")
    ] = None,
    card_of: Annotated[str | None, typer.Option("--card", help="What is published: anthropic/claude-opus-5.5")] = None,
) -> None:
    """Measure a server: context capacity, input speed, stream speed and throughput, told apart."""
    published = card(card_of) if card_of else None
    if published is not None:
        _show_card(published)
    how = _How(Budget(tokens, seconds), _parts(only), most_streams, None if no_ceiling else own_ceiling)
    if embedded or gguf is not None:
        speeds, rows = _embedded(gguf, how, threads)
    elif url is not None:
        source = find_source(url, model=model, api=_api(api), key=_key(key_env), extra=_extra(extra), budget=how.budget)
        speeds, rows = _measured(source, how), []
    elif published is not None:
        return
    else:
        raise UsageError("whose speed?", hint="tamis speed http://127.0.0.1:8000, --embedded, or --card MODEL")
    if html is not None:
        html.write_text(speed_page(speeds), "utf-8")
        show.say(f"written: {html}")
    if as_json_to is not None:
        show.json_to(as_json_to, as_json(speeds, embedded=rows))
    if as_json_to != "-":
        _show(speeds)
        _show_rows(rows)


class _How(NamedTuple):
    """How to measure."""

    budget: Budget
    parts: tuple[Part, ...]
    most_streams: int
    ceiling: Callable[[], Ceiling] | None


def _measured(source: Source, how: _How) -> Speeds:
    return measure(
        source, how.budget, parts=how.parts, most_streams=how.most_streams, ceiling=how.ceiling, say=show.say
    )


def _embedded(gguf: Path | None, how: _How, threads: int | None) -> tuple[Speeds, list[Row]]:
    """The four speeds as of any server, but its throughput by loads with and without speculation."""
    model = find_model(gguf)
    show.say(f"loading {model.name} on {threads or most_threads()} of {os.cpu_count()} cores")
    with served(model, speculating=False, threads=threads) as address:
        parts = tuple(part for part in how.parts if part != "throughput")
        speeds = _measured(embedded_source(address), how._replace(parts=parts))
    return speeds, measure_loads(model, how.budget, threads=threads, say=show.say)


def _show_rows(rows: list[Row]) -> None:
    if not rows:
        return
    table = show.table(">streams at once", ">together", ">each", ">speculating: together", ">each", ">taken")
    for row in rows:
        table.add_row(
            f"{row.streams}",
            *(_points(row.plain)),
            *(_points(row.speculating)),
            "" if row.acceptance is None else f"{row.acceptance:.0%}",
        )
    show.out.print(table)


def _points(point: Point | None) -> tuple[str, str]:
    return ("–", "–") if point is None else (f"{point.throughput:,.1f}", f"{point.stream_speed:,.1f}")


def _show(speeds: Speeds) -> None:
    show.line(speeds.source)
    table = show.table("", ">measured", "90 % interval", "counted by")
    for key, figure in figures(speeds).items():
        table.add_row(NAMES[key], value_of(figure), interval_of(figure), figure.counted_by or "")
    show.out.print(table)
    for key, figure in figures(speeds).items():
        for flag in figure.flags:
            show.line(f"  {NAMES[key]}: {flag}")
    if speeds.together is not None and speeds.together.points:
        points = show.table(">streams at once", ">tokens/s together", ">tokens/s each")
        for point in speeds.together.points:
            points.add_row(f"{point.at_once:,}", f"{point.throughput:,.0f}", f"{point.stream_speed:,.4g}")
        show.out.print(points)
    for sentence in beside(speeds):
        show.line(sentence)


def _show_card(published: Card) -> None:
    show.line(f"{published.name}: published, not measured")
    table = show.table("", "published")
    if published.context is not None:
        table.add_row("context capacity", f"{published.context:,} tokens")
    if published.output_cap is not None:
        table.add_row("output cap", f"{published.output_cap:,} tokens")
    if published.latency is not None:
        table.add_row("comparative latency", published.latency)
    table.add_row("source", f"{published.source}, read {published.read}")
    if published.latency_source is not None:
        table.add_row("latency's source", published.latency_source)
    if published.note is not None:
        table.add_row("note", published.note)
    show.out.print(table)


def _parts(only: str | None) -> tuple[Part, ...]:
    wanted = [part.strip() for part in only.split(",")] if only else list(PARTS)
    for part in wanted:
        if part not in PARTS:
            raise UsageError(f"--only {part}: expected some of {', '.join(PARTS)}", hint=_near(part))
    return tuple(part for part in PARTS if part in wanted)


def _near(part: str) -> str | None:
    near = nearest(part, PARTS)
    return f"did you mean {near}?" if near else None


def _api(api: str | None) -> Api | None:
    if api is not None and api not in PATHS:
        raise UsageError(f"--api {api}: it is one of {', '.join(PATHS)}")
    return api


def _key(variable: str | None) -> str | None:
    if variable is None:
        return None
    key = os.environ.get(variable)
    if not key:
        raise UsageError(f"the environment variable {variable} is not set", hint="it should hold the server's key")
    return key


def _extra(text: str | None) -> dict[str, object]:
    try:
        return msgspec.json.decode(text, type=dict[str, object]) if text else {}
    except msgspec.DecodeError as error:
        raise UsageError(f"--extra: not a JSON object: {error}") from error
