"""The sandbox: drafts in, outcomes out, several boxes at work.

One thread per box waits for its draft; the work is in the boxes. Whatever ends the iteration (its end, an exception,
Ctrl-C, `close`) ends every process of it at once. Our own fault is tried once more in a new box, then told as `fault`.
"""

import os
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Self, TypeVar

import msgspec

from tamis.errors import CheckError, SandboxFault, UsageError
from tamis.sandbox import commands, remote, runtime, symbolic
from tamis.sandbox.arriving import Arriving
from tamis.sandbox.box.zygote import PYTEST_PLUGINS
from tamis.sandbox.commands import Case, Command
from tamis.sandbox.crew import Crew, Pool, Task
from tamis.sandbox.inside import Inside, WantsPlugins
from tamis.sandbox.judge import Outside
from tamis.sandbox.judging_draft import MustBeInside
from tamis.sandbox.records import Judged, Limits, Program, Ran, Suite, TestResult
from tamis.sandbox.running import Work, run_draft
from tamis.sandbox.supervisor import CROSSHAIR, Box, Setup
from tamis.sandbox.symbolic import Pair, Sought

T = TypeVar("T")
SAME_OUTCOMES = "same outcomes"
"""In `without`: run the given tests also on outcomes that they were run on before."""
_CONVINCED = 8
"""After so many drafts that could not be judged from outside, and none that could, no more are tried."""


class Sandbox:
    """Boxes for the drafts of one brief. `module` is the name that each draft is imported by.

    `workers` is how many boxes work at once (the number of cores by default); `imports` are imported once, before any
    draft; `without` leaves layers off, for measuring only, and every record says so. With `command`, the owner's
    container or machine is the box (`tamis.sandbox.remote`)."""

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        module: str,
        workers: int | None = None,
        imports: Sequence[str] = (),
        without: Sequence[str] = (),
        command: Sequence[str] = (),
    ) -> None:
        self.limits = limits or Limits()
        self.module = module
        self.workers = max(1, workers or _cores())
        self._imports = tuple(imports)
        self._without = frozenset(without)
        self._command = tuple(command)
        self._warm: tuple[str, ...] | None = None
        self._pool = Pool(self.workers)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends every process of the sandbox. Any thread may call it, also twice."""
        self._pool.close()

    def pids(self) -> list[int]:
        """The processes of the warm boxes, for those who measure."""
        return self._pool.pids()

    def setup(self, sources: Iterable[bytes], hash_seed: int = 0) -> Setup:
        """The boxes for these drafts. What many of them import is imported once, ahead; the first drafts decide."""
        if self._warm is None:
            self._warm = runtime.often_imported(sources)
        return self._setup(self._warm, hash_seed)

    def _setup(self, warm: tuple[str, ...], hash_seed: int = 0) -> Setup:
        return Setup(self.limits, self.module, hash_seed, self._imports, warm, self._without)

    # running

    def run(
        self, sources: Mapping[str, bytes], programs: Sequence[Program], *, hash_seed: int = 0
    ) -> Iterator[tuple[str, Ran]]:
        """Runs every draft on the same programs and yields each as it finishes. A draft that dies goes on with its
        next program in a fresh child, up to `limits.deaths` times."""
        if self._command:
            return self._remote_runs(sources, programs, hash_seed)
        work = Work(programs)

        def one(box: Box, key: str) -> Ran:
            return run_draft(box, sources[key], work)

        setup = self.setup(sources.values(), hash_seed)
        return self._each(sources, Task(one, _no_run, setup, lambda box: box.load(programs)))

    def judge(self, sources: Mapping[str, bytes], suite: Suite) -> Iterator[tuple[str, Judged]]:
        """Runs the given tests on every draft and yields each as it finishes. Raises CheckError where the tests can't
        be collected, which is no draft's fault."""
        if self._command:
            yield from self._remote_verdicts(sources, suite)
            return
        if suite.judged == "inside":
            yield from self._judge_inside(sources, suite, "the brief says so")
            return
        held: dict[str, str] = {}
        told = 0
        for key, judged in self._judge_outside(sources, suite):
            if judged.because:
                held[key] = judged.because
                if not told and len(held) >= _CONVINCED and not isinstance(sources, Arriving):
                    break  # of those that still arrive, nobody knows which the first of all are: every one is tried
            else:
                told += 1
                yield key, judged
        yield from self._held(sources, suite, held, told)

    def _held(
        self, sources: Mapping[str, bytes], suite: Suite, held: Mapping[str, str], told: int
    ) -> Iterator[tuple[str, Judged]]:
        """The drafts on which tests could not be run from outside. It is the tests' way where it happens to most
        drafts: then they are judged inside. Where it happens to few it is those drafts' doing, and they have failed:
        else a draft could choose its judge."""
        if not held:
            return
        why = Counter(held.values()).most_common(1)[0][0]
        if suite.judged == "outside" and len(held) > told:
            raise CheckError(
                f"the tests in {suite.folder} can't be judged outside the box: {why}",
                hint='[tests] judged = "auto" or "inside" runs them in the box with the draft',
            )
        if len(held) > told:
            left = {key: source for key, source in sources.items() if key in held or not told}
            yield from self._judge_inside(left, suite, why)
            return
        for key, because in held.items():
            result = TestResult(id="every test", outcome="error", witness=f"can't be judged from outside: {because}")
            yield key, Judged(results=(result,), because=because)

    def _remote_job(self, sources: Mapping[str, bytes]) -> remote.Job:
        return remote.Job(
            version=remote.own_version(), module=self.module, limits=self.limits, sources=dict(sources),
            workers=self.workers, imports=self._imports,
        )  # fmt: skip

    def _remote_runs(
        self, sources: Mapping[str, bytes], programs: Sequence[Program], hash_seed: int
    ) -> Iterator[tuple[str, Ran]]:
        job = msgspec.structs.replace(self._remote_job(sources), programs=tuple(programs), hash_seed=hash_seed)
        for answer in remote.ask(self._command, job):
            if answer.ran is not None:
                yield answer.key, answer.ran

    def _remote_verdicts(self, sources: Mapping[str, bytes], suite: Suite) -> Iterator[tuple[str, Judged]]:
        files = remote.files_of(suite.folder)
        job = msgspec.structs.replace(self._remote_job(sources), suite=suite, files=files)
        for answer in remote.ask(self._command, job):
            if answer.judged is not None:
                yield answer.key, answer.judged

    def run_command(
        self, sources: Mapping[str, bytes], command: Command, inputs: Sequence[str]
    ) -> Iterator[tuple[str, Ran]]:
        """Drafts in any language: each is compiled and run on every input, each as it finishes."""

        def one(box: Box, key: str) -> Ran:
            return commands.run_draft(box, sources[key], command, inputs)

        allow = tuple({*self.limits.allow, "subprocess"})
        setup = replace(self.setup(()), limits=msgspec.structs.replace(self.limits, allow=allow))
        return self._each(sources, Task(one, _no_run, setup))

    def judge_command(
        self, sources: Mapping[str, bytes], command: Command, cases: Sequence[Case]
    ) -> Iterator[tuple[str, Judged]]:
        """The same, judged: the program must write what each case says. The cases stay outside."""
        for key, ran in self.run_command(sources, command, [case.stdin for case in cases]):
            yield key, commands.judge(ran, cases)

    def search(self, pairs: Mapping[str, Pair], *, cpu_seconds: float, paths: int) -> Iterator[tuple[str, Sought]]:
        """Looks with CrossHair for inputs on which the two drafts of a pair do otherwise, each pair in at most so many
        CPU seconds, and yields each as it is searched. `paths` bounds what is followed in each skeleton. Raises
        UsageError where the owner's container or machine is the box, since nothing was prepared for it there."""
        if self._command:
            raise UsageError("CrossHair can't search in the box that [sandbox] command starts")

        def one(box: Box, key: str) -> Sought:
            return symbolic.search(box, pairs[key], paths=paths)

        setup = self.setup(pair.first for pair in pairs.values())
        limits = symbolic.limits_for(self.limits, cpu_seconds)
        setup = replace(setup, limits=limits, imports=(*setup.imports, CROSSHAIR))
        return self._each(pairs, Task(one, lambda fault: Sought(fault=fault.what), setup))

    def _judge_outside(self, sources: Mapping[str, bytes], suite: Suite) -> Iterator[tuple[str, Judged]]:
        outside = Outside(suite, remember=SAME_OUTCOMES not in self._without)

        def one(box: Box, key: str) -> Judged:
            try:
                code = sources.code(key) if isinstance(sources, Arriving) else b""
                return outside.judge(box, sources[key], code=code)
            except MustBeInside as why:
                return Judged(because=str(why))

        try:
            yield from self._each(sources, Task(one, _no_judgement, self._suite_setup(sources, suite)))
        finally:
            outside.close()

    def _judge_inside(self, sources: Mapping[str, bytes], suite: Suite, why: str) -> Iterator[tuple[str, Judged]]:
        """Without pytest's plugins first; the control run shows whether the tests want them, before any verdict."""
        try:
            yield from self._judge_inside_with(sources, suite, why, plugins=False)
        except WantsPlugins:
            yield from self._judge_inside_with(sources, suite, why, plugins=True)

    def _judge_inside_with(
        self, sources: Mapping[str, bytes], suite: Suite, why: str, *, plugins: bool
    ) -> Iterator[tuple[str, Judged]]:
        inside = Inside(suite, why, random.Random(os.urandom(16)), plugins=plugins)

        def one(box: Box, key: str) -> Judged:
            return inside.judge(box, sources[key])

        setup = self._suite_setup(sources, suite)
        warm = (*setup.warm, PYTEST_PLUGINS) if plugins else setup.warm
        setup = replace(setup, imports=(*setup.imports, "pytest"), warm=warm)
        yield from self._each(sources, Task(one, _no_judgement, setup))

    def _suite_setup(self, sources: Mapping[str, bytes], suite: Suite) -> Setup:
        if isinstance(sources, Arriving):  # nobody waits for the others to come, to know what most of them import
            first = sources.first()
            setup = self._setup(runtime.often_imported((first,)) if first is not None else ())
        else:
            setup = self.setup(sources.values())
        return replace(setup, limits=msgspec.structs.replace(setup.limits, cpu_seconds=suite.cpu_seconds))

    def _each(self, sources: Iterable[str], task: Task[T]) -> Iterator[tuple[str, T]]:
        """The task for every draft, by as many threads as there are boxes, each draft as it is finished."""
        crew = Crew(self._pool, sources, task)
        try:
            crew.start(self.workers if isinstance(sources, Arriving) else min(self.workers, len(list(sources))))
            yield from crew.results()
        finally:
            crew.stop()


def _no_run(fault: SandboxFault) -> Ran:
    return Ran(fault=fault.what)


def _no_judgement(fault: SandboxFault) -> Judged:
    return Judged(fault=fault.what)


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
