"""The one thread that writes to the ledger. Whoever records hands over a row and goes on; rows are committed together,
at most `COMMIT_SECONDS` after they came, because a commit costs milliseconds and a row microseconds."""

import sqlite3
import threading
import time
from pathlib import Path

from tamis.errors import LedgerError
from tamis.ledger.sqlite import connect, refusal

COMMIT_SECONDS = 0.05
MOST_ROWS_A_COMMIT = 2_000
MOST_ROWS_WAITING = 20_000  # beyond it, recording waits: a slow disk must not fill the memory
MOST_BYTES_WAITING = 64_000_000

Row = tuple[str, tuple[object, ...]]  # a statement and its values


class LedgerWriter:
    """Commits rows in the order in which they came. After a failure every further call raises it: nothing is recorded
    behind a gap."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection = connect(path)
        self._rows: list[Row] = []
        self._bytes = 0
        self._flushes: list[threading.Event] = []
        self._ending = False
        self._writing = False
        self._lock = threading.Lock()
        self._news = threading.Condition(self._lock)
        self._room = threading.Condition(self._lock)
        self._failure: LedgerError | None = None
        self._thread = threading.Thread(target=self._work, name="ledger", daemon=True)
        self._thread.start()

    def put(self, row: Row) -> None:
        self._raise_failure()
        size = sum(len(value) for value in row[1] if isinstance(value, str | bytes))
        with self._lock:
            while len(self._rows) >= MOST_ROWS_WAITING or self._bytes >= MOST_BYTES_WAITING:
                self._room.wait()
            self._rows.append(row)
            self._bytes += size
            if len(self._rows) in {1, MOST_ROWS_A_COMMIT}:
                self._news.notify()

    def flush(self) -> None:
        """Returns once everything handed over before is on disk. Raises LedgerError where it could not be written."""
        done = threading.Event()
        with self._lock:
            if self._rows or self._writing:
                self._flushes.append(done)
                self._news.notify()
            else:
                done.set()  # nothing came since: whoever reads much asks often
        done.wait()
        self._raise_failure()

    def close(self) -> None:
        if self._thread.is_alive():
            with self._lock:
                self._ending = True
                self._news.notify()
            self._thread.join()
        self._connection.close()
        self._raise_failure()

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _work(self) -> None:
        ending = False
        while not ending:
            rows, waiting, ending = self._gather()
            for start in range(0, len(rows), MOST_ROWS_A_COMMIT):
                if self._failure is None:
                    try:
                        self._commit(rows[start : start + MOST_ROWS_A_COMMIT])
                    except sqlite3.Error as error:
                        self._failure = refusal(error, self._path)
            with self._lock:
                self._writing = False
            for event in waiting:
                event.set()

    def _gather(self) -> tuple[list[Row], list[threading.Event], bool]:
        """Rows to commit together, who waits for them, and whether the end was asked for."""
        with self._lock:
            while not (self._rows or self._flushes or self._ending):
                self._news.wait()
            until = time.monotonic() + COMMIT_SECONDS
            while not (self._flushes or self._ending) and len(self._rows) < MOST_ROWS_A_COMMIT:
                left = until - time.monotonic()
                if left <= 0:
                    break
                self._news.wait(left)
            rows, waiting = self._rows, self._flushes
            self._rows, self._flushes, self._bytes = [], [], 0
            self._writing = True
            self._room.notify_all()
            return rows, waiting, self._ending

    def _commit(self, rows: list[Row]) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            by_statement: dict[str, list[tuple[object, ...]]] = {}
            for statement, values in rows:
                by_statement.setdefault(statement, []).append(values)
            # each kind of row in its order; blobs and records lie in tables of their own
            for statement, every in by_statement.items():
                self._connection.executemany(statement, every)
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
