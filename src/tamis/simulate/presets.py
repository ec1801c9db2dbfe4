"""Batching as published: step times measured by others, and the straight line fitted to each.

A line is what the batching model is; how far the published points lie from it is told with it, not hidden.
"""

import tomllib
from importlib.resources import files

import msgspec

from tamis.errors import UsageError, nearest
from tamis.records import Record
from tamis.simulate.settings import Batching


class Published(Record, frozen=True, kw_only=True):
    """One table. `step_ms` holds (streams at once, milliseconds of a step); `streams` is how many ran at most."""

    what: str
    source: str
    date: str
    streams: int
    step_ms: tuple[tuple[int, float], ...]


class Preset(Record, frozen=True, kw_only=True):
    """A published table and the model fitted to it. `worst_error` is the largest relative error of a point."""

    name: str
    published: Published
    batching: Batching
    worst_error: float


def presets() -> dict[str, Preset]:
    """All presets by name."""
    raw = tomllib.loads((files("tamis.simulate") / "presets.toml").read_text("utf-8"))
    found = msgspec.convert(raw, dict[str, Published])
    return {name: _fitted(name, published) for name, published in found.items()}


def preset(name: str) -> Preset:
    """The preset of that name. Raises UsageError with the nearest known one."""
    known = presets()
    if name not in known:
        near = nearest(name, known)
        raise UsageError(
            f"no batching preset called {name!r}. Known presets: {', '.join(known)}.",
            hint=f"did you mean {near!r}?" if near else None,
        )
    return known[name]


def _fitted(name: str, published: Published) -> Preset:
    """Least squares of the relative errors of `seconds + seconds_per_stream × streams`, in closed form."""
    weights = [1 / ms**2 for _, ms in published.step_ms]
    total = sum(weights)
    streams = sum(w * s for w, (s, _) in zip(weights, published.step_ms, strict=True)) / total
    time = sum(w * ms for w, (_, ms) in zip(weights, published.step_ms, strict=True)) / total
    spread = sum(w * (s - streams) ** 2 for w, (s, _) in zip(weights, published.step_ms, strict=True))
    rises = sum(w * (s - streams) * ms for w, (s, ms) in zip(weights, published.step_ms, strict=True)) / spread
    batching = Batching(seconds=(time - rises * streams) / 1000, seconds_per_stream=rises / 1000)
    worst = max(abs(batching.step_seconds(s, 0) * 1000 / ms - 1) for s, ms in published.step_ms)
    return Preset(name=name, published=published, batching=batching, worst_error=worst)
