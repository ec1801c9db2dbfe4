"""Writer `embedded`: a model in a GGUF file, run on this machine by llama.cpp (the library is xllamacpp).

It writes several streams at once and hands over each draft when it is finished, never far ahead of whoever reads
them. The model lives in a process of its own: where that crashes, the drafts that it was at are tried once more, and
told as lost when that fails too; the run goes on either way. What the ledger holds is not written again. The same seed
brings the same text only where one stream writes at a time, since several are computed together and rounded together.
"""

from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path

import msgspec

from tamis.brief import LoadedBrief
from tamis.clock import Clock, Spans
from tamis.config import WriterSection
from tamis.errors import DraftsError, UsageError
from tamis.ledger import Ledger
from tamis.records import Draft, Span, Spec
from tamis.writers.base import Written, flaw
from tamis.writers.embedded.engine import Answer, Engine, EngineLost, Load
from tamis.writers.embedded.model import comes_along, find_model, most_threads, require_library
from tamis.writers.embedded.prompts import Prompt, prompt_for
from tamis.writers.server.answers import content_of
from tamis.writers.server.asking import Asked, asked
from tamis.writers.server.dialect import refuse_ours

NAME = "embedded"
MOST_STREAMS = 8
"""More at once bring a processor nothing, and each takes memory."""
ALONG_MOST_TOKENS = 512
"""The model that comes along loses its thread long before."""
TRIES = 2
CRASHES_IN_A_ROW = 3
TEMPERATURE = 0.8
LOOKUP = (12, 48)
"""With speculation: after so many tokens as before, so many are proposed. Fewer proposed much and were hardly ever
right."""
CONTEXT_STEP = 256

Todo = dict[int, int]
"""The numbers of the drafts that are still to be written → how often each was tried."""


class EmbeddedWriter:
    """Writes as `[writer]` of the brief says: `model` is the path of a GGUF file, from the brief's folder on; without
    it, it is the model that comes along. Raises UsageError where there is none."""

    def __init__(self, brief: LoadedBrief) -> None:
        settings = brief.settings.writer
        _refuse_budgets(settings)
        refuse_ours(settings.extra or {})
        require_library()
        self._model = find_model(_named(brief.folder, settings.model) if settings.model else None)
        along = comes_along(self._model)
        self._settings = settings
        self._asked: Asked = asked(brief, settings)
        self._prompt: Prompt = prompt_for(brief, self._asked, settings, along=along)
        self._most_tokens = min(settings.max_tokens, ALONG_MOST_TOKENS) if along else settings.max_tokens
        self._seed = settings.seed or 0
        self._begun = False
        self._ledger: Ledger | None = None
        self._clock = Clock()
        self._spans = Spans(self._clock, _unrecorded)

    @property
    def spec(self) -> Spec:
        extra = self._settings.extra
        args: dict[str, str | int | float | bool | None] = {
            "model": self._model.name,
            "asked": self._asked.key,
            "temperature": self._temperature,
            "max_tokens": self._most_tokens,
            "seed": self._seed,
        }
        if extra:
            args["extra"] = msgspec.json.encode(extra, order="sorted").decode()
        return Spec(kind="writer", name=NAME, version="1", args=args)

    def keep_in(self, ledger: Ledger, spans: Spans) -> None:
        """From here on what the ledger holds is not written again, and each draft's writing is a span."""
        self._ledger, self._spans, self._clock = ledger, spans, spans.clock

    async def write(self, brief: LoadedBrief) -> AsyncIterator[Written]:
        """First what was written before, then what is missing, each draft once it is finished. Raises DraftsError where
        the model doesn't load or refuses the prompt."""
        earlier = list(self._earlier(brief))
        for draft in earlier:
            yield self._again(draft)
        todo = self._missing(earlier)
        crashes, self._begun = 0, False
        while todo:
            try:
                async with aclosing(self._sitting(brief, todo)) as sitting:
                    async for written in sitting:
                        crashes = 0
                        yield written
            except EngineLost as lost:
                crashes += 1
                if not self._begun and not any(todo.values()):
                    raise _does_not_load(self._model, lost) from lost
                for number in _given_up(todo, everything=crashes >= CRASHES_IN_A_ROW):
                    yield _lost(number, lost)

    # what is there, and what is missing

    def _earlier(self, brief: LoadedBrief) -> Iterator[Draft]:
        """The drafts of the brief that an embedded model wrote; one that was lost had no content."""
        if self._ledger is not None:
            for draft in self._ledger.all(Draft, about=brief.brief.id):
                if draft.writer.name == NAME and draft.bytes:
                    yield draft

    def _again(self, draft: Draft) -> Written:
        assert self._ledger is not None
        content = self._ledger.blob(draft.blob)
        return Written(
            name=draft.name,
            content=content,
            sample=draft.sample,
            finish=draft.finish,
            tokens=draft.tokens,
            counted_by=draft.counted_by,
            problem=flaw(content),
            writer=draft.writer,
        )

    def _missing(self, earlier: list[Draft]) -> Todo:
        """So many numbers that `n` drafts of this model and prompt are there, the lowest that no draft has."""
        there = sum(self._counts(draft) for draft in earlier)
        taken = {draft.sample for draft in earlier}
        free = (number for number in range(self._settings.n + len(taken)) if number not in taken)
        return {number: 0 for number, _ in zip(free, range(self._settings.n - there), strict=False)}

    def _counts(self, draft: Draft) -> bool:
        """Whether this draft is one of the `n`: by the same model in the same words, and not cut off at a cap that was
        lower than today's."""
        args = draft.writer.args
        cap = args.get("max_tokens")
        cut = draft.finish == "length" and isinstance(cap, int) and cap < self._most_tokens
        return args.get("model") == self._model.name and args.get("asked") == self._asked.key and not cut

    # the sitting

    async def _sitting(self, brief: LoadedBrief, todo: Todo) -> AsyncGenerator[Written, None]:
        """What one process writes, as long as it lives. A number leaves `todo` when its draft is finished."""
        streams = min(self._settings.streams, MOST_STREAMS, len(todo))
        waiting = deque(todo)
        asked_at: dict[int, float] = {}
        cpu_seconds = 0.0
        async with Engine(self._load(streams)) as engine:
            while todo:
                while waiting and len(asked_at) < streams:
                    number = waiting.popleft()
                    todo[number] += 1
                    asked_at[number] = self._clock.now()
                    await engine.ask(number, self._body(number))
                answer = await engine.next_answer()
                del todo[answer.number]
                used = max(0.0, answer.cpu_seconds - cpu_seconds)
                self._account(answer, asked_at.pop(answer.number), used)
                cpu_seconds = answer.cpu_seconds
                if answer.error is not None and not self._begun:
                    raise self._refused(answer.error)
                self._begun = True
                yield self._draft(answer, brief)

    def _account(self, answer: Answer, asked_at: float, cpu_seconds: float) -> None:
        """The span of one draft. The model computes all streams together: what it used since the last answer counts
        here."""
        self._spans.past(
            "writing",
            f"draft {answer.number + 1}",
            started=asked_at,
            ended=self._clock.now(),
            cpu_seconds=cpu_seconds,
            tokens_in=answer.tokens_in,
            tokens_out=answer.tokens or 0,
            after=(),
            resource="stream",
        )

    def _load(self, streams: int) -> Load:
        context = self._prompt.most_tokens + self._most_tokens
        return Load(
            model=str(self._model),
            streams=streams,
            context=-(-context // CONTEXT_STEP) * CONTEXT_STEP,
            threads=self._settings.threads or most_threads(),
            speculate=LOOKUP if self._settings.speculate else None,
        )

    def _body(self, number: int) -> dict[str, object]:
        fixed = {"seed": self._seed + number, "max_tokens": self._most_tokens, "temperature": self._temperature}
        return self._prompt.body | fixed

    @property
    def _temperature(self) -> float:
        named = self._prompt.body.get("temperature")
        return float(named) if isinstance(named, int | float) else TEMPERATURE

    def _refused(self, why: str) -> DraftsError:
        """Every draft is asked for in the same words, so what the first one runs into, all would."""
        return DraftsError(
            f"{self._model.name} can't write for this brief: {why}",
            hint="a shorter brief, or a smaller [writer] max_tokens, needs less context",
        )

    def _draft(self, answer: Answer, brief: LoadedBrief) -> Written:
        """The draft in an answer."""
        if answer.error is not None:
            return _lost(answer.number, answer.error)
        found = content_of(answer.text.removeprefix(self._prompt.goes_on_from), brief)
        content = found.text.encode("utf-8", "replace")
        return Written(
            name=_name(answer.number, found.suffix),
            content=content,
            sample=answer.number,
            finish=answer.finish,
            tokens=answer.tokens,
            counted_by="usage" if answer.tokens is not None else None,
            problem=flaw(content),
        )


def _named(folder: Path, model: str) -> Path:
    """The file that the settings name, from the brief's folder on; the command line means the folder one is in."""
    path = Path(model).expanduser()
    within = folder / path
    return path if not within.exists() and path.exists() else within


def _refuse_budgets(settings: WriterSection) -> None:
    """Better than not keeping them."""
    for key in ("budget_tokens", "budget_money", "budget_seconds"):
        if getattr(settings, key) is not None:
            raise UsageError(
                f"the embedded writer keeps no budget, and [writer] {key} is set",
                hint="it costs nothing but time: n and max_tokens bound what it writes",
            )


def _name(number: int, suffix: str = "") -> str:
    return f"{NAME}_{number + 1:03}{suffix}"


def _unrecorded(span: Span) -> None:
    """Where no ledger was handed over, spans go nowhere."""


def _given_up(todo: Todo, *, everything: bool) -> list[int]:
    """The numbers that are tried no more; they leave `todo`."""
    lost = [number for number, tries in todo.items() if everything or tries >= TRIES]
    for number in lost:
        del todo[number]
    return lost


def _lost(number: int, why: EngineLost | str) -> Written:
    return Written(
        name=_name(number),
        content=b"",
        sample=number,
        problem=f"was not written: {why}",
        fault="sandbox",
    )


def _does_not_load(model: Path, why: EngineLost) -> DraftsError:
    return DraftsError(
        f"{model} could not be loaded: {why}",
        hint="it must be a GGUF file that llama.cpp knows, and fit into memory",
    )
