"""Context capacity and output cap: how much fits, and how much is written at most. Two limits, told apart.

Asking comes first: the list of models, then a request for more than any model writes, whose refusal names a limit.
Where nobody tells, prompts of growing length find the context capacity, as far as the budget goes.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Literal

import msgspec

from tamis.speed.budget import Budget
from tamis.speed.dialect import Ask
from tamis.speed.figures import Figure
from tamis.speed.heard import Heard
from tamis.speed.prompts import fresh
from tamis.speed.source import ServerSource
from tamis.tokens import count_tokens

FAR_TOO_MANY = 1_000_000_000
FIRST_PROMPT = 1024
CLOSE = 1.02
"""Bisection ends when refused and accepted are this near."""

CONTEXT_FIELDS = (
    "max_model_len",
    "context_length",
    "context_window",
    "max_context_length",
    "max_input_tokens",
    "n_ctx",
)
CAP_FIELDS = ("max_completion_tokens", "max_output_tokens", "max_tokens")

CAP_WORDS = (
    r"at most ([\d,]+) (?:completion|output) tokens",
    r"> ([\d,]+), which is the maximum allowed number of output tokens",
    r"max_(?:completion_|output_)?tokens\D{0,60}(?:less than or equal to|at most|maximum(?: value)? of) ([\d,]+)",
    r"maximum (?:number of )?(?:output|completion) tokens\D{0,30}?([\d,]+)",
)
CONTEXT_WORDS = (
    r"maximum context length(?: is| of)? ([\d,]+)",
    r"context limit: [\d,]+ \+ [\d,]+ > ([\d,]+)",
    r"tokens > ([\d,]+) maximum",
    r"context (?:length|size|window)\D{0,40}?([\d,]+)",
)

Which = Literal["context", "output"]


class Told(msgspec.Struct, frozen=True):
    """A limit that a server named."""

    which: Which
    tokens: int


class Limits(msgspec.Struct, frozen=True):
    context: Figure
    output_cap: Figure


def measure_limits(source: ServerSource, budget: Budget, *, seed: int = 30_000) -> Limits:
    """Ask for both limits. Refused requests cost nothing; those that are taken are hung up on at their first words."""
    announced = announced_limits(source)
    refused = limit_in(_refusal(source.begin(Ask("Hello.", FAR_TOO_MANY), budget)))
    context, cap = announced.get("context"), announced.get("output")
    if refused is not None and refused.which == "context":
        output = _cap_within(source, budget, refused.tokens, cap)
        return Limits(_told(refused.tokens, announced=context), output)
    output = _output_figure(refused.tokens if refused else None, cap)
    return Limits(_context_figure(source, budget, context, seed), output)


def announced_limits(source: ServerSource) -> dict[Which, int]:
    """What the list of models says about this one, and where llama.cpp says it."""
    entry = _entry(source.told("/v1/models"), source.model) or {}
    settings = {} if _first(entry, CONTEXT_FIELDS) else (source.told("/props") or {})
    context = (
        _first(entry, CONTEXT_FIELDS)
        or _first(entry.get("meta"), CONTEXT_FIELDS)
        or _first(settings.get("default_generation_settings"), CONTEXT_FIELDS)
    )
    cap = _first(entry, CAP_FIELDS) or _first(entry.get("top_provider"), CAP_FIELDS)
    return {which: found for which, found in (("context", context), ("output", cap)) if found}  # type: ignore[misc]


def limit_in(message: str | None) -> Told | None:
    """The limit that a refusal names. The output cap's words are looked for first: a message that names both is about
    the cap."""
    for which, patterns in (("output", CAP_WORDS), ("context", CONTEXT_WORDS)):
        for pattern in patterns:
            found = re.search(pattern, message or "", re.IGNORECASE)
            if found:
                tokens = int(found[1].replace(",", ""))
                return Told("output" if which == "output" else "context", tokens)
    return None


def _refusal(heard: Heard) -> str | None:
    return heard.failed if heard.status >= 400 else None


def _cap_within(source: ServerSource, budget: Budget, context: int, announced: int | None) -> Figure:
    """The output cap of a model whose context is named first: ask for nearly all of the context."""
    heard = source.begin(Ask("Hello.", max(1, context - 256)), budget)
    told = limit_in(_refusal(heard))
    if told is not None and told.which == "output":
        return _told(told.tokens, announced=announced)
    if heard.status == 200:
        return _nothing(f"none of its own: {context - 256:,} tokens may be asked for, nearly the whole context")
    return _nothing(f"the server's refusal does not name it: {(heard.failed or '')[:100]}")


def _output_figure(told: int | None, announced: int | None) -> Figure:
    if told is not None:
        return _told(told, announced=announced)
    if announced is not None:
        return _known(announced, "announced, not tried")
    return _nothing("any number of tokens may be asked for, and no refusal tells the cap")


def _context_figure(source: ServerSource, budget: Budget, announced: int | None, seed: int) -> Figure:
    """The context by a prompt that does not fit: a little more than was announced, or ever longer ones."""
    if announced is not None:
        if not budget.affords(announced * 1.1):
            return _known(announced, "announced, not tried: the budget does not reach so far")
        heard = source.begin(Ask(fresh(int(announced * 1.05) + 64, seed), 1), budget)
        told = limit_in(_refusal(heard))
        if told is not None and told.which == "context":
            return _told(told.tokens, announced=announced)
        if heard.status >= 400:
            return _known(announced, "announced; a longer prompt was refused in words that name no limit")
        return _known(announced, "announced, but a longer prompt was taken: it may be cut silently")
    return _searched(source, budget, seed)


def _searched(source: ServerSource, budget: Budget, seed: int) -> Figure:
    """Ever longer prompts until one is refused, then halves between, while the budget lasts."""
    taken, refused = 0, None
    for tokens in _lengths(budget):
        taken_now, told = _try(source, budget, tokens, seed + tokens)
        if told is not None:
            return _told(told, announced=None)
        if not taken_now:
            refused = tokens
            break
        taken = max(taken, taken_now)
    while refused and taken and refused / taken > CLOSE and budget.affords((taken + refused) // 2):
        middle = (taken + refused) // 2
        taken_now, _ = _try(source, budget, middle, seed + middle)
        taken, refused = (max(taken, taken_now), refused) if taken_now else (taken, middle)
    if not refused:
        return Figure(value=taken or None, low=taken or None, unit="tokens", bound=">=", counted_by="usage",
                      flags=("nothing was refused: the budget ended the search",))  # fmt: skip
    return Figure(value=taken, low=taken, high=refused, unit="tokens", counted_by="usage", flags=("found by halving",))


def _lengths(budget: Budget) -> Iterator[int]:
    tokens = FIRST_PROMPT
    while budget.affords(tokens):
        yield tokens
        tokens *= 2


def _try(source: ServerSource, budget: Budget, tokens: int, seed: int) -> tuple[int, int | None]:
    """How many tokens of this prompt were taken (0 for refused), and the context where the refusal names it."""
    prompt = fresh(tokens, seed)
    heard = source.begin(Ask(prompt, 1), budget)
    if heard.status < 400:
        return heard.prompt_tokens or count_tokens(prompt), None
    told = limit_in(heard.failed)
    return 0, told.tokens if told is not None and told.which == "context" else None


def _told(tokens: int, *, announced: int | None) -> Figure:
    flags = ["named by a refusal"]
    if announced is not None and announced != tokens:
        flags.append(f"the list of models says {announced:,}")
    return Figure(value=tokens, low=tokens, high=tokens, unit="tokens", counted_by="server", flags=tuple(flags))


def _known(tokens: int, how: str) -> Figure:
    return Figure(value=tokens, unit="tokens", counted_by="server", flags=(how,))


def _nothing(why: str) -> Figure:
    return Figure(value=None, unit="tokens", flags=(why,))


def _entry(models: Mapping[str, object] | None, model: str) -> dict[str, object] | None:
    listed = (models or {}).get("data")
    entries = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    return next((one for one in entries if one.get("id") == model), entries[0] if len(entries) == 1 else None)


def _first(entry: object, names: tuple[str, ...]) -> int | None:
    """The first of these fields that holds a whole number above 0."""
    for name in names:
        found = entry.get(name) if isinstance(entry, dict) else None
        if isinstance(found, int) and not isinstance(found, bool) and found > 0:
            return found
    return None
