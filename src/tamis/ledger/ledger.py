"""The ledger: everything that was asked, found, chosen and released, append-only, in `DIR/.tamis/`.

What `add` took is on disk within a twentieth of a second, what `flush` returned for is on disk now. Reading sees all
that was added. One process writes at a time; any number may read meanwhile.
"""

import contextlib
import os
import zlib
from array import array
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

import msgspec
from filelock import FileLock, Timeout

from tamis.errors import LedgerError
from tamis.ledger.sqlite import connect
from tamis.ledger.writer import LedgerWriter
from tamis.records import (
    AnyRecord,
    Beat,
    Brief,
    Choice,
    Draft,
    Evidence,
    Question,
    Release,
    Reply,
    Request,
    Span,
    digest,
)

FOLDER = ".tamis"
FILE = "ledger.sqlite"
WORTH_PACKING_BYTES = 2_000
PAGE_ROWS = 500
PACKING_LEVEL = 1  # what drafts did is nearly the same over and over: level 1 takes nine tenths off, 6 little more

R = TypeVar("R", Brief, Draft, Evidence, Question, Choice, Release, Span, Request, Reply, Beat)


def kind_of(record: type[AnyRecord]) -> str:
    return record.__name__.lower()


def _about(record: AnyRecord) -> str | None:
    match record:
        case Draft() | Question() | Choice() | Request() | Reply() | Beat():
            return record.brief
        case Evidence():
            return record.drafts[0] if record.drafts else None
        case Release():
            return record.choice
        case _:
            return None


class Ledger:
    """A ledger open for reading and, unless `read_only`, for writing."""

    def __init__(self, brief_folder: Path, *, read_only: bool = False) -> None:
        folder = brief_folder / FOLDER
        self.path = folder / FILE
        self._lock: FileLock | None = None
        self._writer: LedgerWriter | None = None
        if read_only and not self.path.exists():
            raise LedgerError(f"{brief_folder} has no ledger yet", hint=f"`tamis run {brief_folder}` makes one")
        if not read_only:
            self._lock = _lock(folder)
            self._writer = LedgerWriter(self.path)
        self._reader = connect(self.path)
        self._encode = msgspec.json.Encoder()

    def add(self, record: AnyRecord) -> None:
        """Records it. Adding a record that is there already changes nothing."""
        body = self._encode.encode(record).decode()
        values = (kind_of(type(record)), record.id, _about(record), body)
        self._put("INSERT OR IGNORE INTO records (kind, id, about, body) VALUES (?, ?, ?, ?)", values)

    def add_blob(self, content: bytes) -> str:
        """Keeps the content and returns its hash."""
        name = digest(content)
        packed = zlib.compress(content, PACKING_LEVEL) if len(content) >= WORTH_PACKING_BYTES else content
        values = (name, "zlib", packed) if len(packed) < len(content) else (name, None, content)
        self._put("INSERT OR IGNORE INTO blobs (hash, packing, bytes) VALUES (?, ?, ?)", values)
        return name

    def blob(self, name: str) -> bytes:
        """The content with that hash. Raises LedgerError where there is none."""
        self.flush()
        row = self._reader.execute("SELECT packing, bytes FROM blobs WHERE hash = ?", (name,)).fetchone()
        if row is None:
            raise LedgerError(f"the ledger {self.path} has no content {name}")
        packing, content = row
        return zlib.decompress(content) if packing == "zlib" else bytes(content)

    def all(self, record: type[R], *, about: str | None = None) -> Iterator[R]:
        """Every record of a kind in the order recorded; with `about`, those about that draft, brief or choice."""
        self.flush()
        where, values = "kind = ?", [kind_of(record)]
        if about is not None:
            where += " AND about = ?"
            values.append(about)
        decoder = msgspec.json.Decoder(record)
        found = self._reader.execute(f"SELECT position FROM records WHERE {where}", values)
        positions = sorted(array("q", (position for (position,) in found)))
        # in pages, each read to its end: as long as one is open, SQLite shows this connection nothing newer
        for start in range(0, len(positions), PAGE_ROWS):
            page = positions[start : start + PAGE_ROWS]
            marks = ",".join("?" * len(page))
            query = f"SELECT body FROM records WHERE position IN ({marks}) ORDER BY position"
            for (body,) in self._reader.execute(query, page).fetchall():
                yield decoder.decode(body)

    def find(self, record: type[R], name: str) -> R | None:
        """The record of that kind and id, None where there is none."""
        self.flush()
        query = "SELECT body FROM records WHERE kind = ? AND id = ?"
        row = self._reader.execute(query, (kind_of(record), name)).fetchone()
        return None if row is None else msgspec.json.decode(row[0], type=record)

    def position(self) -> int:
        """The position of the newest record, 0 in an empty ledger."""
        self.flush()
        (newest,) = self._reader.execute("SELECT COALESCE(MAX(position), 0) FROM records").fetchone()
        return int(newest)

    def flush(self) -> None:
        if self._writer is not None:
            self._writer.flush()

    def close(self) -> None:
        self._reader.close()
        try:
            if self._writer is not None:
                self._writer.close()
        finally:
            if self._lock is not None:
                self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.close()
        except LedgerError:
            if error is None:  # else the first error is the one to tell
                raise

    def _put(self, statement: str, values: tuple[object, ...]) -> None:
        if self._writer is None:
            raise LedgerError(f"the ledger {self.path} was opened for reading only")
        self._writer.put((statement, values))


def _lock(folder: Path) -> FileLock:
    """The right to write, kept until the process ends however it ends. Raises LedgerError where another has it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / "lock")
        lock.acquire(timeout=0)
    except Timeout as error:
        raise LedgerError(
            f"another tamis is working on {folder.parent} (process {_holder(folder)})",
            hint="wait for it to end, or stop it; `tamis show` works meanwhile",
        ) from error
    except OSError as error:
        raise LedgerError(f"the ledger's folder {folder} can't be used: {error.strerror or error}") from error
    # on a full disk the ledger itself will say so; whose lock it is, is only a courtesy
    with contextlib.suppress(OSError):
        (folder / "holder").write_text(str(os.getpid()))
    return lock


def _holder(folder: Path) -> str:
    try:
        return (folder / "holder").read_text().strip() or "unknown"
    except OSError:
        return "unknown"
