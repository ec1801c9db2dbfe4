"""The meter's own ceiling: how fast it can read on this machine, found on the simulated writer before anything else.

A figure near the ceiling is the reader's, not the server's, and is then only a bound. The ceiling is a lower one: here
reader and writer share the machine, and a server elsewhere leaves it to the reader alone.
"""

from statistics import median

import msgspec

from tamis.errors import TamisError
from tamis.simulate import Simulated
from tamis.simulate.process import started
from tamis.speed.budget import Budget
from tamis.speed.counting import count, stream_speed
from tamis.speed.dialect import Ask
from tamis.speed.figures import Figure
from tamis.speed.http import address
from tamis.speed.inputs import FirstToken, slope_of
from tamis.speed.prompts import fresh
from tamis.speed.source import ServerSource

NEAR = 0.7
"""A figure above this part of the ceiling is a bound."""
BUSY = 0.1
"""So is one for which the reader had something to read nearly all the time: idle for less than this share."""
TOKENS = 200_000
MANY = 32
LONG_PROMPT = 20_000
TOLD_APART = 0.5
"""An input speed above this part of what the way alone shows is not told apart from it."""


class Ceiling(msgspec.Struct, frozen=True):
    """Tokens per second that this reader takes, one token an event: of one stream, and of many together. `input` is
    how fast prompts get to a server that reads them at once: what looks like an input speed and is only the way there;
    None where that way is too short to see."""

    stream: float
    together: float
    input: float | None = None


def own_ceiling() -> Ceiling:
    """Read the simulated writer as fast as it goes. Takes about four seconds and no tokens of anybody's."""
    unlimited = Simulated(stream_speed=None, first_token_ms=0, output_cap=TOKENS, context=4 * TOKENS)
    with started(unlimited) as url:
        source = ServerSource(address(url), model="simulated", api="chat")
        budget = Budget(100 * TOKENS, 60)
        one = [_alone(source, budget) for _ in range(3)]
        many = source.hear([Ask("Hello.", TOKENS // MANY)] * MANY, budget).heard
        seconds = max(heard.times[-1] for heard in many) - min(heard.sent_at for heard in many)
        together = sum(heard.events_seen for heard in many) / seconds
        return Ceiling(stream=median(one), together=together, input=_way_of_prompts(source, budget))


def bounded(figure: Figure, ceiling: float | None, idle_share: float | None) -> Figure:
    """The figure, marked ">=" where it is as fast as this reader can read."""
    if figure.value is None:
        return figure
    busy = idle_share is not None and idle_share < BUSY
    near = ceiling is not None and figure.value > NEAR * ceiling
    if not busy and not near:
        return figure
    why = f"near this reader's ceiling of {ceiling:,.3g} tokens/s" if near else "the reader had no rest"
    return msgspec.structs.replace(figure, bound=">=", flags=(*figure.flags, f"client-limited: {why}"))


def told_apart(figure: Figure, ceiling: float | None) -> Figure:
    """The input speed, or no value where the way of the prompts alone would show as much."""
    if figure.value is None or ceiling is None or figure.value < ceiling * TOLD_APART:
        return figure
    why = (
        f"the time to first token grows like a prompt's way to a server that reads at once ({ceiling:,.3g} tokens/s "
        "here): a fixed delay, or an input speed too high to be seen"
    )
    return Figure(value=None, unit=figure.unit, flags=(why,))


def _way_of_prompts(source: ServerSource, budget: Budget) -> float | None:
    points = []
    for n in range(10):
        prompt = fresh(64 if n % 2 else LONG_PROMPT, 40_000 + n)
        heard = source.hear([Ask(prompt, 1)], budget).heard[0]
        if heard.reading_seconds is not None:
            points.append(FirstToken(heard.prompt_tokens or 0, heard.reading_seconds))
    return slope_of(points)


def _alone(source: ServerSource, budget: Budget) -> float:
    heard = source.hear([Ask("Hello.", TOKENS)], budget).heard[0]
    counted = count(heard)
    speed = stream_speed(heard, counted) if counted else None
    if speed is None:
        raise TamisError(f"the meter could not read the simulated writer: {heard.failed or 'it wrote nothing'}")
    return speed
