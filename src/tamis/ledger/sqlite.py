"""SQLite, as the ledger uses it: WAL, so that `tamis show` reads while a run writes, and every step in a transaction
of its own, so that a ledger is never half made."""

import sqlite3
from pathlib import Path

from tamis.errors import LedgerError
from tamis.ledger.schema import STEPS

BUSY_SECONDS = 10.0


def connect(path: Path) -> sqlite3.Connection:
    """A connection to the ledger at `path`, made and brought up to date where needed. Raises LedgerError where the
    file is not a ledger, is from a newer tamis, or can't be opened."""
    try:
        # autocommit: transactions are begun and ended by name, where they are meant
        connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode = WAL")
        # FULL, because an owner's answer that was taken must outlast a power cut; group commit pays for it
        connection.execute("PRAGMA synchronous = FULL")
        _bring_up_to_date(connection, path)
    except sqlite3.Error as error:
        raise refusal(error, path) from error
    return connection


def refusal(error: sqlite3.Error, path: Path) -> LedgerError:
    """What went wrong with the ledger's file, in the user's terms."""
    text = str(error)
    if "full" in text or "disk I/O" in text:
        return LedgerError(
            f"the disk is full: {path} can't grow ({text}). What was recorded before is safe.",
            hint="free some space and run the same command again; it goes on from there",
        )
    if "not a database" in text or "malformed" in text:
        return LedgerError(
            f"{path} is not a ledger, or is damaged ({text})",
            hint="restore it from a copy, or move it away to start a new one",
        )
    if "readonly" in text or "unable to open" in text:
        return LedgerError(f"the ledger {path} can't be written ({text})", hint="are the folder's permissions right?")
    return LedgerError(f"the ledger {path}: {text}")


def _bring_up_to_date(connection: sqlite3.Connection, path: Path) -> None:
    done = _steps_done(connection)
    known = [step.name for step in STEPS]
    newer = [name for name in done if name not in known]
    if newer:
        raise LedgerError(
            f"{path} was written by a newer tamis (it has the step {newer[-1]!r}, which this version doesn't know)",
            hint="upgrade tamis: pip install --upgrade tamis",
        )
    for step in STEPS:
        if step.name not in done:
            _apply(connection, step.name, step.sqlite)


def _steps_done(connection: sqlite3.Connection) -> list[str]:
    connection.execute("CREATE TABLE IF NOT EXISTS steps (name TEXT NOT NULL PRIMARY KEY)")
    return [name for (name,) in connection.execute("SELECT name FROM steps ORDER BY rowid")]


def _apply(connection: sqlite3.Connection, name: str, script: str) -> None:
    # IMMEDIATE, so that two processes that open a new ledger at once queue instead of failing at commit
    connection.execute("BEGIN IMMEDIATE")
    try:
        if name not in _steps_done(connection):
            for statement in _statements(script):
                connection.execute(statement)
            connection.execute("INSERT INTO steps VALUES (?)", (name,))
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _statements(script: str) -> list[str]:
    """The script's statements one by one: `executescript` would commit before it starts."""
    statements, current = [], ""
    for line in script.splitlines(keepends=True):
        current += line
        if sqlite3.complete_statement(current):
            statements.append(current)
            current = ""
    return statements
