"""Given tests of drafts that are programs: cases of standard input and output, beside which no Python is needed.

`tests/NAME.in` is what a program reads and `tests/NAME.out` what it must write. An input without its output is no test:
nobody said what is right there, so where drafts part on it the owner is asked. What is expected never enters the box.
"""

import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from tamis.brief import LoadedBrief
from tamis.checks.base import Found
from tamis.checks.codes import Codes
from tamis.checks.tests import answer_of
from tamis.config import DraftSection
from tamis.errors import CheckError
from tamis.records import Draft, Held, Spec, digest
from tamis.sandbox import Case, Command, Judged, Sandbox
from tamis.sandbox.arriving import Arriving

INPUT, OUTPUT = ".in", ".out"


class CasesCheck:
    """`spec` names the cases' content, the command and the limits: a change to one is another check. Making one raises
    CheckError where a tool is missing, which is no draft's doing."""

    def __init__(self, loaded: LoadedBrief, files: Mapping[str, bytes], sandbox: Sandbox) -> None:
        self._draft = loaded.settings.draft
        _require(self._draft)
        self._cases = cases_in(files)
        self._sandbox = sandbox
        self.cpu_seconds = 0.0
        """What drafts used in processes of their own."""
        named = (part for one in self._cases for part in (one.name, one.stdin, one.stdout))
        self.spec = Spec(
            kind="check",
            name="tests",
            version="1",
            args={
                "cases": digest(*named),
                **args_of(self._draft),
                "cpu_seconds": loaded.settings.tests.cpu_seconds,
                "memory_mb": loaded.settings.tests.memory_mb,
            },
        )

    def look(self, drafts: Iterable[tuple[Draft, bytes]]) -> Iterator[Found]:
        several = list(drafts)
        for suffix in sorted({suffix_of(draft.name) for draft, _ in several}):
            sources = {draft.id: content for draft, content in several if suffix_of(draft.name) == suffix}
            yield from self._found(sources, command_of(self._draft, suffix))

    def follow(self, drafts: Iterator[tuple[Draft, bytes]], *, codes: Codes | None = None) -> Iterator[Found]:  # noqa: ARG002 - a command makes its own of them
        """The same for drafts that are still arriving. The first one says which suffix all have; one of another
        suffix waits for `look`."""
        first = next(drafts, None)
        if first is None:
            return
        suffix = suffix_of(first[0].name)

        def like() -> Iterator[tuple[str, bytes]]:
            yield first[0].id, first[1]
            yield from ((draft.id, content) for draft, content in drafts if suffix_of(draft.name) == suffix)

        sources = Arriving(like())
        for found in self._found(sources, command_of(self._draft, suffix)):
            sources.done(found.draft)
            yield found

    def _found(self, sources: Mapping[str, bytes], command: Command) -> Iterator[Found]:
        for draft, judged in self._sandbox.judge_command(sources, command, self._cases):
            self.cpu_seconds += judged.cpu_seconds
            yield Found(
                draft=draft,
                answer=answer_of(judged),
                how=_how(judged),
                wall_seconds=judged.wall_seconds,
                cpu_seconds=judged.cpu_seconds,
            )

    def passing(self, sources: Mapping[str, bytes]) -> frozenset[str]:
        """Which of these sources, by key, pass."""
        judged = self._sandbox.judge_command(sources, command_of(self._draft, ""), self._cases)
        return frozenset(key for key, one in judged if isinstance(answer_of(one), Held))


def cases_in(files: Mapping[str, bytes]) -> tuple[Case, ...]:
    """The cases in a test folder, by name. One without its `.in` reads nothing. Raises CheckError for bytes that are
    no text."""
    names = sorted(name.removesuffix(OUTPUT) for name in files if name.endswith(OUTPUT))
    return tuple(
        Case(name=name, stdin=_text(files, name + INPUT), stdout=_text(files, name + OUTPUT)) for name in names
    )


def open_inputs(files: Mapping[str, bytes]) -> tuple[str, ...]:
    """The inputs of a test folder for which nobody said what is right, by name."""
    names = (name for name in sorted(files) if name.endswith(INPUT))
    return tuple(dict.fromkeys(_text(files, n) for n in names if n.removesuffix(INPUT) + OUTPUT not in files))


def command_of(draft: DraftSection, suffix: str) -> Command:
    """How a draft with this suffix becomes a program."""
    return Command(file=draft.file or f"main{suffix}", compile=draft.compile, run=draft.command)


def suffix_of(name: str) -> str:
    return PurePosixPath(name).suffix


def args_of(draft: DraftSection) -> dict[str, str]:
    """The command as it stands in a Spec."""
    return {"file": draft.file or "", "compile": "\0".join(draft.compile), "run": "\0".join(draft.command)}


def _require(draft: DraftSection) -> None:
    for key, words in (("compile", draft.compile), ("command", draft.command)):
        if words and "/" not in words[0] and shutil.which(words[0]) is None:
            raise CheckError(
                f"[draft] {key} calls {words[0]}, and there is no such command here",
                hint="install it, or name it with its whole path",
            )


def _text(files: Mapping[str, bytes], name: str) -> str:
    try:
        return files.get(name, b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise CheckError(
            f"the case {name} is not UTF-8: byte {error.object[error.start]:#04x} at offset {error.start:,}",
            hint="what programs read and write is kept as text",
        ) from error


def _how(judged: Judged) -> dict[str, str]:
    return {"judged": "outside, by what it wrote", **judged.how}
