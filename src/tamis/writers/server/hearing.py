"""What came back, heard while it comes: events of any of the protocols, or one whole JSON, from servers that may say
anything.

Texts and how they ended are taken at their word and must have the right shape, else the answer is no answer. Figures
of usage are only believed where they can be true: a count that is missing, negative or no number is nobody's word.
"""

from collections.abc import Iterator

import msgspec

from tamis.records import Finish
from tamis.writers.jsonl import FINISHES

_MOST_TOKENS = 1 << 50
_ABSENT = msgspec.Raw(b"")


class Unheard(Exception):
    """What came is no answer; the message says why. `overloaded` where the server said that it is."""

    def __init__(self, why: str, *, overloaded: bool = False) -> None:
        super().__init__(why)
        self.why = why
        self.overloaded = overloaded


class Part(msgspec.Struct, gc=False):
    text: str | None = None


class Delta(msgspec.Struct, gc=False):
    content: str | list[Part] | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    text: str | None = None
    thinking: str | None = None
    stop_reason: str | None = None


class Choice(msgspec.Struct, gc=False):
    index: int = 0
    delta: Delta | None = None
    message: Delta | None = None
    text: str | None = None
    finish_reason: str | None = None


class Block(msgspec.Struct, gc=False):
    text: str | None = None


class Message(msgspec.Struct, gc=False):
    usage: msgspec.Raw = _ABSENT


class Event(msgspec.Struct, gc=False):
    """One event, or one whole answer, of any of the protocols; fields that are not needed are passed over."""

    choices: list[Choice] | None = None
    usage: msgspec.Raw = _ABSENT
    error: msgspec.Raw = _ABSENT
    type: str | None = None
    delta: Delta | None = None
    message: Message | str | None = None
    content_block: Block | None = None
    content: list[Block] | None = None
    stop_reason: str | None = None


class Counts(msgspec.Struct):
    """Usage as told, None where it isn't, or can't be true."""

    tokens_in: int | None = None
    tokens_out: int | None = None
    cached: int | None = None
    reasoning: int | None = None
    accepted: int | None = None
    rejected: int | None = None

    def join(self, newer: "Counts") -> None:
        """What is told later goes first: protocols tell the same figures again as they grow."""
        for name in self.__struct_fields__:
            told = getattr(newer, name)
            if told is not None:
                setattr(self, name, told)


class Told(msgspec.Struct):
    """One answer so far. `said` is the finish reason in the server's word, None while it is not over."""

    parts: list[str] = []
    said: str | None = None
    refusal: bool = False
    thought: bool = False

    @property
    def text(self) -> str:
        return "".join(self.parts)

    @property
    def finish(self) -> Finish | None:
        """None where it isn't over, or ended in a way that leaves no draft."""
        if self.refusal:
            return "refused"
        return None if self.said is None else FINISHES.get(self.said.lower())


_decode_event = msgspec.json.Decoder(Event).decode
_decode_lines = msgspec.json.Decoder(Event).decode_lines


class Hearing:
    """Takes the answer of one request as it comes. `events` counts what carried text."""

    def __init__(self) -> None:
        self.told: dict[int, Told] = {}
        self.counts = Counts()
        self.events = 0
        self._rest = b""

    def stream(self, chunk: bytes) -> bool:
        """Bytes of a stream of events; True when they brought text or reasoning. Raises Unheard."""
        data = self._rest + chunk
        end = max(data.rfind(b"\n\n"), data.rfind(b"\n\r\n") + 1)
        if end <= 0:
            self._rest = data
            return False
        whole, self._rest = data[:end], data[end:].lstrip(b"\r\n")
        before = self.events
        for event in _events(whole):
            if not self._took_text(event):
                self._take(event)
        return self.events > before

    def whole(self, body: bytes) -> None:
        """One JSON answer. Raises Unheard."""
        event = _decoded(body)
        if event.content is not None or event.stop_reason is not None:
            answer = self._answer(0)
            answer.parts += [block.text for block in event.content or [] if block.text]
            answer.said = event.stop_reason
            self.events += 1
            self.counts.join(_counts(event.usage))
            return
        self._take(event, whole=True)

    def close(self) -> None:
        """The stream is over: what was left of it is an event without its empty line."""
        rest, self._rest = self._rest, b""
        if rest.strip():
            for event in _events(rest):
                self._take(event)

    def answers(self, most: int) -> list[Told]:
        """The answers that are over, at most so many. Raises Unheard where there is none."""
        over = [told for _, told in sorted(self.told.items()) if told.said is not None or told.refusal][:most]
        if not over:
            cut = any(told.parts or told.thought for told in self.told.values())
            raise Unheard("the answer broke off" if cut else "the answer holds no choices")
        return over

    def _answer(self, index: int) -> Told:
        found = self.told.get(index)
        if found is None:
            found = self.told[index] = Told(parts=[])
        return found

    def _took_text(self, event: Event) -> bool:
        """The commonest event by far, one choice with a piece of text and nothing else, the short way."""
        if event.choices is None or event.usage is not _ABSENT or event.error is not _ABSENT or len(event.choices) != 1:
            return False
        (choice,) = event.choices
        delta = choice.delta
        if delta is None or choice.finish_reason is not None or delta.refusal is not None:
            return False
        if not isinstance(delta.content, str) or not delta.content:
            return False
        self.events += 1
        self._answer(choice.index).parts.append(delta.content)
        return True

    def _take(self, event: Event, *, whole: bool = False) -> None:
        if event.error is not _ABSENT and bytes(event.error) != b"null":
            raise _error(event.error)
        for place, choice in enumerate(event.choices or ()):
            # a whole answer has each of its choices in a place of its own, whatever it numbers them
            self._choice(choice, self._answer(place if whole else choice.index))
        if event.type is not None:
            self._anthropic(event)
        if event.usage is not _ABSENT:
            self.counts.join(_counts(event.usage))

    def _choice(self, choice: Choice, answer: Told) -> None:
        delta = choice.delta or choice.message
        if delta is not None:
            self._delta(delta, answer)
        elif choice.text:
            self.events += 1
            answer.parts.append(choice.text)
        if choice.finish_reason is not None:
            answer.said = choice.finish_reason

    def _delta(self, delta: Delta, answer: Told) -> None:
        text = delta.content if delta.content is not None else delta.text
        if isinstance(text, list):
            text = "".join(part.text or "" for part in text)
        if text:
            self.events += 1
            answer.parts.append(text)
        elif delta.reasoning_content or delta.reasoning or delta.thinking:
            self.events += 1
            answer.thought = True
        if delta.refusal:
            answer.refusal = True
            answer.parts.append(delta.refusal)

    def _anthropic(self, event: Event) -> None:
        answer = self._answer(0)
        if isinstance(event.message, Message):
            self.counts.join(_counts(event.message.usage))
        if event.content_block is not None and event.content_block.text:
            answer.parts.append(event.content_block.text)
        if event.delta is not None:
            self._delta(event.delta, answer)
            if event.delta.stop_reason is not None:
                answer.said = event.delta.stop_reason


def _events(block: bytes) -> Iterator[Event]:
    """The events in a block that ends where an event does. Raises Unheard."""
    if block.startswith(b"data: {") and b"\r" not in block:
        # the common shape, decoded at one go: raw line ends can't stand inside JSON
        body = block[6:].removesuffix(b"\n\ndata: [DONE]")
        try:
            yield from _decode_lines(body.replace(b"\n\ndata: ", b"\n"))
            return
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            pass  # something else stands between: told line by line
    data: list[bytes] = []
    for line in [*block.replace(b"\r\n", b"\n").split(b"\n"), b""]:
        if line.startswith(b"data:"):
            data.append(line[5:].removeprefix(b" "))
        elif not line.strip() and data:
            joined = b"\n".join(data).strip()
            data = []
            if joined and joined != b"[DONE]":
                yield _decoded(joined)


def _decoded(body: bytes) -> Event:
    try:
        return _decode_event(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Unheard(f"the server sent what is no answer of its protocol ({error})") from error


class _Error(msgspec.Struct):
    message: str | None = None
    type: str | None = None


def _error(raw: msgspec.Raw) -> Unheard:
    """An error that came in place of an event."""
    try:
        told = msgspec.json.decode(raw, type=_Error | str)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        told = "no reason that can be read"
    message = told if isinstance(told, str) else (told.message or told.type or "no reason given")
    kind = "" if isinstance(told, str) else (told.type or "")
    overloaded = "overload" in kind or "rate_limit" in kind or "overload" in message.lower()
    return Unheard(f"the server broke off: {message}", overloaded=overloaded)


def _counts(raw: msgspec.Raw) -> Counts:
    try:
        told = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Counts()
    if not isinstance(told, dict):
        return Counts()
    reads, writes = _table(told, "prompt_tokens_details"), _table(told, "completion_tokens_details")
    return Counts(
        tokens_in=_tokens_in(told),
        tokens_out=_first(_count(told, "completion_tokens"), _count(told, "output_tokens")),
        cached=_first(_count(reads, "cached_tokens"), _count(told, "cache_read_input_tokens")),
        reasoning=_count(writes, "reasoning_tokens"),
        accepted=_count(writes, "accepted_prediction_tokens"),
        rejected=_count(writes, "rejected_prediction_tokens"),
    )


def _tokens_in(told: dict[str, object]) -> int | None:
    """OpenAI's figure holds cached tokens; Anthropic's tells them apart, and all of them were read."""
    prompt = _count(told, "prompt_tokens")
    if prompt is not None:
        return prompt
    fresh = _count(told, "input_tokens")
    beside = ("cache_read_input_tokens", "cache_creation_input_tokens")
    return None if fresh is None else fresh + sum(_count(told, name) or 0 for name in beside)


def _table(told: dict[str, object], name: str) -> dict[str, object]:
    found = told.get(name)
    return found if isinstance(found, dict) else {}


def _count(told: dict[str, object], name: str) -> int | None:
    found = told.get(name)
    return found if isinstance(found, int) and not isinstance(found, bool) and 0 <= found < _MOST_TOKENS else None


def _first(*found: int | None) -> int | None:
    return next((one for one in found if one is not None), None)
