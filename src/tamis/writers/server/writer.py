"""The writer itself: what is there already, what is missing, and the drafts made of the answers.

An answer stays what it was when it came: it is kept whole in the ledger, and its draft is made of it anew each time.
The draft's number counts over all that servers wrote for the brief, so its name never means another one.
"""

import asyncio
import os
import random
import re
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import aclosing

import msgspec

from tamis.brief import LoadedBrief, is_draft_name
from tamis.clock import Clock, Spans
from tamis.errors import DraftsError, TamisError, UsageError
from tamis.ledger import Ledger
from tamis.records import Answered, Request, Spec
from tamis.writers.base import Written, flaw
from tamis.writers.jsonl import FINISHES
from tamis.writers.requests import RequestLog
from tamis.writers.server.answers import content_of
from tamis.writers.server.asking import asked
from tamis.writers.server.budget import Budget, Prices
from tamis.writers.server.calling import Bounds, Caller
from tamis.writers.server.dialect import Protocol, address, headers_of, refuse_ours
from tamis.writers.server.exchange import Came, Exchange, Way
from tamis.writers.server.sitting import Sitting
from tamis.writers.server.streams import Sleep
from tamis.writers.telling import WritingNow

BYTES_A_TOKEN = 1_024
"""No server needs more for a token, with the event around it."""


class ServerWriter:
    """Writes by the `[writer]` of the brief's settings. `environ` holds the key; `rng` spreads the tries; `sleep`
    waits. Raises UsageError and BriefError where the settings can't be followed."""

    def __init__(
        self,
        brief: LoadedBrief,
        *,
        environ: Mapping[str, str] = os.environ,
        rng: random.Random | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._brief, self._settings = brief, brief.settings.writer
        if self._settings.url is None:
            raise UsageError(
                "the writer 'server' needs an address", hint="[writer] url in tamis.toml, or --url on the command line"
            )
        refuse_ours(self._settings.extra or {})
        self._address = address(self._settings.url)
        self._asked = asked(brief, self._settings)
        self._prices = Prices(self._settings.price_in, self._settings.price_out)
        self._environ, self._rng, self._sleep = environ, rng or random.Random(), sleep
        self._key()  # a missing key is told before anything is sent
        self._refuse_budget_without_prices()
        self._model = self._settings.model
        self._protocol: Protocol | None = self._settings.api if self._settings.api != "auto" else self._address.protocol
        self._log = RequestLog(brief.brief.id)
        self._spans = Spans(Clock(), lambda _: None)
        self._exchange: Exchange | None = None
        self._sitting: Sitting | None = None
        self._before = 0

    def keep_in(self, ledger: Ledger, spans: Spans) -> None:
        """From here on requests are logged in the ledger, and what it knows is not asked for again."""
        self._log = RequestLog(self._brief.brief.id, ledger)
        self._spans = spans

    @property
    def spec(self) -> Spec:
        return self._spec(self._exchange.protocol if self._exchange else self._protocol)

    def now(self) -> WritingNow:
        """How the writing goes."""
        paid = self._log.paid()
        now = WritingNow(
            wanted=self._settings.n,
            before=self._before,
            paid=paid,
            money=self._prices.of(paid.tokens_in, paid.tokens_out),
        )
        if self._exchange is None or self._sitting is None:
            return now
        streams = self._sitting.streams
        return msgspec.structs.replace(
            now,
            **msgspec.structs.asdict(self._sitting.tally),
            pieces=self._exchange.pieces,
            streams=streams.out,
            streams_limit=int(streams.limit),
            notes=tuple(self._exchange.notes),
        )

    async def write(self, brief: LoadedBrief) -> AsyncGenerator[Written, None]:
        """First what was written before, then what is missing, each as soon as it is there. Raises DraftsError where
        the server refuses before there is any draft."""
        earlier = 0
        for came in self._earlier():
            earlier += 1
            yield self._written(came, brief)
        missing = self._missing()
        if not missing:
            return
        bounds = Bounds(
            self._settings.timeout_seconds,
            self._settings.silence_seconds,
            2_000_000 + BYTES_A_TOKEN * self._settings.max_tokens * self._settings.per_request,
        )
        caller = Caller(key=self._key(), bounds=bounds, now=self._spans.clock.now)
        try:
            self._model = self._model or await self._only_model(caller)
            sitting = self._sat_down(caller)
            # closed here and not when it is collected: leaving early must end what is out before anything else
            with self._log.beating(self._sitting_id, self._spans.clock.now):
                async with aclosing(sitting.answers(missing)) as answers:
                    async for came in answers:
                        yield self._written(came, brief)
        finally:
            await caller.close()
            await self._log.settled()
        if sitting.tally.stopped is not None and not earlier and not sitting.tally.answers:
            raise DraftsError(f"no draft was written: {sitting.tally.stopped}", hint=self._hint(sitting))

    # what is there, and what is missing

    def _earlier(self) -> Iterable[Came]:
        for reply in self._log.replies.values():
            request = self._log.requests[reply.request]
            for answered in reply.answers:
                content = self._log.content(answered.blob)
                yield Came(answered, content, request.writer, reply.usage, len(reply.answers) == 1)

    def _missing(self) -> list[int]:
        """The numbers of the drafts to ask for: so many that `n` of this model and prompt are there, by the lowest
        numbers that no draft of the brief has."""
        taken, there = set(), 0
        for reply in self._log.replies.values():
            request = self._log.requests[reply.request]
            taken |= {answered.draft for answered in reply.answers}
            there += sum(self._counts(request, answered) for answered in reply.answers)
        self._before = there
        numbers = (number for number in range(1, self._settings.n + len(taken) + 1) if number not in taken)
        return [number for number, _ in zip(numbers, range(self._settings.n - there), strict=False)]

    def _counts(self, request: Request, answered: Answered) -> bool:
        """Whether this answer is one of the `n`: asked of the same model in the same words, and not cut off at a cap
        that was lower than today's."""
        same = request.asked == self._asked.key and self._model in (None, request.writer.args.get("model"))
        cap = request.writer.args.get("max_tokens")
        cut = answered.finish == "length" and isinstance(cap, int) and cap < self._settings.max_tokens
        return same and not cut

    # the sitting

    def _sat_down(self, caller: Caller) -> Sitting:
        settings, paid = self._settings, self._log.paid()
        self._sitting_id = os.urandom(8).hex()
        began, clock = self._spans.clock.now(), self._spans.clock
        way = Way(
            brief=self._brief.brief.id,
            settings=settings,
            asked=self._asked,
            address=self._address,
            model=self._model or "",
            protocol=self._protocol,
            prices=self._prices,
            key=self._key,
            spec=self._spec,
        )
        budget = Budget(
            tokens=settings.budget_tokens,
            money=settings.budget_money,
            prices=self._prices,
            left_seconds=_left(settings.budget_seconds, paid.seconds, began, clock.now),
        )
        budget.count(paid.tokens_in, paid.tokens_out)
        self._exchange = Exchange(way, caller=caller, log=self._log, spans=self._spans, sitting=self._sitting_id)
        self._sitting = Sitting(self._exchange, settings, budget, spans=self._spans, rng=self._rng, sleep=self._sleep)
        return self._sitting

    async def _only_model(self, caller: Caller) -> str:
        """The model that the server lists. Raises UsageError where it is not one, DraftsError where nothing is told."""
        hint = "name the model: [writer] model, or --model"
        try:
            told = await caller.get_json(self._address.models, headers_of(self._protocol or "chat", self._key()))
            listed = msgspec.convert(told, _Models)
        except (TamisError, msgspec.ValidationError) as error:
            raise DraftsError(f"{self._address.base} doesn't say which models it has: {error}", hint=hint) from error
        names = [model.id for model in listed.data]
        if len(names) != 1:
            several = ", ".join(names[:8]) + (" and more" if len(names) > 8 else "")
            raise UsageError(f"{self._address.base} has {len(names)} models: {several or 'none'}", hint=hint)
        return names[0]

    def _spec(self, protocol: Protocol | None) -> Spec:
        settings = self._settings
        extra = msgspec.json.encode(settings.extra, order="sorted").decode() if settings.extra else None
        args: dict[str, str | int | float | bool | None] = {
            "url": self._address.base,
            "api": protocol,
            "model": self._model,
            "asked": self._asked.key,
            "max_tokens": settings.max_tokens,
            "temperature": settings.temperature,
            "seed": settings.seed,
            "extra": extra,
        }
        return Spec(kind="writer", name="server", version="1", args={k: v for k, v in args.items() if v is not None})

    def _key(self) -> str | None:
        """The key, from where the settings say. Raises UsageError where it isn't there or can't be one."""
        name = self._settings.key_from
        if name is None:
            return None
        key = self._environ.get(name, "").strip()
        if not key:
            raise UsageError(
                f"the environment variable {name} is not set", hint=f"[writer] key_from says that it holds the key: "
                f"export {name}=…",
            )  # fmt: skip
        if not (key.isascii() and key.isprintable()):
            raise UsageError(f"what the environment variable {name} holds can't be a key: it has odd characters in it")
        return key

    def _refuse_budget_without_prices(self) -> None:
        if self._settings.budget_money is not None and self._prices.of(1, 1) is None:
            raise UsageError(
                "a budget in money needs prices", hint="[writer] price_in and price_out, for a million tokens each"
            )

    def _hint(self, sitting: Sitting) -> str | None:
        why = sitting.tally.stopped or ""
        if "401" in why or "403" in why:
            named = self._settings.key_from
            return f"is the key in {named} right?" if named else "[writer] key_from names the variable that has the key"
        if "no connection" in why:
            return f"is a server running at {self._address.base}?"
        if "budget" in why and self._exchange is not None:
            most = f"{self._exchange.most_in:,} tokens for the prompt and {self._settings.max_tokens:,} for a draft"
            return f"one request may cost {most}, and so much must be left; max_tokens and the budget are in [writer]"
        return None

    # the drafts

    def _written(self, came: Came, brief: LoadedBrief) -> Written:
        answered, usage = came.answered, came.usage
        text = came.content.decode("utf-8")
        if came.writer.args.get("api") == "completions":
            text = self._asked.opening.lstrip("\n-") + text
        content = content_of(text, brief)
        tokens = usage.tokens_out if usage is not None and came.alone and usage.counted_by == "usage" else None
        raw = content.text.encode("utf-8", "replace")
        return Written(
            name=_name(str(came.writer.args.get("model", "server")), answered.draft, content.suffix, brief),
            content=raw,
            sample=answered.draft - 1,
            finish=answered.finish,
            tokens=tokens,
            counted_by="usage" if tokens is not None else None,
            problem=_problem(answered, raw),
            writer=came.writer,
        )


class _Model(msgspec.Struct):
    id: str


class _Models(msgspec.Struct):
    data: list[_Model]


def _left(budget_seconds: float | None, before: float, began: float, now: Callable[[], float]) -> Callable[[], float]:
    """How many seconds may still be written."""
    if budget_seconds is None:
        return lambda: float("inf")
    return lambda: budget_seconds - before - (now() - began)


def _name(model: str, number: int, suffix: str, brief: LoadedBrief) -> str:
    """The draft's name: who wrote it, and its number. It is one that the files of a draft may have."""
    slug = re.sub(r"[^a-z0-9.]+", "-", model.rpartition("/")[2].lower()).strip("-.")[:40] or "server"
    name = f"{slug}_{number:03}{suffix}"
    return name if is_draft_name(name, brief.brief.desk) else f"by-{name}"


def _problem(answered: Answered, content: bytes) -> str | None:
    """Why the answer is no draft, None where it is one. One that was cut off or refused says so by its finish."""
    if answered.said.lower() not in FINISHES:
        return f"ended with '{answered.said}', which tamis does not know, so it may not be whole"
    if answered.finish == "refused":
        shown = content.decode("utf-8", "replace").strip().partition("\n")[0][:200]
        return f"was refused by its writer ({answered.said})" + (f": {shown}" if shown else "")
    if answered.finish == "length" and flaw(content):
        return "was cut off before anything of it was written: [writer] max_tokens is too low for this model"
    return flaw(content)
