"""What was heard of one stream: which read brought how many events and how much text, and what the server told of it.

Tokens are counted by what can be trusted most: the server's usage, else a tokenizer, and the events beside them. Where
these disagree, the figure says so.
"""

import msgspec

from tamis.speed.dialect import Event, Usage
from tamis.speed.http import Dechunker, Head, head_of
from tamis.speed.reader import Reading

_decode = msgspec.json.Decoder(Event)


class Heard(msgspec.Struct):
    """One stream. For each read that brought text: when, and how many events and characters there were after it."""

    sent_at: float
    sent_by: float = 0.0
    times: list[float] = []
    events: list[int] = []
    chars: list[int] = []
    text: str = ""
    reasoning_chars: int = 0
    prompt_tokens: int | None = None
    cached_tokens: int = 0
    usage_tokens: int | None = None
    reasoning_tokens: int = 0
    accepted: int | None = None
    rejected: int | None = None
    finish: str | None = None
    status: int = 0
    failed: str | None = None
    retry_after_seconds: float | None = None
    unread_events: int = 0

    @property
    def first_token_seconds(self) -> float | None:
        return self.times[0] - self.sent_at if self.times else None

    @property
    def reading_seconds(self) -> float | None:
        """From when the request was sent whole to the first token: without the time that a long prompt took to send."""
        return self.times[0] - max(self.sent_at, self.sent_by) if self.times else None

    @property
    def lasted_seconds(self) -> float:
        return self.times[-1] - self.times[0] if self.times else 0.0

    @property
    def events_seen(self) -> int:
        return self.events[-1] if self.events else 0

    @property
    def reads(self) -> int:
        return len(self.times)


def heard_from(reading: Reading) -> Heard:
    """Take an answer apart. A refusal, a broken connection or nonsense becomes `failed`, in words."""
    heard = Heard(sent_at=reading.sent_at, sent_by=reading.sent_by, failed=reading.failed)
    head = head_of(reading.data)
    if head is None:
        heard.failed = heard.failed or ("no answer" if not reading.data else "the answer is no HTTP")
        return heard
    heard.status = head.status
    if head.status != 200:
        heard.failed = _refusal(reading, head)
        heard.retry_after_seconds = _seconds(head.headers.get("retry-after"))
        return heard
    listener = _Listener(heard)
    dechunker = Dechunker() if "chunked" in head.headers.get("transfer-encoding", "") else None
    start = head.length
    for stamp, end in zip(reading.stamps, reading.ends, strict=True):
        if end > start:
            piece = bytes(reading.data[start:end])
            listener.listen(stamp, dechunker.feed(piece) if dechunker else piece)
            start = end
    listener.close()
    if dechunker and heard.failed is None and heard.finish is None and not reading.data.endswith(b"0\r\n\r\n"):
        heard.failed = "the stream was cut in its middle"
    return heard


class _Listener:
    """Splits a body into events, read by read."""

    def __init__(self, heard: Heard) -> None:
        self._heard = heard
        self._rest = b""
        self._texts: list[str] = []
        self._events = self._chars = 0

    def listen(self, stamp: float, body: bytes) -> None:
        whole = self._rest + body
        if b"\r" in whole:
            whole = whole.replace(b"\r\n", b"\n")
        *events, self._rest = whole.split(b"\n\n")
        before = self._events
        for event in events:
            self._take(event)
        if self._events > before:
            self._heard.times.append(stamp)
            self._heard.events.append(self._events)
            self._heard.chars.append(self._chars)

    def close(self) -> None:
        self._heard.text = "".join(self._texts)

    def _take(self, raw: bytes) -> None:
        at = raw.find(b"data:")
        if at < 0 or raw.endswith(b"[DONE]"):
            return
        try:
            event = _decode.decode(raw[at + 5 :])
        except (msgspec.DecodeError, UnicodeDecodeError):
            self._heard.unread_events += 1
            return
        self._hear(event)

    def _hear(self, event: Event) -> None:
        for choice in event.choices:
            delta = choice.delta
            if delta is not None:
                self._say(delta.content, delta.reasoning_content or delta.reasoning)
            elif choice.text:
                self._say(choice.text, None)
            self._heard.finish = choice.finish_reason or self._heard.finish
        if event.delta is not None:
            self._say(event.delta.text, event.delta.thinking)
            self._heard.finish = event.delta.stop_reason or self._heard.finish
        if event.usage is not None:
            _note_usage(self._heard, event.usage)
        if event.message is not None and event.message.usage is not None:
            _note_usage(self._heard, event.message.usage)
        if event.timings is not None and event.timings.draft_n:
            self._heard.accepted = event.timings.draft_n_accepted
            self._heard.rejected = event.timings.draft_n - (event.timings.draft_n_accepted or 0)
        if event.error is not None:
            self._heard.failed = _said(event.error)[:300]

    def _say(self, content: str | None, reasoning: str | None) -> None:
        said = content or reasoning
        if said:
            self._events += 1
            self._chars += len(said)
            self._texts.append(said)
            if not content:
                self._heard.reasoning_chars += len(said)


def _note_usage(heard: Heard, usage: Usage) -> None:
    heard.usage_tokens = usage.completion_tokens or usage.output_tokens or heard.usage_tokens
    if usage.input_tokens is not None:
        heard.cached_tokens = usage.cache_read_input_tokens or 0
        heard.prompt_tokens = usage.input_tokens + heard.cached_tokens
    if usage.prompt_tokens is not None:
        heard.prompt_tokens = usage.prompt_tokens
        cached = usage.prompt_tokens_details
        heard.cached_tokens = (cached and cached.cached_tokens) or 0
    details = usage.completion_tokens_details
    if details is not None:
        heard.reasoning_tokens = details.reasoning_tokens or 0
        if details.accepted_prediction_tokens or details.rejected_prediction_tokens:
            heard.accepted = details.accepted_prediction_tokens
            heard.rejected = details.rejected_prediction_tokens


def _refusal(reading: Reading, head: Head) -> str:
    """The server's own words for a refusal, or the beginning of what it said."""
    raw = bytes(reading.data[head.length :])
    if "chunked" in head.headers.get("transfer-encoding", ""):
        raw = Dechunker().feed(raw)
    try:
        found = msgspec.json.decode(raw, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return raw[:300].decode("utf-8", "replace") or head.reason
    return _said(found.get("error", found))[:600]


def _said(error: object) -> str:
    """The sentence in an error, whatever its shape."""
    if isinstance(error, dict):
        return str(error.get("message") or error.get("detail") or error)
    return str(error)


def _seconds(text: str | None) -> float | None:
    try:
        return float(text) if text is not None else None
    except ValueError:
        return None
