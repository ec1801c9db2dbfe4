"""How a run says how far it is, without knowing who listens."""

from typing import Protocol


class Progress(Protocol):
    """Told of each stage as it starts and of each thing done in it. `total` is None where it isn't known."""

    def start(self, name: str, total: int | None = None) -> None: ...

    def advance(self, done: int = 1) -> None: ...

    def waiting_for(self, name: str) -> None:
        """What the others wait for now, where several stages work side by side."""

    def pause(self) -> None:
        """Shows nothing until the next stage starts: somebody is asked something."""


class Silent:
    """Nobody listens."""

    def start(self, name: str, total: int | None = None) -> None:
        pass

    def advance(self, done: int = 1) -> None:
        pass

    def waiting_for(self, name: str) -> None:
        pass

    def pause(self) -> None:
        pass
