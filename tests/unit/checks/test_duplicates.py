import functools
import operator
import random
import struct
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.checks import near
from tamis.checks.duplicates import BATCH_DRAFTS, Duplicates, fold, how, underscored_names
from tamis.checks.near import (
    BAND_BYTES,
    BANDS,
    BANDS_IN_COMMON,
    BUCKET_TEXTS,
    COMPARED,
    LOW_BYTES,
    NearIndex,
    Signature,
    jaccard,
    least_in_common,
    shingles,
    signatures,
)
from tamis.checks.parser_pool import ParserPool
from tamis.checks.parses import Parses
from tamis.checks.shingling import ROWS, triples
from tamis.records import Desk, Draft, Spec

Made = Callable[..., tuple[Draft, bytes]]
WORDS = [f"w{number}" for number in range(5_000)]


def text_of(rng: random.Random, words: int) -> list[str]:
    return rng.choices(WORDS, k=words)


def changed(rng: random.Random, words: list[str], count: int) -> list[str]:
    words = list(words)
    for at in rng.sample(range(len(words)), count):
        words[at] = "changed"
    return words


def groups(given: list[tuple[Draft, bytes]], desk: Desk) -> dict[str, list[tuple[str, str | None]]]:
    return {each.keeper: [(other.draft, other.alike) for other in each.others] for each in fold(given, desk)}


def test_same_bytes_are_folded_and_none_is_dropped(draft: Made) -> None:
    given = [draft("a.py", "x = 1"), draft("b.py", "x = 2"), draft("c.py", "x = 1"), draft("d.py", "x = 1")]
    assert groups(given, "software") == {"a.py": [("c.py", "same bytes"), ("d.py", "same bytes")], "b.py": []}


def test_the_same_syntax_tree_is_folded_into_the_first(draft: Made) -> None:
    given = [
        draft("a.py", "def f(x):\n    y = x\n    return y\n"),
        draft("b.py", "def f(x):  # the same\n    z = x\n    return z\n"),
        draft("c.py", "def f(x):\n    y = x\n    return x\n"),
        draft("d.py", "def f(x):  # the same\n    z = x\n    return z\n"),
    ]
    assert groups(given, "software") == {"a.py": [("b.py", "same syntax tree"), ("d.py", "same bytes")], "c.py": []}


def test_drafts_of_one_shape_and_different_trees_stay_apart(draft: Made) -> None:
    source = "class A:\n    n = {}\n    def f(self):\n        a, b = 1, 2\n        return {}\n"
    given = [draft(f"{n}{r}.py", source.format(n, r)) for n in (1, 2) for r in "ab"]
    assert len(fold(given, "software")) == 4


def test_code_that_is_nearly_the_same_is_noted_and_stands_for_itself(draft: Made) -> None:
    rng = random.Random(1)
    body = "\n".join(f"v{number} = {rng.randrange(10**6)} + {rng.randrange(10**6)}" for number in range(200))
    first, second = fold([draft("a.py", body), draft("b.py", body.replace("v7 =", "v7 = 1 +"))], "software")
    assert first.near is None
    assert second.near is not None
    assert second.near.text == "a.py"
    assert 0.9 < second.near.similarity < 1


def test_prose_that_is_nearly_the_same_is_folded(draft: Made) -> None:
    rng = random.Random(2)
    words = text_of(rng, 300)
    given = [draft("a.md", " ".join(words)), draft("b.md", "\n".join(changed(rng, words, 3)))]
    given.append(draft("c.md", " ".join(text_of(rng, 300))))
    assert groups(given, "prose") == {"a.md": [("b.md", "near-duplicate")], "c.md": []}


def test_code_that_does_not_parse_is_still_folded_by_its_bytes(draft: Made) -> None:
    given = [draft("a.py", "def f("), draft("b.py", "def f("), draft("c.py", "def g(")]
    assert groups(given, "software") == {"a.py": [("b.py", "same bytes")], "c.py": []}


def test_a_language_without_a_grammar_is_compared_by_its_bytes(draft: Made) -> None:
    assert len(fold([draft("a.cob", "A."), draft("b.cob", "A ."), draft("c.cob", "A.")], "software")) == 2


def test_other_languages_are_the_same_whatever_their_layout_and_comments(draft: Made) -> None:
    pytest.importorskip("tree_sitter_c")
    given = [
        draft("a.c", "int f(void) { return 1; }"),
        draft("b.c", "int f(void)\n{\n  return 1; // one\n}\n"),
        draft("c.c", "int f(void) { return 2; }"),
        draft("d.py", "x = 1"),
    ]
    assert groups(given, "software") == {"a.c": [("b.c", "same syntax tree")], "c.c": [], "d.py": []}


def test_private_names_that_the_tests_use_are_not_the_draft_s_own(draft: Made) -> None:
    given = [draft("a.py", "def _help(): return 1\n"), draft("b.py", "def _aid(): return 1\n")]
    assert len(fold(given, "software")) == 1
    visible = underscored_names({"test_a.py": b"from a import _help\n"})
    assert visible == {"_help"}
    assert [place.alike for place in Duplicates("software", visible=visible).places(given)] == [None, None]


def test_shapes_that_the_parses_check_told_are_not_asked_for_again(draft: Made, pool: ParserPool) -> None:
    given = [draft(f"{number}.py", f"x = {number}") for number in range(5)]
    shapes = {found.draft: found.how["shape"] for found in Parses("software", pool=pool).look(given)}
    with ParserPool(processes=1) as unused:
        assert len(list(Duplicates("software", shapes=shapes, pool=unused).places(given))) == 5
        assert not unused._all


def test_places_come_in_order_across_batches_and_calls(draft: Made) -> None:
    count = 2 * BATCH_DRAFTS + 3
    given = [draft(f"{number}.md", f"text {number % 100} of many") for number in range(count)]
    check = Duplicates("prose")
    places = [*check.places(iter(given[:150])), *check.places(given[150:])]
    assert [place.draft for place in places] == [each.id for each, _ in given]
    assert {place.keeper for place in places} == {f"{number}.md" for number in range(100)}
    assert places == list(Duplicates("prose").places(given))


def test_contents_can_be_fetched_instead_of_held(draft: Made) -> None:
    rng = random.Random(3)
    words = text_of(rng, 200)
    given = [draft("a.md", " ".join(words)), draft("b.md", " ".join(changed(rng, words, 2)))]
    contents = {each.id: content for each, content in given}
    check = Duplicates("prose", contents=contents.__getitem__)
    assert [place.keeper for place in check.places(given)] == ["a.md", "a.md"]


def test_the_record_says_what_was_folded_into_what(draft: Made) -> None:
    given = [draft("a.md", "one two three four"), draft("b.md", "one two three four")]
    first, second = Duplicates("prose").look(given)
    assert first.how == {"folded": "no"}
    assert second.how == {"folded": "yes", "alike": "same bytes", "similarity": "1.000", "keeper": "a.md"}
    assert how(next(iter(Duplicates("prose").places(given)))) == {"folded": "no"}


def test_another_threshold_is_another_check() -> None:
    specs: list[Spec] = [Duplicates("prose", similarity=share).spec for share in (0.8, 0.9)]
    assert specs[0].key != specs[1].key


@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=30), st.lists(st.sampled_from("abcd"), max_size=30))
def test_jaccard_is_what_it_is_by_definition(one: list[str], other: list[str]) -> None:
    mine, theirs = frozenset(shingles(" ".join(one))), frozenset(shingles(" ".join(other)))
    union = mine | theirs
    assert jaccard(mine, theirs) == len(mine & theirs) / len(union)
    assert jaccard(mine, theirs) == jaccard(theirs, mine)
    assert jaccard(mine, mine) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("One", ["one"]),
        ("one two", ["one two"]),
        ("a  B\nc d", ["a b c", "b c d"]),
        ("漢字かな", ["漢 字 か", "字 か な"]),
    ],
)
def test_shingles_are_word_triples(text: str, expected: list[str]) -> None:
    assert shingles(text) == expected


def test_nothing_below_the_threshold_is_called_near_and_hardly_anything_above_is_missed() -> None:
    rng = random.Random(4)
    base = [text_of(rng, 120) for _ in range(60)]
    texts = [" ".join(words) for words in base]
    texts += [" ".join(changed(rng, words, rng.randrange(1, 12))) for words in base for _ in range(5)]
    sets = [frozenset(shingles(text)) for text in texts]
    index = NearIndex(0.8, lambda name: texts[int(name)])
    signed = signatures([shingles(text) for text in texts])
    for number in range(60):
        index.add(str(number), signed[number])
    missed, above = 0, 0
    for number in range(60, len(texts)):
        near = index.nearest(functools.partial(texts.__getitem__, number), signed[number])
        truth = max(jaccard(sets[number], sets[other]) for other in range(60))
        if near is not None:
            assert near.similarity >= 0.8
            assert near.similarity == jaccard(sets[number], sets[int(near.text)])
        above += truth >= 0.8
        missed += truth >= 0.8 and (near is None or near.similarity < truth)
    assert above > 100
    assert missed <= above // 50


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=400))
def test_the_index_finds_the_first_texts_of_each_bucket(pairs: list[tuple[int, int]]) -> None:
    """Few bands, many of them in neighbouring slots; two that a text has in common with another make it likely."""
    index, held = NearIndex(0.8, str), dict[tuple[int, int], list[int]]()
    for text, pair in enumerate(pairs, start=1):
        signature = _banded(text, *pair)
        index.add(str(text), signature)
        for place, band in enumerate(pair):
            bucket = held.setdefault((place, band), [])
            if len(bucket) < BUCKET_TEXTS:
                bucket.append(text)
    for pair in set(pairs):
        signature = _banded(0, *pair)
        both = set(held[0, pair[0]]) & set(held[1, pair[1]])
        likely = index._likely(signature)
        assert set(likely) >= both or len(likely) == COMPARED
        assert all(pairs[text - 1] == pair for text in likely)


def _banded(text: int, one: int, other: int) -> Signature:
    own = [(1 << 40) + text * BANDS + place for place in range(2, BANDS)]
    return _signature(one + 1, (1 << 63) + other, *own)


def _signature(*bands: int) -> Signature:
    """Of texts that differ in no byte, so that their bands alone tell them apart."""
    return struct.pack(f"={BANDS}Q", *bands) + bytes(LOW_BYTES)


def test_the_index_grows_and_loses_nothing() -> None:
    rng = random.Random(5)
    signed = [_signature(*(rng.getrandbits(64) for _ in range(BANDS))) for _ in range(2_000)]
    index = NearIndex(0.8, str)
    for number, signature in enumerate(signed):
        index.add(str(number), signature)
    assert all(index._likely(signature) == [number] for number, signature in enumerate(signed, start=1))


def alike_texts(count: int, seed: int) -> list[str]:
    """Texts of one template, so that most bands are shared by more texts than a bucket keeps."""
    rng = random.Random(seed)
    words = [f"w{number}" for number in range(60)]
    texts = []
    for _ in range(count):
        text = rng.sample(words, 60) if rng.random() < 0.2 else list(words)
        for _ in range(rng.randrange(5)):
            text[rng.randrange(60)] = f"x{rng.randrange(50)}"
        texts.append(" ".join(text))
    return texts


def alike(one: Signature, other: Signature) -> bool:
    return sum(map(operator.eq, one[BAND_BYTES:], other[BAND_BYTES:])) >= least_in_common(0.8)


def test_a_bucket_keeps_the_first_texts_of_a_band_however_they_came(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = alike_texts(400, seed=4)
    signed = signatures([shingles(text) for text in texts])
    buckets: dict[int, list[int]] = {}
    for settled, size in ((1, 1), (7, 3), (50, 128), (10_000, 400)):
        monkeypatch.setattr(near, "SETTLED_AT_ONCE", settled)
        index = NearIndex(0.8, lambda name: texts[int(name)])
        buckets.clear()
        for start in range(0, len(texts), size):
            index.look_ahead(signed[start : start + size])
            for number in range(start, min(start + size, len(texts))):
                votes: dict[int, int] = {}
                bands = struct.unpack(f"={BANDS}Q", signed[number][:BAND_BYTES])
                for band in bands:
                    for text in buckets.get(band, ()):
                        votes[text] = votes.get(text, 0) + 1
                shared = [text for text, n in votes.items() if n >= 2 and alike(signed[number], signed[text - 1])]
                shared.sort(key=lambda text: (-votes[text], text))
                assert index._likely(signed[number]) == shared[:COMPARED]
                index.add(str(number), signed[number])
                for band in bands:
                    if len(buckets.setdefault(band, [])) < BUCKET_TEXTS:
                        buckets[band].append(number + 1)


@given(st.text(st.sampled_from("aB\u00e9 \n.\u6d77\u00df"), max_size=40))
def test_a_text_is_compared_by_the_triples_that_it_is_hashed_by(text: str) -> None:
    assert {" ".join(one) for one in triples(text)} == set(shingles(text))
    assert len(triples(text)) == len(set(shingles(text)))


@given(st.floats(0.05, 0.999), st.floats(0, 0.05))
def test_the_more_similar_texts_must_be_the_more_bytes_they_must_share(similarity: float, more: float) -> None:
    least = least_in_common(similarity)
    assert BANDS_IN_COMMON * ROWS <= least <= LOW_BYTES * similarity + BANDS_IN_COMMON * ROWS
    assert least <= least_in_common(min(1.0, similarity + more))
    assert least_in_common(1.0) == LOW_BYTES


@pytest.mark.parametrize("similarity", [0.5, 0.7, 0.8, 0.9, 1.0])
def test_bytes_leave_out_no_text_that_is_near(similarity: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folds are those that comparing every text which shares two bands word for word would give."""
    monkeypatch.setattr(near, "COMPARED", 10**6)
    texts = made_texts(random.Random(7), 1_000)
    found = places(texts, similarity)
    assert sum(keeper != name for name, keeper, _ in found) > 40
    monkeypatch.setattr(near, "least_in_common", lambda _: 0)
    assert found == places(texts, similarity)


def made_texts(rng: random.Random, count: int) -> list[str]:
    """Texts, halves of two put together, and texts with more or less of their words changed."""
    texts: list[list[str]] = []
    for _ in range(count):
        kind = rng.random() if len(texts) > 1 else 0.0
        words = text_of(rng, rng.randrange(40, 120))
        if kind > 0.7:
            one, other = rng.choice(texts), rng.choice(texts)
            words = one[: len(one) // 2] + other[len(other) // 3 :]
        elif kind > 0.2:
            words = list(rng.choice(texts))
            words = changed(rng, words, rng.randrange(len(words) // 8))
        texts.append(words)
    return [" ".join(words) for words in texts]


def places(texts: Sequence[str], similarity: float) -> list[tuple[str, str, float]]:
    writer = Spec(kind="writer", name="made", version="1")
    drafts = [Draft(id=str(at), brief="b", name=f"{at}.txt", blob="", writer=writer) for at in range(len(texts))]
    check = Duplicates("prose", similarity=similarity)
    given = [(draft, text.encode()) for draft, text in zip(drafts, texts, strict=True)]
    return [(place.draft, place.keeper, place.similarity) for place in check.places(given)]
