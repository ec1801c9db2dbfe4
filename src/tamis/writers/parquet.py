"""Rows of a Parquet file as lines of JSON, so that they are drafts in whatever shape lines may have. A row group is
read in small batches, and only the columns that are wanted; it is what memory must hold. The library is pyarrow.
"""

import importlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from tamis.errors import DraftsError, UsageError, boundary
from tamis.writers.lines import Line

BATCH_ROWS = 64


def rows_of(path: Path, columns: Sequence[str] | None, *, max_bytes: int) -> Iterator[Line]:
    """Each row on its "line", which counts from 1. `columns` are the ones to read, None for all. Raises UsageError
    where pyarrow isn't installed, DraftsError where the file can't be read or has no such column."""
    with (
        boundary(DraftsError, f"{path} can't be read", hint="the drafts read before it are kept"),
        _opened(path) as file,
    ):
        known = file.schema_arrow.names
        missing = [column for column in columns or () if column.split(".")[0] not in known and column not in known]
        if missing:
            raise DraftsError(f"{path} has no column '{missing[0]}'; it has {', '.join(known)}")
        number = 0
        for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=columns, use_threads=False):
            for row in batch.to_pylist():
                number += 1
                content = msgspec.json.encode(row, enc_hook=str)
                yield Line(number=number, content=content if len(content) <= max_bytes else None)


def _opened(path: Path) -> Any:
    try:
        parquet = importlib.import_module("pyarrow.parquet")
    except ModuleNotFoundError as error:
        raise UsageError(f"{path.name} needs pyarrow to be read", hint="pip install 'tamis[parquet]'") from error
    # reading ahead would hold several row groups at once
    return parquet.ParquetFile(path, pre_buffer=False, memory_map=False)
