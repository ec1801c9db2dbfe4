"""For whoever adds a writer: `try_writer` lets it write and says in words what it does otherwise than a writer must.

It sees what a run would see and nothing more, and takes no longer than it is told to. It looks at the protocol, not at
whether the drafts are any good.
"""

import asyncio
import inspect
import re
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

from tamis.brief import LoadedBrief, load_brief
from tamis.clock import Clock, Spans
from tamis.errors import DraftsError, TamisError
from tamis.ledger import Ledger
from tamis.records import Desk, Fault, Finish, Span, Spec
from tamis.writers.base import Resuming, Writer, Written, flaw

SOME = 1_000
"""So many drafts are looked at; a writer may write more."""
_SECRET = re.compile(r"(?i)^(?:.*[_-])?(?:key|token|secret|password|passwd|authorization|credential)s?$")
_LOOKS_SECRET = re.compile(r"^(?:sk-|Bearer |ghp_|hf_|xox[bp]-|AKIA)\S{8,}")


class WriterFaults(AssertionError):
    """What a writer does otherwise than it must, a sentence each."""

    def __init__(self, faults: tuple[str, ...]) -> None:
        super().__init__("\n".join(f"- {fault}" for fault in faults))
        self.faults = faults


def try_writer(
    writer: Writer | Callable[[LoadedBrief], Writer],
    brief: LoadedBrief | None = None,
    *,
    desk: Desk = "prose",
    most: int = SOME,
    seconds: float = 60.0,
) -> tuple[Written, ...]:
    """Lets the writer write for `brief`, else for a small one of that desk, and returns its drafts, at most so many.
    `writer` may be one that is made already, or what makes it of a brief, as a plug-in is. Raises WriterFaults with
    everything that is wrong."""
    if brief is not None:
        return _tried(writer, brief, most, seconds)
    with TemporaryDirectory() as folder:
        (Path(folder) / "BRIEF.md").write_text("# An ending\n\nWrite the last sentence of a story about a lamp.\n")
        return _tried(writer, load_brief(Path(folder), desk=desk), most, seconds)


def _tried(
    writer: Writer | Callable[[LoadedBrief], Writer], brief: LoadedBrief, most: int, seconds: float
) -> tuple[Written, ...]:
    trial = _Trial(brief, most, seconds)
    trial.run(writer)
    if trial.faults:
        raise WriterFaults(tuple(dict.fromkeys(trial.faults)))
    return tuple(trial.drafts)


class _Trial:
    """Collects drafts and faults."""

    def __init__(self, brief: LoadedBrief, most: int, seconds: float) -> None:
        self._brief, self._most, self._seconds = brief, most, seconds
        self.drafts: list[Written] = []
        self.faults: list[str] = []
        self._spans: list[Span] = []

    def run(self, given: Writer | Callable[[LoadedBrief], Writer]) -> None:
        writer = self._made(given)
        if writer is None:
            return
        before = self._spec(writer)
        if isinstance(writer, Resuming):
            self._resuming(writer, given)
        else:
            self._write(writer)
        self._drafts()
        self._same_spec(before, writer)

    # the writer

    def _made(self, given: Writer | Callable[[LoadedBrief], Writer]) -> Writer | None:
        made: object = given
        if inspect.isclass(given) or not hasattr(given, "write"):
            if not callable(given):
                self.faults.append(f"it is a {type(given).__name__}: neither a writer nor a callable that makes one")
                return None
            try:
                made = given(self._brief)  # type: ignore[call-arg]  # a class is called as well
            except TamisError:
                raise
            except Exception as error:
                self.faults.append(f"it can't be made of a brief: {type(error).__name__}: {error}")
                return None
        lacking = [name for name in ("spec", "write") if not hasattr(made, name)]
        self.faults += [f"it has no `{name}`" for name in lacking]
        return None if lacking else made  # type: ignore[return-value]  # it has what the protocol asks for

    def _spec(self, writer: Writer) -> Spec | None:
        """The spec, looked at."""
        spec: object = writer.spec
        if not isinstance(spec, Spec):
            self.faults.append(f"its `spec` is a {type(spec).__name__} and not a tamis.records.Spec")
            return None
        if spec.kind != "writer":
            self.faults.append(f"its spec's kind is {spec.kind!r} and not 'writer'")
        if not spec.name:
            self.faults.append("its spec has no name")
        for key, value in spec.args.items():
            text = value if isinstance(value, str) else ""
            if (_SECRET.match(key) and text) or _LOOKS_SECRET.match(text):
                self.faults.append(
                    f"its spec's argument {key!r} looks like a secret, and goes into every draft's record"
                )
        return spec

    def _same_spec(self, before: Spec | None, writer: Writer) -> None:
        """Details may be learnt while writing; its name and version may not change."""
        after: object = writer.spec
        if (
            before is not None
            and isinstance(after, Spec)
            and (before.name, before.version) != (after.name, after.version)
        ):
            self.faults.append("its spec's name or version changed while it wrote, so its drafts can't be known again")

    # writing

    def _write(self, writer: Writer) -> list[Written]:
        drafts: list[Written] = []
        try:
            asyncio.run(self._hear(writer, drafts))
        except TimeoutError:
            self.faults.append(f"it did not end within {self._seconds:g} s ({len(drafts)} drafts had come)")
        except DraftsError as error:
            if drafts:
                told = f"it raised DraftsError after {len(drafts)} drafts ({error})"
                self.faults.append(f"{told}: with drafts there, what is lost is told by a draft's `problem`")
            else:
                raise
        except TamisError:
            raise
        except Exception as error:
            self.faults.append(f"it broke after {len(drafts)} drafts: {type(error).__name__}: {error}")
        self.drafts += drafts
        return drafts

    async def _hear(self, writer: Writer, drafts: list[Written]) -> None:
        writing: object = writer.write(self._brief)
        if inspect.iscoroutine(writing):
            writing.close()
            self.faults.append("its `write` is a coroutine and no async generator: it must `yield` its drafts")
            return
        if not isinstance(writing, AsyncIterator):
            self.faults.append(f"its `write` gives a {type(writing).__name__} and no async iterator of drafts")
            return
        try:
            async with asyncio.timeout(self._seconds):
                async for one in writing:
                    if not isinstance(one, Written):
                        self.faults.append(f"it yields a {type(one).__name__} and not a tamis.writers.base.Written")
                        return
                    drafts.append(one)
                    if len(drafts) >= self._most:
                        return
        finally:
            await self._close(writing)

    async def _close(self, writing: AsyncIterator[Written]) -> None:
        """Stopped early, as a run does when it has enough, it has to let go of what it holds."""
        if inspect.isasyncgen(writing):
            try:
                await asyncio.wait_for(writing.aclose(), self._seconds)
            except TimeoutError:
                self.faults.append(f"stopped early, it did not end within {self._seconds:g} s")
            except RuntimeError as error:
                self.faults.append(f"it can't be stopped early: {error}")
        left = asyncio.all_tasks() - {asyncio.current_task()}
        if left:
            await asyncio.sleep(0)  # a task that was cancelled just now may end
            left = {task for task in left if not task.done()}
        if left:
            self.faults.append(f"it left {len(left)} tasks running behind it")

    def _resuming(self, writer: Writer, given: object) -> None:
        """It writes with a ledger; made again, it hands over the same and writes no more."""
        with TemporaryDirectory() as folder, Ledger(Path(folder)) as ledger:
            self._kept(writer, ledger)
            first = self._write(writer)
            again = self._made(given) if callable(given) else None
            if again is None or self.faults or len(first) >= self._most:
                return
            self._kept(again, ledger)
            drafts, self.drafts = self.drafts, []
            second, self.drafts = self._write(again), drafts
            lost = {(one.name, one.content) for one in first} - {(one.name, one.content) for one in second}
            if lost:
                name = min(lost)[0]
                self.faults.append(
                    f"made again with its ledger, it does not hand over {len(lost)} drafts, such as {name!r}"
                )

    def _kept(self, writer: Writer, ledger: Ledger) -> None:
        assert isinstance(writer, Resuming)
        writer.keep_in(ledger, Spans(Clock(), self._spans.append))

    # the drafts

    def _drafts(self) -> None:
        names: set[str] = set()
        for one in self.drafts:
            if one.name in names:
                self.faults.append(f"two of its drafts are called {one.name!r}")
            names.add(one.name)
            self.faults += [f"draft {one.name!r} {fault}" for fault in _faults_of(one)]


def _faults_of(one: Written) -> Iterator[str]:
    """What is wrong with a draft as handed over. Records don't check types when they are made in Python."""
    if not isinstance(one.name, str) or not one.name.strip() or "\n" in str(one.name):
        yield "has no name in one line"
    if not isinstance(one.content, bytes):
        yield f"has content of type {type(one.content).__name__} and not bytes"
        return
    if one.finish not in get_args(Finish):
        yield f"has the finish {one.finish!r}; it is one of {', '.join(get_args(Finish))}"
    if one.fault not in get_args(Fault):
        yield f"has the fault {one.fault!r}; it is one of {', '.join(get_args(Fault))}"
    if not isinstance(one.sample, int) or one.sample < 0:
        yield f"has the sample {one.sample!r}; samples count from 0"
    problem = flaw(one.content)
    if problem is not None and one.problem is None and one.finish == "stop":
        yield f"{problem}, and has no `problem` that says so"
    if one.problem is not None and not one.problem.strip():
        yield "has an empty `problem`; without one it is None"
    if (one.tokens is None) != (one.counted_by is None):
        yield "has only one of `tokens` and `counted_by`; who counted belongs to a count"
    if one.tokens is not None and one.tokens < 0:
        yield f"has {one.tokens} tokens"
    if one.writer is not None and not isinstance(one.writer, Spec):
        yield f"has a `writer` of type {type(one.writer).__name__} and not a Spec"
