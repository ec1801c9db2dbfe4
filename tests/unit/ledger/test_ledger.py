"""The ledger keeps what it was given, in order, whatever happens to the process."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tamis.errors import LedgerError
from tamis.ledger import FILE, FOLDER, Ledger
from tamis.ledger import ledger as ledgers
from tamis.records import Brief, Draft, Evidence, Held, Spec, digest

CHECK = Spec(kind="check", name="parses", version="1")
WRITER = Spec(kind="writer", name="files", version="1")


def draft(name: str, brief: str = "b") -> Draft:
    return Draft(id=digest(name), brief=brief, name=name, blob=digest(name), writer=WRITER)


def test_what_is_added_is_read_back_in_order_by_another_ledger(tmp_path: Path) -> None:
    drafts = [draft(f"{n}.py") for n in range(5)]
    with Ledger(tmp_path) as ledger:
        for one in drafts:
            ledger.add(one)
        assert list(ledger.all(Draft)) == drafts
    with Ledger(tmp_path, read_only=True) as again:
        assert list(again.all(Draft)) == drafts
        assert list(again.all(Draft, about="another brief")) == []
        assert again.position() == 5


def test_the_same_record_twice_is_one_and_the_same_content_one_blob(tmp_path: Path) -> None:
    with Ledger(tmp_path) as ledger:
        ledger.add(draft("a"))
        ledger.add(draft("a"))
        first, second = ledger.add_blob(b"text"), ledger.add_blob(b"text")
        assert first == second
        assert ledger.blob(first) == b"text"
        assert len(list(ledger.all(Draft))) == 1


def test_nothing_can_be_changed_or_removed(tmp_path: Path) -> None:
    with Ledger(tmp_path) as ledger:
        ledger.add(draft("a"))
        ledger.add_blob(b"x")
    raw = sqlite3.connect(tmp_path / FOLDER / FILE)
    for statement in (
        "DELETE FROM records",
        "UPDATE records SET id = ''",
        "DELETE FROM blobs",
        "UPDATE blobs SET bytes = ''",
    ):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            raw.execute(statement)


def test_a_second_run_at_the_same_time_gets_a_clear_message(tmp_path: Path) -> None:
    with Ledger(tmp_path) as ledger:
        ledger.add(draft("a"))
        with pytest.raises(LedgerError, match=f"another tamis is working on .*process {os.getpid()}"):
            Ledger(tmp_path)
        with Ledger(tmp_path, read_only=True) as reader:
            ledger.flush()
            assert len(list(reader.all(Draft))) == 1
    Ledger(tmp_path).close()


def test_a_ledger_of_a_newer_version_is_refused_in_a_sentence(tmp_path: Path) -> None:
    Ledger(tmp_path).close()
    raw = sqlite3.connect(tmp_path / FOLDER / FILE)
    raw.execute("INSERT INTO steps VALUES ('9 from the future')")
    raw.commit()
    for read_only in (False, True):
        with pytest.raises(LedgerError, match="written by a newer tamis"):
            Ledger(tmp_path, read_only=read_only)
    raw.execute("DELETE FROM steps WHERE name LIKE '9%'")
    raw.commit()
    Ledger(tmp_path).close()  # the refusal let go of the lock


def test_a_file_that_is_no_ledger_is_named(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / FILE).write_bytes(b"not a ledger at all, but long enough to have a header" * 40)
    with pytest.raises(LedgerError, match="is not a ledger, or is damaged"):
        Ledger(tmp_path)


def test_reading_where_there_is_no_ledger_says_so(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="has no ledger yet"):
        Ledger(tmp_path, read_only=True)
    assert not (tmp_path / FOLDER).exists()


ADD_FOREVER = """
import sys
from pathlib import Path
from tamis.ledger import Ledger
from tamis.records import Draft, Spec, digest
ledger = Ledger(Path(sys.argv[1]))
writer = Spec(kind="writer", name="f", version="1")
n = 0
while True:
    name = f"{n}"
    ledger.add(Draft(id=digest(name), brief="b", name=name, blob="x", writer=writer))
    n += 1
    if n % 50 == 0:
        ledger.flush()
        print(n, flush=True)
"""


def test_a_kill_at_any_moment_loses_nothing_that_was_flushed(tmp_path: Path) -> None:
    for moment in range(3):
        folder = tmp_path / str(moment)
        folder.mkdir()
        process = subprocess.Popen([sys.executable, "-c", ADD_FOREVER, folder], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        for _ in range(2 + moment):
            process.stdout.readline()
        time.sleep(0.003 * moment)
        process.send_signal(signal.SIGKILL)
        flushed = max([int(line) for line in process.stdout], default=100)
        process.wait()
        process.stdout.close()
        with Ledger(folder) as ledger:
            names = [one.name for one in ledger.all(Draft)]
        assert len(names) >= flushed
        assert names == [str(n) for n in range(len(names))], "no gap, no half row"


def test_a_full_disk_is_said_and_what_was_recorded_is_kept(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("filling a disk needs a small one: mounting it takes root")
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", small]
    mounted = subprocess.run(mount, capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("this machine lets nobody mount")
    try:
        ledger = Ledger(small)
        ledger.add(draft("kept"))
        ledger.flush()
        with pytest.raises(LedgerError, match="the disk is full"):
            for _ in range(4_000):
                ledger.add_blob(os.urandom(2_000))  # what can not be packed
            ledger.flush()
        with pytest.raises(LedgerError, match="the disk is full"):
            ledger.close()
        with Ledger(small, read_only=True) as reader:
            assert [one.name for one in reader.all(Draft)] == ["kept"]
    finally:
        subprocess.run(["umount", "-l", small], check=True)


def test_evidence_is_found_by_the_draft_it_is_about(tmp_path: Path) -> None:
    held = Evidence(id="1", drafts=("d1",), check=CHECK, answer=Held())
    with Ledger(tmp_path) as ledger:
        ledger.add(Brief(id="b", title="t", text="", desk="software"))
        ledger.add(held)
        assert list(ledger.all(Evidence, about="d1")) == [held]
        assert list(ledger.all(Evidence, about="d2")) == []


def test_what_is_read_page_by_page_is_all_of_it_and_shows_what_came_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledgers, "PAGE_ROWS", 3)
    with Ledger(tmp_path) as ledger:
        for number in range(8):
            ledger.add(draft(str(number)))
        reading = ledger.all(Draft)
        first = next(reading)
        later = ledger.add_blob(b"kept while others are read")
        assert ledger.blob(later) == b"kept while others are read"
        assert [one.name for one in (first, *reading)] == [str(number) for number in range(8)]
        assert ledger.find(Draft, digest("7")) == draft("7")
        assert ledger.find(Draft, "none") is None
