"""The arithmetic of a plan, step by step at its medians: the sum that everyone quotes, and what it leaves out.

It contains no luck, no queues between steps, no closed hours and no rework; `outlook` plays those. What a figure rests
on stands beside it.
"""

import math

from tamis.records import Record, Stage
from tamis.time.durations import spoken
from tamis.time.plan import Basis, Part, Plan, PlanStep, Takes


class Line(Record, frozen=True, kw_only=True):
    """One part of the sum: the calculation as text, and the seconds that it comes to."""

    what: str
    stage: Stage
    calculation: str
    seconds: float
    basis: Basis
    source: str


def arithmetic(plan: Plan) -> tuple[Line, ...]:
    """A line for every part of every step, in the order of the file."""
    return tuple(_line(plan, step, part) for step in plan.steps for part in step.parts)


def tokens_written(plan: Plan) -> float:
    """All tokens of the plan at their medians, rework left out."""
    counts = [(step.count * step.repeat, part.tokens) for step in plan.steps for part in step.parts]
    return sum(times * tokens.median for times, tokens in counts if tokens is not None)


def _line(plan: Plan, step: PlanStep, part: Part) -> Line:
    calculation, seconds = _written(plan, step, part) if part.tokens is not None else _taken(plan, step, part)
    rests_on = (part.basis, part.source)
    if part.tokens is not None and part.basis == "assumed":
        rests_on = (plan.writer.basis, plan.writer.source)
    return Line(
        what=step.label(part),
        stage=part.stage,
        calculation=calculation,
        seconds=seconds,
        basis=rests_on[0],
        source=rests_on[1],
    )


def _written(plan: Plan, step: PlanStep, part: Part) -> tuple[str, float]:
    """Tokens divided by the speed that holds: of one stream after the other, or of all together."""
    tokens = part.tokens or Takes(median=0.0)
    alone, together = plan.writer.stream_speed, plan.writer.throughput
    times = step.count * step.repeat
    all_tokens = times * tokens.median
    sums = [(step.repeat * tokens.median / alone, f"{alone:,.0f} tokens/s each")] if alone is not None else []
    sums += [(all_tokens / together, f"{together:,.0f} tokens/s in all")] if together is not None else []
    seconds, speed = max(sums)
    first = step.repeat * (part.first_seconds + part.takes.median)
    counted = f"{_times(step)}{_amount(tokens, 'tokens')}"
    total = f" = {all_tokens:,.0f} tokens" if times > 1 else ""
    before = f" + {_times(step, lines=False)}{spoken(part.first_seconds + part.takes.median)} to the first token"
    return f"{counted}{total} ÷ {speed}{before if first else ''}", seconds + first


def _taken(plan: Plan, step: PlanStep, part: Part) -> tuple[str, float]:
    places = plan.resources[part.needs].places if part.needs else step.count
    rounds = math.ceil(step.count / places)
    at_once = f", {min(places, step.count)} at once" if step.count > 1 else ""
    return f"{_times(step)}{_amount(part.takes)}{at_once}", rounds * step.repeat * part.takes.median


def _times(step: PlanStep, *, lines: bool = True) -> str:
    """ "40 × 8 × " for forty lines of eight rounds."""
    factors = [step.count if lines else 1, step.repeat]
    return "".join(f"{factor:,} × " for factor in factors if factor > 1)


def _amount(takes: Takes, unit: str = "") -> str:
    def said(amount: float) -> str:
        return f"{amount:,.0f}" if unit else spoken(amount)

    spread = f" (p90 {said(takes.p90)})" if takes.sigma else ""
    return f"{said(takes.median)}{spread}{' ' if unit else ''}{unit}"
