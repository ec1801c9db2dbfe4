"""From sources to drafts: each file is read in the shape that its name and its content say it has.

A draft that can't be used is handed over with its problem, named by its file and line; the others go on. Names that
come from files are taken over where they can do no harm, and stay unique.
"""

import itertools
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from tamis.brief import MANY_DRAFTS, LoadedBrief
from tamis.config import Columns
from tamis.records import Fault
from tamis.writers.base import Written, flaw, too_large
from tamis.writers.batch import drafts_of
from tamis.writers.branches import Branches, patches
from tamis.writers.columns import of_cells, read_mapped
from tamis.writers.humaneval import Tasks
from tamis.writers.json_items import members, open_document
from tamis.writers.jsonl import TEXTS, BadLine, Sample, patch_name, patch_of, read_sample, written
from tamis.writers.lines import Line, lines_of_file
from tamis.writers.parquet import rows_of
from tamis.writers.sources import Source, free_name
from tamis.writers.table import NAME_COLUMNS, Row, rows


class Reader:
    """Turns sources into drafts, and knows the names that it has given."""

    def __init__(self, brief: LoadedBrief) -> None:
        self._brief = brief
        self._columns = brief.settings.drafts.columns
        self._max_bytes = int(brief.settings.drafts.max_mb * 1e6)
        self._taken: set[str] = set()
        self.tasks = Tasks(brief)
        self.max_line_bytes = 2 * self._max_bytes + 65_536
        """Room for a draft of full size with its quotes and line ends escaped, and for fields beside it."""

    def drafts(self, sources: Iterable[Source]) -> Iterator[Written]:
        for source in sources:
            if source.branches is not None:
                yield from self._patches(source.branches)
            elif source.path is not None:
                problem, fault = _no_file(source.path)
                if problem:
                    yield self._bad(source.name, problem, fault)
                else:
                    yield from self._file(source.name, source.path)

    def samples(self, label: str, lines: Iterable[Line]) -> Iterator[Written]:
        """The drafts in JSON lines; blank lines and samples of other tasks are passed over."""
        for line in lines:
            if line.content is not None and not line.content.strip():
                continue
            place = f"{label}:{line.number}"
            try:
                sample = self._sample(line)
                if self.tasks.takes(sample):
                    yield from self._of_sample(sample, place, sample_number=line.number - 1)
            except BadLine as bad:
                yield self._bad(place, bad.problem, bad.fault, sample=line.number - 1)

    # files of each kind

    def _file(self, name: str, path: Path) -> Iterator[Written]:
        kind = path.name.lower()
        if kind.endswith(".csv"):
            yield from self._table(name, path)
        elif kind.endswith(".parquet"):
            yield from self._parquet(name, path)
        elif kind.endswith(MANY_DRAFTS):
            yield from self.samples(name, lines_of_file(path, max_bytes=self.max_line_bytes))
        elif kind.endswith(".json") and self._brief.brief.desk != "lab":
            yield from self._document(name, path)
        else:
            yield self._whole_file(name, path)

    def _whole_file(self, name: str, path: Path) -> Written:
        """A file as one draft. Its size is asked first, so that a large one costs nothing."""
        try:
            size = path.stat().st_size
            if size > self._max_bytes:
                return self._bad(name, too_large(size, self._max_bytes), "budget")
            content = path.read_bytes()
        except OSError as error:
            return self._bad(name, f"can't be read: {error.strerror or error}", "person")
        return self._handed_over(Written(name=name, content=content))

    def _table(self, label: str, path: Path) -> Iterator[Written]:
        for row in rows(path, max_bytes=self.max_line_bytes):
            place = f"{label}:{row.line}"
            columns = self._columns or (None if self._brief.brief.desk == "lab" else _known_columns(row))
            try:
                if row.problem:
                    raise BadLine(row.problem)
                if columns is None:
                    draft = Written(name=place, content=row.content)
                    yield self._handed_over(draft, row.name, sample=row.line - 1)
                elif self.tasks.takes(sample := of_cells(row.cells, columns)):
                    yield from self._of_sample(sample, place, sample_number=row.line - 1)
            except BadLine as bad:
                yield self._bad(place, bad.problem, bad.fault, sample=row.line - 1)

    def _parquet(self, label: str, path: Path) -> Iterator[Written]:
        """Rows as JSON lines. For the lab a row is itself the draft, as in a table."""
        columns = self._columns
        wanted = [c for c in msgspec.structs.astuple(columns) if isinstance(c, str)] if columns else None
        found = rows_of(path, wanted, max_bytes=self.max_line_bytes)
        if columns is None and self._brief.brief.desk == "lab":
            for row in found:
                yield self._record(f"{label}:{row.number}", row)
        else:
            yield from self.samples(label, found)

    def _record(self, place: str, row: Line) -> Written:
        if row.content is None or len(row.content) > self._max_bytes:
            return self._bad(place, "is larger than [drafts] max_mb in tamis.toml allows", "budget")
        cells = msgspec.json.decode(row.content, type=dict[str, object])
        named = [str(cells[column]) for column in NAME_COLUMNS if cells.get(column) is not None]
        return self._handed_over(
            Written(name=place, content=row.content), named[0] if named else None, sample=row.number - 1
        )

    def _document(self, name: str, path: Path) -> Iterator[Written]:
        """A JSON document: a list of samples, or predictions by the name of their task; anything else is one draft."""
        document = open_document(path, max_bytes=self.max_line_bytes)
        items = document.items if document.opening == b"[" else members(document.items, "instance_id")
        first = next(items, None)
        if first is not None and document.opening and self._is_sample(first, by_name=document.opening == b"{"):
            yield from self.samples(name, itertools.chain((first,), items))
        else:
            yield self._whole_file(name, path)

    def _is_sample(self, item: Line, *, by_name: bool) -> bool:
        try:
            sample = self._sample(item)
        except BadLine:
            return not by_name and (item.content is None or item.content.startswith(b"{"))
        return sample.is_patch or (not by_name and (sample.is_batch or any(getattr(sample, text) for text in TEXTS)))

    def _patches(self, wanted: Branches) -> Iterator[Written]:
        for number, patch in enumerate(patches(wanted, self._brief.folder, max_bytes=self._max_bytes)):
            name = f"{patch.name}.patch"
            problem = patch.problem
            if patch.content is None:
                problem = f"is larger than {self._max_bytes / 1e6:,.6g} MB; [drafts] max_mb in tamis.toml is the limit"
            draft = Written(
                name=f"branch:{number + 1}", content=patch.content or b"", problem=problem, fault=patch.fault
            )
            yield self._handed_over(draft, name)

    # one sample

    def _sample(self, line: Line) -> Sample:
        if self._columns is not None:
            return read_mapped(line, self._columns, max_bytes=self.max_line_bytes)
        return read_sample(line, max_bytes=self.max_line_bytes)

    def _of_sample(self, sample: Sample, place: str, *, sample_number: int) -> Iterator[Written]:
        most = self._max_bytes
        if sample.is_batch:
            for draft in drafts_of(sample, self._brief, name=sample.custom_id or place, max_bytes=most):
                plain = msgspec.structs.replace(draft, name=place)
                yield self._handed_over(plain, draft.name, sample=sample_number)
        elif sample.is_patch:
            draft = patch_of(sample, name=place, max_bytes=most)
            yield self._handed_over(draft, patch_name(sample), sample=sample_number)
        else:
            draft = written(sample, name=place, max_bytes=most, prompt=self.tasks.prompt(sample))
            yield self._handed_over(draft, sample.name, sample=sample_number)

    def _bad(self, name: str, problem: str, fault: Fault, *, sample: int = 0) -> Written:
        return self._handed_over(Written(name=name, content=b"", problem=problem, fault=fault), sample=sample)

    def _handed_over(self, draft: Written, wanted: str | None = None, *, sample: int = 0) -> Written:
        """The draft with a name of its own, the one wanted if that will do, and what is wrong with it. `sample` is its
        place in its file: a file more or less elsewhere must not make it another draft."""
        name = free_name((wanted if wanted and is_plain(wanted) else draft.name,), self._taken)
        return msgspec.structs.replace(draft, name=name, sample=sample, problem=draft.problem or flaw(draft.content))


def is_plain(name: str) -> bool:
    """Whether a name from a file can be shown and be part of a path as it is."""
    return name.isprintable() and len(name) <= 200 and not name.startswith("/") and ".." not in name.split("/")


def _known_columns(row: Row) -> Columns | None:
    """The columns of a table of texts whose names say what they hold, None where they don't."""
    text = [name for name in TEXTS if name in row.cells]
    if len(text) != 1:
        return None
    name = next((column for column in NAME_COLUMNS if column in row.cells), None)
    task, finish = (column if column in row.cells else None for column in ("task_id", "finish_reason"))
    return Columns(text=text[0], name=name, task=task, finish_reason=finish)


def _no_file(path: Path) -> tuple[str | None, Fault]:
    """Why nothing can be read from this path, None where something can."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        dangling = path.is_symlink() and not path.exists()
        problem = (
            f"is a link to {path.readlink()}, which is not there" if dangling else f"can't be read: {error.strerror}"
        )
        return problem, "person"
    if stat.S_ISDIR(mode):
        return "is a folder, and a draft is a file", "person"
    return (None, "person") if stat.S_ISREG(mode) else ("is no regular file", "person")
