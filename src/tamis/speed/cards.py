"""Model cards: what was published about a model, with its source and date. Published is not measured, and an entry
holds only what its source says."""

import tomllib
from importlib.resources import files

import msgspec

from tamis.errors import UsageError, nearest
from tamis.records import Record


class Card(Record, frozen=True, kw_only=True):
    """One model. `read` is the day on which the source was read, `latency` its maker's own comparative word."""

    name: str
    source: str
    read: str
    context: int | None = None
    output_cap: int | None = None
    latency: str | None = None
    latency_source: str | None = None
    note: str | None = None


def cards() -> dict[str, Card]:
    """All cards by model, such as anthropic/claude-opus-5.5."""
    raw = tomllib.loads((files("tamis.speed") / "cards.toml").read_text("utf-8"))
    return msgspec.convert(raw, dict[str, Card])


def card(model: str) -> Card:
    """The card of that model. Raises UsageError with the nearest known one."""
    known = cards()
    if model not in known:
        near = nearest(model, known)
        hint = f"did you mean {near}?" if near else f"known cards: {', '.join(known)}"
        raise UsageError(f"there is no card for {model!r}", hint=hint)
    return known[model]
