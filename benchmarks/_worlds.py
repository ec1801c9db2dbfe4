"""A brief with everything that choosing needs, made ready once: which drafts pass, what they do, where they part.

The drafts here are this project's own examples, so they run in this process, by the very code that runs inside the
box but without a box around it: what is measured is how well is chosen, for dozens of owners.
"""

import contextlib
import io
import random
import resource
import signal
import sys
import time
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np
from msgspec.structs import replace

from tamis.behaviour.decisions import Decision, decisions_of
from tamis.behaviour.ground import Ground, Ints, ground_of
from tamis.behaviour.grow import Budget, explore
from tamis.behaviour.hints import hints_of
from tamis.behaviour.lab import Lab
from tamis.behaviour.mutants import Mutant
from tamis.behaviour.owner import ActingOwner, file_owner
from tamis.behaviour.surface import surface_of
from tamis.sandbox import Program
from tamis.sandbox.box.runner import Died, Draft, do

HERE = Path(__file__).parent
LENDING = HERE.parent / "examples" / "lending"
BRIEFS = HERE / "briefs"


MEMORY_BYTES = 6 << 30
"""A draft that is asked for ten million payments gets a MemoryError instead of the machine's last byte."""
resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))


LOADED = 200
"""Sources kept imported; mutants come by the hundred, one after the other."""


class TooSlow(BaseException):
    """A mutant went on for too long; no `except Exception` of its own catches this."""


@contextlib.contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """CPU seconds, so that a busy machine makes nobody late."""

    def late(_signal: int, _frame: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds, 0.2)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@dataclass
class Here:
    """Runs sources in this process, each imported once and given fresh objects for every program."""

    module: str
    _loaded: dict[bytes, Draft] = field(default_factory=dict)

    def run(self, sources: Mapping[str, bytes], programs: Sequence[Program]) -> dict[str, tuple[bytes, ...]]:
        calls = [[(c.name, c.on, list(c.args), dict(c.kwargs), c.get) for c in p] for p in programs]
        return {key: self._all(source, calls) for key, source in sources.items()}

    def _all(self, source: bytes, programs: list[list[tuple[object, ...]]]) -> tuple[bytes, ...]:
        deadline = time.process_time() + 30.0
        return tuple(self._one(source, program, deadline) for program in programs)

    def _one(self, source: bytes, program: list[tuple[object, ...]], deadline: float) -> bytes:
        """One program's outcomes. A draft that goes on for a second, or has used up its 30, timed out."""
        try:
            with at_most(1.0), contextlib.redirect_stdout(io.StringIO()):
                if time.process_time() > deadline:
                    raise TooSlow
                draft = self._draft(source)
                draft.results = {}
                lines = [do(draft, i, call) for i, call in enumerate(program)]  # type: ignore[arg-type]
                return f"[{','.join(lines)}]".encode()
        except (TooSlow, Died, Exception):
            self._loaded.pop(source, None)
            return msgspec.json.encode([["#", "timed out", ""]] * len(program))

    def _draft(self, source: bytes) -> Draft:
        draft = self._loaded.get(source)
        if draft is None:
            draft = Draft(self.module, source)
            draft.load()
            if len(self._loaded) >= LOADED:
                del self._loaded[next(iter(self._loaded))]
            self._loaded[source] = draft
        sys.modules[self.module] = draft.module
        return draft


@dataclass
class World:
    """One brief. `drafts` pass the given tests; `ground` and `decisions` come from all of them together."""

    name: str
    module: str
    sources: dict[str, bytes]
    drafts: list[str]
    ground: Ground
    decisions: tuple[Decision, ...]
    here: Here
    lab: "KeepingLab"
    seconds: float
    owner_file: Path

    def run(self, drafts: Sequence[str], programs: Sequence[Program]) -> dict[str, tuple[bytes, ...]]:
        return self.here.run({d: self.sources[d] for d in drafts}, programs)

    def alike(self, draft: str) -> list[str]:
        """The drafts that do exactly what this one does, wherever they were run; itself among them."""
        at = self.drafts.index(draft)
        same = [i for i in range(len(self.drafts)) if all((s[i] == s[at]).all() for s in self.ground.steps)]
        return [self.drafts[i] for i in same]

    def without(self, gone: Sequence[str]) -> tuple[Ground, list[Decision]]:
        """What would be known if these drafts had never been written: a decision that only they bring is no more."""
        left: list[Decision] = []
        for decision in self.decisions:
            options = [replace(o, drafts=tuple(d for d in o.drafts if d not in gone)) for o in decision.options]
            options = [o for o in options if o.drafts]
            if len(options) > 1:
                apart = tuple(d for d in decision.apart if d not in gone)
                left.append(replace(decision, options=tuple(options), apart=apart))
        return self.ground.without(gone), left

    def owner_like(self, draft: str) -> ActingOwner:
        """An owner who means exactly what this draft does."""
        return self._acting(self.sources[draft], draft)

    def written_owner(self) -> ActingOwner:
        return file_owner(self.owner_file)

    def _acting(self, source: bytes, name: str) -> ActingOwner:
        kept: dict[bytes, tuple[bytes, ...]] = {}

        def acts(program: Program) -> tuple[bytes, ...]:
            key = msgspec.json.encode(program)
            if key not in kept:
                (ran,) = self.here.run({"": source}, [program])[""]
                kept[key] = tuple(bytes(raw) for raw in msgspec.json.decode(ran, type=list[msgspec.Raw]))
            return kept[key]

        return ActingOwner(acts=acts, name=name)


class KeepingLab(Lab):
    """A lab that remembers, for many owners of one brief: each draft's mutants run once on each program."""

    def __init__(self, sources: Mapping[str, bytes], here: Here, tests: Sequence[str]) -> None:
        super().__init__(sources, here.run, lambda mutants: passing(mutants, tests, here.module))
        self.seen: dict[str, dict[bytes, dict[str, int]]] = {}

    def differ(self, draft: str, mutants: Sequence[Mutant], programs: Sequence[Program]) -> list[Ints]:
        kept = self.seen.setdefault(draft, {})
        known = [kept.setdefault(msgspec.json.encode(p), {}) for p in programs]
        lacking = [i for i, by_mutant in enumerate(known) if any(m.id not in by_mutant for m in mutants)]
        new = [m for m in mutants if any(m.id not in known[i] for i in lacking)]
        if lacking:
            found = super().differ(draft, new, [programs[i] for i in lacking])
            for i, steps in zip(lacking, found, strict=True):
                known[i].update(zip((m.id for m in new), steps.tolist(), strict=True))
        return [np.array([by_mutant[m.id] for m in mutants], dtype=np.int32) for by_mutant in known]


def passing(sources: Mapping[str, bytes], tests: Sequence[str], module: str) -> frozenset[str]:
    """Which of the sources pass all the given tests. Reads plain pytest files: functions, fixtures without scope."""
    return frozenset(key for key, source in sources.items() if _passes(source, tests, module))


def _passes(source: bytes, tests: Sequence[str], module: str) -> bool:
    try:
        with at_most(5.0), contextlib.redirect_stdout(io.StringIO()):
            made = types.ModuleType(module)
            sys.modules[module] = made
            exec(compile(source, module, "exec"), made.__dict__)
            for text in tests:
                _run_tests(text)
    except (TooSlow, BaseException):
        return False
    return True


def _run_tests(text: str) -> None:
    names: dict[str, object] = {}
    exec(compile(text, "given tests", "exec"), names)
    fixtures = {n: f for n, f in names.items() if hasattr(f, "_fixture_function")}
    for name, function in list(names.items()):
        if name.startswith("test_") and isinstance(function, types.FunctionType):
            wanted = function.__code__.co_varnames[: function.__code__.co_argcount]
            function(*(fixtures[w]._fixture_function() for w in wanted))  # type: ignore[attr-defined]


def world(folder: Path, *, calls: int, seed: int = 0, only: int | None = None) -> World:
    """The brief in `folder`, explored with `calls` calls a draft; `only` takes the first so many drafts."""
    started = time.perf_counter()
    sources = {p.stem: p.read_bytes() for p in sorted((folder / "drafts").glob("*.py"))[:only]}
    tests = [p.read_text() for p in sorted((folder / "tests").glob("test_*.py"))]
    owner = next((folder / "owner").glob("*.py"))
    here = Here(owner.stem)
    drafts = sorted(passing(sources, tests, owner.stem))
    texts = [sources[d].decode() for d in drafts]
    brief = (folder / "BRIEF.md").read_text()
    surface = surface_of(brief, texts)
    hints = hints_of(tests, texts, brief, surface=surface)

    def run(which: Sequence[str], programs: Sequence[Program]) -> dict[str, tuple[bytes, ...]]:
        return here.run({d: sources[d] for d in which}, programs)

    matrix = explore(surface, hints, drafts, run, rng=random.Random(seed), budget=Budget(calls=calls))
    decisions = decisions_of(matrix, surface, run, hints=hints)
    lab = KeepingLab({d: sources[d] for d in drafts}, here, tests)
    seconds = time.perf_counter() - started
    return World(folder.name, owner.stem, sources, drafts, ground_of(matrix), decisions, here, lab, seconds, owner)
