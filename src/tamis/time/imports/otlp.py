"""OpenTelemetry traces as OTLP JSON: one export, or one a line as the collector's file exporter writes them.

Reads the GenAI conventions and what grew before and beside them: OpenLLMetry, OpenInference, the Vercel AI SDK, vLLM.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

from tamis.records import Stage
from tamis.time.imports.seen import Imported, Json, Seen, amount, count, imported, objects, text, within

STAGES: Mapping[str, Stage] = {
    # gen_ai.operation.name
    "chat": "writing",
    "generate_content": "writing",
    "text_completion": "writing",
    "execute_tool": "tools",
    "retrieval": "tools",
    "embeddings": "ranking",
    # openinference.span.kind and traceloop.span.kind, in lower case
    "llm": "writing",
    "tool": "tools",
    "retriever": "tools",
    "embedding": "ranking",
    "reranker": "ranking",
    "guardrail": "tests",
    "evaluator": "tests",
    # llm.request.type
    "completion": "writing",
    # ai.operationId of the Vercel AI SDK, without its "ai."
    "streamtext.dostream": "writing",
    "generatetext.dogenerate": "writing",
    "streamobject.dostream": "writing",
    "generateobject.dogenerate": "writing",
    "toolcall": "tools",
}
KINDS = (
    "tamis.stage",
    "gen_ai.operation.name",
    "openinference.span.kind",
    "traceloop.span.kind",
    "llm.request.type",
    "ai.operationId",
)
TOKENS_IN = (
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens",
    "llm.token_count.prompt",
    "ai.usage.promptTokens",
    "ai.usage.inputTokens",
    "llm.usage.prompt_tokens",
)
TOKENS_OUT = (
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.token_count.completion",
    "ai.usage.completionTokens",
    "ai.usage.outputTokens",
    "llm.usage.completion_tokens",
)
FIRST_SECONDS = (
    "gen_ai.response.time_to_first_chunk",
    "gen_ai.server.time_to_first_token",
    "gen_ai.latency.time_to_first_token",
)
OURS: Mapping[str, Stage] = {stage: stage for stage in get_args(Stage)}


def is_otlp(exports: Sequence[object]) -> bool:
    return any(within(export, "resourceSpans") is not None for export in exports)


def read_otlp(exports: Sequence[object]) -> Imported:
    return imported("OpenTelemetry", [_seen(span) for export in exports for span in _spans(export)])


def _spans(export: object) -> Iterator[Json]:
    for resource in objects(within(export, "resourceSpans")):
        # the second name is from before 2022, and still on disks
        for scope in [*objects(resource.get("scopeSpans")), *objects(resource.get("instrumentationLibrarySpans"))]:
            yield from objects(scope.get("spans"))


def _seen(span: Json) -> Seen:
    given = {str(one.get("key")): _value(one.get("value")) for one in objects(span.get("attributes"))}
    started = _nanoseconds(span.get("startTimeUnixNano")) or 0.0
    ended = _nanoseconds(span.get("endTimeUnixNano"))
    trace = text(span.get("traceId")) or ""
    first = _first_token(span, given, started)
    parent = text(span.get("parentSpanId"))
    return Seen(
        id=f"{trace}/{span.get('spanId')}",
        parent=f"{trace}/{parent}" if parent and parent.strip("0") else None,
        run=trace,
        name=text(span.get("name")) or "unnamed",
        stage=stage_of(given),
        started=started,
        ended=ended,
        tokens_in=count(*(given.get(key) for key in TOKENS_IN)),
        tokens_out=count(*(given.get(key) for key in TOKENS_OUT)),
        first_token_at=first,
        waited=amount(given.get("tamis.waited_seconds")) or 0.0,
        waited_on=text(given.get("tamis.waited_on")),
        after=_after(span) if given.get("tamis.after") is True else None,
        resource=text(given.get("tamis.resource")),
    )


def _after(span: Json) -> tuple[str, ...]:
    """What tamis recorded as having been waited for. Other people's links mean other things."""
    return tuple(f"{link.get('traceId')}/{link.get('spanId')}" for link in objects(span.get("links")))


def stage_of(given: Mapping[str, object]) -> Stage | None:
    """The first of the span's kinds that says what work it is; an agent, a chain or a workflow only holds others."""
    for key in KINDS:
        said = text(given.get(key)) or ""
        stage = OURS.get(said) if key == "tamis.stage" else STAGES.get(said.lower().removeprefix("ai."))
        if stage is not None:
            return stage
    return None


def _first_token(span: Json, given: Mapping[str, object], started: float) -> float | None:
    for key in FIRST_SECONDS:
        after = amount(given.get(key))
        if after is not None:
            return started + after
    after_ms = amount(given.get("ai.response.msToFirstChunk"))
    if after_ms is not None:
        return started + after_ms / 1000
    events = [e for e in objects(span.get("events")) if "first" in str(e.get("name")).lower()]
    tokens = [e for e in events if any(word in str(e.get("name")).lower() for word in ("token", "chunk"))]
    return min((at for e in tokens if (at := _nanoseconds(e.get("timeUnixNano"))) is not None), default=None)


def _nanoseconds(value: object) -> float | None:
    """Seconds since 1970; None where it is 0, as OTLP writes what never happened."""
    number = amount(value)
    return number * 1e-9 if number else None


def _value(value: object) -> object:
    """The one value inside an OTLP AnyValue; whole numbers come as texts there."""
    if not isinstance(value, Mapping):
        return value
    return next((value[key] for key in ("stringValue", "intValue", "doubleValue", "boolValue") if key in value), None)
