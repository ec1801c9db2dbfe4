"""Inspect's logs: `.eval` (a zip with one JSON a sample) and `.json`. Each sample is a run.

A model event becomes writing, a tool event tools, a scorer's span tests, an input by a person people; Inspect's own
spans hold them. Inspect's working time of a call leaves out waiting for connections and limits, retries, and its own
work around the call: what is left out is shown as waiting on those.
"""

import importlib
import io
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from types import ModuleType

import msgspec

from tamis.records import Stage
from tamis.time.imports.seen import (
    Imported,
    Json,
    Seen,
    amount,
    count,
    imported,
    is_object,
    objects,
    seconds,
    text,
    within,
)
from tamis.time.imports.trouble import TraceError

STAGES: Mapping[str, Stage] = {"model": "writing", "tool": "tools", "sandbox": "tools", "input": "people"}
SPAN_STAGES: Mapping[str, Stage] = {"scorer": "tests", "scorers": "tests"}


def is_inspect(log: object) -> bool:
    return within(log, "eval") is not None and isinstance(within(log, "samples"), list)


def read_eval(content: bytes) -> Imported:
    """A `.eval` file. Raises TraceError where it is damaged, or its compression unknown to this Python."""
    zips = _zips()
    try:
        with zips.ZipFile(io.BytesIO(content)) as log:
            names = sorted(name for name in log.namelist() if name.startswith("samples/") and name.endswith(".json"))
            samples = [msgspec.json.decode(log.read(name)) for name in names]
    except NotImplementedError as error:
        raise TraceError(
            "this .eval is compressed with zstd, which Python reads from 3.14 on",
            hint="pip install backports.zstd, or `inspect log convert --to json`",
        ) from error
    except (zips.BadZipFile, zlib.error, msgspec.DecodeError) as error:
        raise TraceError(f"this .eval is damaged: {error}") from error
    if not samples:
        raise TraceError("this zip has no samples/*.json: it is no Inspect log, or one without samples")
    return read_samples(samples)


def _zips() -> ModuleType:
    """Python's zipfile. Newer logs are compressed with zstd: it reads that from 3.14 on, its backport before."""
    try:
        return importlib.import_module("backports.zstd.zipfile")
    except ImportError:
        return zipfile


def read_samples(samples: Sequence[object]) -> Imported:
    seen: list[Seen] = []
    bare = 0
    for number, sample in enumerate(samples):
        found = _sample(sample, f"sample {within(sample, 'id') or number} epoch {within(sample, 'epoch') or 1}")
        bare += not found
        seen += found
    notes = [f"{bare} of {len(samples)} samples have no events with times: left out"] if bare else []
    return imported("Inspect", seen, notes=notes)


def _sample(sample: object, run: str) -> list[Seen]:
    events = objects(within(sample, "events"))
    spans: dict[str, Seen] = {}
    calls: list[Seen] = []
    for number, event in enumerate(events):
        at = seconds(event.get("timestamp"))
        if at is None:
            continue
        match event.get("event"):
            case "span_begin":
                spans[str(event.get("id"))] = _begun(event, run, at)
            case "span_end":
                begun = spans.get(str(event.get("id")))
                if begun is not None:
                    begun.ended = at
            case kind if kind in STAGES:
                calls.append(_call(event, STAGES[str(kind)], f"{run}/{number}", run, at))
    if not spans and not calls:
        return []
    _nest_tools(list(spans.values()), calls)
    return [_whole(sample, run, [*spans.values(), *calls]), *spans.values(), *calls]


def _nest_tools(spans: Sequence[Seen], calls: Sequence[Seen]) -> None:
    """Inspect writes a tool's call beside the span in which the tool ran: that span goes below the call, so that an
    agent which a tool ran is seen in it."""
    for span in spans:
        for call in calls:
            around = call.stage == "tools" and call.parent == span.parent and call.name == span.name
            if around and call.started <= span.started and (call.ended is None or span.started <= call.ended):
                span.parent, span.stage = call.id, "tools"


def _whole(sample: object, run: str, inside: Sequence[Seen]) -> Seen:
    """The sample itself, as long as Inspect says, or else as long as what is in it."""
    started = seconds(within(sample, "started_at")) or min(one.started for one in inside)
    ended = max([one.ended or one.started for one in inside])
    total = amount(within(sample, "total_time"))
    finished = seconds(within(sample, "completed_at")) or (started + total if total else ended)
    for one in inside:
        one.parent = one.parent or run
    return Seen(id=run, parent=None, run=run, name=run, stage="whole", started=started, ended=max(ended, finished))


def _begun(event: Json, run: str, at: float) -> Seen:
    kind = text(event.get("type"))
    parent = text(event.get("parent_id"))
    return Seen(
        id=f"{run}/{event.get('id')}",
        parent=f"{run}/{parent}" if parent else None,
        run=run,
        name=text(event.get("name")) or kind or "span",
        stage=SPAN_STAGES.get(kind or ""),
        started=at,
        ended=None,
    )


def _call(event: Json, stage: Stage, span_id: str, run: str, at: float) -> Seen:
    usage = within(event, "output", "usage")
    usage = usage if is_object(usage) else {}
    working = amount(event.get("working_time"))
    ended = seconds(event.get("completed"))
    if ended is None and working is not None:
        ended = at + working
    within_span = text(event.get("span_id"))
    waited = ended - at - working if ended is not None and working is not None else 0.0
    return Seen(
        id=span_id,
        parent=f"{run}/{within_span}" if within_span else None,
        run=run,
        name=text(event.get("function"), event.get("model"), event.get("action"), event.get("event")) or "call",
        stage=stage,
        started=at,
        ended=ended,
        tokens_in=count(usage.get("input_tokens")),
        tokens_out=count(usage.get("output_tokens")),
        waited=waited if waited > 0.001 else 0.0,
        waited_on="limits, retries and Inspect itself" if waited > 0.001 else None,
    )
