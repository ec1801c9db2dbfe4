"""The first chapter: drafts come in from a writer, are counted, kept by content and recorded, each as it comes.

A draft that can't be used (empty, not UTF-8, too large) is a draft all the same, with evidence that says why; the
others go on.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from tamis.checks.codes import Codes
from tamis.checks.measuring import Measure, Measuring
from tamis.checks.near import Signature
from tamis.checks.parser_pool import ParserPool
from tamis.errors import DraftsError
from tamis.ledger import Ledger
from tamis.records import Broke, Draft, Fault, Held, NoAnswer, Spec, digest
from tamis.run import Run
from tamis.tokens import counted_by
from tamis.writers.base import Writer, Written
from tamis.writers.sources import natural

READS = Spec(kind="check", name="reads", version="1")
POOL = Spec(kind="check", name="pool", version="1")
"""Which drafts a run is about: the newest evidence of this check is about them all."""

KEPT_IN_MEMORY_BYTES = 64_000_000


class Contents(Mapping[str, bytes]):
    """The drafts' contents by draft id: the newest in memory, up to a bound, since those that just came are the ones
    that the next stages ask for; the others come from the ledger. Any thread may ask."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._blobs: dict[str, str] = {}
        self._held: dict[str, bytes] = {}
        self._bytes = 0
        self._all_held = True

    def put(self, draft: Draft, content: bytes) -> None:
        self._blobs[draft.id] = draft.blob
        if draft.blob in self._held:
            return
        self._held[draft.blob] = content
        self._bytes += len(content)
        while self._bytes > KEPT_IN_MEMORY_BYTES:
            self._bytes -= len(self._held.pop(next(iter(self._held))))
            self._all_held = False

    def settle(self) -> None:
        """Once all are here, the newest are asked for no more often than others: where not all could be held, none
        is."""
        if not self._all_held:
            self._held, self._bytes = {}, 0

    def __getitem__(self, draft: str) -> bytes:
        blob = self._blobs[draft]
        held = self._held.get(blob)
        return held if held is not None else self._ledger.blob(blob)

    def __contains__(self, draft: object) -> bool:
        return draft in self._blobs

    def __iter__(self) -> Iterator[str]:
        return iter(self._blobs)

    def __len__(self) -> int:
        return len(self._blobs)


class Pool:
    """The drafts that a run is about, and their contents. While they arrive they stand in the order in which they came;
    `settle` puts them into the order in which a person would list them, which is the same in every run."""

    def __init__(self, ledger: Ledger) -> None:
        self.drafts: list[Draft] = []
        self.contents = Contents(ledger)
        self.unusable: dict[str, str] = {}
        """Draft id → why it can't be used."""
        self.folded: dict[str, str] = {}
        """Draft id → the draft that stands for it, for those that are the same as another."""

        self.shapes: dict[str, str | None] = {}
        """Draft id → the shape of its syntax tree, None where the parser told of none."""

        self.codes: Codes | None = None
        """The code that the parser made of drafts which a box will run."""

        self.signatures: dict[str, Signature] = {}
        """Draft id → what its text is known by among texts, until it is folded."""

    def put(self, draft: Draft, content: bytes) -> None:
        self.drafts.append(draft)
        self.contents.put(draft, content)

    def settle(self) -> bool:
        """Puts the drafts into their order; says whether they came in another."""
        if all(_place(one) <= _place(other) for one, other in zip(self.drafts, self.drafts[1:], strict=False)):
            return False
        self.drafts.sort(key=_place)
        return True

    @property
    def usable(self) -> Sequence[Draft]:
        return [draft for draft in self.drafts if draft.id not in self.unusable]

    def with_folded(self, keepers: Iterable[str]) -> tuple[str, ...]:
        """These drafts and those that they stand for, in their order."""
        standing = set(keepers)
        return tuple(draft.id for draft in self.drafts if self.folded.get(draft.id, draft.id) in standing)


def _place(draft: Draft) -> tuple[list[tuple[int, int, str]], int, str]:
    return natural(draft.name), draft.sample, draft.id


class Reading:
    """Takes what a writer hands over into the pool and the ledger. `span` is the span that the drafts are recorded
    under. `parsers` are processes that may measure texts, where it is worth it."""

    def __init__(self, run: Run, pool: Pool, writer: Spec, *, span: str, parsers: ParserPool | None = None) -> None:
        self._run = run
        self._pool = pool
        self._writer = writer
        self._span = span
        self._known = {draft.id: draft for draft in run.ledger.all(Draft, about=run.loaded.brief.id)}
        self.awaited = len(self._known)
        """How many drafts that the ledger knows have not come yet."""
        self._measuring: Measuring[_Came] = Measuring(parsers)
        self._begun: set[str] = set()
        """The ids of those that are not ready yet."""

    def take(self, written: Written) -> Draft | None:
        """The draft, counted and recorded; None where it was handed over before, or is of no use."""
        self.begin([written])
        found = list(self.ready(wait=True))
        return found[-1][0] if found else None

    def begin(self, batch: Sequence[Written]) -> None:
        """Begins with these. Those that were handed over before are left out."""
        came = [one for written in batch if (one := self._came(written)) is not None]
        if came:
            texts = [one.written.content if one.written.problem is None else b"" for one in came]
            known = [at for at, one in enumerate(came) if one.written.tokens is not None or one.id in self._known]
            self._measuring.put(came, texts, uncounted=known)

    def ready(self, *, wait: bool) -> Iterator[tuple[Draft, bytes]]:
        """The drafts that are counted by now, in the order of their coming, recorded; of those that are of no use only
        that is recorded. With `wait`, all that were taken."""
        for came, measures in self._measuring.done(wait=wait):
            for one, measure in zip(came, measures, strict=True):
                draft = self._draft(one, measure)
                self._run.ledger.add(draft)
                self._pool.put(draft, one.written.content)
                self._begun.discard(draft.id)
                if one.written.problem is None:
                    self._pool.signatures[draft.id] = measure.signature
                    yield draft, one.written.content
                else:
                    self._refuse(draft, one.written)

    def _came(self, written: Written) -> "_Came | None":
        """What came, its content kept; None where it was handed over before."""
        blob = self._run.ledger.add_blob(written.content)
        brief, writer = self._run.loaded.brief.id, written.writer or self._writer
        draft = digest(brief, writer.name, written.name, str(written.sample), blob)
        if draft in self._pool.contents or draft in self._begun:
            return None
        self._begun.add(draft)
        self.awaited -= draft in self._known
        return _Came(draft, blob, written, writer)

    def _draft(self, came: "_Came", measure: Measure) -> Draft:
        """The record of what was written."""
        written = came.written
        if came.id in self._known:
            return self._known[came.id]
        usable = written.problem is None
        tokens, by = written.tokens, written.counted_by
        if tokens is None and usable:
            tokens, by = measure.tokens, counted_by()
        return Draft(
            id=came.id,
            brief=self._run.loaded.brief.id,
            name=written.name,
            blob=came.blob,
            writer=came.writer,
            sample=written.sample,
            finish=written.finish,
            bytes=len(written.content),
            tokens=tokens,
            words=measure.words if usable else None,
            counted_by=by if tokens is not None else None,
            span=self._span,
        )

    def _refuse(self, draft: Draft, written: Written) -> None:
        assert written.problem is not None
        self._pool.unusable[draft.id] = written.problem
        self._run.findings.record(READS, (draft.id,), _against(written.problem, written.fault), span=self._span)


class _Came(NamedTuple):
    id: str
    blob: str
    written: Written
    writer: Spec


async def read(run: Run, writer: Writer) -> Pool:
    """Everything that the writer has, and nothing done with it yet. Raises DraftsError where it has nothing."""
    pool = Pool(run.ledger)
    with run.spans.span("reading", "read") as span:
        reading = Reading(run, pool, writer.spec, span=span.id)
        async for written in writer.write(run.loaded):
            reading.take(written)
        close_pool(run, pool, span=span.id)
    return pool


def close_pool(run: Run, pool: Pool, *, span: str) -> bool:
    """Records which drafts the run is about, in their order; says whether they came in another. Raises DraftsError
    where there are none."""
    loaded = run.loaded
    if not pool.drafts:
        raise DraftsError(
            f"no drafts in {loaded.folder}: nothing matches {', '.join(loaded.drafts_from) or 'drafts/'}",
            hint="put one file a draft into its drafts/ folder, or set `from` under [drafts] in tamis.toml",
        )
    out_of_order = pool.settle()
    ids = tuple(draft.id for draft in pool.drafts)
    run.findings.record(POOL, ids, Held(cases=len(ids)), span=span)
    return out_of_order


def _against(problem: str, fault: Fault) -> Broke | NoAnswer:
    """Only what is the draft's own doing speaks against it."""
    return Broke(witness=problem) if fault == "draft" else NoAnswer(fault=fault, why=problem)
