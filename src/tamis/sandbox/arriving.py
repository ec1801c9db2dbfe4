"""Drafts that are still arriving, for a sandbox that works on those that are here."""

import threading
from collections.abc import Callable, Iterator, Mapping

Keyed = tuple[str, bytes]


class Arriving(Mapping[str, bytes]):
    """Sources by key, drawn from `drafts` when somebody asks for the next; whoever iterates waits until it has come.
    Several threads may. A source is held until `done` is told that nobody needs it. `code` gives what the parser has
    made of a source, empty where there is none."""

    def __init__(self, drafts: Iterator[Keyed], *, code: Callable[[str], bytes] = lambda _: b"") -> None:
        self._drafts = drafts
        self.code = code
        self._keys: list[str] = []
        self._held: dict[str, bytes] = {}
        self._lock = threading.Lock()
        self._ended = False

    def __iter__(self) -> Iterator[str]:
        at = 0
        while at < len(self._keys) or self._draw(at):
            yield self._keys[at]
            at += 1

    def __getitem__(self, key: str) -> bytes:
        return self._held[key]

    def __len__(self) -> int:
        """How many there are in all, once all have come."""
        return sum(1 for _ in self)

    def first(self) -> bytes | None:
        """The first source, when it has come; None where there is none at all."""
        return next((self._held[key] for key in self), None)

    def done(self, key: str) -> None:
        self._held.pop(key, None)

    def _draw(self, at: int) -> bool:
        """Waits until there is a key at this place; False where there will be none. What the iterator raises, each
        who draws is told."""
        with self._lock:
            if at < len(self._keys):
                return True
            if self._ended:
                return False
            try:
                key, source = next(self._drafts)
            except StopIteration:
                self._ended = True
                return False
            self._held[key] = source
            self._keys.append(key)
            return True
