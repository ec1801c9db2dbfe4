"""The given tests, as a check: every draft against the pytest folder that came with the brief, judged outside its box.

What is judged is what was recorded: the tests are laid out afresh from the brief's own bytes, so an edit during a run,
or what pytest leaves in a folder, changes nothing. Tests that don't collect are the owner's to mend: CheckError, once,
and no draft is blamed.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping

from tamis.brief import LoadedBrief
from tamis.checks.base import Found
from tamis.checks.codes import Codes
from tamis.records import Answer, Broke, Draft, Held, NoAnswer, Spec, digest
from tamis.sandbox import Judged, Sandbox, Suite, TestResult
from tamis.sandbox.arriving import Arriving
from tamis.sandbox.leftovers import OwnFolder


class TestsCheck:
    """`spec` names the tests' content, the module, the limits and the Python: a change to one is another check."""

    __test__ = False

    def __init__(self, loaded: LoadedBrief, files: Mapping[str, bytes], sandbox: Sandbox) -> None:
        self._loaded = loaded
        self._files = files
        self._sandbox = sandbox
        self.cpu_seconds = 0.0
        """What drafts and judges used in processes of their own."""
        tests = loaded.settings.tests
        named = (part for name, content in sorted(files.items()) for part in (name, digest(content)))
        self.spec = Spec(
            kind="check",
            name="tests",
            version="1",
            args={
                "tests": digest(*named),
                "module": loaded.module,
                "judged": tests.judged,
                "cpu_seconds": tests.cpu_seconds,
                "memory_mb": tests.memory_mb,
                "python": f"{sys.version_info.major}.{sys.version_info.minor}",
            },
        )

    def look(self, drafts: Iterable[tuple[Draft, bytes]]) -> Iterator[Found]:
        sources = {draft.id: content for draft, content in drafts}
        if sources:
            yield from self._found(sources)

    def follow(self, drafts: Iterator[tuple[Draft, bytes]], *, codes: Codes | None = None) -> Iterator[Found]:
        """The same for drafts that are still arriving: each is tested when it is here, whatever the others do. `codes`
        holds what the parser has made of them."""
        code = codes.take if codes else lambda _: b""
        sources = Arriving(((draft.id, content) for draft, content in drafts), code=code)
        if sources.first() is None:
            return
        for found in self._found(sources):
            sources.done(found.draft)
            yield found

    def _found(self, sources: Mapping[str, bytes]) -> Iterator[Found]:
        for draft, judged in self._judged(sources):
            yield Found(
                draft=draft,
                answer=answer_of(judged),
                how=_how(judged),
                wall_seconds=judged.wall_seconds,
                cpu_seconds=judged.cpu_seconds,
            )

    def passing(self, sources: Mapping[str, bytes]) -> frozenset[str]:
        """Which of these sources, by key, pass; for mutants, which are nobody's drafts."""
        judged = self._judged(sources) if sources else ()
        return frozenset(key for key, one in judged if isinstance(answer_of(one), Held))

    def _judged(self, sources: Mapping[str, bytes]) -> Iterator[tuple[str, Judged]]:
        with _laid_out(self._files) as laid_out:
            tests, folder = self._loaded.settings.tests, str(laid_out.path)
            suite = Suite(folder=folder, module=self._loaded.module, judged=tests.judged, cpu_seconds=tests.cpu_seconds)
            for key, judged in self._sandbox.judge(sources, suite):
                self.cpu_seconds += judged.cpu_seconds
                yield key, judged


def answer_of(judged: Judged) -> Answer:
    """Only every expected test reported as passed (or skipped by its owner) is Held."""
    if judged.fault is not None:
        return NoAnswer(fault="sandbox", why=judged.fault)
    failed = [one for one in judged.results if one.outcome in {"failed", "error"}]
    if not failed:
        return Held(cases=len(judged.results))
    return Broke(
        witness=_witness(failed[0]), failed=tuple(short_name(one.id) for one in failed), cases=len(judged.expected)
    )


def short_name(test_id: str) -> str:
    """`test_lending.py::TestQueue::test_first` as a person calls it: `TestQueue::test_first`."""
    return test_id.partition("::")[2] or test_id


def _witness(failed: TestResult) -> str:
    return f"{short_name(failed.id)}: {failed.witness}" if failed.witness else short_name(failed.id)


def _how(judged: Judged) -> dict[str, str]:
    because = {"because": judged.because} if judged.because else {}
    return {"judged": judged.judged, **because, **judged.how}


def _laid_out(files: Mapping[str, bytes]) -> OwnFolder:
    folder = OwnFolder("tamis-tests.")
    for name, content in files.items():
        path = folder.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder
