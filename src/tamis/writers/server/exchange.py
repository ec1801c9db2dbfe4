"""One request and its reply: logged before it goes out, logged when it is over, and never handed on before that.

It knows how this server wants to be asked, learns from its refusals, and says which refusals those were.
"""

import asyncio
import os
from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from tamis.clock import OpenSpan, Spans
from tamis.config import WriterSection
from tamis.records import Answered, Reply, Request, Spec, Usage, digest
from tamis.writers.requests import RequestLog
from tamis.writers.server.asking import Asked
from tamis.writers.server.budget import Prices
from tamis.writers.server.calling import BrokeOff, Caller, Trouble, TurnedAway
from tamis.writers.server.dialect import Address, Habits, Protocol, body_of, headers_of
from tamis.writers.server.hearing import Hearing, Told, Unheard
from tamis.writers.server.usage import usage_of

ORDER: tuple[Protocol, ...] = ("chat", "completions", "messages")
"""In which protocols are tried where nothing says which one it is."""


class Came(msgspec.Struct, frozen=True):
    """An answer, logged already. `usage` is of its whole request; `alone` says that it was that request's only one."""

    answered: Answered
    content: bytes
    writer: Spec
    usage: Usage | None
    alone: bool


class Failure(msgspec.Struct, frozen=True):
    """No answer. `otherwise` says that the server only wants to be asked otherwise, which it now will be."""

    trouble: Trouble
    why: str
    otherwise: bool = False


class Way(msgspec.Struct, frozen=True):
    """What stays the same over all requests of a sitting."""

    brief: str
    settings: WriterSection
    asked: Asked
    address: Address
    model: str
    protocol: Protocol | None
    prices: Prices
    key: Callable[[], str | None]
    spec: Callable[[Protocol], Spec]


class Exchange:
    """Asks one server. `habits` and `protocol` are learnt on the way; `notes` says what was."""

    def __init__(self, way: Way, *, caller: Caller, log: RequestLog, spans: Spans, sitting: str) -> None:
        self._way, self._caller, self._log, self._spans, self._sitting = way, caller, log, spans, sitting
        self.protocol: Protocol = way.protocol or ORDER[0]
        self.habits = Habits()
        self.notes: list[str] = []
        self.most_in = log.most_in().get(way.asked.key, way.asked.most_tokens)
        """The most tokens that the prompt can have: as the server counted them, else a bound that holds for all."""
        self._learnt = 0
        self._answered = False
        self._hearings: set[Hearing] = set()

    @property
    def pieces(self) -> int:
        """How many pieces of text have come of answers that are not over."""
        return sum(hearing.events for hearing in self._hearings)

    def most_out(self, drafts: Sequence[int]) -> int:
        return self._way.settings.max_tokens * len(drafts)

    async def ask(self, drafts: tuple[int, ...]) -> list[Came] | Failure:
        """One request for these drafts, fewer of which may be answered, over all its way. Where it is cancelled, it
        counts as perhaps paid."""
        request, learnt = self._record(drafts), self._learnt
        try:
            await self._log.sent(request)
        except asyncio.CancelledError:
            self._log.note(self._reply(request, "free", why="it was stopped before it was sent"), {})
            raise
        hearing = Hearing()
        self._hearings.add(hearing)
        try:
            trouble = await self._called(request, hearing)
        except asyncio.CancelledError:
            self._log.note(self._reply(request, "perhaps", why="it was stopped"), {})
            raise
        finally:
            self._hearings.discard(hearing)
        if trouble is None:
            try:
                return await self._heard(request, hearing)
            except Unheard as unheard:
                trouble = BrokeOff(unheard.why, overloaded=unheard.overloaded)
        return await self._failed(request, trouble, learnt)

    # the request

    def _record(self, drafts: tuple[int, ...]) -> Request:
        way, most_out = self._way, self.most_out(drafts)
        return Request(
            id=os.urandom(16).hex(),
            brief=way.brief,
            writer=way.spec(self.protocol),
            asked=way.asked.key,
            drafts=drafts,
            most_in=self.most_in,
            most_out=most_out,
            most_money=way.prices.of(self.most_in, most_out),
            sitting=self._sitting,
            at=self._spans.clock.now(),
        )

    async def _called(self, request: Request, hearing: Hearing) -> Trouble | None:
        """Sends it and hears its answer, within a span of its own."""
        way, protocol, drafts = self._way, self.protocol, request.drafts
        body = body_of(
            protocol, way.asked, way.settings, self.habits, model=way.model, first=drafts[0], drafts=len(drafts)
        )
        url, headers = way.address.of(protocol), headers_of(protocol, way.key())
        # the process's CPU seconds belong to no single one of the requests that are out
        with self._spans.span("writing", "request", resource="stream", cpu=lambda: 0.0) as span:
            trouble = await self._caller.post(url, headers, body, hearing, first_token=self._stamp(span))
            counts = hearing.counts
            span.tokens_in = counts.tokens_in or 0
            span.tokens_out = hearing.events if trouble is not None or counts.tokens_out is None else counts.tokens_out
        return trouble

    def _stamp(self, span: OpenSpan) -> Callable[[], None]:
        def stamp() -> None:
            span.first_token_at = self._spans.clock.now()

        return stamp

    # the reply

    async def _heard(self, request: Request, hearing: Hearing) -> list[Came]:
        """The answers, logged. Raises Unheard where there is none."""
        told = hearing.answers(len(request.drafts))
        usage = usage_of(hearing.counts, told, asked=self._way.asked)
        contents, answers = _answers(request.drafts, told)
        reply = msgspec.structs.replace(
            self._reply(request, "answered"),
            answers=tuple(answers),
            usage=usage,
            money=self._way.prices.of(usage.tokens_in, usage.tokens_out),
        )
        await self._log.ended(reply, contents)
        self._answered = True
        if usage.counted_by == "usage":
            self.most_in = min(self.most_in, usage.tokens_in)
        alone = len(answers) == 1
        return [Came(one, contents[one.blob], request.writer, usage, alone) for one in answers]

    async def _failed(self, request: Request, trouble: Trouble, learnt: int) -> Failure:
        """What went wrong, logged."""
        why = trouble.why if isinstance(trouble, BrokeOff) else f"{trouble.status}: {trouble.message}"
        await self._log.ended(self._reply(request, "free" if trouble.free else "perhaps", why=why), {})
        return Failure(trouble, why, otherwise=self._otherwise(trouble, learnt))

    def _otherwise(self, trouble: Trouble, learnt: int) -> bool:
        """Whether the refusal says how the server wants to be asked. Others of that time say the same."""
        if isinstance(trouble, BrokeOff) or trouble.status not in (400, 404, 405, 422):
            return False
        if learnt < self._learnt or self._learns(trouble):
            self._learnt += learnt == self._learnt
            return True
        return False

    def _learns(self, trouble: TurnedAway) -> bool:
        wrong_path = trouble.status in (404, 405) and "model" not in trouble.message.lower()
        if wrong_path and self._way.protocol is None and not self._answered:
            left = ORDER[ORDER.index(self.protocol) + 1 :]
            if left:
                self.protocol = left[0]
            return bool(left)
        changed = self.habits.learn(trouble.message)
        if changed is not None:
            self.notes.append(f"the server is asked otherwise from here on: {changed}")
        return changed is not None

    def _reply(
        self, request: Request, ended: Literal["answered", "free", "perhaps"], *, why: str | None = None
    ) -> Reply:
        at = self._spans.clock.now()
        return Reply(
            id=digest("reply", request.id), request=request.id, brief=self._way.brief, ended=ended, why=why, at=at
        )


def cost_of(came: list[Came] | Failure) -> tuple[int, int] | None:
    """What a request counts for in the budget, tokens in and out; None where nobody knows."""
    match came:
        case Failure(trouble=trouble) if trouble.free:
            return 0, 0
        case [Came(usage=Usage(counted_by="usage") as usage), *_]:
            return usage.tokens_in, usage.tokens_out
        case _:
            return None


def _answers(drafts: Sequence[int], told: Sequence[Told]) -> tuple[dict[str, bytes], list[Answered]]:
    contents: dict[str, bytes] = {}
    answers = []
    for number, one in zip(drafts, told, strict=False):
        content = one.text.encode("utf-8", "replace")
        blob = digest(content)
        contents[blob] = content
        answers.append(Answered(draft=number, blob=blob, finish=one.finish or "refused", said=one.said or "refusal"))
    return contents, answers
