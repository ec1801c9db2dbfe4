"""The first chapter: drafts come in from a writer, are counted, kept by content and recorded, each as it comes.

A draft that can't be used (empty, not UTF-8, too large) is a draft all the same, with evidence that says why; the
others go on.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from tamis.brief import LoadedBrief
from tamis.errors import DraftsError
from tamis.ledger import Ledger
from tamis.records import Broke, Draft, Fault, Held, NoAnswer, Spec, digest
from tamis.run import Run
from tamis.tokens import count_tokens, count_words, counted_by
from tamis.writers.base import Writer, Written

READS = Spec(kind="check", name="reads", version="1")
POOL = Spec(kind="check", name="pool", version="1")
"""Which drafts a run is about: the newest evidence of this check is about them all."""

KEPT_IN_MEMORY_BYTES = 256_000_000


class Contents(Mapping[str, bytes]):
    """The drafts' contents by draft id: in memory up to a bound, beyond it from the ledger when asked for."""

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

    def __iter__(self) -> Iterator[str]:
        return iter(self._blobs)

    def __len__(self) -> int:
        return len(self._blobs)


class Pool:
    """The drafts that a run is about, in the order in which they came, and their contents."""

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

    @property
    def usable(self) -> Sequence[Draft]:
        return [draft for draft in self.drafts if draft.id not in self.unusable]

    def with_folded(self, keepers: Iterable[str]) -> tuple[str, ...]:
        """These drafts and those that they stand for, in the order in which they came."""
        standing = set(keepers)
        return tuple(draft.id for draft in self.drafts if self.folded.get(draft.id, draft.id) in standing)


async def read(run: Run, writer: Writer) -> Pool:
    """Everything that the writer has. Raises DraftsError where it has nothing."""
    loaded, ledger, findings = run.loaded, run.ledger, run.findings
    pool = Pool(ledger)
    known = {draft.id: draft for draft in ledger.all(Draft, about=loaded.brief.id)}
    run.progress.start("reading")
    with run.spans.span("reading", "read") as span:
        async for written in writer.write(loaded):
            draft = _draft(loaded, writer.spec, written, span.id, known)
            ledger.add_blob(written.content)
            ledger.add(draft)
            pool.put(draft, written.content)
            if written.problem is not None:
                pool.unusable[draft.id] = written.problem
                findings.record(READS, (draft.id,), _against(written.problem, written.fault), span=span.id)
            run.progress.advance()
        if not pool.drafts:
            raise DraftsError(
                f"no drafts in {loaded.folder}: nothing matches {', '.join(loaded.drafts_from) or 'drafts/'}",
                hint="put one file a draft into its drafts/ folder, or set `from` under [drafts] in tamis.toml",
            )
        ids = tuple(draft.id for draft in pool.drafts)
        findings.record(POOL, ids, Held(cases=len(ids)), span=span.id)
    return pool


def _against(problem: str, fault: Fault) -> Broke | NoAnswer:
    """Only what is the draft's own doing speaks against it."""
    return Broke(witness=problem) if fault == "draft" else NoAnswer(fault=fault, why=problem)


def _draft(loaded: LoadedBrief, writer: Spec, written: Written, span: str, known: Mapping[str, Draft]) -> Draft:
    """The record of what was written. What it counts is not counted again when it is known already."""
    blob = digest(written.content)
    draft_id = digest(loaded.brief.id, writer.name, written.name, str(written.sample), blob)
    if draft_id in known:
        return known[draft_id]
    text = written.content.decode("utf-8", "replace") if written.problem is None else None
    tokens = written.tokens
    by = written.counted_by
    if tokens is None and text is not None:
        tokens, by = count_tokens(text), counted_by()
    return Draft(
        id=draft_id,
        brief=loaded.brief.id,
        name=written.name,
        blob=blob,
        writer=writer,
        sample=written.sample,
        finish=written.finish,
        bytes=len(written.content),
        tokens=tokens,
        words=count_words(text) if text is not None else None,
        counted_by=by if tokens is not None else None,
        span=span,
    )
