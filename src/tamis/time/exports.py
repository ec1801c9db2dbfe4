"""A run for other tools: OTLP JSON for Jaeger and whatever reads OpenTelemetry, Chrome trace JSON for Perfetto.

Both can be imported again: what their formats have no word for (stages, waiting, places) goes into attributes.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import msgspec

from tamis.records import Span, digest
from tamis.time.tree import Tree, tree

Value = str | int | float | bool | list[str]
OPERATIONS = {"writing": "chat", "tools": "execute_tool"}


def otlp_json(spans: Sequence[Span]) -> bytes:
    """One OTLP export. A run is a trace; what a span came after are its links."""
    known = tree(spans)
    traces = {span.id: _hex(root.run or root.id, 32) for root in known.roots for span in (root, *known.walk(root))}
    exported = [_otlp(span, traces) for span in known.everything()]
    service = [{"key": "service.name", "value": {"stringValue": "tamis"}}]
    scopes = [{"scope": {"name": "tamis"}, "spans": exported}]
    return msgspec.json.encode({"resourceSpans": [{"resource": {"attributes": service}, "scopeSpans": scopes}]})


def _otlp(span: Span, traces: Mapping[str, str]) -> dict[str, object]:
    after = [name for name in span.after or () if name in traces]
    exported: dict[str, object] = {
        "traceId": traces[span.id],
        "spanId": _hex(span.id, 16),
        "name": span.name,
        "kind": 3 if span.stage == "writing" else 1,  # a client's call, or internal
        "startTimeUnixNano": str(round(span.started * 1e9)),
        "endTimeUnixNano": str(round(span.ended * 1e9)),
        "attributes": [{"key": key, "value": _any(value)} for key, value in _attributes(span).items()],
        "links": [{"traceId": traces[name], "spanId": _hex(name, 16)} for name in after],
    }
    if span.parent is not None:
        exported["parentSpanId"] = _hex(span.parent, 16)
    return exported


def _attributes(span: Span) -> dict[str, Value]:
    found: dict[str, Value] = {"tamis.stage": span.stage}
    if span.stage in OPERATIONS:
        found["gen_ai.operation.name"] = OPERATIONS[span.stage]
    if span.stage == "writing":
        found |= {"gen_ai.usage.input_tokens": span.tokens_in, "gen_ai.usage.output_tokens": span.tokens_out}
    if span.first_token_at is not None:
        found["gen_ai.response.time_to_first_chunk"] = span.first_token_at - span.started
    if span.waited:
        found |= {"tamis.waited_seconds": span.waited, "tamis.waited_on": span.waited_on or "unknown"}
    if span.cpu_seconds is not None:
        found["tamis.cpu_seconds"] = span.cpu_seconds
    if span.resource is not None:
        found["tamis.resource"] = span.resource
    if span.after is not None:
        found["tamis.after"] = True
    return found


def _any(value: Value) -> dict[str, object]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case _:
            return {"stringValue": value}


def _hex(name: str, length: int) -> str:
    """An id of the length that OTLP wants, always the same for the same name."""
    return digest(name)[:length]


def chrome_json(spans: Sequence[Span]) -> bytes:
    """Trace events. What ran at the same time lies on lanes of its own, since a lane can only nest."""
    known = tree(spans)
    start = min((span.started for span in known.everything()), default=0.0)
    lanes = _lanes(known)
    events: list[dict[str, object]] = [_named("process_name", 0, "tamis")]
    events += [_named("thread_name", lane, f"lane {lane}") for lane in sorted(set(lanes.values()))]
    for span in known.everything():
        events.append(
            {
                "ph": "X",
                "name": span.name,
                "cat": span.stage,
                "pid": 1,
                "tid": lanes[span.id],
                "ts": (span.started - start) * 1e6,
                "dur": span.seconds * 1e6,
                "args": _args(span),
            }
        )
    return msgspec.json.encode({"displayTimeUnit": "ms", "traceEvents": events})


def _named(what: str, lane: int, name: str) -> dict[str, object]:
    return {"ph": "M", "name": what, "pid": 1, "tid": lane, "args": {"name": name}}


def _args(span: Span) -> dict[str, Value]:
    found: dict[str, Value] = {"stage": span.stage, "span": span.id, "run": span.run}
    if span.parent is not None:
        found["parent"] = span.parent
    if span.tokens_in or span.tokens_out:
        found |= {"tokens_in": span.tokens_in, "tokens_out": span.tokens_out}
    if span.first_token_at is not None:
        found["first_token_seconds"] = span.first_token_at - span.started
    if span.waited:
        found |= {"waited_seconds": span.waited, "waited_on": span.waited_on or "unknown"}
    if span.cpu_seconds is not None:
        found["cpu_seconds"] = span.cpu_seconds
    if span.resource is not None:
        found["resource"] = span.resource
    if span.after is not None:
        found["after"] = list(span.after)
    return found


def _lanes(spans: Tree) -> dict[str, int]:
    """A lane for each span: its parent's, where that is free, else the first that is."""
    lanes: dict[str, int] = {}
    held: dict[int, list[Span]] = defaultdict(list)
    for span in sorted(spans.everything(), key=lambda s: (s.started, -s.ended)):
        wanted = lanes.get(span.parent or "", 0)
        lane = next(n for n in (wanted, *range(len(held) + 1)) if _fits(span, held[n]))
        lanes[span.id] = lane
        held[lane].append(span)
    return lanes


def _fits(span: Span, held: list[Span]) -> bool:
    """Whether the span comes after all on the lane, or lies within the last that still runs there and holds it."""
    while held and held[-1].ended <= span.started:
        held.pop()
    return not held or (held[-1].id == span.parent and span.ended <= held[-1].ended)
