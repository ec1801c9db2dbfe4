"""The sandbox's nouns: what is run, within which limits, and what came out. Frozen, with no I/O."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from tamis.errors import UsageError, nearest
from tamis.records import Record

if TYPE_CHECKING:
    from tamis.sandbox.box.values import Value
else:
    Value = None | bool | int | str | list  # msgspec reads no recursive alias; what lists hold is as free as they are

Ending = Literal["timed out", "out of memory", "crashed", "forbidden", "exited", "not reached"]
Judging = Literal["outside", "inside"]
ALLOWABLE = ("subprocess", "network", "threads")


class Call(Record, frozen=True, kw_only=True):
    """One call. `on` is the index of the earlier call of this program whose result it is made on, None for the module
    itself; `get` reads an attribute instead of calling. In `args`, `["ref", i]` means what call i returned."""

    name: str
    on: int | None = None
    args: tuple[Value, ...] = ()
    kwargs: Mapping[str, Value] = {}
    get: bool = False


Program = tuple[Call, ...]
"""Calls made one after the other, also after one that raised. Each program starts from a fresh import."""


class Limits(Record, frozen=True, kw_only=True):
    """What one draft may use. CPU seconds are the draft's own, so a busy machine takes nothing from them.

    `cpu_seconds` is for each program or given test, and for the import; `total_cpu_seconds` for all of them together.
    `idle_seconds` is how long it may sleep or wait in one go without using the CPU. `memory_mb` comes on top of the
    interpreter's own. `deaths` is how often it may die before the rest of its programs is not reached."""

    cpu_seconds: float = 5.0
    total_cpu_seconds: float = 60.0
    idle_seconds: float = 5.0
    memory_mb: int = 512
    output_kb: int = 16
    scratch_mb: int = 16
    deaths: int = 3
    allow: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.allow:
            if name not in ALLOWABLE:
                near = nearest(name, ALLOWABLE)
                hint = f"did you mean {near!r}?" if near else f"what can be allowed: {', '.join(ALLOWABLE)}"
                raise UsageError(f"a draft can't be allowed {name!r}", hint=hint)
        for field in ("cpu_seconds", "total_cpu_seconds", "idle_seconds", "memory_mb", "scratch_mb", "deaths"):
            if getattr(self, field) <= 0:
                raise UsageError(f"{field} is {getattr(self, field)}; it must be above 0")


class Ran(Record, frozen=True, kw_only=True):
    """What one draft did: for each program one JSON array of its calls' outcomes, in canonical bytes.

    `fault` says what went wrong on our side, None where nothing did: then there are no outcomes and no blame. `output`
    is the beginning and the end of what it printed. `how` names the layers that were in force."""

    outcomes: tuple[bytes, ...] = ()
    fault: str | None = None
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    peak_mb: float = 0.0
    output: str = ""
    deaths: int = 0
    how: Mapping[str, str] = {}


class TestResult(Record, frozen=True, kw_only=True):
    """One given test and how it went. `witness` is for a person: the line that failed and what was seen."""

    __test__ = False  # the name begins as pytest's own classes do

    id: str
    outcome: Literal["passed", "failed", "error", "skipped"]
    witness: str = ""


class Suite(Record, frozen=True, kw_only=True):
    """Given tests: a folder that pytest collects, and the module name that they import the draft by."""

    folder: str
    module: str
    judged: Literal["auto", "outside", "inside"] = "auto"
    cpu_seconds: float = 5.0


class Judged(Record, frozen=True, kw_only=True):
    """How one draft did in a suite. A test of `expected` that did not report stands in `results` as an error.

    `because` says why a suite had to be judged inside, or what a control found; `fault` is ours, None where none."""

    results: tuple[TestResult, ...] = ()
    judged: Judging = "outside"
    expected: tuple[str, ...] = ()
    because: str = ""
    fault: str | None = None
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    peak_mb: float = 0.0
    output: str = ""
    how: Mapping[str, str] = {}
