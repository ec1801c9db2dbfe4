"""The shape of the ledger, as a list of named steps that is only ever added to.

Opening a ledger applies the steps that it lacks. A ledger with a step that is not in this list was written by a newer
tamis and is refused. Two tables are all there is: what a record says is its JSON body (`tamis.records` is its schema),
and the columns beside it are what the ledger itself needs to find it again.
"""

from typing import NamedTuple


class Step(NamedTuple):
    name: str
    sqlite: str


STEPS = (
    Step(
        "1 blobs and records",
        """
        CREATE TABLE blobs (
            hash TEXT NOT NULL PRIMARY KEY,              -- records.digest of the bytes
            packing TEXT,                                -- 'zlib' where `bytes` are packed; NULL where as they are
            bytes BLOB NOT NULL                          -- the content, stored once however many drafts have it
        );
        CREATE TABLE records (
            position INTEGER PRIMARY KEY AUTOINCREMENT,  -- the order in which everything was recorded; never reused
            kind TEXT NOT NULL,                          -- which noun, in lower case: draft, evidence, span, ...
            id TEXT NOT NULL,                            -- the record's own id; recording it again changes nothing
            about TEXT,                                  -- the draft, brief or choice it is about; NULL for spans
            body TEXT NOT NULL,                          -- the whole record as JSON
            UNIQUE (kind, id)
        );
        CREATE INDEX records_about ON records (kind, about);
        CREATE TRIGGER records_stay BEFORE UPDATE ON records
            BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
        CREATE TRIGGER records_are_kept BEFORE DELETE ON records
            BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
        CREATE TRIGGER blobs_stay BEFORE UPDATE ON blobs
            BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
        CREATE TRIGGER blobs_are_kept BEFORE DELETE ON blobs
            BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
        """,
    ),
)
