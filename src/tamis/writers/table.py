"""Drafts as rows of a CSV table: each row is one draft, a JSON object with the table's columns as its keys, in their
order. Every value stays the text that it is in the table; what it means is for the desk to say.
"""

import csv
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from tamis.errors import DraftsError
from tamis.records import Record
from tamis.writers.lines import Line, lines_of_file

NAME_COLUMNS = ("name", "id")
_TOO_LONG = "\x00too long\x00"


class Row(Record, frozen=True, kw_only=True):
    """A row on its line (from 1; the last one where a cell holds line ends). `cells` has its texts by column, `content`
    all of it as JSON; `problem` is why it can't be used."""

    line: int
    name: str | None = None
    cells: Mapping[str, str] = {}
    problem: str | None = None

    @property
    def content(self) -> bytes:
        return msgspec.json.encode(self.cells)


def rows(path: Path, *, max_bytes: int) -> Iterator[Row]:
    """Every row below the header. A row that can't be read is a row with its problem. Raises DraftsError where there is
    no header."""
    csv.field_size_limit(max(max_bytes, csv.field_size_limit()))  # it is one for the process, and low by default
    reader = csv.reader(_text(lines_of_file(path, max_bytes=max_bytes)))
    header = _header(path, reader)
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Row(line=reader.line_num, problem=f"can't be read as CSV: {error}")
            continue
        if any(cell.strip() for cell in cells):
            yield _row(reader.line_num, header, cells)


def _header(path: Path, reader: Iterator[list[str]]) -> list[str]:
    try:
        header = [name.strip() for name in next(reader, [])]
    except csv.Error as error:
        raise DraftsError(f"{path} can't be read as CSV: {error}") from error
    if not any(header) or len(set(header)) != len(header) or _TOO_LONG in header:
        raise DraftsError(f"{path} has no header row with a different name for each column")
    return header


def _row(line: int, header: list[str], cells: list[str]) -> Row:
    if any(_TOO_LONG in cell for cell in cells):
        return Row(line=line, problem="is on a line longer than [drafts] max_mb in tamis.toml allows")
    if len(cells) != len(header):
        return Row(line=line, problem=f"has {len(cells)} cells, and the header has {len(header)}")
    values = dict(zip(header, cells, strict=True))
    if any("\ufffd" in cell for cell in cells):
        return Row(line=line, problem="is not UTF-8")
    name = next((values[column].strip() for column in NAME_COLUMNS if values.get(column, "").strip()), None)
    return Row(line=line, name=name, cells=values)


def _text(lines: Iterable[Line]) -> Iterator[str]:
    """The lines as text; one that was too long to be held is a mark in its place, so that the others go on."""
    for line in lines:
        yield (_TOO_LONG if line.content is None else line.content.decode("utf-8", "replace")) + "\n"
