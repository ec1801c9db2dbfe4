"""The model that comes along, measured on the user's own machine: alone and with others, with and without speculation.

It runs in a process of its own behind llama.cpp's server (the library is xllamacpp), so that the meter reads it as it
reads any other. What is to be seen: batching raises throughput and makes no stream faster; speculation makes a stream
faster where what it writes repeats itself.
"""

import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from tamis.errors import TamisError
from tamis.speed.budget import Budget
from tamis.speed.dialect import Ask
from tamis.speed.http import address
from tamis.speed.prompts import fresh
from tamis.speed.source import ServerSource
from tamis.speed.throughput import Point, point_of
from tamis.writers.embedded.model import LIBRARY, most_threads, require_library

LEVELS = (1, 2, 4, 8, 16)
CONTEXT_A_STREAM = 1024
TOKENS = 128
PROMPT_TOKENS = 48
NAME = "embedded"
GREEDY: dict[str, object] = {"temperature": 0, "ignore_eos": True, "cache_prompt": False}
"""Greedy and without an end: so that runs with and without speculation write the same tokens, and as many."""

CHILD = "from tamis.speed.embedded import child; child()"


class Row(msgspec.Struct, frozen=True):
    """One load: what it reached without and with speculation. `acceptance` is the share of proposed tokens taken."""

    streams: int
    plain: Point | None
    speculating: Point | None
    acceptance: float | None


@contextmanager
def served(model: Path, *, speculating: bool, threads: int | None = None, streams: int = max(LEVELS)) -> Iterator[str]:
    """Its address as long as the context lasts; on as many threads as the writer uses, where `threads` doesn't say.
    Raises TamisError where it does not start."""
    require_library()
    load = {"model": str(model), "speculating": speculating, "streams": streams, "threads": threads or most_threads()}
    told = msgspec.json.encode(load).decode()
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD, told],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # llama.cpp tells everything it does
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        url = process.stdout.readline().decode().strip()
        if not url.startswith("http"):
            raise TamisError(f"{model} could not be loaded; the process ended with code {process.wait()}")
        yield url
    finally:
        process.terminate()
        process.communicate()


def embedded_source(url: str) -> ServerSource:
    return ServerSource(address(url), model=NAME, api="completions", extra=GREEDY)


def measure_loads(model: Path, budget: Budget, *, threads: int | None = None, say: Callable[[str], None]) -> list[Row]:
    """Both ways at each load, three runs each of which the middle one counts, as far as the budget goes."""
    found: dict[bool, dict[int, tuple[Point, float | None]]] = {False: {}, True: {}}
    for speculating, points in found.items():
        say(f"loading the embedded model, {'with' if speculating else 'without'} speculation")
        with served(model, speculating=speculating, threads=threads) as url:
            source = embedded_source(url)
            for streams in LEVELS:
                say(f"  {streams} at once")
                one = _middle(source, budget, streams)
                if one is not None:
                    points[streams] = one
    return [_row(streams, found[False].get(streams), found[True].get(streams)) for streams in LEVELS]


def child() -> None:
    """What the process runs: the model is in its first argument. It ends when its standard input closes."""
    told = msgspec.json.decode(sys.argv[1].encode(), type=dict[str, object])
    library = importlib.import_module(LIBRARY)
    params = library.CommonParams()
    params.model.path = told["model"]
    params.model_alias = {NAME}
    params.n_parallel = told["streams"]
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = told["threads"]
    params.n_ctx = int(str(told["streams"])) * CONTEXT_A_STREAM
    if told["speculating"]:
        params.speculative.types = [library.common_speculative_type.COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE]
    server = library.Server(params)
    os.write(sys.stdout.fileno(), f"{server.listening_address}\n".encode())
    sys.stdin.buffer.read()
    os._exit(0)  # the library's threads do not end by themselves


def _middle(source: ServerSource, budget: Budget, streams: int) -> tuple[Point, float | None] | None:
    runs: list[tuple[Point, float | None]] = []
    for run in range(3):
        if not budget.affords(streams * (TOKENS + PROMPT_TOKENS)):
            break
        # the same prompts both ways, and others in each run
        asks = [Ask(fresh(PROMPT_TOKENS, 50_000 + 100 * run + n), TOKENS) for n in range(streams)]
        session = source.hear(asks, budget)
        point = point_of(session, streams)
        if point is not None:
            accepted = sum(heard.accepted or 0 for heard in session.heard)
            proposed = accepted + sum(heard.rejected or 0 for heard in session.heard)
            runs.append((point, accepted / proposed if proposed else None))
    return sorted(runs, key=lambda one: one[0].throughput)[len(runs) // 2] if runs else None


def _row(streams: int, plain: tuple[Point, float | None] | None, speculating: tuple[Point, float | None] | None) -> Row:
    return Row(
        streams=streams,
        plain=plain[0] if plain else None,
        speculating=speculating[0] if speculating else None,
        acceptance=speculating[1] if speculating else None,
    )
