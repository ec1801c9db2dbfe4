"""What becomes of one request: its scripts, the pace of each, and the reply that writes them."""

from collections.abc import Callable, Iterator, Mapping

from tamis.simulate import anthropic, openai
from tamis.simulate.asked import Asked, Protocol, drawn, read_body
from tamis.simulate.batching import Engine
from tamis.simulate.limits import allowed_tokens, natural_tokens
from tamis.simulate.pace import Batched, Pace, Steady
from tamis.simulate.script import Events, Script, endless, stopping
from tamis.simulate.settings import Simulated
from tamis.simulate.speculative import pass_length
from tamis.simulate.stream import Stream
from tamis.simulate.text import Tokens, generated
from tamis.simulate.wire import Ending, Used, Wire

CREATED = 1_700_000_000
"""The date in every answer: always the same, so that the same request gets the same bytes."""

WIRES: Mapping[Protocol, Callable[..., Wire]] = {
    "chat": openai.ChatWire,
    "completions": openai.CompletionWire,
    "messages": anthropic.MessagesWire,
}
ASKED = {
    "/v1/chat/completions": openai.chat_asked,
    "/v1/completions": openai.completions_asked,
    "/v1/messages": anthropic.messages_asked,
}


def asked_of(path: str, body: bytes) -> Asked:
    """The request in the form that all protocols share. Raises Refused."""
    return ASKED[path](read_body(body))


def wire_of(settings: Simulated, asked: Asked, number: int) -> Wire:
    request_id = f"{'msg' if asked.protocol == 'messages' else 'cmpl'}-{number:08d}"
    return WIRES[asked.protocol](request_id=request_id, model=asked.model or settings.model, created=CREATED)


def script_of(settings: Simulated, asked: Asked, prompt_tokens: int, lot: int, text: Tokens | None) -> Script:
    """What one stream will write. `lot` names the text where the request has no seed; `text` is one to write again.
    Raises Refused where prompt and answer do not fit."""
    most = allowed_tokens(settings, asked, prompt_tokens)
    natural = natural_tokens(settings, asked, None if text is None else len(text))
    count = most if natural is None else min(natural, most)
    ending: Ending = "stop" if count == natural else "length"
    seed = drawn(settings.seed, asked.seed if asked.seed is not None else ("unasked", lot), lot % 1000).getrandbits(64)
    tokens: Iterator[Tokens] = generated(seed)
    script = Script(tokens if text is None else endless(text, tokens), count, ending)
    return stopping(script, asked.stop) if asked.stop else script


class Composer:
    """Turns scripts into streams, each with its pace."""

    def __init__(self, settings: Simulated, engine: Engine | None) -> None:
        self._settings, self._engine = settings, engine

    def streams(self, scripts: list[Script], asked: Asked, wire: Wire, first: float, prompt: int) -> list[Stream]:
        """The streams of a request, whose first tokens are due at `first`."""
        settings = self._settings
        streams = []
        for index, script in enumerate(scripts):
            rng = drawn(settings.seed, "bursts", asked.seed, index)
            events = Events(script.count, size=settings.tokens_per_event, spec=settings.speculation, rng=rng)
            pace = self._pace(first, prompt, events.passes)
            shown = settings.reasoning_shown and asked.protocol != "completions"
            streams.append(Stream(script, events, pace, wire, index=index, reasoning=settings.reasoning, shown=shown))
        return streams

    def _pace(self, first: float, prompt_tokens: int, passes: int) -> Pace:
        if self._engine is not None:
            return Batched(first, self._engine.join(first, prompt_tokens + 1, passes - 1))
        if self._settings.stream_speed is None:
            return Steady(first, 0.0)
        longer = pass_length(self._settings.speculation) if self._settings.speculation else 1.0
        return Steady(first, longer / self._settings.stream_speed)


def used_by(streams: list[Stream], used: Used) -> Used:
    """The usage of a reply, known before it is written."""
    accepted = [s.events.accepted for s in streams]
    rejected = [s.events.rejected for s in streams]
    return Used(
        prompt=used.prompt,
        cached=used.cached,
        completion=sum(s.script.count for s in streams),
        reasoning=sum(s.reasoning_tokens for s in streams),
        accepted=sum(a for a in accepted if a is not None) if None not in accepted else None,
        rejected=sum(r for r in rejected if r is not None) if None not in rejected else None,
    )
