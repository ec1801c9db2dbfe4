"""How many tokens a stream had, and how many of them its first read brought.

A rate counts what came after the first token's arrival, so what arrived together with it must be left out: one token
where every event is one, more where events or reads carry several. That is what tools that count events get wrong.
"""

import msgspec

from tamis.speed.figures import CountedBy
from tamis.speed.heard import Heard
from tamis.tokens import ENCODING, count_tokens

ALIKE = 0.02
"""Counts within this share of each other count as the same."""
ONE_BY_ONE = 1.05
"""Up to so many tokens a read, the times between reads are the times between tokens."""
FOREIGN = 0.15
"""Beyond this, a difference between usage and our tokenizer is more than another vocabulary usually makes."""


class Count(msgspec.Struct, frozen=True):
    """Tokens that could be seen, those of the first read, and what counted them."""

    tokens: float
    in_first_read: float
    counted_by: CountedBy
    tokens_per_event: float
    events_per_read: float
    flags: tuple[str, ...] = ()

    @property
    def one_by_one(self) -> bool:
        """Whether every read brought one token, so that the times between tokens can be seen."""
        return self.tokens_per_event * self.events_per_read < ONE_BY_ONE


def count(heard: Heard) -> Count | None:
    """Count one stream; None where it brought no text."""
    if not heard.times or not heard.events_seen:
        return None
    by_usage = _visible(heard)
    by_tokenizer = by_usage if by_usage == heard.events_seen else count_tokens(heard.text)
    tokens = by_usage or by_tokenizer or heard.events_seen
    first = _share_of_first_read(heard, tokens) * tokens
    return Count(
        tokens=float(tokens),
        in_first_read=first,
        counted_by="usage" if by_usage else "tokenizer",
        tokens_per_event=tokens / heard.events_seen,
        events_per_read=heard.events_seen / heard.reads,
        flags=tuple(_doubts(heard, by_usage, by_tokenizer)),
    )


def stream_speed(heard: Heard, counted: Count) -> float | None:
    """Tokens per second after the first read; None where everything came in one."""
    if heard.reads < 2 or heard.lasted_seconds <= 0:
        return None
    return (counted.tokens - counted.in_first_read) / heard.lasted_seconds


def tokens_until(heard: Heard, read: int, tokens: float) -> float:
    """About how many of the stream's tokens had come after that read."""
    if tokens == heard.events_seen:
        return float(heard.events[read])
    return tokens * heard.chars[read] / heard.chars[-1]


def _visible(heard: Heard) -> int | None:
    """The usage without reasoning that was counted but never shown."""
    if heard.usage_tokens is None:
        return None
    hidden = heard.reasoning_tokens if not heard.reasoning_chars else 0
    return max(0, heard.usage_tokens - hidden) or None


def _share_of_first_read(heard: Heard, tokens: float) -> float:
    """Which part of the tokens the first read brought: by events where each is a token, else by the tokenizer."""
    if tokens == heard.events_seen:
        return heard.events[0] / heard.events_seen
    whole = count_tokens(heard.text)
    return count_tokens(heard.text[: heard.chars[0]]) / whole if whole else 0.0


def _doubts(heard: Heard, by_usage: int | None, by_tokenizer: int) -> list[str]:
    doubts = []
    events = heard.events_seen
    if by_usage is None:
        if abs(by_tokenizer - events) > ALIKE * events:
            doubts.append(f"no usage: {by_tokenizer:,} tokens by {ENCODING}, {events:,} events")
        else:
            doubts.append(f"no usage: {ENCODING} and events agree")
    elif abs(by_tokenizer - by_usage) > FOREIGN * by_usage:
        doubts.append(f"usage says {by_usage:,} tokens, {ENCODING} {by_tokenizer:,}")
    if heard.reasoning_tokens and not heard.reasoning_chars:
        doubts.append(
            f"{heard.reasoning_tokens:,} reasoning tokens were not shown: they are in the time to first token"
        )
    if heard.unread_events:
        doubts.append(f"{heard.unread_events:,} events could not be read")
    return doubts
