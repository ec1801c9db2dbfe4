"""How a writer says how far it is, to whoever watches."""

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

import msgspec

from tamis.writers.requests import Paid


class WritingNow(msgspec.Struct, frozen=True, kw_only=True):
    """How the writing goes. `wanted` drafts are to be there in the end, `before` were there already; all else but
    `paid` is of this sitting.

    `tokens_in` and `tokens_out` are of answers that are over, estimated for `estimated` of the requests; `pieces` of
    text have come of answers that are not over. `perhaps` requests broke off, so that nobody knows what they cost.
    `given_up` are the numbers of drafts that will not be, with the reason. `stopped` is why no more are asked for,
    `refused` where that is the server's doing. `streams` are out now, of `streams_limit` that the server bears.
    `paid` is what all sittings together cost, or may have, and `money` its price, None where none is known."""

    wanted: int
    before: int
    answers: int = 0
    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    pieces: int = 0
    estimated: int = 0
    perhaps: int = 0
    failures: int = 0
    last_failure: str | None = None
    given_up: Mapping[int, str] = {}
    stopped: str | None = None
    refused: bool = False
    streams: int = 0
    streams_limit: int = 0
    paid: Paid = Paid()
    money: float | None = None
    notes: tuple[str, ...] = ()


@runtime_checkable
class Telling(Protocol):
    """A writer that can be watched while it writes."""

    def now(self) -> WritingNow: ...
