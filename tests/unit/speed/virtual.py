"""A source without a clock: what a server of known speeds would have been heard as, so that the meter's arithmetic is
tested to the last digit and without waiting."""

import random
from collections.abc import Sequence
from itertools import islice

from tamis.simulate.text import as_text, generated
from tamis.speed.budget import Budget
from tamis.speed.dialect import Ask
from tamis.speed.heard import Heard
from tamis.speed.source import Session
from tamis.tokens import count_tokens


def text_of(tokens: int, seed: int = 1) -> list[str]:
    """So many tokens, each as its text."""
    found = (token for paragraph in islice(generated(seed), tokens) for token in paragraph)
    return [as_text([token]) for token in islice(found, tokens)]


def heard_stream(
    tokens: int,
    *,
    rate: float,
    first_at: float = 0.0,
    sent_at: float = 0.0,
    tokens_per_event: int = 1,
    events_per_read: int = 1,
    usage: bool = True,
    reasoning: int = 0,
    jitter: float = 0.0,
    rng: random.Random | None = None,
) -> Heard:
    """A stream whose token number n (from 0) is there at `first_at + n / rate`; an event comes with its last token, a
    read with its last event."""
    rng = rng or random.Random(1)
    pieces = text_of(tokens)
    heard = Heard(sent_at=sent_at, status=200, text="".join(pieces), finish="length", prompt_tokens=10)
    per_read = tokens_per_event * events_per_read
    chars = 0
    for start in range(0, tokens, per_read):
        end = min(start + per_read, tokens)
        chars += len("".join(pieces[start:end]))
        heard.times.append(first_at + (end - 1) / rate + rng.random() * jitter)
        heard.events.append(-(-end // tokens_per_event))
        heard.chars.append(chars)
    if usage:
        heard.usage_tokens, heard.reasoning_tokens = tokens + reasoning, reasoning
    return heard


class Virtual:
    """A source of known speeds. `step` gives the seconds of a step by how many streams write at once."""

    name = "virtual"

    def __init__(
        self,
        *,
        rate: float = 100.0,
        step: tuple[float, float] | None = None,
        slots: int | None = None,
        delay: float = 0.05,
        input_speed: float | None = None,
        jitter: float = 0.0,
        tokens_per_event: int = 1,
        usage: bool = True,
    ) -> None:
        self.rate, self.step, self.slots = rate, step, slots
        self.delay, self.input_speed, self.jitter = delay, input_speed, jitter
        self.tokens_per_event, self.usage = tokens_per_event, usage
        self.asked: list[Ask] = []
        self.rng = random.Random(3)

    def hear(self, asks: Sequence[Ask], budget: Budget) -> Session:
        self.asked += asks
        heard, at_once = [], min(len(asks), self.slots or len(asks))
        for n, ask in enumerate(asks):
            prompt = count_tokens(ask.prompt)
            rate = 1 / (self.step[0] + self.step[1] * at_once) if self.step else self.rate
            reads = prompt / self.input_speed if self.input_speed else 0.0
            waits = (n // at_once) * (ask.max_tokens - 1) / rate
            one = heard_stream(
                ask.max_tokens,
                rate=rate,
                first_at=self.delay + reads + waits,
                tokens_per_event=self.tokens_per_event,
                usage=self.usage,
                jitter=self.jitter,
                rng=self.rng,
            )
            one.prompt_tokens = prompt
            heard.append(one)
        budget.spend(sum(count_tokens(ask.prompt) + ask.max_tokens for ask in asks))
        return Session(heard, 0.9)
