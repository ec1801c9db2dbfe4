"""How a run says how far it is, without knowing who listens."""

from typing import Protocol


class Progress(Protocol):
    """Told of each stage as it starts and of each thing done in it. `total` is None where it isn't known."""

    def start(self, name: str, total: int | None = None) -> None: ...

    def advance(self, done: int = 1) -> None: ...


class Silent:
    """Nobody listens."""

    def start(self, name: str, total: int | None = None) -> None:
        pass

    def advance(self, done: int = 1) -> None:
        pass
