"""The first chapter: drafts come in from a writer, are counted, kept by content and recorded, each as it comes.

A draft that can't be used (empty, not UTF-8, too large) is a draft all the same, with evidence that says why; the
others go on.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from tamis.errors import DraftsError
from tamis.ledger import Ledger
from tamis.records import Broke, Draft, Fault, Held, NoAnswer, Spec, digest
from tamis.run import Run
from tamis.tokens import count_tokens, count_words, counted_by
from tamis.writers.base import Writer, Written
from tamis.writers.sources import natural

READS = Spec(kind="check", name="reads", version="1")
POOL = Spec(kind="check", name="pool", version="1")
"""Which drafts a run is about: the newest evidence of this check is about them all."""

KEPT_IN_MEMORY_BYTES = 256_000_000


class Contents(Mapping[str, bytes]):
    """The drafts' contents by draft id: in memory up to a bound, beyond it from the ledger when asked for. Any thread
    may ask."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._blobs: dict[str, str] = {}
        self._held: dict[str, bytes] = {}
        self._bytes = 0

    def put(self, draft: Draft, content: bytes) -> None:
        self._blobs[draft.id] = draft.blob
        if draft.blob not in self._held and self._bytes + len(content) <= KEPT_IN_MEMORY_BYTES:
            self._held[draft.blob] = content
            self._bytes += len(content)

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

        self.shapes: dict[str, str] = {}
        """Draft id → the shape of its syntax tree, for those that the parser told."""

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
    under."""

    def __init__(self, run: Run, pool: Pool, writer: Spec, *, span: str) -> None:
        self._run = run
        self._pool = pool
        self._writer = writer
        self._span = span
        self._known = {draft.id: draft for draft in run.ledger.all(Draft, about=run.loaded.brief.id)}
        self.awaited = len(self._known)
        """How many drafts that the ledger knows have not come yet."""

    def take(self, written: Written) -> Draft | None:
        """The draft, counted and recorded; None where it was handed over before, or is of no use."""
        content = written.content
        blob = self._run.ledger.add_blob(content)
        draft = self._draft(written, blob)
        if draft.id in self._pool.contents:
            return None
        self.awaited -= draft.id in self._known
        self._run.ledger.add(draft)
        self._pool.put(draft, content)
        if written.problem is None:
            return draft
        self._pool.unusable[draft.id] = written.problem
        self._run.findings.record(READS, (draft.id,), _against(written.problem, written.fault), span=self._span)
        return None

    def _draft(self, written: Written, blob: str) -> Draft:
        """The record of what was written. What it counts is not counted again when it is known already."""
        brief, writer = self._run.loaded.brief.id, written.writer or self._writer
        draft_id = digest(brief, writer.name, written.name, str(written.sample), blob)
        if draft_id in self._known:
            return self._known[draft_id]
        text = written.content.decode("utf-8", "replace") if written.problem is None else None
        tokens, by = written.tokens, written.counted_by
        if tokens is None and text is not None:
            tokens, by = count_tokens(text), counted_by()
        return Draft(
            id=draft_id,
            brief=brief,
            name=written.name,
            blob=blob,
            writer=writer,
            sample=written.sample,
            finish=written.finish,
            bytes=len(written.content),
            tokens=tokens,
            words=count_words(text) if text is not None else None,
            counted_by=by if tokens is not None else None,
            span=self._span,
        )


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
