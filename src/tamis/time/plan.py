"""A workflow that is only planned: steps with how long they take, what they wait for, what they queue for, and how
often they are sent back. These are the nouns; `plan_reading` makes them from TOML, `playing` plays them.
"""

import math
from collections.abc import Mapping
from typing import Literal

from tamis.records import Record, Stage
from tamis.time.network import Resource

NORMAL_P90 = 1.2815515655446004  # the standard normal's 90th percentile


class Takes(Record, frozen=True, kw_only=True):
    """A number: always `median`, or lognormal around it with that `sigma` (of the logarithm)."""

    median: float
    sigma: float = 0.0

    @property
    def p90(self) -> float:
        return self.median * math.exp(NORMAL_P90 * self.sigma)


Basis = Literal["measured", "estimate", "assumed"]
"""What a figure rests on: somebody measured it, somebody estimated it and says from what, or nobody says."""


class Part(Record, frozen=True, kw_only=True):
    """What is done without a break, holding a place of `needs`: `first_seconds` (reading the prompt, until the first
    token), then what it `takes` in seconds, then `tokens` at the writer's speed."""

    name: str
    stage: Stage
    first_seconds: float
    takes: Takes
    tokens: Takes | None
    needs: str | None
    basis: Basis
    source: str


class PlanStep(Record, frozen=True, kw_only=True):
    """`count` lines side by side, each of `repeat` rounds of `parts`, one after the other. `after` are steps waited for
    as wholes, `each` one whose lines are followed line by line. With `accept`, work is sent back to `back_to`."""

    name: str
    parts: tuple[Part, ...]
    count: int
    repeat: int
    after: tuple[str, ...]
    each: str | None
    accept: float | None
    back_to: str
    at_most: int | None

    def label(self, part: Part) -> str:
        """What a part of this step is called where all parts of a plan are listed."""
        return self.name if part.name == self.name else f"{self.name}: {part.name}"

    @property
    def waits_for(self) -> tuple[str, ...]:
        return (*self.after, *((self.each,) if self.each else ()))


class Writer(Record, frozen=True, kw_only=True):
    """Speeds in tokens per second; `throughput` None where nothing limits the streams together."""

    stream_speed: float | None
    throughput: float | None
    first_token_seconds: float
    input_speed: float | None
    basis: Basis
    source: str


class Plan(Record, frozen=True, kw_only=True):
    """A plan that can be played. `starts` is in seconds from Monday 00:00; `again` holds, by step with a gate, the
    steps that are done once more when it sends the work back, in the order of the file."""

    title: str
    text: str
    starts: float
    leaves_out: tuple[str, ...]
    writer: Writer
    resources: Mapping[str, Resource]
    resource_sources: Mapping[str, tuple[Basis, str]]
    hours_as_written: Mapping[str, str]
    steps: tuple[PlanStep, ...]
    again: Mapping[str, tuple[str, ...]]

    def step(self, name: str) -> PlanStep:
        return next(step for step in self.steps if step.name == name)
