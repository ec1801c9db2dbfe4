"""`tamis time`: where the time of a run went, and what a faster writer would have changed. For a brief's folder, or for
a trace of any agent."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from tamis.cli import show
from tamis.cli.aligned import aligned
from tamis.errors import UsageError, nearest
from tamis.ledger import Ledger
from tamis.records import Span, Stage
from tamis.time.account import Account, account_of
from tamis.time.charts import bars, flat_curve, speed_bars, stage_name
from tamis.time.critical import Critical, Share, critical_of
from tamis.time.durations import spoken
from tamis.time.exports import chrome_json, otlp_json
from tamis.time.graph import Graph, graph
from tamis.time.imports import read_trace_file
from tamis.time.plan_reading import STAGES
from tamis.time.tree import Tree, tree
from tamis.time.waterfall import waterfall
from tamis.time.whatif import Changes, Replay, WhatIf, at_speeds, drafts_written, replay, what_if_of
from tamis.views import Kept

MOST_PIECES = 12

Where = Annotated[Path, typer.Argument(help="a brief's folder, or a trace file", show_default=False)]
Speed = Annotated[str | None, typer.Option(metavar="SPEED", help="a writer of so many tokens/s in all, or 10x as fast")]
Stream = Annotated[float | None, typer.Option(metavar="SPEED", help="tokens/s of every single stream")]
Throughput = Annotated[float | None, typer.Option(metavar="SPEED", help="tokens/s of all streams together")]
Stages = Annotated[list[str] | None, typer.Option("--stage", metavar="STAGE=0.1x", help="a stage that takes so much")]
Workers = Annotated[int | None, typer.Option(metavar="N", help="so many cores: the same as --places core=N")]
Places = Annotated[list[str] | None, typer.Option("--places", metavar="NAME=N", help="so many at once of a resource")]
Json = Annotated[str | None, typer.Option(metavar="PATH|-", help="write it as JSON")]
Otlp = Annotated[str | None, typer.Option(metavar="PATH|-", help="write the spans as OTLP JSON, for Jaeger")]
Chrome = Annotated[str | None, typer.Option(metavar="PATH|-", help="write the spans as a Chrome trace, for Perfetto")]
Svg = Annotated[Path | None, typer.Option(metavar="FOLDER", help="write the pictures as SVG")]


def time_command(  # noqa: PLR0917 -- the options of a command, which Typer calls by name
    where: Where,
    writer_speed: Speed = None,
    stream_speed: Stream = None,
    throughput: Throughput = None,
    stage: Stages = None,
    workers: Workers = None,
    places: Places = None,
    json: Json = None,
    otlp: Otlp = None,
    chrome: Chrome = None,
    svg: Svg = None,
) -> None:
    """Say where the time of a run went, and what a faster writer would have changed."""
    spans, notes, tokens = _spans(where)
    speed, times = _speed(writer_speed)
    changes = Changes(
        writer_speed=speed,
        writer_times=times,
        stream_speed=stream_speed,
        throughput=throughput,
        stages=_stages(stage or []),
        places=_places(places or [], workers),
    )
    told = Told(spans, tokens, changes)
    written = [(otlp, otlp_json), (chrome, chrome_json)]
    for path, export in written:
        if path is not None:
            show.json_to(path, export(spans))
    if svg is not None:
        _pictures(told, svg)
    if json is not None:
        show.json_to(json, msgspec.json.encode(told.json()))
    if "-" not in (json, otlp, chrome):
        _print(told, [*notes, *told.account.notes])


class Told:
    """All that is told about one run. Where drafts were written before it, writing them at a speed is put before it;
    where its writing was measured, that is replayed."""

    def __init__(self, spans: Sequence[Span], tokens: Sequence[int], changes: Changes) -> None:
        self.tree: Tree = tree(spans)
        self.account: Account = account_of(self.tree)
        self.critical: Critical = critical_of(graph(self.tree))
        self.graph: Graph = graph(tree(drafts_written(spans, tokens)))
        self.tokens_before = 0 if self.critical.all_tokens else sum(tokens)
        self.changed: WhatIf | None = what_if_of(self.graph, changes) if changes != Changes() else None
        self.speeds: dict[float, Replay] = at_speeds(self.graph) if self.writes else {}

    @property
    def writes(self) -> bool:
        return any(step.tokens for step in self.graph.steps)

    def json(self) -> dict[str, object]:
        changed = self.changed
        return {
            "account": self.account,
            "critical_path": {"pieces": self.critical.pieces, "shares": self.critical.shares()},
            "slack": self.critical.slack,
            "tokens": {"longest_chain": self.critical.chain_tokens, "all": self.critical.all_tokens},
            "at_speeds": {f"{speed:g}": replay.seconds for speed, replay in self.speeds.items()},
            "what_if": None
            if changed is None
            else {
                "as_run_seconds": changed.as_run.seconds,
                "changed_seconds": changed.changed.seconds,
                "speed_up": changed.speed_up if changed.changed.seconds else None,
                "floor_seconds": changed.floor.seconds,
                "next_stage": changed.next_stage,
                "sentence": _sentence(self, changed),
                "notes": changed.notes,
            },
        }


def _spans(where: Path) -> tuple[list[Span], Sequence[str], list[int]]:
    """The spans, what is missing from them, and the tokens of drafts that were written before."""
    if where.is_dir():
        with Ledger(where, read_only=True) as ledger:
            kept = Kept(ledger)
        if not kept.spans:
            raise UsageError(f"{where} has a ledger without spans: nothing was run yet")
        return kept.spans, (), [draft.tokens for draft in kept.pool if draft.tokens]
    found = read_trace_file(where)
    return list(found.spans), (f"read as {found.format}", *found.notes), []


def _speed(said: str | None) -> tuple[float | None, float | None]:
    """Tokens per second, or how many times as fast."""
    if said is None:
        return None, None
    times = said.lower().endswith("x")
    number = _number(said.lower().removesuffix("x"), "--writer-speed", "1e6, or 10x")
    return (None, number) if times else (number, None)


def _stages(said: Sequence[str]) -> dict[Stage, float]:
    factors: dict[Stage, float] = {}
    for one in said:
        name, _, factor = one.partition("=")
        if name not in STAGES:
            close = nearest(name, STAGES)
            meant = f"; did you mean {close!r}?" if close else ""
            raise UsageError(f"no stage is called {name!r}{meant}", hint=f"the stages are {', '.join(STAGES)}")
        factors[STAGES[name]] = _number(factor.removesuffix("x"), f"--stage {name}", f"{name}=0.1x")
    return factors


def _places(said: Sequence[str], workers: int | None) -> dict[str, int]:
    places = {"core": workers} if workers is not None else {}
    for one in said:
        name, _, number = one.partition("=")
        places[name] = int(_number(number, f"--places {name}", f"{name}=4"))
    return places


def _number(said: str, option: str, like: str) -> float:
    try:
        return float(said.replace(",", "").replace("_", ""))
    except ValueError:
        raise UsageError(f"{option}: {said!r} is no number", hint=f"write it like {like}") from None


def _pictures(told: Told, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    pictures = {"waterfall.svg": waterfall(told.tree, told.critical)}
    if told.speeds:
        pictures["speeds.svg"] = speed_bars(bars(replay(told.graph, Changes()), told.speeds))
        seconds = {speed: found.seconds for speed, found in told.speeds.items()}
        floor = replay(told.graph, Changes(), infinitely_fast=True).seconds
        pictures["curve.svg"] = flat_curve({"a writer of so much in all": seconds}, floor_seconds=floor)
    for name, picture in pictures.items():
        (folder / name).write_text(picture, encoding="utf-8")
    show.say(f"pictures: {', '.join(str(folder / name) for name in pictures)}")


def _print(told: Told, notes: Sequence[str]) -> None:
    _print_account(told)
    _print_path(told.critical)
    _print_tokens(told)
    if told.speeds:
        _print_speeds(told)
    if told.changed is not None:
        _print_changed(told, told.changed)
        notes = [*notes, *(note for note in told.changed.notes if note not in notes)]
    for note in notes:
        show.say(f"note: {note}")


def _print_account(told: Told) -> None:
    account, shares = told.account, told.critical.shares()
    runs = "1 run" if account.runs == 1 else f"{account.runs} runs"
    between = account.between_runs_seconds
    show.line(f"{spoken(account.total_seconds)} in {runs}" + (f", {spoken(between)} between them" if between else ""))
    rows = [("", "seconds", "waiting", "CPU s", "on the critical path", "")]
    for stage, took in account.stages.items():
        waited_on = ", ".join(f"{on} {spoken(s)}" for on, s in took.waited_on.items())
        cpu = "–" if took.cpu_seconds is None else f"{took.cpu_seconds:.2f}"
        on_path = _share(shares.get(stage, 0.0), told)
        rows.append((stage, f"{took.seconds:.2f}", f"{took.waited:.2f}", cpu, on_path, waited_on and f"on {waited_on}"))
    if account.unaccounted_seconds > 0:
        on_path = _share(shares.get("whole", 0.0) + shares.get("unknown", 0.0), told)
        rows.append(("no stage", f"{account.unaccounted_seconds:.2f}", "?", "–", on_path, "between the stages"))
    aligned(rows, right=(1, 2, 3, 4))


def _share(seconds: float, told: Told) -> str:
    total = told.critical.total_seconds
    return f"{seconds:.2f} ({seconds / total:.0%})" if total else "–"


def _print_path(critical: Critical) -> None:
    show.line()
    show.line("the critical path, its longest stretches in the order of time:")
    longest = sorted(critical.pieces, key=lambda piece: -piece.seconds)[:MOST_PIECES]
    for piece in sorted(longest, key=lambda piece: piece.began):
        what = (
            f"waiting on {piece.on}"
            if piece.kind == "wait"
            else stage_name("unknown" if piece.kind == "lag" else piece.stage)
        )
        show.line(f"  {piece.began:>9.2f} s  +{piece.seconds:>8.2f} s  {piece.name} ({what})")
    left = len(critical.pieces) - len(longest)
    if left:
        rest = critical.total_seconds - sum(piece.seconds for piece in longest)
        show.line(f"  {'':>9}    +{rest:>8.2f} s  in {left} shorter stretches")
    off = [slack for slack in critical.slack.values() if slack > 0.005]
    if off:
        least, most = spoken(min(off)), spoken(max(off))
        show.line(f"off it: {len(off)} spans, which could have taken {least} to {most} longer without a later end")


def _print_tokens(told: Told) -> None:
    if told.critical.all_tokens:
        chain, everything = told.critical.chain_tokens, told.critical.all_tokens
        show.line(f"tokens: {everything:,} written; the longest chain, each waiting for those before, has {chain:,}")
    elif told.tokens_before:
        show.line(f"tokens: {told.tokens_before:,}, written before this run; when, it did not see")


def _print_speeds(told: Told) -> None:
    show.line()
    before = "" if told.critical.all_tokens else ", the drafts written before the run begins"
    show.line(f"end to end with a writer of{before}")
    as_run = [("as run", spoken(told.critical.total_seconds), _most(told.critical.shares()))]
    found = [(f"{speed:,.0f} tokens/s", spoken(r.seconds), _most(r.shares())) for speed, r in told.speeds.items()]
    aligned([*as_run, *found], right=(0, 1))


def _most(shares: Mapping[Share, float]) -> str:
    total = sum(shares.values())
    most = list(shares.items())[:3]
    return ", ".join(f"{stage_name(share)} {seconds / total:.0%}" for share, seconds in most) if total else "–"


def _print_changed(told: Told, changed: WhatIf) -> None:
    show.line()
    if told.tokens_before:
        show.line("as run     the drafts were written before, at a speed that nobody recorded")
    else:
        show.line(f"as run     {spoken(changed.as_run.seconds)}")
    show.line(f"changed    {spoken(changed.changed.seconds)}")
    show.line(f"floor      {spoken(changed.floor.seconds)}, with an infinitely fast writer")
    if changed.next_stage is not None:
        share = changed.floor.shares()[changed.next_stage]
        show.line(f"next       {stage_name(changed.next_stage)}: {spoken(share)} of the floor")
    show.line(_sentence(told, changed))


def _sentence(told: Told, changed: WhatIf) -> str:
    if not told.tokens_before:
        return changed.sentence()
    writing, whole = changed.changed.shares().get("writing", 0.0), changed.changed.seconds
    share = f"{writing / whole:.1%}" if whole else "all"
    return f"writing {told.tokens_before:,} tokens takes {spoken(writing)} of the {spoken(whole)}, {share}"
