"""Looking, in the box, for inputs on which two drafts do otherwise: CrossHair's part, seen from outside.

Both drafts run in one child, within limits as any other. What comes back are proposed values, and nothing is believed
of them: lines that make no sense are passed over, and whoever asks runs what was proposed.
"""

import importlib.metadata
import importlib.util
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from tamis.errors import SandboxFault
from tamis.records import Record
from tamis.sandbox import outcomes as out
from tamis.sandbox.records import Limits, Program
from tamis.sandbox.supervisor import Box, plain

if TYPE_CHECKING:
    from tamis.sandbox.box.values import Value
else:
    Value = None | bool | int | str | list  # as in `records`

DISTRIBUTION = "crosshair-tool"
SHARE = 0.8
"""The share of a pair's CPU seconds after which the search ends by itself; at all of them the box ends it."""
MEMORY_MB = 2048
"""A solver needs more than a draft does."""
LONGEST_LINE = 20_000
"""Bytes of one finding that are read; a person could make nothing of more."""
DEEPEST = 20
MOST_PROPOSED = 16


class HoleKind(Record, frozen=True, kw_only=True):
    """What may stand in a hole: a kind by its name, the kinds within, and the values of a literal."""

    name: str
    of: tuple["HoleKind", ...] = ()
    values: tuple[Value, ...] = ()


class Skeleton(Record, frozen=True, kw_only=True):
    """A program in whose arguments `["hole", i]` stands for any value of `holes[i]`."""

    program: Program
    holes: tuple[HoleKind, ...]


class Pair(Record, frozen=True, kw_only=True):
    """Two drafts' contents, and the skeletons in which to look for what parts them."""

    first: bytes
    second: bytes
    skeletons: tuple[Skeleton, ...]


class Sought(Record, frozen=True, kw_only=True):
    """What was proposed for one pair: the number of a skeleton, and the values for its holes, as they were written.

    `ending` says what ended the search before its time, "" where nothing did; `fault` is ours, None where none."""

    proposed: tuple[tuple[int, tuple[Value, ...]], ...] = ()
    ending: str = ""
    fault: str | None = None
    cpu_seconds: float = 0.0
    how: Mapping[str, str] = {}


def is_installed() -> bool:
    """Whether CrossHair is there. It is not imported for this, nor ever in this process."""
    return importlib.util.find_spec("crosshair") is not None


def version() -> str:
    """Which CrossHair it is, for the record."""
    return importlib.metadata.version(DISTRIBUTION)


def limits_for(limits: Limits, cpu_seconds: float) -> Limits:
    """A draft's limits, with so many CPU seconds for a whole search and memory for a solver."""
    memory_mb = max(limits.memory_mb, MEMORY_MB)
    return msgspec.structs.replace(
        limits, cpu_seconds=cpu_seconds, total_cpu_seconds=cpu_seconds, memory_mb=memory_mb, allow=()
    )


def search(box: Box, pair: Pair, *, paths: int) -> Sought:
    """Searches one pair in one child, which ends with all that the drafts have started. `paths` is how many paths are
    followed in each skeleton, each way round."""
    child = box.fork(
        pair.first,
        symbolic=True,
        other=pair.second.hex(),
        skeletons=[{"calls": plain([s.program])[0], "holes": list(map(_plain_kind, s.holes))} for s in pair.skeletons],
        paths=paths,
        cpu_seconds=box.setup.limits.total_cpu_seconds * SHARE,
    )
    ending, detail = child.wait(list(range(1, 2 + MOST_PROPOSED)))
    if ending == "stopped":
        raise SandboxFault("the run was stopped")
    ended = child.end(ending, detail)
    return Sought(
        proposed=proposals(ended.lines, pair.skeletons),
        ending=f"{ended.ending}: {ended.detail}".removesuffix(": ") if ended.ending else "",
        cpu_seconds=ended.cpu_seconds,
        how=dict(box.how),
    )


def proposals(lines: Sequence[bytes], skeletons: Sequence[Skeleton]) -> tuple[tuple[int, tuple[Value, ...]], ...]:
    """What lines propose, at most MOST_PROPOSED in all, so that no draft can flood its asker."""
    found: list[tuple[int, tuple[Value, ...]]] = []
    for line in lines:
        match out.read(line) if len(line) <= LONGEST_LINE else None:
            case ["=", ["found", int(number), list(values)]] if type(number) is int and 0 <= number < len(skeletons):
                if len(values) == len(skeletons[number].holes) and not _is_deep(values):
                    found.append((number, tuple(values)))
            case _:
                pass
    return tuple(found[:MOST_PROPOSED])


def _is_deep(values: Sequence[Value]) -> bool:
    """Whether lists within lists go deeper than any value of ours; asked level by level, so that none is too deep."""
    level = list(values)
    for _ in range(DEEPEST):
        level = [part for value in level if isinstance(value, list) for part in value]
        if not level:
            return False
    return True


def _plain_kind(kind: HoleKind) -> list[object]:
    return [kind.name, list(map(_plain_kind, kind.of)), list(kind.values)]
