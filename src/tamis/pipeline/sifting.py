"""What comes before the choice: drafts are read, parsed, folded and handed to their desk, all while others still
arrive.

Each stage starts from what the ledger knows and records as it goes. Who folds behind whom is settled by the drafts'
own order, once all are here; what was found meanwhile in the order of their coming holds for all that are the same.
"""

import contextvars
import time
from collections.abc import Iterator
from typing import Protocol, TypeVar

from tamis.checks.base import Found
from tamis.checks.codes import Codes
from tamis.checks.duplicates import Duplicates, underscored_names
from tamis.checks.parser_pool import ParserPool
from tamis.checks.parses import Parses
from tamis.clock import OpenSpan
from tamis.pipeline.channel import Channel
from tamis.pipeline.flow import Flow, pour
from tamis.reading import Pool, Reading, close_pool
from tamis.records import Draft, Held
from tamis.run import Run
from tamis.writers.base import Resuming, Writer, Written

T = TypeVar("T")
U = TypeVar("U")
Came = tuple[Draft, bytes]
LINGER_SECONDS = 0.005
"""So long a text that comes alone waits for others: one by one, handing them about would cost more than measuring."""
IDS_ONLY = float("inf")
"""The desk's channel holds no contents, which stand in the ledger: however slow a desk is, it fills no memory."""


class Taker(Protocol):
    """The desk, as far as drafts still arrive. `take` runs in a thread of its own."""

    def take(self, pool: Pool, drafts: Iterator[Draft]) -> None:
        """Begins with what can be done on each draft alone: those that are whole and no other's duplicate, as they
        come. Returns when they have all come."""

    def enough(self) -> bool:
        """Whether more drafts would change nothing that was asked for, so that the writer may stop."""

    def close(self) -> None: ...


class Sifting:
    """The stages of one run. `parsers` and the desk are left open."""

    def __init__(self, run: Run, writer: Writer, desk: Taker, parsers: ParserPool) -> None:
        self._run = run
        self._writer = writer
        self._desk = desk
        self._pool = Pool(run.ledger)
        by_command = bool(run.loaded.settings.draft.command)
        if run.loaded.test_files and not by_command:
            self._pool.codes = Codes(file=f"{run.loaded.module}.py")
        self._parses = Parses(run.loaded.brief.desk, pool=parsers, by_command=by_command, codes=self._pool.codes)
        self._parse_spec = self._parses.spec
        self._parsers = parsers
        self._fold_spec = self._fresh_duplicates().spec
        self._flawed: set[str] = set()
        """The few that are not whole: of a million drafts, their ids alone would else take sixty megabytes."""
        self._reader: Reading | None = None
        self._out_of_order = False
        self._written: Channel[Written] = Channel("written")
        self._read: Channel[Came] = Channel("read")
        self._parsed: Channel[Came] = Channel("parsed")
        self._apart: Channel[Draft] = Channel("apart", most_items=IDS_ONLY)

    async def sift(self) -> tuple[Pool, list[Draft]]:
        """All drafts, and those that are whole, the same ones folded."""
        run = self._run
        writer, outside = self._writer, contextvars.copy_context()
        if isinstance(writer, Resuming):
            writer.keep_in(run.ledger, run.spans)
        run.progress.start("drafts")
        with run.spans.span("reading", "reading", cpu=time.thread_time):
            flow = Flow(on_stop=self._desk.close)
            flow.stage("reading", self._reading, source=self._written, to=self._read)
            flow.stage("parsing", self._parsing, source=self._read, to=self._parsed)
            flow.stage("folding", self._folding, source=self._parsed, to=self._apart)
            flow.stage(run.loaded.brief.desk, self._taking, source=self._apart, context=outside)
            drafts = writer.write(run.loaded)
            feed = pour(drafts, self._written, size=lambda one: len(one.content), enough=self._enough)
            await flow.run(feed, progress=run.progress, context=outside.copy())
            if self._out_of_order:
                self._fold_again()
            self._stand_for_themselves()
            self._pool.contents.settle()
        return self._pool, [draft for draft in self._pool.usable if draft.id not in self._flawed]

    def _enough(self) -> bool:
        """What was written before is always read, so that a run begun again is about the same drafts."""
        return self._reader is not None and not self._reader.awaited and self._desk.enough()

    # the stages, each in its thread

    def _reading(self) -> None:
        run = self._run
        with run.spans.span("reading", "read", cpu=time.thread_time) as span:
            measuring = None if run.loaded.brief.desk == "software" else self._parsers
            self._reader = reading = Reading(run, self._pool, self._writer.spec, span=span.id, parsers=measuring)
            linger = LINGER_SECONDS if measuring is not None else 0.0
            while batch := self._written.take(linger_seconds=linger):
                reading.begin(batch)
                run.progress.advance(len(batch))
                # where nothing more is there yet, nothing is kept waiting for it
                for draft, content in reading.ready(wait=not self._written.waiting):
                    self._read.put((draft, content), len(content))
            for draft, content in reading.ready(wait=True):
                self._read.put((draft, content), len(content))
            self._out_of_order = close_pool(run, self._pool, span=span.id)
            _waited(span, self._written, "the writer", self._read, "parsing")
            if measuring is not None:
                span.cpu_seconds += measuring.cpu_seconds()

    def _parsing(self) -> None:
        """Which drafts their parser accepts."""
        findings, spec = self._run.findings, self._parse_spec
        with self._run.spans.span("reading", "parse", cpu=time.thread_time) as span:
            while batch := self._read.take():
                contents = {draft.id: content for draft, content in batch}
                answers = findings.gather(self._parses, [draft for draft, _ in batch], contents, span=span.id)
                for draft, content in batch:
                    found = findings.about(spec, draft.id)
                    if found is not None and "parser" in found.how:
                        self._pool.shapes[draft.id] = found.how.get("shape")
                    if not isinstance(answers.get(draft.id), Held):
                        self._flawed.add(draft.id)
                    self._parsed.put((draft, content), len(content))
            _waited(span, self._read, "reading", self._parsed, "folding")
            if self._run.loaded.brief.desk == "software":  # else they measured texts, for the stage before
                span.cpu_seconds += self._parsers.cpu_seconds()

    def _folding(self) -> None:
        """Which drafts are the same as one before, or nearly. Folded is not dropped: one stands for the others."""
        duplicates = self._fresh_duplicates()
        with self._run.spans.span("reading", "fold", cpu=time.thread_time) as span:
            while batch := self._parsed.take():
                found = duplicates.look(batch)
                for (draft, _), place in zip(batch, found, strict=True):
                    self._pool.signatures.pop(draft.id, None)
                    self._record_place(place, span.id)
                    if place.how["folded"] == "no" and draft.id not in self._flawed:
                        self._apart.put(draft)
                    elif self._pool.codes is not None:
                        self._pool.codes.take(draft.id)
            _waited(span, self._parsed, "parsing", self._apart, "the desk")

    def _taking(self) -> None:
        self._desk.take(self._pool, self._apart.each())
        for _ in self._apart.each():  # what a desk leaves
            pass

    # folding

    def _fold_again(self) -> None:
        """The folds by the drafts' own order, where they came in another: who stands for whom must not depend on it."""
        with self._run.spans.span("reading", "fold") as span:
            self._pool.folded.clear()
            usable = self._pool.usable
            again = self._fresh_duplicates()
            for place in again.look((draft, self._pool.contents[draft.id]) for draft in usable):
                self._record_place(place, span.id)

    def _stand_for_themselves(self) -> None:
        """A whole draft does not fall with a broken one that has the same text, cut off by its writer: the first of
        those behind it stands for the others instead."""
        folded, instead = self._pool.folded, dict[str, str]()
        for draft in self._pool.usable:
            keeper = folded.get(draft.id)
            if keeper is None or keeper not in self._flawed or draft.id in self._flawed:
                continue
            folded[draft.id] = instead.setdefault(keeper, draft.id)
            if folded[draft.id] == draft.id:
                del folded[draft.id]

    def _record_place(self, place: Found, span: str) -> None:
        """Records the fold where it is news: who is whose duplicate depends on all that came before."""
        if place.how["folded"] == "yes":
            self._pool.folded[place.draft] = place.how["keeper"]
        findings, spec = self._run.findings, self._fold_spec
        known = findings.about(spec, place.draft)
        if known is None or known.how != place.how:
            findings.record(spec, (place.draft,), place.answer, how=place.how, span=span)

    def _fresh_duplicates(self) -> Duplicates:
        loaded = self._run.loaded
        return Duplicates(
            loaded.brief.desk,
            similarity=loaded.settings.duplicates.similarity,
            contents=self._pool.contents.__getitem__,
            shapes=self._pool.shapes,
            signatures=self._pool.signatures,
            visible=underscored_names(loaded.test_files),
            pool=self._parsers,
        )


def _waited(span: OpenSpan, source: Channel[T], before: str, to: Channel[U], after: str) -> None:
    """What a stage waited for: drafts from the stage before it, and room in the one after it."""
    taking, putting = source.waited_to_take, to.waited_to_put
    span.wait(taking + putting, on=before if taking >= putting else after)
