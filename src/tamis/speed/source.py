"""Where streams come from. A source writes what it is asked for, all of it at once, and tells what was heard.

A server is a source; so is a model in this process, if it can say when each token came. The meter knows no more of
either than this.
"""

import time
from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from tamis.errors import TamisError
from tamis.speed.budget import Budget
from tamis.speed.dialect import PATHS, Api, Ask, Habits, body_of, headers_of
from tamis.speed.heard import Heard, heard_from
from tamis.speed.http import Address, request
from tamis.speed.reader import Reading, read_all

PATIENCE_SECONDS = 600.0
LONGEST_WAIT_SECONDS = 30.0
PASSING = (429, 500, 502, 503, 504, 529)
"""Refusals that may pass: too many requests, and a server or a proxy that is not well just now."""


class Session(msgspec.Struct):
    """Streams that were written at the same time. `idle_share` is for how much of it the reader had nothing to read,
    None where that means nothing; `refused` how often the source had to be asked again before."""

    heard: list[Heard]
    idle_share: float | None = None
    refused: int = 0


class Source(Protocol):
    name: str

    def hear(self, asks: Sequence[Ask], budget: Budget) -> Session:
        """Have these written at once. What it takes is spent from the budget. Raises TamisError where nothing can be
        written at all; a stream that failed is one of the heard."""
        ...


class ServerSource:
    """A model behind a server."""

    def __init__(
        self,
        where: Address,
        *,
        model: str,
        api: Api,
        key: str | None = None,
        extra: dict[str, object] | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.name = f"{model} at {where.shown}"
        self.model, self.api, self.where = model, api, where
        self.habits = Habits(extra=extra or {})
        self._key = key
        self._sleep = sleep

    def hear(self, asks: Sequence[Ask], budget: Budget) -> Session:
        for refused, wait_seconds in enumerate((1.0, 4.0, 10.0, None)):
            session = self._once(asks, budget)
            passing = [heard for heard in session.heard if heard.status in PASSING]
            session.refused = refused
            if not passing or wait_seconds is None:
                return session
            asked = max((heard.retry_after_seconds or 0.0) for heard in passing)
            self._sleep(min(max(asked, wait_seconds), LONGEST_WAIT_SECONDS, budget.left_seconds))
        raise AssertionError("the last try returns")

    def told(self, path: str) -> dict[str, object] | None:
        """What the server answers to GET, or None where it answers nothing that can be read."""
        wanted = request(self.where, "GET", path, headers_of(self.api, self._key))
        reading = read_all(self.where.target, [wanted], most_seconds=20).readings[0]
        heard = heard_from(reading)
        if heard.status != 200:
            return None
        body = bytes(reading.data).partition(b"\r\n\r\n")[2]
        try:
            return msgspec.json.decode(body[body.find(b"{") : body.rfind(b"}") + 1], type=dict[str, object])
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None

    def begin(self, ask: Ask, budget: Budget) -> Heard:
        """Ask, and hang up as soon as a text has begun: whether a request is taken at all, for few tokens."""
        most_seconds = min(PATIENCE_SECONDS, budget.left_seconds)
        sitting = read_all(self.where.target, [self._request(ask)], most_seconds=most_seconds, enough=_began)
        heard = self._understood(sitting.readings[0])
        if heard.status < 400:  # what is refused costs nothing; what is hung up on tells no usage
            budget.spend((heard.prompt_tokens or len(ask.prompt) // 4) + heard.events_seen)
        if heard.status == 400 and heard.failed and self.habits.learn(heard.failed):
            return self.begin(ask, budget)
        return heard

    def _once(self, asks: Sequence[Ask], budget: Budget) -> Session:
        wanted = [self._request(ask) for ask in asks]
        sitting = read_all(self.where.target, wanted, most_seconds=min(PATIENCE_SECONDS, budget.left_seconds))
        heard = [self._understood(reading) for reading in sitting.readings]
        budget.spend(sum((one.prompt_tokens or 0) + (one.usage_tokens or one.events_seen) for one in heard))
        first = heard[0]
        if first.status in (400, 422) and first.failed and self.habits.learn(first.failed):
            return self._once(asks, budget)
        return Session(heard, sitting.idle_share)

    def _request(self, ask: Ask) -> bytes:
        body = body_of(self.api, self.model, ask, self.habits)
        return request(self.where, "POST", PATHS[self.api], headers_of(self.api, self._key), body)

    def _understood(self, reading: Reading) -> Heard:
        heard = heard_from(reading)
        if self._key and heard.failed:
            heard.failed = heard.failed.replace(self._key, "…")
        return heard


def must(session: Session, doing: str) -> list[Heard]:
    """The streams that were written. Raises TamisError, in the server's words, where none was."""
    written = [heard for heard in session.heard if heard.failed is None and heard.times]
    if written:
        return written
    failed = session.heard[0]
    said = failed.failed or f"it answered {failed.status} and wrote nothing"
    hint = {
        401: "name the variable that holds the key: --key-env NAME",
        403: "the key may not use this model",
        404: "is the address right, and does the server have that model? Try --api completions or messages",
        429: "the server has had enough; wait, or lower --max-streams",
    }.get(failed.status)
    raise TamisError(f"{doing}: {said}", hint=hint)


def _began(reading: Reading) -> bool:
    return (b"data:" in reading.data and len(reading.data) > 2048) or reading.data.count(b"\ndata:") > 1
