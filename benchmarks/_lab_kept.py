"""Games kept in a file, so that a benchmark that was stopped goes on, and one that takes an hour (BayBE's) can stand in
the same table as one that takes a minute. A game is known by its set, what went wrong in it, its seed, and who played:
for tamis the source that decides, for others their version."""

import hashlib
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import msgspec
from _lab_replay import Played

import tamis.lab
from tamis.lab.track import Past


class _Line(msgspec.Struct):
    key: str
    order: list[int]
    past: list[Past]
    repeats: int
    seconds: float
    back: list[int] = []


PLAY = "batch failures features formulas front gp ideas molecules plan rows surrogate texts track trade"
"""The modules that decide what is measured next; the others only tell it."""


def player(name: str) -> str:
    """Who played, in the state it is in now."""
    if name == "BayBE":
        return f"BayBE {version('baybe')}, nothing repeated"
    source = Path(tamis.lab.__file__).parent
    content = b"".join((source / f"{module}.py").read_bytes() for module in PLAY.split())
    return f"{name} {hashlib.sha256(content).hexdigest()[:12]}"


class Kept:
    """The games of a file; without one, none are kept."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._games: dict[str, Played] = {}
        if path is not None and path.exists():
            for line in path.read_bytes().splitlines():
                one = msgspec.json.decode(line, type=_Line)
                self._games[one.key] = Played(one.order, tuple(one.past), one.repeats, one.seconds, one.back)

    def game(self, key: str, play: Callable[[], Played]) -> Played:
        """The game of that key, played now if it was not yet."""
        if key not in self._games:
            found = self._games[key] = play()
            if self._path is not None:
                order = [int(row) for row in found.order]
                line = _Line(key, order, list(found.past), found.repeats, found.seconds, found.back)
                with self._path.open("ab") as file:
                    file.write(msgspec.json.encode(line) + b"\n")
        return self._games[key]
