"""What the settings imply, before anything runs: stream speed, throughput at each load, and what makes a chain faster.

All of it is arithmetic on the settings. What this machine can keep of it is measured, not promised here.
"""

from collections.abc import Iterator

from tamis.records import Record
from tamis.simulate.settings import Simulated
from tamis.simulate.speculative import pass_length, speed_up, tokens_per_pass


class Load(Record, frozen=True, kw_only=True):
    """What so many streams at once would see, in tokens per second."""

    streams: int
    stream_speed: float
    throughput: float


def loads(settings: Simulated, *, context_tokens: int = 0) -> list[Load]:
    """Stream speed and throughput at 1, 2, 4 … streams, each holding `context_tokens`. Empty where there is no rate."""
    return [
        _load(settings, streams, context_tokens) for streams in _levels(settings.streams or 1024) if _rated(settings)
    ]


def implied(settings: Simulated, *, context_tokens: int = 0) -> Iterator[str]:
    """Sentences that say what the settings mean."""
    table = loads(settings, context_tokens=context_tokens)
    if not table:
        yield "One stream writes as fast as it is read: there is no rate to keep."
    else:
        alone, full = table[0], table[-1]
        yield f"One stream alone: {alone.stream_speed:,.6g} tokens/s after its first token."
        yield from _of_batching(settings, alone, full)
    yield from _of_speculation(settings)
    yield from _of_reading(settings)
    yield (
        f"Context capacity {settings.context:,} tokens, prompt and answer together; output cap {settings.output_cap:,}"
        " tokens: two limits, refused with different errors."
    )
    if settings.streams is not None:
        waiting = "any number wait" if settings.queue is None else f"{settings.queue} wait and more are answered 429"
        yield f"{settings.streams} streams write at once; {waiting}."


def _levels(most: int) -> list[int]:
    return sorted({1 << power for power in range(most.bit_length()) if 1 << power <= most} | {most})


def _rated(settings: Simulated) -> bool:
    return settings.batching is not None or settings.stream_speed is not None


def _load(settings: Simulated, streams: int, context_tokens: int) -> Load:
    faster = speed_up(settings.speculation) if settings.speculation else 1.0
    if settings.batching is not None:
        alone = faster / settings.batching.step_seconds(streams, streams * context_tokens)
    else:
        alone = faster * (settings.stream_speed or 0.0)
    return Load(streams=streams, stream_speed=alone, throughput=alone * streams)


def _of_batching(settings: Simulated, alone: Load, full: Load) -> Iterator[str]:
    if settings.batching is None:
        yield f"{full.streams} streams together: {full.throughput:,.6g} tokens/s; none slows another."
        return
    yield (
        f"{full.streams} streams together: {full.throughput:,.6g} tokens/s, "
        f"{full.throughput / alone.throughput:.1f} times one stream's, at {full.stream_speed:,.4g} tokens/s each."
    )
    slower = alone.stream_speed / full.stream_speed
    yield (
        f"No batch size makes one chain faster: a chain of 10,000 tokens takes {10_000 / alone.stream_speed:,.4g} s "
        f"alone and {slower:.3g} times that in the full batch."
    )


def _of_speculation(settings: Simulated) -> Iterator[str]:
    spec = settings.speculation
    if spec is not None:
        yield (
            f"Speculation with α = {spec.acceptance:g}, γ = {spec.draft_length}: {tokens_per_pass(spec):.3f} tokens a "
            f"pass, each {pass_length(spec):.3g} times as long, so a chain is {speed_up(spec):.3f} times as fast; "
            "the tokens of a pass arrive together."
        )


def _of_reading(settings: Simulated) -> Iterator[str]:
    delay = f"{settings.first_token_ms:g} ms"
    if settings.input_speed is None:
        yield f"First token after {delay}, whatever the prompt's length: a fixed delay, no input speed."
    else:
        longer = settings.first_token_ms + 10_000 / settings.input_speed * 1000
        yield (
            f"First token after {delay} and 1 s for every {settings.input_speed:,.6g} prompt tokens not read before: "
            f"{longer:,.4g} ms for 10,000."
        )
