"""A map of columns: which field of a record, or column of a table, holds the draft, its name and the rest. Where the
brief gives one, it is followed to the letter and no shape is guessed.
"""

from collections.abc import Mapping

import msgspec

from tamis.config import Columns
from tamis.writers.jsonl import BadLine, Sample, not_json, raw_content
from tamis.writers.lines import Line

_decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def read_mapped(line: Line, columns: Columns, *, max_bytes: int) -> Sample:
    """The line's sample by the map. Raises BadLine where the draft's field isn't there or holds no text."""
    content = raw_content(line, max_bytes=max_bytes)
    try:
        record = _decode(content)
    except msgspec.ValidationError as error:
        raise BadLine(f"is JSON of another shape: {error}") from error
    except (UnicodeDecodeError, msgspec.DecodeError, RecursionError) as error:
        raise BadLine(not_json(line, error)) from error
    tokens = _found(record, columns.tokens)
    return Sample(
        text=_required(record, columns.text),
        name=_text(record, columns.name),
        task_id=_text(record, columns.task),
        finish_reason=_text(record, columns.finish_reason),
        usage=msgspec.Raw(b'{"completion_tokens":' + bytes(tokens) + b"}")
        if tokens is not None
        else msgspec.Raw(b"{}"),
    )


def of_cells(cells: Mapping[str, str], columns: Columns) -> Sample:
    """The sample in a table's row. Raises BadLine where the table has no such column."""
    for column in (columns.text, columns.name, columns.task, columns.finish_reason, columns.tokens):
        if column is not None and column not in cells:
            raise BadLine(f"has no column '{column}'; the table has {', '.join(cells)}")
    tokens = (cells.get(columns.tokens or "") or "").strip()
    return Sample(
        text=cells[columns.text],
        name=cells.get(columns.name or "") or None,
        task_id=cells.get(columns.task or "") or None,
        finish_reason=cells.get(columns.finish_reason or "") or None,
        usage=msgspec.Raw(b'{"completion_tokens":%d}' % int(tokens) if tokens.isdecimal() else b"{}"),
    )


def _required(record: Mapping[str, msgspec.Raw], path: str) -> str:
    found = _found(record, path)
    if found is None:
        has = ", ".join(list(record)[:8]) or "nothing"
        raise BadLine(f"has no '{path}', where [drafts] columns says that the draft is; it has {has}")
    text = _decoded(found)
    if not isinstance(text, str):
        raise BadLine(f"has no text in '{path}', but {_kind(text)}")
    return text


def _text(record: Mapping[str, msgspec.Raw], path: str | None) -> str | None:
    found = _found(record, path)
    value = None if found is None else _decoded(found)
    return value if isinstance(value, str) else str(value) if isinstance(value, int) else None


def _found(record: Mapping[str, msgspec.Raw], path: str | None) -> msgspec.Raw | None:
    """The field of that name; where there is none and the name has dots, the one within objects."""
    if path is None:
        return None
    if path in record:
        return record[path]
    outer, dot, inner = path.partition(".")
    if not dot or outer not in record:
        return None
    try:
        return _found(_decode(record[outer]), inner)
    except (msgspec.DecodeError, RecursionError):
        return None


def _decoded(raw: msgspec.Raw) -> object:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadLine(f"is not JSON: {error}") from error


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a truth value"
        case int() | float():
            return "a number"
        case list():
            return "a list"
        case _:
            return "an object"
