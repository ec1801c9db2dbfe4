"""What a writer is: anything that, given a brief, produces drafts one after another.

A writer yields each draft as soon as it is there, so that checking runs while others are still being written, and it
yields a draft that came out bad too, with its `problem`: a file that can't be read or an answer that was refused is
one draft lost and told, never the end of the rest and never a silent gap. Only when there can be no drafts at all
does it raise DraftsError.
"""

from collections.abc import AsyncIterator
from typing import Protocol, runtime_checkable

from tamis.brief import LoadedBrief
from tamis.clock import Spans
from tamis.ledger import Ledger
from tamis.records import Fault, Finish, Record, Spec


class Written(Record, frozen=True, kw_only=True):
    """A draft as its writer hands it over. `name` is unique within a brief, `sample` counts from 0 what came
    of one request or stood in one file.

    `tokens` is what the writer itself says that it wrote, counted by `counted_by`; both are None where it doesn't say.
    `problem` is why the draft can't be used, a sentence without its name, and `fault` whose doing that is: only
    "draft" speaks against the draft. `writer` is who wrote it, where that is not the one who hands it over.
    """

    name: str
    content: bytes
    sample: int = 0
    finish: Finish = "stop"
    tokens: int | None = None
    counted_by: str | None = None
    problem: str | None = None
    fault: Fault = "draft"
    writer: Spec | None = None


class Writer(Protocol):
    """`spec` is enough to build the writer again and goes into every draft's record. A plug-in is a callable that
    takes the LoadedBrief and returns one of these."""

    @property
    def spec(self) -> Spec: ...

    def write(self, brief: LoadedBrief) -> AsyncIterator[Written]: ...


@runtime_checkable
class Resuming(Protocol):
    """A writer that goes on where it was, and records its own spans. It is handed the ledger and the run's spans once,
    before `write`, which then yields first what this writer wrote earlier and asks only for what is missing."""

    def keep_in(self, ledger: Ledger, spans: Spans) -> None: ...


def flaw(content: bytes) -> str | None:
    """What makes these bytes no draft at all, None where nothing does."""
    if not content.strip():
        return "is empty" if not content else "holds nothing but white space"
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"is not UTF-8: byte {content[error.start]:#04x} at offset {error.start:,}"
    return None


def too_large(size_bytes: int, max_bytes: int) -> str:
    return (
        f"is {size_bytes / 1e6:,.1f} MB, and a draft may have {max_bytes / 1e6:,.6g} MB; "
        "[drafts] max_mb in tamis.toml is the limit"
    )
