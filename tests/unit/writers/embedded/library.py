"""Stands in for xllamacpp in the child process: it answers at once, and crashes, stalls or refuses as the model file
says, a JSON object after the four letters GGUF."""

import json
import os
import signal
import sys
import threading
import time
import types
from pathlib import Path


class CommonParams(types.SimpleNamespace):
    def __init__(self) -> None:
        lookup = types.SimpleNamespace(size_n=0, size_m=0)
        super().__init__(
            model=types.SimpleNamespace(path=""),
            cpuparams=types.SimpleNamespace(n_threads=0),
            cpuparams_batch=types.SimpleNamespace(n_threads=0),
            speculative=types.SimpleNamespace(types=[], ngram_simple=lookup),
        )


common_speculative_type = types.SimpleNamespace(COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE="ngram")


class Server:
    def __init__(self, params: CommonParams) -> None:
        content = Path(params.model.path).read_bytes()
        if not content.startswith(b"GGUF"):
            sys.stderr.write(f"0.1 E load: error loading model: {params.model.path} is no GGUF\n")
            raise RuntimeError("Failed to init server")
        self.says = json.loads(content[4:] or b"{}")
        self.params = params
        self.at_once = 0
        self.lock = threading.Lock()
        sys.stdout.write("what the library prints is no answer\n")
        sys.stdout.flush()

    def handle_completions(self, request: str, keep: object) -> None:
        body = json.loads(request)
        self._answer(body, keep, lambda text: {"text": text})

    def handle_chat_completions(self, request: str, keep: object) -> None:
        body = json.loads(request)
        before = body["messages"][-1]["content"] if body["messages"][-1]["role"] == "assistant" else ""
        self._answer(body, keep, lambda text: {"message": {"role": "assistant", "content": before + text}})

    def _answer(self, body: dict, keep: object, choice: object) -> None:
        with self.lock:
            self.at_once += 1
            most = self.at_once
        number = body["seed"] - self.says.get("seed", 0)
        self._misbehave(number)
        time.sleep(self.says.get("seconds", 0.0))
        text = self.says.get("text", "seed {seed}").format(seed=body["seed"], most=most, **vars(self.params.model))
        with self.lock:
            self.at_once -= 1
        if number in self.says.get("refuse", []):
            keep(json.dumps({"error": {"code": 400, "message": "request exceeds the available context size"}}))
            return
        reason = "length" if number in self.says.get("cut", []) else "stop"
        reply = {
            "choices": [{"finish_reason": reason, "index": 0, **choice(text)}],
            "usage": {"prompt_tokens": 11, "completion_tokens": 7},
        }
        keep(json.dumps(reply))

    def _misbehave(self, number: int) -> None:
        if number not in self.says.get("crash", []):
            return
        mark = Path(f"{self.params.model.path}.crashes")
        crashes = len(mark.read_text()) if mark.exists() else 0
        if crashes < self.says.get("crashes", 1):
            mark.write_text("x" * (crashes + 1))
            os.kill(os.getpid(), signal.SIGSEGV)
            time.sleep(60)  # another thread may be the one that gets it
