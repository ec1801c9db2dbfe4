"""Texts measured in another process come out as they do here, whatever becomes of that process."""

import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tamis.checks import measuring
from tamis.checks.measuring import Measure, Measuring
from tamis.checks.near import shingles, signatures
from tamis.checks.parser_pool import Job, ParserPool
from tamis.checks.shingling import MEASURE_BYTES, packed
from tamis.tokens import count_tokens, count_words

WORDS = ["the", "sea", "“she”", "didn’t", "look", "海", "up;", "42", "—", "naïve", "😀", "İstanbul", "\x00", "a\u0308"]


def text_of(rng: random.Random, words: int) -> bytes:
    return " ".join(rng.choices(WORDS, k=words)).encode()


def by_hand(texts: Sequence[bytes]) -> list[Measure]:
    read = [text.decode("utf-8", "replace") for text in texts]
    signed = signatures([shingles(text) for text in read])
    return [Measure(count_tokens(t), count_words(t), s) for t, s in zip(read, signed, strict=True)]


def measured(pool: ParserPool | None, batches: Sequence[Sequence[bytes]]) -> list[Measure]:
    every: Measuring[int] = Measuring(pool)
    found: list[Measure] = []
    for batch in batches:
        every.put(range(len(batch)), batch)
        for items, measures in every.done():
            assert len(items) == len(measures)
            found += measures
    for _, measures in every.done(wait=True):
        found += measures
    return found


@pytest.fixture
def sent_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every batch is worth a process."""
    monkeypatch.setattr(measuring, "WORTH_BYTES", 0)
    monkeypatch.setattr(measuring, "BATCH_BYTES", 0)


@pytest.mark.usefixtures("sent_away")
@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.binary(max_size=60) | st.text(max_size=60).map(str.encode), max_size=4), max_size=4))
def test_a_process_measures_any_bytes_as_they_are_measured_here(pool: ParserPool, batches: list[list[bytes]]) -> None:
    flat = [text for batch in batches for text in batch]
    assert measured(pool, batches) == measured(None, batches) == by_hand(flat)


def test_order_is_kept_however_many_batches_are_on_their_way() -> None:
    rng = random.Random(1)
    batches = [[text_of(rng, 3_000) for _ in range(rng.randrange(1, 8))] for _ in range(12)]
    with ParserPool(processes=2) as two:
        assert measured(two, batches) == by_hand([text for batch in batches for text in batch])


def test_a_text_of_two_megabytes_is_measured_like_any_other(pool: ParserPool) -> None:
    large = text_of(random.Random(2), 450_000)
    assert len(large) > 2_000_000
    assert measured(pool, [[large, b"and a small one"]]) == by_hand([large, b"and a small one"])


def test_tokens_that_are_known_are_not_counted_again() -> None:
    texts = [b"one text", b"another text"]
    every: Measuring[str] = Measuring(None)
    every.put(["a", "b"], texts, uncounted=[0])
    ((_, (first, second)),) = every.done(wait=True)
    assert (first.tokens, second.tokens) == (0, count_tokens("another text"))
    assert packed(texts, [0])[MEASURE_BYTES:] == packed(texts)[MEASURE_BYTES:]


@pytest.mark.usefixtures("sent_away")
def test_a_process_killed_again_and_again_costs_no_text() -> None:
    rng = random.Random(3)
    batches = [[text_of(rng, 2_000) for _ in range(3)] for _ in range(6)]
    with ParserPool(processes=1) as own:
        every: Measuring[int] = Measuring(own)
        found: list[Measure] = []
        for batch in batches:
            every.put(range(len(batch)), batch)
            for process in own._all:
                process._child.kill()
            for _, measures in every.done(wait=True):
                found += measures
    assert found == by_hand([text for batch in batches for text in batch])


def test_what_comes_back_of_another_length_is_measured_here(monkeypatch: pytest.MonkeyPatch) -> None:
    class Silent(ParserPool):
        def _one(self, job: Job):  # type: ignore[no-untyped-def]  # as it would come from a process that lost its way
            return measuring.Parsed(marshalled=b"short")

    monkeypatch.setattr(measuring, "WORTH_BYTES", 0)
    monkeypatch.setattr(measuring, "BATCH_BYTES", 0)
    with Silent(processes=1) as pool:
        assert measured(pool, [[b"a text"]]) == by_hand([b"a text"])


@pytest.mark.usefixtures("sent_away")
def test_where_no_process_can_be_started_texts_are_measured_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object, **__: object) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr(subprocess, "Popen", none)
    with ParserPool(processes=1) as pool:
        assert measured(pool, [[b"a text"], [b"another"]]) == by_hand([b"a text", b"another"])


STOPPED = """
import asyncio, sys
from pathlib import Path
from tamis.brief import load_brief
from tamis.checks import measuring
from tamis.ledger import Ledger
from tamis.records import Spec
from tamis.sieve import Sieve
from tamis.cli.desk import desk_of
from tamis.writers.base import Written
measuring.WORTH_BYTES = 0

class Endless:
    spec = Spec(kind="writer", name="endless", version="1")
    async def write(self, brief):
        number = 0
        while True:
            number += 1
            await asyncio.sleep(0.001)
            yield Written(name=f"{number}.txt", content=(f"{number} words and more " * 50).encode())
            if number == 300:
                print("at work", flush=True)

loaded = load_brief(Path(sys.argv[1]))
with Ledger(loaded.folder) as ledger, Sieve(loaded, ledger, Endless(), desk_of("none")) as sieve:
    asyncio.run(sieve.run())
"""


def children(of: int) -> Iterator[int]:
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == of:
            yield int(path.parent.name)


@pytest.mark.skipif(sys.platform != "linux", reason="children are found in /proc")
def test_ctrl_c_leaves_no_process_behind(tmp_path: Path) -> None:
    (tmp_path / "BRIEF.md").write_text("# Endings\n\nWrite one.\n")
    (tmp_path / "tamis.toml").write_text('[brief]\ndesk = "prose"\n')
    (tmp_path / "drafts").mkdir()
    run = subprocess.Popen(
        [sys.executable, "-c", STOPPED, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert run.stdout is not None
    assert run.stdout.readline().strip() == "at work"
    own = list(children(run.pid))
    assert own
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=60)
    assert run.returncode != 0
    deadline = time.monotonic() + 20
    while any(Path(f"/proc/{pid}").exists() for pid in own) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [pid for pid in own if Path(f"/proc/{pid}").exists()]
    assert (tmp_path / ".tamis").exists()  # what was recorded by then is kept
