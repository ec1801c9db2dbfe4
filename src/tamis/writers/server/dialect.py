"""What a request looks like in each protocol, and the habits of servers that say they want it otherwise."""

from typing import Literal
from urllib.parse import urlsplit

import msgspec

from tamis.config import WriterSection
from tamis.errors import UsageError
from tamis.writers.server.asking import Asked

Protocol = Literal["chat", "completions", "messages"]
ENDINGS: dict[Protocol, str] = {"chat": "/chat/completions", "completions": "/completions", "messages": "/messages"}
ANTHROPIC_VERSION = "2023-06-01"
OURS = frozenset(
    (
        *("model", "messages", "prompt", "system", "stream", "stream_options", "temperature", "seed", "stop"),
        *("n", "best_of", "max_tokens", "max_completion_tokens", "max_new_tokens", "n_predict", "num_predict"),
    )
)
"""What a request's `extra` may not set: it would change what is asked, or what it may cost."""


class Address(msgspec.Struct, frozen=True):
    """Where a server is: all that stands before a protocol's own path, and the protocol where the address tells it.
    `query` is kept apart, since some hold secrets there: it is sent and never shown."""

    base: str
    protocol: Protocol | None
    query: str

    def of(self, protocol: Protocol) -> str:
        return self.base + ENDINGS[protocol] + self.query

    @property
    def models(self) -> str:
        return f"{self.base}/models{self.query}"


def address(url: str) -> Address:
    """The parts of an address with or without /v1 and with or without the protocol's path. Raises UsageError."""
    parts = urlsplit(url if "://" in url else f"http://{url}")
    try:
        port = f":{parts.port}" if parts.port is not None else ""
    except ValueError as error:
        raise UsageError(f"[writer] url: {error}") from error
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
        raise UsageError(
            "[writer] url is no server's address", hint="such as http://127.0.0.1:8000 or https://host/v1, with no user"
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    path, protocol = parts.path.rstrip("/"), None
    for known, ending in ENDINGS.items():  # chat first: its path ends like that of completions
        if path.endswith(ending):
            path, protocol = path.removesuffix(ending), known
            break
    if not any(part[:1] == "v" and part[1:2].isdigit() for part in path.split("/")):
        path += "/v1"
    if protocol is None and (host == "anthropic.com" or host.endswith(".anthropic.com")):
        protocol = "messages"
    query = f"?{parts.query}" if parts.query else ""
    return Address(f"{parts.scheme}://{host}{port}{path}", protocol, query)


class Habits(msgspec.Struct):
    """What this server has been found to want, learnt from its refusals; each is learnt once."""

    cap_field: str = "max_tokens"
    tells_usage: bool = True
    streams: bool = True
    many: bool = True
    system_role: bool = True

    def learn(self, message: str) -> str | None:
        """Change the habit that a refusal is about; returns what changed, None where it is about something else."""
        said = message.lower()
        if "max_completion_tokens" in said and self.cap_field == "max_tokens":
            self.cap_field = "max_completion_tokens"
            return "it wants max_completion_tokens"
        if "stream_options" in said and self.tells_usage:
            self.tells_usage = False
            return "it can't be asked for usage in a stream"
        if "stream" in said and self.streams:
            self.streams = False
            return "it does not stream"
        if "system" in said and "role" in said and self.system_role:
            self.system_role = False
            return "it knows no system role"
        if self.many and any(word in said for word in ("'n'", '"n"', "`n`", " n ", "n must", "number of choices")):
            self.many = False
            return "it gives one answer a request"
        return None


def body_of(
    protocol: Protocol, asked: Asked, settings: WriterSection, habits: Habits, *, model: str, first: int, drafts: int
) -> bytes:
    """The body of a request for so many drafts, the first of which has number `first`."""
    body: dict[str, object] = {"model": model, **(settings.extra or {}), "stream": habits.streams}
    match protocol:
        case "chat":
            body |= {"messages": _messages(asked, habits), habits.cap_field: settings.max_tokens}
        case "completions":
            body |= {"prompt": asked.whole, "max_tokens": settings.max_tokens}
            body |= {"stop": [asked.stop]} if asked.stop else {}
        case "messages":
            body |= {"messages": [{"role": "user", "content": asked.user}], "max_tokens": settings.max_tokens}
            body |= {"system": asked.system} if asked.system else {}
    if settings.temperature is not None:
        body["temperature"] = settings.temperature
    if protocol != "messages":
        if settings.seed is not None:
            body["seed"] = settings.seed + first
        if drafts > 1:
            body["n"] = drafts
        if habits.streams and habits.tells_usage:
            body["stream_options"] = {"include_usage": True}
    return msgspec.json.encode(body)


def _messages(asked: Asked, habits: Habits) -> list[dict[str, str]]:
    if asked.system and habits.system_role:
        return [{"role": "system", "content": asked.system}, {"role": "user", "content": asked.user}]
    return [{"role": "user", "content": "\n\n".join(part for part in (asked.system, asked.user) if part)}]


def headers_of(protocol: Protocol, key: str | None) -> dict[str, str]:
    """The headers that carry the key, and say that nothing is to be packed."""
    plain = {"content-type": "application/json", "accept-encoding": "identity", "user-agent": "tamis"}
    if protocol == "messages":
        return plain | {"anthropic-version": ANTHROPIC_VERSION} | ({"x-api-key": key} if key else {})
    return plain | ({"authorization": f"Bearer {key}"} if key else {})


def refuse_ours(extra: dict[str, object]) -> None:
    """Raises UsageError where `extra` sets what has a key of its own, or would change what a request may cost."""
    wrong = sorted(OURS & extra.keys())
    if wrong:
        raise UsageError(
            f"[writer] extra sets {', '.join(wrong)}, which the writer itself sets",
            hint="model, max_tokens, temperature, seed and n are keys of [writer]; the budget rests on them",
        )
