"""LangSmith's runs as JSON: a list of runs, runs with their children inside, or a line each."""

from collections.abc import Mapping, Sequence

from tamis.records import Stage
from tamis.time.imports.seen import Imported, Json, Seen, count, imported, objects, seconds, text, within

STAGES: Mapping[str, Stage] = {
    "llm": "writing",
    "tool": "tools",
    "retriever": "tools",
    "embedding": "ranking",
}


def runs(items: Sequence[object]) -> list[Json]:
    """The runs among these items, with those inside them."""
    found: list[Json] = []
    waiting = [item for item in items if within(item, "run_type") is not None]
    while waiting:
        item = waiting.pop(0)
        if isinstance(item, Mapping):
            found.append(item)
            waiting += [{"parent_run_id": item.get("id"), **child} for child in objects(item.get("child_runs"))]
    return found


def read_langsmith(items: Sequence[Json]) -> Imported:
    return imported("LangSmith", [_seen(one) for one in items])


def _seen(one: Json) -> Seen:
    usage = within(one, "outputs", "usage_metadata")
    first = seconds(one.get("first_token_time"))
    if first is None:
        streamed = [e for e in objects(one.get("events")) if e.get("name") == "new_token"]
        first = min((at for e in streamed if (at := seconds(e.get("time"))) is not None), default=None)
    return Seen(
        id=str(one.get("id")),
        parent=text(one.get("parent_run_id")),
        run=text(one.get("trace_id")) or "",
        name=text(one.get("name")) or "unnamed",
        stage=STAGES.get(str(one.get("run_type"))),
        started=seconds(one.get("start_time")) or 0.0,
        ended=seconds(one.get("end_time")),
        tokens_in=count(one.get("prompt_tokens"), within(usage, "input_tokens")),
        tokens_out=count(one.get("completion_tokens"), within(usage, "output_tokens")),
        first_token_at=first,
    )
