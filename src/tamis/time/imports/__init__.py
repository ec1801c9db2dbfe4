"""Traces of any agent, as spans: OpenTelemetry (OTLP JSON), Inspect, Langfuse, LangSmith and Chrome trace files.

Which it is, the file itself says. What it doesn't tell stays unknown and is told in the notes.
"""

from pathlib import Path

import msgspec

from tamis.time.imports.chrome import is_chrome, read_chrome
from tamis.time.imports.inspect_logs import is_inspect, read_eval, read_samples
from tamis.time.imports.langfuse import observations, read_langfuse
from tamis.time.imports.langsmith import read_langsmith, runs
from tamis.time.imports.otlp import is_otlp, read_otlp
from tamis.time.imports.seen import Imported, within
from tamis.time.imports.trouble import TraceError

__all__ = ["Imported", "TraceError", "read_trace", "read_trace_file"]

KNOWN = "OTLP JSON, an Inspect log (.eval or .json), a Langfuse or LangSmith JSON export, or a Chrome trace"


def read_trace_file(path: Path) -> Imported:
    """The trace in that file. Raises TraceError."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise TraceError(f"can't read {path}: {error.strerror or error}") from error
    return read_trace(content, where=str(path))


def read_trace(content: bytes, *, where: str = "the trace") -> Imported:
    """The trace that these bytes are. Raises TraceError where they are none that is known."""
    if content.startswith(b"PK"):
        return read_eval(content)
    items = _decoded(content, where)
    first = items[0] if items else None
    if is_otlp(items):
        found = read_otlp(items)
    elif is_inspect(first):
        samples = within(first, "samples")
        found = read_samples(samples if isinstance(samples, list) else [])
    elif is_chrome(first if len(items) == 1 else items):
        found = read_chrome(first if len(items) == 1 and not isinstance(first, list) else items)
    elif langsmith := runs(items):
        found = read_langsmith(langsmith)
    elif langfuse := observations(items):
        found = read_langfuse(langfuse)
    else:
        raise TraceError(f"{where} is no trace that tamis knows", hint=f"it reads {KNOWN}")
    if not found.spans:
        raise TraceError(f"{where} looks like {found.format} but holds no spans")
    return found


def _decoded(content: bytes, where: str) -> list[object]:
    """The JSON values: one file's list, its pages' items, or a value a line."""
    try:
        value = msgspec.json.decode(content)
    except msgspec.DecodeError as error:
        return _lines(content, where, error)
    if isinstance(value, list):
        return value
    for page in ("data", "runs"):  # what the public APIs of Langfuse and LangSmith wrap their items in
        items = within(value, page)
        if isinstance(items, list):
            return items
    return [value]


def _lines(content: bytes, where: str, error: msgspec.DecodeError) -> list[object]:
    """A value a line; or an array that never closed, as a trace does whose writer was killed."""
    stripped = content.strip()
    if stripped.startswith(b"["):
        try:
            closed: list[object] = msgspec.json.decode(stripped.rstrip(b",") + b"]", type=list[object])
        except msgspec.DecodeError:
            raise TraceError(f"{where} is not whole JSON: {error}") from error
        return closed
    values: list[object] = []
    for number, line in enumerate(stripped.splitlines(), 1):
        if line.strip():
            try:
                values.append(msgspec.json.decode(line))
            except msgspec.DecodeError as broken:
                raise TraceError(f"{where}, line {number}: not JSON ({broken})", hint=f"it reads {KNOWN}") from broken
    if not values:
        raise TraceError(f"{where} is empty")
    return values
