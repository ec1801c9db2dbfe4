"""The meter: its own ceiling, the limits, one stream alone, its input speed, and all streams together, in that order.

Each measurement gets a share of the budget; what one does not spend is there for the next.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

import msgspec

from tamis.errors import TamisError, UsageError
from tamis.speed.budget import Budget
from tamis.speed.ceiling import Ceiling, bounded, own_ceiling, told_apart
from tamis.speed.dialect import Api, Ask
from tamis.speed.figures import Figure
from tamis.speed.http import Address, address
from tamis.speed.inputs import Reads, measure_input
from tamis.speed.limits import Limits, measure_limits
from tamis.speed.source import ServerSource, Source
from tamis.speed.stream import MOST_TOKENS, Alone, measure_alone
from tamis.speed.throughput import Together, measure_together

Part = Literal["limits", "stream", "input", "throughput"]
PARTS: tuple[Part, ...] = ("limits", "stream", "input", "throughput")
SHARE: dict[Part, float] = {"limits": 0.25, "stream": 0.4, "input": 0.5, "throughput": 1.0}
"""Of what is left when its turn comes."""

NOT_MEASURED = "not asked for"
Say = Callable[[str], None]


class Speeds(msgspec.Struct, frozen=True):
    """All that was measured of one source."""

    source: str
    stream: Figure
    throughput: Figure
    input: Figure
    context: Figure
    output_cap: Figure
    first_token: Figure
    spent_tokens: int
    ceiling: Ceiling | None = None
    alone: Alone | None = None
    together: Together | None = None
    reads: Reads | None = None


def silent(text: str) -> None:
    """Nobody is told how far it is."""


def measure(
    source: Source,
    budget: Budget,
    *,
    parts: tuple[Part, ...] = PARTS,
    most_streams: int = 512,
    ceiling: Callable[[], Ceiling] | None = own_ceiling,
    say: Say = silent,
) -> Speeds:
    """Measure a source. Raises TamisError where it writes nothing at all; what can't be told is a figure without a
    value that says why."""
    if ceiling is not None:
        say("reading the simulated writer, to know this reader's ceiling")
    own = ceiling() if ceiling is not None else None
    meter = _Meter(source, budget, parts, say)
    limits = meter.limits()
    alone = meter.alone(_cap(limits))
    reads = meter.reads(limits)
    together = meter.together(alone, _cap(limits), most_streams)
    return Speeds(
        source=source.name,
        **_figures(own, limits, alone, reads, together),
        spent_tokens=budget.spent_tokens,
        ceiling=own,
        alone=alone,
        together=together,
        reads=reads,
    )


def find_source(
    url: str, *, model: str | None, api: Api | None, key: str | None, extra: dict[str, object], budget: Budget
) -> ServerSource:
    """The model behind this address: the first one listed where none is named, over the first protocol that it
    answers where none is given. Raises TamisError."""
    where = address(url)
    named = model or _first_model(where, key)
    for candidate in (api,) if api else ("chat", "completions", "messages"):
        source = ServerSource(where, model=named, api=candidate, key=key, extra=extra)
        heard = source.begin(Ask("Hello.", 16), budget)
        if heard.status not in (404, 405) or api:
            return source
    raise TamisError(
        f"{where.shown} answers neither chat completions, completions nor messages",
        hint="is this the address of a model's server? Its path ends before /v1",
    )


def _first_model(where: Address, key: str | None) -> str:
    apis: tuple[Api, ...] = ("chat", "messages")
    for api in apis:
        listed = (ServerSource(where, model="", api=api, key=key).told("/v1/models") or {}).get("data")
        if isinstance(listed, list) and listed and isinstance(listed[0], dict):
            return str(listed[0].get("id", ""))
    raise UsageError(f"{where.shown} lists no models", hint="name one: --model NAME")


class _Meter:
    """One measuring of one source: each part gets its share of the budget and books what it spent."""

    def __init__(self, source: Source, budget: Budget, parts: tuple[Part, ...], say: Say) -> None:
        self._source, self._budget, self._parts, self._say = source, budget, parts, say

    def limits(self) -> Limits | None:
        if "limits" not in self._parts or not isinstance(self._source, ServerSource):
            return None
        with self._share("limits", "asking for the limits") as share:
            return measure_limits(self._source, share)

    def alone(self, cap: int) -> Alone | None:
        if "stream" not in self._parts and "throughput" not in self._parts:
            return None
        with self._share("stream", "one stream alone") as share:
            return measure_alone(self._source, share, cap=cap)

    def reads(self, limits: Limits | None) -> Reads | None:
        if "input" not in self._parts:
            return None
        context = limits.context.value if limits else None
        with self._share("input", "time to first token over the prompt's length") as share:
            return measure_input(self._source, share, context=int(context) if context else None)

    def together(self, alone: Alone | None, cap: int, most_streams: int) -> Together | None:
        if "throughput" not in self._parts or alone is None or alone.stream.value is None:
            return None
        with self._share("throughput", "streams together") as share:
            return measure_together(self._source, share, alone=alone.stream.value, cap=cap, most_streams=most_streams)

    @contextmanager
    def _share(self, part: Part, doing: str) -> Iterator[Budget]:
        self._say(doing)
        share = self._budget.part(SHARE[part])
        try:
            yield share
        finally:
            self._budget.spend(share.spent_tokens)


def _cap(limits: Limits | None) -> int:
    """How many tokens one answer may have, as far as is known; room for the prompt is left."""
    if limits is None:
        return MOST_TOKENS
    context = limits.context.value
    found = [limits.output_cap.value, context - 256 if context else None]
    return int(min((value for value in found if value is not None), default=MOST_TOKENS))


def _figures(
    own: Ceiling | None, limits: Limits | None, alone: Alone | None, reads: Reads | None, together: Together | None
) -> dict[str, Figure]:
    best = max(together.points, key=lambda point: point.throughput) if together and together.points else None
    return {
        "stream": bounded(alone.stream, own.stream if own else None, alone.idle_share) if alone else _none("tokens/s"),
        "throughput": (
            bounded(together.throughput, own.together if own else None, best.idle_share if best else None)
            if together
            else _none("tokens/s")
        ),
        "input": told_apart(reads.input, own.input if own else None) if reads else _none("tokens/s"),
        "context": limits.context if limits else _none("tokens"),
        "output_cap": limits.output_cap if limits else _none("tokens"),
        "first_token": alone.first_token if alone else _none("s"),
    }


def _none(unit: str) -> Figure:
    return Figure(value=None, unit=unit, flags=(NOT_MEASURED,))
