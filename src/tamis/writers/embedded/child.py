"""What the embedded model's process runs: the library, asks in as JSON lines, answers out as JSON lines.

It stands alone so that a crash of the native library ends this process and nothing else. Answers go out on what was
standard output; whatever the library prints goes to standard error. It ends when its standard input closes, so it
never outlives whoever asked.
"""

import importlib
import json
import os
import shutil
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO

ERRORS_ONLY = 1


def main() -> None:
    """Loads the model that the first argument tells of and answers until standard input ends."""
    told = json.loads(sys.argv[1])
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    server = _server(told)
    told_one = threading.Lock()
    _tell(answers, told_one, {"ready": True})
    with ThreadPoolExecutor(told["streams"]) as pool:
        for line in sys.stdin.buffer:
            pool.submit(_answer, server, json.loads(line), answers, told_one)
        shutil.rmtree(Path(told["socket"]).parent, ignore_errors=True)  # whoever asked is gone, so nobody else will
        os._exit(0)  # the library's threads do not end by themselves


def _server(told: dict[str, Any]) -> Any:
    """llama.cpp's server with one slot a stream. It listens on a socket in a private folder, since it must listen
    somewhere, and nobody calls it there."""
    library = importlib.import_module("xllamacpp")
    params = library.CommonParams()
    params.model.path = told["model"]
    params.hostnames = [told["socket"]]
    params.n_parallel = told["streams"]
    params.n_ctx = told["streams"] * told["context"]
    params.verbosity = ERRORS_ONLY
    params.ui = False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = told["threads"]
    if told["speculate"]:
        kinds = library.common_speculative_type
        params.speculative.types = [kinds.COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE]
        params.speculative.ngram_simple.size_n, params.speculative.ngram_simple.size_m = told["speculate"]
    return library.Server(params)


def _answer(server: Any, ask: dict[str, Any], answers: BinaryIO, told_one: threading.Lock) -> None:
    """One ask, answered with the server's own JSON."""
    replies: list[str] = []

    def keep(reply: str) -> bool:
        replies.append(reply)
        return False  # which means: go on

    handle = server.handle_completions if "prompt" in ask["body"] else server.handle_chat_completions
    try:
        handle(json.dumps(ask["body"]), keep)
        reply = json.loads(replies[-1])
    except Exception as error:  # whatever one ask runs into is its answer, and the others go on
        reply = {"error": {"message": f"{type(error).__name__}: {error}"}}
    _tell(answers, told_one, {"number": ask["number"], "reply": reply, "cpu_seconds": time.process_time()})


def _tell(answers: BinaryIO, told_one: threading.Lock, what: dict[str, Any]) -> None:
    with told_one:
        answers.write(json.dumps(what).encode() + b"\n")
        answers.flush()
