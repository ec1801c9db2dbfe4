"""What a request used: as the server tells it, where that can be true, else estimated by our own tokenizer, which the
record then says."""

from collections.abc import Sequence

from tamis.records import Usage
from tamis.tokens import count_tokens, counted_by
from tamis.writers.server.asking import Asked
from tamis.writers.server.hearing import Counts, Told

MOST_CHARS_A_TOKEN = 64
"""No tokenizer's tokens hold more on the whole of a text: fewer tokens were told than can be true."""


def usage_of(counts: Counts, told: Sequence[Told], *, asked: Asked) -> Usage:
    """The tokens of a request and its answers."""
    chars_out = sum(len(part) for one in told for part in one.parts)
    if _credible(counts.tokens_in, len(asked.whole)) and _credible(counts.tokens_out, chars_out):
        return Usage(
            tokens_in=counts.tokens_in or 0,
            tokens_out=counts.tokens_out or 0,
            cached=counts.cached,
            reasoning=counts.reasoning,
            accepted=counts.accepted,
            rejected=counts.rejected,
        )
    return Usage(
        tokens_in=count_tokens(asked.whole),
        tokens_out=sum(count_tokens(one.text) for one in told),
        counted_by=counted_by(),
    )


def _credible(tokens: int | None, chars: int) -> bool:
    return tokens is not None and tokens * MOST_CHARS_A_TOKEN >= chars
