"""`tamis plan`: how long a workflow will take that is only planned, the arithmetic shown, with what it leaves out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from tamis.cli import show
from tamis.cli.aligned import aligned
from tamis.errors import UsageError
from tamis.time.arithmetic import Line, arithmetic, tokens_written
from tamis.time.charts import flat_curve
from tamis.time.durations import spoken
from tamis.time.outlook import Outlook, outlook
from tamis.time.plan import Basis, Plan
from tamis.time.plan_reading import load_plan, shipped_plans

PERCENTILES = (0.1, 0.5, 0.9)
BAR = 24

Which = Annotated[str | None, typer.Argument(metavar="NAME|FILE.toml", help="a plan", show_default=False)]
Runs = Annotated[int | None, typer.Option(metavar="N", help="how often to play it")]
Seed = Annotated[int, typer.Option(metavar="N", help="the same seed plays the same runs")]
Json = Annotated[str | None, typer.Option(metavar="PATH|-", help="write it as JSON")]
Svg = Annotated[Path | None, typer.Option(metavar="PATH", help="write the curve over writing speeds as SVG")]


def plan_command(which: Which = None, runs: Runs = None, seed: Seed = 0, json: Json = None, svg: Svg = None) -> None:
    """Play a planned workflow: how long, what it waits for, what a faster writer would change."""
    if which is None:
        for name, text in shipped_plans().items():
            show.line(f"{name:<10} {text.partition(chr(10))[0].lstrip('# ')}")
        return
    if runs is not None and runs < 1:
        raise UsageError(f"a plan can't be played {runs} times", hint="--runs 1000, for instance")
    plan = load_plan(which)
    found = outlook(plan, runs=runs, seed=seed)
    if svg is not None:
        svg.write_text(curve(found), encoding="utf-8")
    if json is not None:
        show.json_to(json, msgspec.json.encode(_json(plan, found)))
    if json != "-":
        _print(plan, found)


def curve(found: Outlook) -> str:
    """The picture of the sweep."""
    names = {"any": "any stream may have all of it", "more streams": "more streams, none faster"}
    return flat_curve(
        {names[way]: medians for way, medians in found.sweep.items()},
        floor_seconds=found.floor.percentile(0.5),
        flat_from=found.flat_from,
    )


def _json(plan: Plan, found: Outlook) -> dict[str, object]:
    return {
        "plan": plan.title,
        "arithmetic": arithmetic(plan),
        "leaves_out": plan.leaves_out,
        "runs": len(found.runs.seconds),
        "seconds": {f"p{round(p * 100)}": found.runs.percentile(p) for p in PERCENTILES},
        "floor_seconds": found.floor.percentile(0.5),
        "critical_path": found.runs.by_part,
        "critical_path_by_stage": found.runs.by_stage,
        "closed_seconds": found.runs.closed,
        "queued_seconds": found.runs.queued,
        "rounds": found.runs.rounds,
        "sweep": {way: {f"{speed:g}": s for speed, s in medians.items()} for way, medians in found.sweep.items()},
        "sweep_runs": found.sweep_runs,
        "flat_from_tokens_per_second": found.flat_from,
        "helps": found.helps,
    }


def _print(plan: Plan, found: Outlook) -> None:
    show.line(plan.title)
    if plan.text:
        show.line(f"  {plan.text}")
    _print_arithmetic(plan)
    _print_runs(plan, found)
    if found.sweep:
        _print_sweep(found)
    _print_helps(found)


def _print_arithmetic(plan: Plan) -> None:
    lines = arithmetic(plan)
    of_places = [source for _, source in plan.resource_sources.values()]
    sources = list(dict.fromkeys(source for source in [*(line.source for line in lines), *of_places] if source))
    written = [line for line in lines if line.stage == "writing"]
    others = [line for line in lines if line.stage != "writing"]
    if written:
        quoted = spoken(sum(line.seconds for line in written))
        show.line()
        show.line(f"what everyone quotes: {tokens_written(plan):,.0f} tokens in {quoted}")
        _print_lines(written, sources)
    show.line()
    show.line("what that leaves out, each at its median:" if written else "the steps, each at its median:")
    _print_lines(others, sources)
    _print_places(plan, sources)
    if plan.leaves_out:
        show.line(f"left out here too: {'; '.join(plan.leaves_out)}")
    for number, source in enumerate(sources, 1):
        show.line(f"  [{number}] {source}")


def _print_lines(lines: Sequence[Line], sources: Sequence[str]) -> None:
    aligned(
        [
            (line.what, line.calculation, f"= {spoken(line.seconds)}", _basis(line.basis, line.source, sources))
            for line in lines
        ]
    )


def _print_places(plan: Plan, sources: Sequence[str]) -> None:
    if plan.resources:
        show.line("what steps queue for:")
        rows = []
        for name, resource in plan.resources.items():
            opened = plan.hours_as_written.get(name, "always open")
            rows.append((name, f"{resource.places} at a time", opened, _basis(*plan.resource_sources[name], sources)))
        aligned(rows)


def _basis(basis: Basis, source: str, sources: Sequence[str]) -> str:
    return "assumed: nobody measured it" if basis == "assumed" else f"{basis} [{sources.index(source) + 1}]"


def _print_runs(plan: Plan, found: Outlook) -> None:
    runs = found.runs
    low, median, high = (spoken(runs.percentile(p)) for p in PERCENTILES)
    show.line()
    show.line(f"played {len(runs.seconds):,} times, with luck, queues, opening hours and rework:")
    show.line(f"  half of the runs take at most {median}, one in ten at most {low}, nine in ten at most {high}")
    rows = [
        (name, spoken(seconds), f"{seconds / runs.mean:.1%}", _rounds(plan, found, name))
        for name, seconds in runs.by_part.items()
        if runs.mean
    ]
    if runs.closed > 1e-3:
        rows.append(("closed hours", spoken(runs.closed), f"{runs.closed / runs.mean:.1%}", ""))
    show.line("the critical path, on average:")
    aligned(rows, right=(1, 2))


def _rounds(plan: Plan, found: Outlook, label: str) -> str:
    """How often a part was done, where work was sent back to it."""
    for gate, again in plan.again.items():
        if any(label == step.label(part) for step in plan.steps if step.name in again for part in step.parts):
            return f"done {found.runs.rounds.get(gate, 1.0):.1f} times"
    return ""


def _print_sweep(found: Outlook) -> None:
    show.line()
    show.line(f"end to end over the writing speed (medians of {found.sweep_runs} runs):")
    names = {"any": "any stream may have all", "more streams": "more streams, none faster"}
    longest = max(max(medians.values()) for medians in found.sweep.values())
    rows = [("tokens/s", *(names[way] for way in found.sweep), "")]
    for speed in next(iter(found.sweep.values())):
        seconds = [medians[speed] for medians in found.sweep.values()]
        rows.append((f"{speed:,.0f}", *(spoken(s) for s in seconds), "█" * max(1, round(BAR * seconds[0] / longest))))
    floor = found.floor.percentile(0.5)
    blank = [""] * (len(found.sweep) - 1)
    rows.append(("infinite", spoken(floor), *blank, "█" * max(1, round(BAR * floor / longest))))
    aligned(rows, right=range(len(found.sweep) + 1))
    if found.flat_from is not None:
        show.line(f"flat from {found.flat_from:,.0f} tokens/s on: a faster writer saves less than a twentieth")


def _print_helps(found: Outlook) -> None:
    show.line()
    show.line("what would help most, on average:")
    helps = [help for help in found.helps if help.saves_seconds > 0.005 * found.runs.mean] or list(found.helps[:1])
    aligned(
        [
            (
                f"{h.change} for {h.what}" if h.change == "half the time" else f"{h.change} of {h.what}",
                f"saves {spoken(h.saves_seconds)}",
                f"{h.saves_seconds / found.runs.mean:.1%}",
            )
            for h in helps
        ],
        right=(2,),
    )
