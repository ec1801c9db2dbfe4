"""The code of modules, compiled once by the parser's process and handed on to the box that runs them.

It is made of texts that nobody has vetted, so nothing but a box reads it, and nothing rests on it: where there is none,
because memory for it was full or it was used before, the box compiles the text itself.
"""

import threading

MOST_BYTES = 64_000_000
MOST_EACH = 1_000_000
"""Larger code is compiled in the box after all: what a box has too little memory or time to compile must be found out
there, the same way each time it runs."""


class Codes:
    """Marshalled code by draft id, for as long as it is not taken; up to MOST_BYTES. Any thread may ask."""

    def __init__(self, *, file: str, most_bytes: int = MOST_BYTES) -> None:
        self.file = file
        """The file name that the modules are compiled under: what a traceback will show."""
        self._most_bytes = most_bytes
        self._held: dict[str, bytes] = {}
        self._bytes = 0
        self._lock = threading.Lock()

    def put(self, draft: str, code: bytes) -> None:
        with self._lock:
            if 0 < len(code) <= MOST_EACH and self._bytes + len(code) <= self._most_bytes and draft not in self._held:
                self._held[draft] = code
                self._bytes += len(code)

    def take(self, draft: str) -> bytes:
        """Its code, once; empty where there is none."""
        with self._lock:
            code = self._held.pop(draft, b"")
            self._bytes -= len(code)
            return code
