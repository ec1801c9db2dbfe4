"""What the simulated writer is told to be: one record, by flags or by a file, checked before anything starts.

Speeds are tokens per second, times are in the unit that their name says. `None` means "no limit" or "not there".
"""

import math
import tomllib
from pathlib import Path
from typing import Literal

import msgspec

from tamis.errors import UsageError, nearest
from tamis.records import Record


class Batching(Record, frozen=True, kw_only=True):
    """The time of one step of continuous batching, in which every running stream gets a token:
    `seconds + seconds_per_stream × streams + seconds_per_context_token × tokens held by all of them`."""

    seconds: float
    seconds_per_stream: float = 0.0
    seconds_per_context_token: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.seconds <= 0 or self.seconds_per_stream < 0 or self.seconds_per_context_token < 0:
            raise UsageError(f"a step can't take {self.seconds} s + {self.seconds_per_stream} s a stream")

    def step_seconds(self, streams: int, context_tokens: float) -> float:
        return self.seconds + self.seconds_per_stream * streams + self.seconds_per_context_token * context_tokens


class Speculation(Record, frozen=True, kw_only=True):
    """A draft model proposes `draft_length` tokens (γ), each accepted with probability `acceptance` (α); proposing one
    costs `draft_cost` of a pass of the large model (c). Leviathan, Kalman and Matias 2023, eq. 1 and theorem 3.8."""

    acceptance: float
    draft_length: int
    draft_cost: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.acceptance <= 1:
            raise UsageError(f"an acceptance rate of {self.acceptance} is not between 0 and 1")
        if self.draft_length < 1:
            raise UsageError(f"a draft length of {self.draft_length} proposes nothing; it must be at least 1")
        if self.draft_cost < 0:
            raise UsageError(f"a draft cost of {self.draft_cost} is below 0")


class Failures(Record, frozen=True, kw_only=True):
    """How often a request goes wrong, each a share of all requests. What happens to a request depends on the seed and
    on how many came before it, so a run can be repeated."""

    too_many: float = 0.0
    """answered 429 with Retry-After"""
    broken: float = 0.0
    """answered 500 or 503"""
    stall: float = 0.0
    """says nothing for `stall_seconds` somewhere in its middle"""
    cut: float = 0.0
    """the connection is dropped somewhere in its middle"""
    stall_seconds: float = 2.0
    retry_after_seconds: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        shares = (self.too_many, self.broken, self.stall, self.cut)
        if any(not 0 <= share <= 1 for share in shares) or sum(shares) > 1:
            raise UsageError(f"failures of {shares} are not shares of all requests (each 0 to 1, together at most 1)")


class Simulated(Record, frozen=True, kw_only=True):
    """All that the simulated writer can be told."""

    host: str = "127.0.0.1"
    port: int = 0
    """0 takes any free port"""
    model: str = "simulated"
    seed: int = 0
    stream_speed: float | None = 100.0
    """tokens per second of one stream; None writes as fast as it is read. With `batching` this is not used."""
    first_token_ms: float = 50.0
    input_speed: float | None = None
    """prompt tokens read per second; None reads any prompt at once. A prefix that was read before is free."""
    context: int = 131_072
    output_cap: int = 32_768
    announce: bool = True
    """whether the list of models tells the context capacity, as vLLM's does"""
    streams: int | None = None
    """how many streams write at once; more wait in a queue"""
    queue: int | None = None
    """how many may wait; more are answered 429"""
    tokens_per_event: int = 1
    length: int | None = None
    """tokens after which a text ends by itself; None writes as many as are asked for, 512 where nothing is asked"""
    usage: Literal["asked", "always", "never"] = "asked"
    reasoning: int = 0
    """how many of a chat's tokens come first, as reasoning"""
    reasoning_shown: bool = True
    replay: str | None = None
    """a folder of drafts, a JSONL file or a brief's folder with a ledger, written instead of the generated text"""
    batching: Batching | None = None
    speculation: Speculation | None = None
    failures: Failures = Failures()
    writes_per_second: int = 10_000
    """how many writes all streams share; above it, each write carries more tokens"""

    def __post_init__(self) -> None:
        for name in ("stream_speed", "input_speed"):
            speed = getattr(self, name)
            if speed is not None and (speed <= 0 or not math.isfinite(speed)):
                raise UsageError(f"{name} = {speed}: a speed is above 0; leave it out where there is no limit")
        super().__post_init__()
        for name in ("context", "output_cap", "tokens_per_event", "writes_per_second"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} = {getattr(self, name)}: it must be at least 1")
        if self.streams is not None and self.streams < 1:
            raise UsageError(f"streams = {self.streams}: at least one stream must be able to write")
        if self.speculation and self.tokens_per_event > 1:
            raise UsageError(
                "speculation already decides how many tokens an event carries; leave tokens_per_event at 1"
            )
        if min(self.first_token_ms, self.reasoning, self.queue or 0) < 0 or (
            self.length is not None and self.length < 1
        ):
            raise UsageError("first_token_ms, reasoning and queue can't be below 0, nor length below 1")


def read_settings(path: Path) -> Simulated:
    """The settings of a TOML file. Raises UsageError, which names a wrong key's nearest known one."""
    try:
        found = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path} can't be read as settings: {error}") from error
    for key in found:
        if key not in Simulated.__struct_fields__:
            near = nearest(key, Simulated.__struct_fields__)
            raise UsageError(f"{path}: unknown key {key!r}", hint=f"did you mean {near!r}?" if near else None)
    try:
        return msgspec.convert(found, Simulated)
    except msgspec.ValidationError as error:
        raise UsageError(f"{path}: {error}") from error
