"""Chrome's trace events, as Perfetto and many profilers write them: complete events (X), begin and end pairs (B and E
of a thread; b and e of an id). What lies within another on the same thread is below it.

A slice is of a stage where its category or its `args.stage` is one; model and tool calls are known by the same
attributes as in OpenTelemetry, in `args`.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from tamis.records import Stage
from tamis.time.imports.otlp import TOKENS_IN, TOKENS_OUT, stage_of
from tamis.time.imports.seen import Imported, Json, Seen, amount, count, imported, is_object, objects, text, within

MICROSECOND = 1e-6


def is_chrome(data: object) -> bool:
    events = within(data, "traceEvents") if is_object(data) else data
    return any("ph" in event for event in objects(events)[:50])


def read_chrome(data: object) -> Imported:
    events = objects(within(data, "traceEvents") if is_object(data) else data)
    slices, notes = _slices(events)
    return imported("Chrome trace", _nested(slices), notes=notes)


class _Slice:
    """A stretch on one track, with ends in seconds from the trace's own zero; `ended` None where none was told."""

    def __init__(self, event: Json, track: str) -> None:
        self.event = event
        self.track = track
        self.started = (amount(event.get("ts")) or 0.0) * MICROSECOND
        self.ended: float | None = None


def _slices(events: Sequence[Json]) -> tuple[list[_Slice], list[str]]:
    found: list[_Slice] = []
    begun: dict[str, list[_Slice]] = defaultdict(list)
    stray = 0
    for event in sorted(events, key=lambda e: amount(e.get("ts")) or 0.0):
        phase, track = event.get("ph"), _track(event)
        if phase == "X":
            found.append(_Slice(event, track))
            found[-1].ended = found[-1].started + (amount(event.get("dur")) or 0.0) * MICROSECOND
        elif phase in ("B", "b"):
            found.append(_Slice(event, track))
            begun[track].append(found[-1])
        elif phase in ("E", "e"):
            if begun[track]:
                begun[track].pop().ended = (amount(event.get("ts")) or 0.0) * MICROSECOND
            else:
                stray += 1
    return found, [f"{stray} ends without a beginning: left out"] if stray else []


def _track(event: Json) -> str:
    if event.get("ph") in ("b", "e"):
        own = within(event, "id2", "local") or within(event, "id2", "global") or event.get("id")
        return f"{event.get('pid')}/{event.get('cat')}/{own}"
    return f"{event.get('pid')}/{event.get('tid')}"


def _nested(slices: Sequence[_Slice]) -> list[Seen]:
    """Each slice below the one around it on its track, or below the one that it names."""
    seen: list[Seen] = []
    open_on: dict[str, list[Seen]] = defaultdict(list)
    for number, one in enumerate(sorted(slices, key=lambda s: (s.started, -(s.ended or float("inf"))))):
        around = open_on[one.track]
        while around and around[-1].ended is not None and around[-1].ended <= one.started and one.ended != one.started:
            around.pop()
        seen.append(_seen(one, number, around[-1].id if around else None))
        around.append(seen[-1])
    return seen


def _seen(one: _Slice, number: int, around: str | None) -> Seen:
    args = one.event.get("args")
    args = args if is_object(args) else {}
    first, after = amount(args.get("first_token_seconds")), args.get("after")
    return Seen(
        id=text(args.get("span")) or f"slice {number}",
        parent=text(args.get("parent")) or around,
        run=text(args.get("run")) or "trace",
        name=text(one.event.get("name")) or "unnamed",
        stage=_stage(one.event, args),
        started=one.started,
        ended=one.ended,
        tokens_in=count(args.get("tokens_in"), *(args.get(key) for key in TOKENS_IN)),
        tokens_out=count(args.get("tokens_out"), *(args.get(key) for key in TOKENS_OUT)),
        first_token_at=one.started + first if first is not None else None,
        waited=amount(args.get("waited_seconds")) or 0.0,
        waited_on=text(args.get("waited_on")),
        after=tuple(str(one) for one in after) if isinstance(after, list) else None,
        resource=text(args.get("resource")),
    )


def _stage(event: Json, args: Mapping[str, object]) -> Stage | None:
    categories = [category.strip() for category in str(event.get("cat") or "").split(",")]
    said = [
        stage_of({"tamis.stage": word, "openinference.span.kind": word}) for word in (args.get("stage"), *categories)
    ]
    return next((stage for stage in said if stage is not None), None) or stage_of(args)
