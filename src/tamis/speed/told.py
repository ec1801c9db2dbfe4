"""The speeds in the form that programs read, with the same keys from now on, and in the words of a table."""

from collections.abc import Iterator, Sequence

import msgspec

from tamis.speed.embedded import Row
from tamis.speed.figures import Figure
from tamis.speed.meter import Speeds

SHOWN = ("stream", "throughput", "input", "context", "output_cap", "first_token")
NAMES = {
    "stream": "stream speed",
    "throughput": "throughput",
    "input": "input speed",
    "context": "context capacity",
    "output_cap": "output cap",
    "first_token": "time to first token",
}


def figures(speeds: Speeds) -> dict[str, Figure]:
    """The six figures by key."""
    return {key: getattr(speeds, key) for key in SHOWN}


def as_json(speeds: Speeds, *, embedded: Sequence[Row] = ()) -> bytes:
    """The figures at the top, and under `details` what they rest on; for the embedded model also its loads."""
    details: dict[str, object] = {
        "source": speeds.source,
        "spent_tokens": speeds.spent_tokens,
        "ceiling": speeds.ceiling,
        "alone": speeds.alone,
        "together": speeds.together,
        "reads": speeds.reads,
    }
    if embedded:
        details["embedded"] = embedded
    return msgspec.json.format(msgspec.json.encode({**figures(speeds), "details": details}))


def amount(value: float, unit: str) -> str:
    """A number with the digits that a person wants of it."""
    if unit == "s":
        return f"{value * 1000:,.1f} ms" if value < 1 else f"{value:,.2f} s"
    if unit == "tokens":
        return f"{value:,.0f}"
    return f"{value:,.0f}" if value >= 1000 else f"{value:,.4g}"


def value_of(figure: Figure) -> str:
    """The figure as the table shows it."""
    if figure.value is None:
        return "can't be told"
    unit = "" if figure.unit == "s" else f" {figure.unit}"
    return f"{'≥ ' if figure.bound else ''}{amount(figure.value, figure.unit)}{unit}"


def interval_of(figure: Figure) -> str:
    if figure.low is None or figure.high is None or figure.low == figure.high:
        return ""
    return f"{amount(figure.low, figure.unit)} to {amount(figure.high, figure.unit)}"


def beside(speeds: Speeds) -> Iterator[str]:
    """What else was seen, a sentence each."""
    alone = speeds.alone
    if alone is not None:
        if alone.stream.value is not None:
            words = alone.stream.value * alone.words_per_token
            yield f"One stream writes {amount(words, 'words/s')} words/s: {alone.words_per_token:.2f} words a token."
        yield from _between(alone.between_tokens, alone.tokens_per_event, alone.events_per_read)
        if alone.acceptance is not None:
            yield f"Speculation: {alone.acceptance:.0%} of the proposed tokens were taken, says the server."
        for one in alone.by_length:
            speed = amount(one.speed.value, "tokens/s")
            yield f"In answers of {one.tokens:,} tokens: {speed} tokens/s ({one.speed.runs} runs)."
    if speeds.together is not None and speeds.together.knee is not None:
        yield f"The knee: {speeds.together.knee} streams at once reach nine tenths of the best throughput."
    if speeds.ceiling is not None:
        ceiling = speeds.ceiling
        yield (
            f"This reader's own ceiling here: {amount(ceiling.stream, 'tokens/s')} tokens/s of one stream, "
            f"{amount(ceiling.together, 'tokens/s')} of many."
        )
    yield f"Measuring took {speeds.spent_tokens:,} tokens."


def _between(found: dict[str, float], tokens_per_event: float, events_per_read: float) -> Iterator[str]:
    carries = f"{tokens_per_event:.3g} tokens an event, {events_per_read:.3g} events a read"
    if found:
        shown = ", ".join(f"{name} {seconds * 1000:.2f} ms" for name, seconds in found.items())
        yield f"Between tokens: {shown} ({carries})."
    else:
        yield f"Times between tokens can't be seen: {carries}."
