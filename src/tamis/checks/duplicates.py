"""Check `duplicates`: which drafts are the same, so that no one runs or reads the same thing twice.

Drafts of the same bytes, or of the same syntax tree whatever their layout, comments, docstrings and local names, do
the same and share every verdict. Near-duplicates (by their words) are another matter: of two texts one is enough to
read, so prose and records fold them; but two programs that differ in one number can differ in everything, so for code
they are noted and each is tested on its own. Folded is not dropped: a fold names all its drafts.

Drafts come one after another and are placed at once; the first of its kind is the keeper. Of what came before only
hashes are held, so memory grows by less than a kilobyte a draft.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import Literal

from tamis.brief import LoadedBrief
from tamis.checks.base import Found
from tamis.checks.layout import without_layout
from tamis.checks.near import SHINGLE_WORDS, Near, NearIndex, Signature, shingles, signatures
from tamis.checks.parser_pool import Job, ParserPool
from tamis.checks.parses import language_of
from tamis.records import Desk, Draft, Held, Record, Spec, digest

Alike = Literal["same bytes", "same syntax tree", "near-duplicate"]
BATCH_DRAFTS = 128
BATCH_BYTES = 4_000_000


class Place(Record, frozen=True, kw_only=True):
    """Where a draft falls. `keeper` is the draft that stands for it, itself where `alike` is None. `similarity` is the
    share of word triples in common with the keeper, 1.0 where it does the same. `near` notes the earlier draft that it
    is a near-duplicate of though it stands for itself."""

    draft: str
    keeper: str
    alike: Alike | None = None
    similarity: float = 1.0
    near: Near | None = None


class Fold(Record, frozen=True, kw_only=True):
    """Drafts that count as one: the keeper's place, and those of the others in the order in which they came."""

    keeper: str
    near: Near | None = None
    others: tuple[Place, ...] = ()


def fold(drafts: Iterable[tuple[Draft, bytes]], desk: Desk, *, similarity: float = 0.8) -> tuple[Fold, ...]:
    """All the folds of some drafts, each draft in exactly one, in the order of their keepers."""
    firsts: dict[str, Place] = {}
    others: dict[str, list[Place]] = {}
    for place in Duplicates(desk, similarity=similarity).places(drafts):
        if place.alike is None:
            firsts[place.draft] = place
        else:
            others.setdefault(place.keeper, []).append(place)
    return tuple(
        Fold(keeper=keeper, near=place.near, others=tuple(others.get(keeper, ()))) for keeper, place in firsts.items()
    )


def underscored_names(files: Mapping[str, bytes]) -> frozenset[str]:
    """Every `_name` that the given tests mention: such names of a draft are not its own affair."""
    mentioned = (re.findall(rb"\b_[A-Za-z]\w*", content) for content in files.values())
    return frozenset(name.decode() for names in mentioned for name in names)


class Duplicates:
    """Places drafts as they come; drafts of earlier calls count as earlier drafts.

    `contents` gives the content of a draft placed before; without it the keepers' contents are held in memory.
    `shapes` are the shapes that the check `parses` told already, by draft id, None where it found none; `signatures`
    what the drafts' texts are known by, where they were measured already. `visible` are names that outsiders use though
    they begin with an underscore. `pool` is used where given and left open."""

    def __init__(
        self,
        desk: Desk,
        *,
        similarity: float = 0.8,
        contents: Callable[[str], bytes] | None = None,
        shapes: Mapping[str, str | None] | None = None,
        signatures: Mapping[str, Signature] | None = None,
        visible: frozenset[str] = frozenset(),
        pool: ParserPool | None = None,
    ) -> None:
        self._desk = desk
        self._similarity = similarity
        self._held: dict[str, bytes] | None = {} if contents is None else None
        self._contents = contents or self._from_held
        self._shapes = shapes if shapes is not None else {}
        self._signatures = signatures if signatures is not None else {}
        self._visible = tuple(sorted(visible))
        self._pool = pool
        self._by_bytes: dict[str, str] = {}
        self._by_shape: dict[tuple[str, str], dict[str | None, str]] = {}
        """Shape → tree → keeper. Most shapes are met once: a tree is only made, and None gone, at the second that
        differs in more than its layout."""
        self._by_layout: dict[tuple[str, str], dict[str, str]] = {}
        """Shape → what is left of the text without its layout → keeper, from a shape's second draft on."""
        self._near = NearIndex(similarity, lambda draft: self._contents(draft).decode("utf-8", "replace"))

    @property
    def spec(self) -> Spec:
        args = {"desk": self._desk, "similarity": self._similarity, "shingle_words": SHINGLE_WORDS}
        return Spec(kind="check", name="duplicates", version="1", args=args)

    def look(self, drafts: Iterable[tuple[Draft, bytes]]) -> Iterator[Found]:
        """As a check: being a duplicate is no fault, so every draft holds, and `how` says what it is the same as."""
        for place in self.places(drafts):
            yield Found(draft=place.draft, answer=Held(), how=how(place))

    def places(self, drafts: Iterable[tuple[Draft, bytes]]) -> Iterator[Place]:
        """The place of each draft, in order."""
        with nullcontext(self._pool) if self._pool else ParserPool() as pool:
            for batch in _batches(drafts):
                yield from self._placed(batch, pool)

    def _placed(self, batch: Sequence[tuple[Draft, bytes]], pool: ParserPool) -> Iterator[Place]:
        blobs = [draft.blob or digest(content) for draft, content in batch]
        fresh = [each for each, blob in zip(batch, blobs, strict=True) if blob not in self._by_bytes]
        shapes = self._shapes_of(fresh, pool) if self._desk == "software" else {}
        signed = self._signed(fresh)
        self._near.look_ahead(list(signed.values()))
        for (draft, content), blob in zip(batch, blobs, strict=True):
            place = self._same_bytes(draft, blob) or self._same_tree(draft, content, shapes.get(draft.id), pool)
            if place is None:
                place = self._similar(draft, content, signed[draft.id])
            if place.alike is None:
                self._keep(draft.id, content, signed[draft.id])
            self._by_bytes.setdefault(blob, place.keeper)
            yield place

    def _same_bytes(self, draft: Draft, blob: str) -> Place | None:
        keeper = self._by_bytes.get(blob)
        return Place(draft=draft.id, keeper=keeper, alike="same bytes") if keeper else None

    def _same_tree(self, draft: Draft, content: bytes, shape: str | None, pool: ParserPool) -> Place | None:
        language = language_of(draft.name)
        if shape is None or language is None:
            return None
        trees = self._by_shape.setdefault((language, shape), {})
        if not trees:
            trees[None] = draft.id
            return None
        texts = self._texts_of(language, shape, trees)
        left = without_layout(content) if language == "python" else None
        keeper = texts.get(digest(left)) if left is not None else None
        if keeper is None:
            keeper = self._in_trees(draft.id, content, language, trees, pool)
            if left is not None:
                texts[digest(left)] = keeper
        return Place(draft=draft.id, keeper=keeper, alike="same syntax tree") if keeper != draft.id else None

    def _texts_of(self, language: str, shape: str, trees: Mapping[str | None, str]) -> dict[str, str]:
        """What is left of the drafts of this shape without comments and blank lines, and who stands for each: those who
        differ in nothing else are far quicker seen to be the same by that than by their trees."""
        texts = self._by_layout.get((language, shape))
        if texts is None:
            texts = self._by_layout[language, shape] = {}
            left = without_layout(self._contents(trees[None])) if language == "python" else None
            if left is not None:
                texts[digest(left)] = trees[None]
        return texts

    def _in_trees(
        self, draft: str, content: bytes, language: str, trees: dict[str | None, str], pool: ParserPool
    ) -> str:
        """The keeper of those that have this draft's tree, itself where it is the first."""
        if None in trees:
            first = trees.pop(None)
            own, other = self._trees_of((content, self._contents(first)), language, pool)
            trees[other or first] = first
        else:
            (own,) = self._trees_of((content,), language, pool)
        return trees.setdefault(own or draft, draft)

    def _signed(self, drafts: Sequence[tuple[Draft, bytes]]) -> dict[str, Signature]:
        known = {draft.id: self._signatures[draft.id] for draft, _ in drafts if draft.id in self._signatures}
        missing = [(draft.id, content) for draft, content in drafts if draft.id not in known]
        found = signatures([shingles(content.decode("utf-8", "replace")) for _, content in missing])
        return known | {draft: signature for (draft, _), signature in zip(missing, found, strict=True)}

    def _similar(self, draft: Draft, content: bytes, signature: Signature) -> Place:
        near = self._near.nearest(lambda: content.decode("utf-8", "replace"), signature)
        if near is not None and self._desk != "software":
            return Place(draft=draft.id, keeper=near.text, alike="near-duplicate", similarity=near.similarity)
        return Place(draft=draft.id, keeper=draft.id, near=near)

    def _keep(self, draft: str, content: bytes, signature: Signature) -> None:
        self._near.add(draft, signature)
        if self._held is not None:
            self._held[draft] = content

    def _from_held(self, draft: str) -> bytes:
        assert self._held is not None
        return self._held[draft]

    def _shapes_of(self, drafts: Sequence[tuple[Draft, bytes]], pool: ParserPool) -> dict[str, str]:
        """The shapes that are known or that the parser tells; a draft that doesn't parse has none."""
        items: list[tuple[str, Job | None]] = []
        for draft, content in drafts:
            language = None if draft.id in self._shapes else language_of(draft.name)
            items.append((draft.id, Job(language=language, content=content) if language else None))
        shapes = ((draft, parsed.shape if parsed else self._shapes.get(draft)) for draft, parsed in pool.parse(items))
        return {draft: shape for draft, shape in shapes if shape is not None}

    def _trees_of(self, contents: Sequence[bytes], language: str, pool: ParserPool) -> list[str | None]:
        """The canonical trees' digests, None where there is no telling (one is too deep to walk)."""
        name = "tree" if language == "python" else language
        jobs = [("", Job(language=name, content=content, keep=self._visible)) for content in contents]
        return [parsed.tree if parsed else None for _, parsed in pool.parse(jobs)]


def duplicates_of(brief: LoadedBrief) -> Duplicates:
    """The check as a brief's settings want it."""
    similarity = brief.settings.duplicates.similarity
    return Duplicates(brief.brief.desk, similarity=similarity, visible=underscored_names(brief.test_files))


def how(place: Place) -> dict[str, str]:
    """A place as the record of evidence says it. `folded` is "yes" where another draft stands for this one."""
    if place.alike is not None:
        return {"folded": "yes", "alike": place.alike, "similarity": f"{place.similarity:.3f}", "keeper": place.keeper}
    if place.near is not None:
        similarity = f"{place.near.similarity:.3f}"
        return {"folded": "no", "alike": "near-duplicate", "similarity": similarity, "keeper": place.near.text}
    return {"folded": "no"}


def _batches(drafts: Iterable[tuple[Draft, bytes]]) -> Iterator[list[tuple[Draft, bytes]]]:
    batch: list[tuple[Draft, bytes]] = []
    size = 0
    for draft, content in drafts:
        batch.append((draft, content))
        size += len(content)
        if len(batch) == BATCH_DRAFTS or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
