"""The peers of the libraries that the pipeline leans on, each on the same texts: microseconds a text, and how much of
the interpreter it leaves to others while it works. One that is not installed is named, not left out in silence."""

import importlib
import json
import threading
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from _pace_loads import endings

from tamis.checks.shingling import BANDS, ROWS, SEED, minima, shingles
from tamis.records import digest
from tamis.tokens import count_tokens, count_words, encode

PERMUTATIONS = BANDS * ROWS
TIMES = 3
AT_WORK_SECONDS = 0.5
AT_WORK_SECONDS = 0.5
Texts = Sequence[str]


@dataclass(frozen=True)
class Peer:
    """`work` is given all texts at once and does it for each. `taken` is what tamis uses."""

    what: str
    name: str
    needs: str
    work: Callable[[Texts], object]
    taken: bool = False


def peers() -> list[Peer]:
    return [
        Peer("counting tokens", "bpe-openai count", "bpe_openai", lambda ts: [count_tokens(t) for t in ts], taken=True),
        Peer("counting tokens", "bpe-openai encode", "bpe_openai", lambda ts: [len(encode(t)) for t in ts]),
        Peer("counting tokens", "tokenizers, a batch at once", "tokenizers", _tokenizers),
        Peer("counting tokens", "tiktoken, its vocabulary given", "tiktoken", _tiktoken),
        Peer(
            "counting words", "bytes, translated and counted", "", lambda ts: [count_words(t) for t in ts], taken=True
        ),
        Peer("word triples", "lists of texts", "", lambda ts: [shingles(t) for t in ts], taken=True),
        Peer("MinHash of triples", "rensa, from texts", "rensa", lambda ts: minima(_triples(ts)), taken=True),
        Peer("MinHash of triples", "rensa, text by text", "rensa", lambda ts: [minima([t]) for t in _triples(ts)]),
        Peer("MinHash of triples", "datasketch", "datasketch", _datasketch),
        Peer("MinHash of triples", "gaoya", "gaoya", _gaoya),
        Peer("packing", "zlib, level 1", "", lambda ts: [zlib.compress(t.encode(), 1) for t in ts], taken=True),
        Peer("packing", "zlib, level 6", "", lambda ts: [zlib.compress(t.encode(), 6) for t in ts]),
        Peer("packing", "zstandard, level 1", "zstandard", _zstandard),
        Peer("hashing", "SHA-256", "", lambda ts: [digest(t) for t in ts], taken=True),
        Peer("reading JSON", "msgspec", "msgspec", _json("msgspec.json", "decode"), taken=True),
        Peer("reading JSON", "orjson", "orjson", _json("orjson", "loads")),
        Peer("reading JSON", "json", "", _json("json", "loads")),
    ]


def table(*, small: bool) -> None:
    """Prints a row for each peer."""
    texts = [written.content.decode() for written, _ in endings(40 if small else 400)]
    print(f"\npeers, {len(texts)} endings of a thousand tokens each, the best of {TIMES}")
    print(f"  {'':<20}{'':<32}{'µs of CPU':>10}  left to others")
    for peer in peers():
        if peer.needs and find_spec(peer.needs) is None:
            print(
                f"  {peer.what:<20}{peer.name:<32}   skipped: {peer.needs} is not installed (pip install {peer.needs})"
            )
            continue
        try:
            peer.work(texts[:2])
        except Unavailable as why:
            print(f"  {peer.what:<20}{peer.name:<32}   skipped: {why}")
            continue
        seconds = min(_seconds(peer.work, texts) for _ in range(TIMES))
        left = _left_to_others(peer.work, texts)
        print(
            f"  {peer.what:<20}{peer.name:<32}{seconds / len(texts) * 1e6:>10,.0f}  {left:>5.0%}"
            f"{'   taken' if peer.taken else ''}"
        )


class Unavailable(Exception):
    """It is installed, and what it needs beside is not there."""


def _seconds(work: Callable[[Texts], object], texts: Texts) -> float:
    started = time.process_time()
    work(texts)
    return time.process_time() - started


def _counting(stop: threading.Event, most_seconds: float) -> tuple[int, float]:
    """How far plain Python counts until it is stopped, and in how many seconds."""
    counted, started = 0, time.perf_counter()
    while not stop.is_set() and time.perf_counter() - started < most_seconds:
        for _ in range(1_000):
            counted += 1
    return counted, time.perf_counter() - started


def _left_to_others(work: Callable[[Texts], object], texts: Texts) -> float:
    """How fast this thread counts while another works, against how fast it counts alone. Half is a fair share of one
    interpreter, all of it is what a library leaves that lets go of it. Only a quiet machine tells."""
    counted, seconds = _counting(threading.Event(), AT_WORK_SECONDS)
    alone, over = counted / seconds, threading.Event()

    def works() -> None:
        until = time.perf_counter() + AT_WORK_SECONDS
        try:
            while time.perf_counter() < until:
                work(texts)
        finally:
            over.set()

    thread = threading.Thread(target=works)
    thread.start()
    counted, seconds = _counting(over, 60.0)
    thread.join()
    return counted / seconds / alone


_known: dict[int, list[list[str]]] = {}


def _triples(texts: Texts) -> list[list[str]]:
    """Made once for the same texts: it is not what is measured."""
    key = id(texts)
    if key not in _known:
        _known.clear()
        _known[key] = [shingles(text) for text in texts]
    return _known[key]


def _tokenizers(texts: Texts) -> int:
    found = find_spec("wordllama")
    file = Path(found.origin or "").parent / "tokenizers" / "l2_supercat_tokenizer_config.json" if found else None
    if file is None or not file.is_file():
        raise Unavailable("it needs a vocabulary; wordllama's would do (pip install wordllama)")
    tokenizer = importlib.import_module("tokenizers").Tokenizer.from_file(str(file))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return sum(len(one.ids) for one in tokenizer.encode_batch_fast(list(texts), add_special_tokens=False))


def _tiktoken(texts: Texts) -> int:
    try:
        encoding = importlib.import_module("tiktoken").get_encoding("o200k_base")
    except Exception as error:
        raise Unavailable(f"its vocabulary is a download ({type(error).__name__})") from error
    return sum(len(one) for one in encoding.encode_ordinary_batch(list(texts)))


def _datasketch(texts: Texts) -> list[object]:
    made = importlib.import_module("datasketch").MinHash
    return [
        made.bulk([[t.encode() for t in own]], num_perm=PERMUTATIONS, seed=SEED)[0].hashvalues
        for own in _triples(texts)
    ]


def _gaoya(texts: Texts) -> object:
    made = importlib.import_module("gaoya").minhash.MinHashStringIndex(
        hash_size=32, jaccard_threshold=0.8, num_bands=BANDS, band_size=ROWS, num_hashes=PERMUTATIONS,
        analyzer="word", lowercase=True, ngram_range=(3, 3),
    )  # fmt: skip
    made.par_bulk_insert_docs(list(range(len(texts))), list(texts))
    return made


def _zstandard(texts: Texts) -> list[bytes]:
    compressor = importlib.import_module("zstandard").ZstdCompressor(level=1)
    return [compressor.compress(text.encode()) for text in texts]


def _json(module: str, function: str) -> Callable[[Texts], object]:
    def work(texts: Texts) -> object:
        read = getattr(importlib.import_module(module), function)
        return [read(one) for one in _records(texts)]

    return work


_records_of: dict[int, list[bytes]] = {}


def _records(texts: Texts) -> list[bytes]:
    key = id(texts)
    if key not in _records_of:
        _records_of.clear()
        _records_of[key] = [json.dumps({"formula": "Ni0.5Fe0.5", "why": text}).encode() for text in texts]
    return _records_of[key]
