"""One request over HTTP, and what went wrong with it: turned away before it cost anything, or broken off so that nobody
knows what it cost.

Redirects are not followed, since the key would go where they lead. What a server may send is bounded: a body beyond
`most_bytes`, a packed one, or one that is still coming when its time is over, is given up.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping

import httpx2
import msgspec

from tamis.errors import TamisError
from tamis.writers.server.hearing import Hearing, Unheard
from tamis.writers.server.retrying import retry_after

CONNECT_SECONDS = 15.0
MOST_ERROR_BYTES = 100_000
FREE = frozenset({*range(400, 500), 501, 503, 529})
"""Turned away at the door. Other refusals may come after the work was done, for instance a proxy's 504."""
PASSING = frozenset({408, 409, 425, 429, *range(500, 600)})
"""What may be otherwise the next time."""
OVERLOADED = frozenset({429, 503, 529})
_NEVER = ("insufficient_quota", "billing", "credit balance", "exceeded your current quota")


class TurnedAway(msgspec.Struct, frozen=True):
    """A refusal by status, with the server's own words. `free` when it can't have cost anything, `passing` when trying
    again may help, after `wait_seconds` where the server said so."""

    status: int
    message: str
    free: bool
    passing: bool
    overloaded: bool
    wait_seconds: float | None = None


class BrokeOff(msgspec.Struct, frozen=True):
    """No whole answer came. `free` where the request never got through."""

    why: str
    free: bool = False
    overloaded: bool = False


Trouble = TurnedAway | BrokeOff


class Bounds(msgspec.Struct, frozen=True):
    """What one answer may take."""

    seconds: float
    silence_seconds: float
    most_bytes: int


class Caller:
    """A server's client. Use it as a context. `key` is kept out of every message, whoever wrote it."""

    def __init__(self, *, key: str | None, bounds: Bounds, now: Callable[[], float]) -> None:
        self._key = key
        self._bounds = bounds
        self._now = now
        timeout = httpx2.Timeout(bounds.silence_seconds, connect=CONNECT_SECONDS, pool=None)
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
        self._client = httpx2.AsyncClient(timeout=timeout, limits=limits, follow_redirects=False)

    def __repr__(self) -> str:
        return "Caller(…)"

    async def close(self) -> None:
        await self._client.aclose()

    async def post(
        self, url: str, headers: Mapping[str, str], body: bytes, hearing: Hearing, *, first_token: Callable[[], None]
    ) -> Trouble | None:
        """Sends it and lets `hearing` have what comes; None when all of it came. `first_token` is called when the first
        text or reasoning is there."""
        try:
            async with asyncio.timeout(self._bounds.seconds):
                async with self._client.stream("POST", url, headers=dict(headers), content=body) as response:
                    return await self._outcome(response, hearing, first_token)
        except Unheard as unheard:
            return BrokeOff(self._clean(unheard.why), overloaded=unheard.overloaded)
        except TimeoutError:
            return BrokeOff(f"no whole answer within {self._bounds.seconds:g} s")
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            return BrokeOff(self._clean(f"no connection: {error or type(error).__name__}"), free=True)
        except httpx2.TimeoutException:
            return BrokeOff(f"nothing came for {self._bounds.silence_seconds:g} s")
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            return BrokeOff(self._clean(f"the connection broke: {error or type(error).__name__}"))

    async def get_json(self, url: str, headers: Mapping[str, str]) -> object:
        """The JSON at an address. Raises TamisError, in words without the key."""
        try:
            async with (
                asyncio.timeout(self._bounds.silence_seconds),
                self._client.stream("GET", url, headers=dict(headers)) as response,
            ):
                body = await self._all(response, MOST_ERROR_BYTES * 100)
                if response.status_code != 200:
                    raise TamisError(f"the server answered {response.status_code}: {self._clean(_message(body))}")
                return msgspec.json.decode(body)
        except (httpx2.TransportError, TimeoutError) as error:
            raise TamisError(self._clean(f"the server can't be reached: {error or type(error).__name__}")) from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, Unheard):
            raise TamisError("the server's list of models is no JSON") from None

    async def _outcome(
        self, response: httpx2.Response, hearing: Hearing, first_token: Callable[[], None]
    ) -> Trouble | None:
        status = response.status_code
        if status == 200:
            return await self._heard(response, hearing, first_token)
        if 300 <= status < 400:
            to = response.headers.get("location", "elsewhere")
            message = f"it redirects to {to}; a key is not sent there unasked: set [writer] url to where the server is"
            return TurnedAway(status, self._clean(message), free=True, passing=False, overloaded=False)
        body = await self._all(response, MOST_ERROR_BYTES, cut=True)
        message = self._clean(_message(body))
        never = any(word in message.lower() or word.encode() in body for word in _NEVER)
        return TurnedAway(
            status,
            message,
            free=status in FREE,
            passing=status in PASSING and not never,
            overloaded=status in OVERLOADED,
            wait_seconds=retry_after(response.headers, now=self._now()),
        )

    async def _heard(
        self, response: httpx2.Response, hearing: Hearing, first_token: Callable[[], None]
    ) -> TurnedAway | None:
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind in ("application/json", "text/json"):
            hearing.whole(await self._all(response, self._bounds.most_bytes))
            first_token()
        elif kind in ("text/event-stream", ""):
            began = False
            async for chunk in self._pieces(response, self._bounds.most_bytes):
                if hearing.stream(chunk) and not began:
                    began = True
                    first_token()
            hearing.close()
        else:
            shown = self._clean(kind[:80])
            message = f"it answered with {shown} and no answer of a model: is [writer] url right?"
            return TurnedAway(200, message, free=True, passing=False, overloaded=False)
        return None

    async def _all(self, response: httpx2.Response, most_bytes: int, *, cut: bool = False) -> bytes:
        """The body; with `cut`, the beginning of one that is too large."""
        body = bytearray()
        async for piece in self._pieces(response, most_bytes if not cut else 1 << 62):
            body += piece
            if cut and len(body) > most_bytes:
                break
        return bytes(body[:most_bytes])

    async def _pieces(self, response: httpx2.Response, most_bytes: int) -> AsyncIterator[bytes]:
        """The body as it comes. Raises Unheard where it is packed, or goes on beyond `most_bytes`."""
        if response.headers.get("content-encoding", "identity") != "identity":
            raise Unheard("the answer is packed, although it was asked for as it is")
        count = 0
        async for piece in response.aiter_raw():
            count += len(piece)
            if count > most_bytes:
                raise Unheard(f"the answer went on beyond {most_bytes / 1e6:,.1f} MB, more than max_tokens can be")
            yield piece

    def _clean(self, text: str) -> str:
        """The text in one line of a bearable length, without the key."""
        if self._key:
            text = text.replace(self._key, "[the key]")
        text = " ".join(text.split())
        return text if len(text) <= 600 else f"{text[:600]}…"


class _Inner(msgspec.Struct):
    message: str | None = None


class _Body(msgspec.Struct):
    error: _Inner | str | None = None
    message: str | None = None
    detail: str | None = None


def _message(body: bytes) -> str:
    """What an error's body says."""
    try:
        told = msgspec.json.decode(body, type=_Body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return body.decode("utf-8", "replace").strip() or "no reason given"
    inner = told.error.message if isinstance(told.error, _Inner) else told.error
    return inner or told.message or told.detail or body.decode("utf-8", "replace")
