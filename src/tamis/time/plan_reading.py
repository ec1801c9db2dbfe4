"""From a plan's TOML to a plan that can be played.

One that can't be is refused here, with the line and what would do: an unknown stage, a negative time, a circle, a step
that nothing ever reaches. The format is described in docs/reference/plan-toml.md.
"""

import math
import re
from collections.abc import Callable, Mapping
from importlib import resources
from pathlib import Path
from typing import TypeVar, get_args

import msgspec

from tamis.errors import UsageError, nearest
from tamis.records import Stage
from tamis.time.durations import parse
from tamis.time.hours import hours, moment
from tamis.time.network import Resource
from tamis.time.plan import NORMAL_P90, Basis, Part, Plan, PlanStep, Takes, Writer
from tamis.time.plan_file import FileSpec, PartSpec, PlanError, ResourceSpec, Spread, StepSpec, WriterSpec, Written
from tamis.time.plan_order import check_order, done_again

STAGES: Mapping[str, Stage] = {stage: stage for stage in get_args(Stage) if stage != "whole"}

T = TypeVar("T")
R = TypeVar("R")


def shipped_plans() -> dict[str, str]:
    """The plans that come with tamis: name and text."""
    folder = resources.files("tamis.time") / "plans"
    found = {entry.name.removesuffix(".toml"): entry for entry in folder.iterdir() if entry.name.endswith(".toml")}
    return {name: found[name].read_text(encoding="utf-8") for name in sorted(found)}


def load_plan(name: str) -> Plan:
    """The plan in that file, or the shipped one of that name. Raises PlanError, and UsageError where there is none."""
    path = Path(name)
    if path.suffix == ".toml" or path.is_file():
        try:
            return read_plan(path.read_text(encoding="utf-8"), where=str(path))
        except OSError as error:
            raise UsageError(f"can't read the plan {path}: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise PlanError(f"{path} is not UTF-8: {error}") from error
    shipped = shipped_plans()
    if name in shipped:
        return read_plan(shipped[name], where=f"{name}.toml")
    close = nearest(name, shipped)
    raise UsageError(
        f"no plan called {name!r}" + (f"; did you mean {close!r}?" if close else ""),
        hint=f"give a .toml file, or one of those that come with tamis: {', '.join(shipped)}",
    )


def read_plan(text: str, *, where: str = "plan") -> Plan:
    """The plan that this TOML describes. Raises PlanError, with `where` and the line."""
    written = Written(text, where)
    spec = written.spec()
    if not spec.step:
        raise written.error("a plan needs at least one [[step]]", "plan")
    found = Plan(
        title=spec.plan.title,
        text=spec.plan.text,
        starts=_told(written, moment, spec.plan.starts, "plan", "starts"),
        leaves_out=tuple(spec.plan.leaves_out),
        writer=_writer(written, spec),
        resources={name: _resource(written, name, r) for name, r in spec.resources.items()},
        resource_sources={name: _basis(r) for name, r in spec.resources.items()},
        hours_as_written={name: r.hours for name, r in spec.resources.items() if r.hours is not None},
        steps=tuple(_step(written, spec, number) for number in range(len(spec.step))),
        again={},
    )
    check_order(written, found)
    return msgspec.structs.replace(found, again=done_again(written, found))


def _told(written: Written, read: Callable[[T], R], value: T, *path: str | int) -> R:
    """What `read` makes of the value; what it refuses is refused with the line."""
    try:
        return read(value)
    except ValueError as error:
        raise written.error(str(error), *path) from error


def _writer(written: Written, spec: FileSpec) -> Writer:
    basis, source = _basis(spec.writer)
    for key in ("stream_speed", "throughput", "input_speed"):
        speed = getattr(spec.writer, key)
        if speed is not None and speed <= 0:
            raise written.error(f"{key} is {speed:g} tokens per second: nothing would ever be written", "writer", key)
    return Writer(
        stream_speed=spec.writer.stream_speed,
        throughput=spec.writer.throughput,
        input_speed=spec.writer.input_speed,
        first_token_seconds=_told(written, _seconds, spec.writer.first_token, "writer", "first_token"),
        basis=basis,
        source=source,
    )


def _resource(written: Written, name: str, spec: ResourceSpec) -> Resource:
    if spec.places < 1:
        what = f"{name!r} has {spec.places} places: the steps that need it are never reached"
        raise written.error(what, "resources", name, "places")
    open_hours = _told(written, hours, spec.hours, "resources", name, "hours") if spec.hours is not None else None
    return Resource(places=spec.places, hours=open_hours, runs_on=spec.runs_on)


def _step(written: Written, spec: FileSpec, number: int) -> PlanStep:
    step = spec.step[number]
    at = ("step", number)
    names = [other.name for other in spec.step]
    if names.index(step.name) != number:
        raise written.error(f"a second step is called {step.name!r}", *at, "name")
    for key, value in (("count", step.count), ("repeat", step.repeat), ("at_most", step.at_most)):
        if value is not None and value < 1:
            raise written.error(f"{key} is {value}: it is 1 or more", *at, key)
    parts = [_part(written, spec, p, step, *at, "parts", i) for i, p in enumerate(step.parts)]
    if parts and (step.takes is not None or step.tokens is not None):
        raise written.error("a step with parts takes what they take: give times and tokens there", *at, "parts")
    previous = (names[number - 1],) if number and step.each is None else ()
    return PlanStep(
        name=step.name,
        parts=tuple(parts) or (_part(written, spec, step, step, *at),),
        count=step.count,
        repeat=step.repeat,
        after=tuple(step.after) if step.after is not None else previous,
        each=step.each,
        accept=step.accept,
        back_to=step.back_to or step.name,
        at_most=step.at_most,
    )


def _part(written: Written, spec: FileSpec, part: PartSpec, step: StepSpec, *at: str | int) -> Part:
    stage = part.stage or step.stage or ("writing" if part.tokens is not None else None)
    known = ", ".join(STAGES)
    if stage is None:
        raise written.error(f"{part.name!r} has no stage", *at, hint=f"the stages are {known}")
    if stage not in STAGES:
        close = nearest(stage, STAGES)
        what = f"no stage is called {stage!r}" + (f"; did you mean {close!r}?" if close else "")
        raise written.error(what, *at, "stage", hint=f"the stages are {known}")
    needs = part.needs or step.needs
    if needs is not None and needs not in spec.resources:
        close = nearest(needs, spec.resources)
        hint = f"the resources are {', '.join(spec.resources)}" if spec.resources else f"add [resources.{needs}]"
        what = f"{part.name!r} needs {needs!r}, which is no resource" + (f"; did you mean {close!r}?" if close else "")
        raise written.error(what, *at, "needs", hint=hint)
    basis, source = _basis(part) if part.measured or part.estimate else _basis(step)
    return Part(
        name=part.name,
        stage=STAGES[stage],
        first_seconds=_first_seconds(written, spec, part, *at),
        takes=_takes(written, spec, part, needs, *at),
        tokens=_tokens(written, spec, part, *at),
        needs=needs,
        basis=basis,
        source=source,
    )


def _seconds(value: float | str) -> float:
    seconds = parse(value)
    if seconds < 0:
        raise ValueError(f"{value} is a negative time")
    return seconds


def _first_seconds(written: Written, spec: FileSpec, part: PartSpec, *at: str | int) -> float:
    if part.tokens is None:
        if part.tokens_in is not None:
            raise written.error("tokens_in are read before tokens are written: give tokens too", *at, "tokens_in")
        return 0.0
    seconds = _told(written, _seconds, spec.writer.first_token, "writer", "first_token")
    if part.tokens_in is None:
        return seconds
    if spec.writer.input_speed is None or part.tokens_in < 0:
        raise written.error("tokens_in needs an input_speed under [writer], and is not negative", *at, "tokens_in")
    return seconds + part.tokens_in / spec.writer.input_speed


def _takes(written: Written, spec: FileSpec, part: PartSpec, needs: str | None, *at: str | int) -> Takes:
    takes = part.takes
    if takes is None:
        if part.tokens is None:
            raise written.error(f"{part.name!r} says neither what it takes nor how many tokens it writes", *at)
        return Takes(median=0.0)
    resource = spec.resources.get(needs or "")
    attended = resource is not None and resource.hours is not None and not resource.runs_on
    texts = (takes.median, takes.p90) if isinstance(takes, Spread) else (takes,)
    if attended and any(isinstance(text, str) and re.search(r"\d\s*(d|w)", text) for text in texts):
        what = f"a day of work is unclear where {needs!r} closes at night"
        raise written.error(what, *at, "takes", hint="give hours of work, for instance '8 h'")
    return _told(written, _spread, takes, *at, "takes")


def _tokens(written: Written, spec: FileSpec, part: PartSpec, *at: str | int) -> Takes | None:
    if part.tokens is None:
        return None
    if spec.writer.stream_speed is None and spec.writer.throughput is None:
        hint = "for instance: [writer] with stream_speed = 100 and throughput = 1_000_000"
        raise written.error("tokens need a writer with a speed", *at, "tokens", hint=hint)
    return _told(written, _spread, part.tokens, *at, "tokens")


def _spread(value: float | str | Spread) -> Takes:
    if not isinstance(value, Spread):
        return Takes(median=_seconds(value))
    median, p90 = _seconds(value.median), _seconds(value.p90)
    if median == 0 or p90 < median:
        raise ValueError(
            f"a median of {value.median} and a p90 of {value.p90}: it must be above zero, and the p90 above it"
        )
    return Takes(median=median, sigma=math.log(p90 / median) / NORMAL_P90)


def _basis(spec: PartSpec | ResourceSpec | WriterSpec) -> tuple[Basis, str]:
    if spec.measured:
        return "measured", spec.measured
    return ("estimate", spec.estimate) if spec.estimate else ("assumed", "")
