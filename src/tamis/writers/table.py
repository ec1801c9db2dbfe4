"""Drafts as rows of a CSV table: each row is one draft, a JSON object with the table's columns as its keys, in their
order. Every value stays the text that it is in the table; what it means is for the desk to say.
"""

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from tamis.errors import DraftsError
from tamis.records import Record
from tamis.writers.lines import Line, lines_of_file

NAME_COLUMNS = ("name", "id")


class Row(Record, frozen=True, kw_only=True):
    """A row on its line (from 1; the last one where a cell holds line ends). `problem` is why it can't be used."""

    line: int
    name: str | None = None
    content: bytes = b""
    problem: str | None = None


def rows(path: Path, *, max_bytes: int) -> Iterator[Row]:
    """Every row below the header. Raises DraftsError where there is no header or a line is longer than `max_bytes`."""
    reader = csv.reader(_text(path, lines_of_file(path, max_bytes=max_bytes)))
    try:
        header = [name.strip() for name in next(reader, [])]
        if not any(header) or len(set(header)) != len(header):
            raise DraftsError(f"{path} has no header row with a different name for each column")
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield _row(reader.line_num, header, cells)
    except csv.Error as error:
        raise DraftsError(f"{path} line {reader.line_num} can't be read as CSV: {error}") from error


def _row(line: int, header: list[str], cells: list[str]) -> Row:
    if len(cells) != len(header):
        return Row(line=line, problem=f"has {len(cells)} cells, and the header has {len(header)}")
    values = dict(zip(header, cells, strict=True))
    if any("\ufffd" in cell for cell in cells):
        return Row(line=line, problem="is not UTF-8")
    name = next((values[column].strip() for column in NAME_COLUMNS if values.get(column, "").strip()), None)
    return Row(line=line, name=name, content=msgspec.json.encode(values))


def _text(path: Path, lines: Iterable[Line]) -> Iterator[str]:
    for line in lines:
        if line.content is None:
            raise DraftsError(f"{path} line {line.number} is longer than [drafts] max_mb in tamis.toml allows")
        yield line.content.decode("utf-8", "replace") + "\n"
