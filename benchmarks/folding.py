"""Folding at size: seconds a draft, bytes a draft, and what MinHash misses, at growing numbers of drafts.

Texts are made by a seeded generator: words of a skewed vocabulary, 15 % near-duplicates of an earlier text with one
word in fifty changed. The ideas are JSON records that share their keys and a sentence, so that all are somewhat alike:
the hard case for an index of buckets. Times are medians of three; the truth for recall is every pair compared exactly.
"""

import argparse
import itertools
import json
import random
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tamis.checks.duplicates import Duplicates, fold
from tamis.checks.near import jaccard, shingles
from tamis.records import Draft, Spec

WRITER = Spec(kind="writer", name="generator", version="1")
LENDING = Path(__file__).parent.parent / "examples" / "lending" / "drafts"


def draft(name: str) -> Draft:
    return Draft(id=name, brief="b", name=name, blob="", writer=WRITER)


def endings(count: int, *, words: int, seed: int = 0) -> Iterator[tuple[Draft, bytes]]:
    rng = random.Random(seed)
    vocabulary = [f"word{int(20_000 * rng.random() ** 3)}" for _ in range(50_000)]
    recent: list[list[str]] = []
    for number in range(count):
        if recent and rng.random() < 0.15:
            text = list(rng.choice(recent))
            for at in rng.sample(range(words), max(1, words // 50)):
                text[at] = rng.choice(vocabulary)
        else:
            text = rng.choices(vocabulary, k=words)
            recent = [*recent[-99:], text]
        yield draft(f"{number}.txt"), " ".join(text).encode()


def ideas(count: int, *, seed: int = 0) -> Iterator[tuple[Draft, bytes]]:
    rng = random.Random(seed)
    metals = ["Ni", "Fe", "Co", "Mn", "Ce", "La"]
    for number in range(count):
        record = {metal: round(rng.random(), 3) for metal in metals}
        metal, celsius = rng.choice(metals), rng.randrange(60, 160)
        why = f"the usual layered hydroxide with {metal} where it holds best, dried at {celsius}"
        yield draft(str(number)), json.dumps({"composition": record, "why": why}).encode()


def rss_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1]) if sys.platform == "linux" else 0
    return pages * resource.getpagesize() / 1e6


def growth(name: str, make: Callable[[int], Iterator[tuple[Draft, bytes]]], counts: list[int]) -> None:
    """Time and memory of placing drafts that stream by; contents are made again when asked for, as a ledger would."""
    for count in counts:
        store: dict[str, bytes] = {}
        check = Duplicates("prose", contents=store.__getitem__)
        kept, folded, seconds, before = 0, 0, 0.0, rss_mb()
        stream = make(count)
        while batch := list(itertools.islice(stream, 1_000)):
            store.update((each.id, content) for each, content in batch)
            started = time.process_time()
            places = list(check.places(batch))
            seconds += time.process_time() - started
            kept += sum(place.alike is None for place in places)
            folded += sum(place.alike is not None for place in places)
        held = sum(map(len, store.values())) + 130 * len(store)
        index_bytes = ((rss_mb() - before) * 1e6 - held) / count
        print(
            f"  {name:<10}{count:>9,} drafts {seconds / count * 1e6:>8.0f} µs each "
            f"{max(0, index_bytes):>7,.0f} bytes each beside contents   kept {kept:,}, folded {folded:,}"
        )


def recall(count: int) -> None:
    """Pairs above the threshold by exact comparison of all with all, against what was folded or found."""
    given = list(endings(count, words=80, seed=1))
    sets = {each.id: frozenset(shingles(content.decode())) for each, content in given}
    truly = set()
    for (_, mine), (other, theirs) in itertools.combinations(sets.items(), 2):
        if jaccard(mine, theirs) >= 0.8:
            truly.add(other)
    found = {place.draft for place in Duplicates("prose").places(given) if place.alike}
    wrong = sum(1 for name in found if name not in truly)
    print(
        f"  {count:,} texts: {len(truly):,} have an earlier near-duplicate; found {len(found & truly):,} "
        f"(recall {len(found & truly) / len(truly):.4f}), wrong {wrong}"
    )


def software() -> None:
    given = [(draft(path.name), path.read_bytes()) for path in sorted(LENDING.glob("*.py"))]
    times = []
    for _ in range(3):
        started = time.perf_counter()
        folds = fold(given, "software")
        times.append(time.perf_counter() - started)
    print(
        f"  40 lending drafts: {len(folds)} distinct in {statistics.median(times):.2f} s wall, parsers' start included"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true")
    small = parser.parse_args().small
    print("growth, CPU time")
    growth("endings", lambda count: endings(count, words=750), [200, 1_000] if small else [1_000, 10_000])
    growth("ideas", ideas, [1_000, 5_000] if small else [10_000, 100_000, 1_000_000])
    print("recall against every pair compared")
    recall(400 if small else 4_000)
    print("software")
    software()


if __name__ == "__main__":
    main()
