"""Owner. The person whose brief it is, as the one who answers: at a terminal, by a file of her own, or not at all.

What she says is one of seven answers, whoever asks and however: one of the options; a value that no draft gave; either
will do; this never happens; I don't know; and, to a line of a storyboard, yes or what it should be instead.
"""

import importlib.util
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Protocol

import msgspec

from tamis.errors import BriefError, TamisError, boundary
from tamis.records import Record
from tamis.sandbox import Call, Program, Value, decode, encode, outcome_key

OWNER_SECONDS = 10.0
"""How long an owner's file may think about one sequence of calls."""


class Picked(Record, frozen=True, kw_only=True, tag="picked"):
    """One of the options, by its place from 0."""

    option: int


class Neither(Record, frozen=True, kw_only=True, tag="neither"):
    """None of the options: what it should be, as the JSON of an outcome."""

    outcome: bytes


class Either(Record, frozen=True, kw_only=True, tag="either"):
    """Any of the options will do."""


class NeverHappens(Record, frozen=True, kw_only=True, tag="never happens"):
    """Nobody will ever make these calls."""


class DontKnow(Record, frozen=True, kw_only=True, tag="don't know"):
    """No answer, by her own fault: missing, never bad."""


Answer = Picked | Neither | Either | NeverHappens | DontKnow


class Ask(Record, frozen=True, kw_only=True):
    """A question as it is put: what should the last call of `program` give? `options` are outcomes as JSON, most drafts
    first. `number` counts screens from 1, `about` how many there will be, as far as anybody can tell. `again` says
    that a like question was asked and that much hangs on it, `why` more of that, where there is more to say."""

    id: str
    decision: str
    program: Program
    setup: int
    options: tuple[bytes, ...]
    number: int
    about: int
    again: bool = False
    why: str = ""


class ShownCall(Record, frozen=True, kw_only=True):
    """A call of a storyboard with what the chosen draft gives for it, as JSON."""

    step: int
    outcome: bytes


class ShownLine(Record, frozen=True, kw_only=True):
    """One line of a storyboard: some calls of a program that follow each other, and their text."""

    program: Program
    calls: tuple[ShownCall, ...]
    text: str


class Page(Record, frozen=True, kw_only=True):
    """A page of a storyboard: what `draft` does, in scenes of lines. Each scene starts afresh, after its heading."""

    id: str
    draft: str
    scenes: tuple[tuple[ShownLine, ...], ...]
    headings: tuple[str, ...]

    @property
    def lines(self) -> tuple[ShownLine, ...]:
        return tuple(line for scene in self.scenes for line in scene)


class Right(Record, frozen=True, kw_only=True, tag="right"):
    """The line is as it should be."""


class Wrong(Record, frozen=True, kw_only=True, tag="wrong"):
    """Call `step` of the line should give something else: `outcome` as JSON, None where she did not say what."""

    step: int
    outcome: bytes | None


LineAnswer = Right | Wrong | Either | NeverHappens | DontKnow


class Told(Record, frozen=True, kw_only=True):
    """One thing that the owner said: what the last call of `program` gives (`outcome`, JSON), or why it gives nothing.
    `kind` is "value", "either", "never", "unknown", or "wrong" for a line that is not so, nobody said how. In a
    storyboard `shown` is what the draft under review gave, and `page`, `line` and `draft` say where; in a question they
    are None."""

    id: str
    decision: str
    program: Program
    kind: str
    outcome: bytes | None = None
    shown: bytes | None = None
    page: str | None = None
    line: int | None = None
    draft: str | None = None


class Owner(Protocol):
    """Who answers. `name` stands in the ledger beside each answer."""

    @property
    def name(self) -> str: ...

    def answer(self, ask: Ask) -> Answer | None:
        """Her answer; None when she leaves, to go on another time."""

    def review(self, page: Page) -> Sequence[LineAnswer] | None:
        """Her answers to the page's lines, in their order, perhaps not to all; after a correction the rest of that
        scene need not be read. None when she leaves."""


class NoOwner:
    """Nobody answers: questions stay open."""

    name = "nobody"

    def answer(self, ask: Ask) -> Answer | None:  # noqa: ARG002 - whatever is asked
        return None

    def review(self, page: Page) -> Sequence[LineAnswer] | None:  # noqa: ARG002 - whatever is shown
        return None


Acts = Callable[[Program], tuple[bytes | None, ...]]
"""Makes the calls of a program and gives each one's outcome as JSON, None from where she has no opinion on."""


@dataclass(frozen=True)
class ActingOwner:
    """An owner who answers by making the same calls. `defines` are the names that can be called, None where all can."""

    acts: Acts
    name: str = "file"
    defines: frozenset[str] | None = None

    def lacking(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those of the names that she can't be asked about."""
        return () if self.defines is None else tuple(name for name in names if name not in self.defines)

    def answer(self, ask: Ask) -> Answer | None:
        meant = self.acts(ask.program)[-1]
        if meant is None:
            return Either()
        for place, option in enumerate(ask.options):
            if same(option, meant):
                return Picked(option=place)
        return Neither(outcome=meant)

    def review(self, page: Page) -> Sequence[LineAnswer] | None:
        return [answer for scene in page.scenes for answer in self._scene(scene)]

    def _scene(self, scene: Sequence[ShownLine]) -> list[LineAnswer]:
        meant = self.acts(scene[0].program)
        found: list[LineAnswer] = []
        for line in scene:
            found.append(self._line(line, meant))
            if isinstance(found[-1], Wrong):
                return found + [DontKnow()] * (len(scene) - len(found))
        return found

    def _line(self, line: ShownLine, meant: Sequence[bytes | None]) -> LineAnswer:
        for call in line.calls:
            mine = meant[call.step]
            if mine is not None and not same(mine, call.outcome):
                return Wrong(step=call.step, outcome=mine)
        return Either() if all(meant[c.step] is None for c in line.calls) else Right()


def same(a: bytes, b: bytes) -> bool:
    """Whether two outcomes are the same behaviour. Of an exception only its class's name counts here: the owner's own
    `LendingError` is not the draft's, and may have other bases."""
    first, second = msgspec.json.decode(a), msgspec.json.decode(b)
    if first[0] == "!" and second[0] == "!":
        return bool(first[1] == second[1])
    return outcome_key(b"[" + a + b"]") == outcome_key(b"[" + b + b"]")


def file_owner(path: Path) -> ActingOwner:
    """The owner that a Python file is: asked by making the same calls. Its exception named DontCare means that either
    will do. It is her own code and runs here, unboxed; a thread watches that it answers in OWNER_SECONDS.

    Raises BriefError where the file can't be imported."""
    if not path.is_file() or path.suffix != ".py":
        what = "is no Python file" if path.is_file() else "is not there"
        raise BriefError(f"the owner {path} {what}", hint="--owner takes terminal, none, or a file of Python")
    with boundary(BriefError, f"importing the owner {path}"):
        spec = importlib.util.spec_from_file_location(f"tamis_owner_{path.stem}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return ActingOwner(
        acts=lambda program: _within(OWNER_SECONDS, path, lambda: acted(module, program)),
        name=path.name,
        defines=frozenset(dir(module)),
    )


def _within(seconds: float, path: Path, work: Callable[[], tuple[bytes | None, ...]]) -> tuple[bytes | None, ...]:
    """The work's result. A thread can't be ended, so an owner that hangs ends the run with a clear error instead."""
    done: list[tuple[bytes | None, ...]] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True, name="owner")
    thread.start()
    thread.join(seconds)
    if failed:
        raise BriefError(f"the owner {path} failed: {type(failed[0]).__name__}: {failed[0]}")
    if not done:
        raise BriefError(f"the owner {path} did not answer in {seconds:g} seconds", hint="does one of its calls wait?")
    return done[0]


def acted(module: ModuleType, program: Program) -> tuple[bytes | None, ...]:
    """Makes the calls on the module. Once she has no opinion, on that object she has none any more."""
    results: list[object] = []
    vague: set[int | None] = set()
    outcomes: list[bytes | None] = []
    for index, call in enumerate(program):
        try:
            if call.on in vague:
                raise _NoOpinion
            result = _made(module, call, results)
            outcomes.append(msgspec.json.encode(["=", _value(result, call)]))
        except Exception as error:
            result = error
            if isinstance(error, _NoOpinion) or type(error).__name__ == "DontCare":
                vague |= {call.on if call.on is not None else index}
                outcomes.append(None)
            else:
                outcomes.append(msgspec.json.encode(_raised(error)))
        results.append(result)
    return tuple(outcomes)


class _NoOpinion(Exception):
    """Stands for DontCare on an object on which she had no opinion before."""


def _made(module: ModuleType, call: Call, results: Sequence[object]) -> object:
    def filled(value: Value) -> object:
        return decode(value, lambda ref: results[int(str(ref[1]))])

    target = module if call.on is None else results[call.on]
    if isinstance(target, Exception):
        raise _NoOpinion
    found = getattr(target, call.name)
    if call.get:
        return found
    return found(*map(filled, call.args), **{k: filled(v) for k, v in call.kwargs.items()})


def _value(result: object, call: Call) -> Value:
    if not call.get and type(result).__name__ == call.name:
        return ["object", call.name, []]  # what a new object holds inside is no behaviour
    return encode(result)


def _raised(error: Exception) -> Value:
    bases: list[Value] = []
    for base in type(error).__mro__[1:] if type(error).__module__ != "builtins" else ():
        bases.append(base.__name__)
        if base.__module__ == "builtins":
            break
    return ["!", type(error).__name__, bases, str(error)]


class OwnerLeft(TamisError):
    """She left before everything was answered; what she answered is kept."""

    exit_code = 3
