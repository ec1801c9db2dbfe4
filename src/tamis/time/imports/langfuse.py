"""Langfuse's observations as JSON: a trace with its observations, a list of them, the public API's pages, or a line
each."""

from collections.abc import Mapping, Sequence

from tamis.records import Stage
from tamis.time.imports.seen import Imported, Json, Seen, count, imported, is_object, objects, seconds, text, within

STAGES: Mapping[str, Stage] = {
    "GENERATION": "writing",
    "TOOL": "tools",
    "RETRIEVER": "tools",
    "EMBEDDING": "ranking",
    "EVALUATOR": "tests",
    "GUARDRAIL": "tests",
}


def observations(items: Sequence[object]) -> list[Json]:
    """The observations among these items, which may be traces that hold them."""
    found: list[Json] = []
    for item in items:
        if is_object(item):
            inner = objects(item.get("observations"))
            found += inner or ([item] if "startTime" in item and "type" in item else [])
    return found


def read_langfuse(items: Sequence[Json]) -> Imported:
    moments = [one for one in items if one.get("type") != "EVENT"]
    notes = []
    if len(moments) < len(items):
        notes.append(f"{len(items) - len(moments)} events are moments without length: left out")
    return imported("Langfuse", [_seen(one) for one in moments], notes=notes)


def _seen(one: Json) -> Seen:
    trace = text(one.get("traceId"), one.get("trace_id")) or ""
    usage, details = one.get("usage"), one.get("usageDetails")
    return Seen(
        id=str(one.get("id")),
        parent=text(one.get("parentObservationId")),
        run=trace,
        name=text(one.get("name"), one.get("type")) or "unnamed",
        stage=STAGES.get(str(one.get("type")).upper()),
        started=seconds(one.get("startTime")) or 0.0,
        ended=seconds(one.get("endTime")),
        tokens_in=count(within(details, "input"), within(usage, "input"), one.get("promptTokens")),
        tokens_out=count(within(details, "output"), within(usage, "output"), one.get("completionTokens")),
        first_token_at=seconds(one.get("completionStartTime")),
    )
