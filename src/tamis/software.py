"""What settles it for software: the given tests, then behaviour, then the owner.

Drafts that pass the tests are run on the same inputs. Those alike on all of them form a camp; where camps part, the
brief left room, and that is a decision. The owner is asked about the decisions that tell most; her answers say which
draft is right, or that none is. Where nobody answers, the heaviest camp is the choice, with the odds that this has.
"""

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain

from tamis.behaviour import answers, next_round, symbolic
from tamis.behaviour.asking import converse, told_before
from tamis.behaviour.camps import Camp, camps_of
from tamis.behaviour.choice import (
    Chosen,
    choice_of,
    chosen_of,
    nothing_settled,
    nothing_to_call,
    question_of,
    with_unstable,
)
from tamis.behaviour.decisions import Decision, decisions_of
from tamis.behaviour.ground import ground_of
from tamis.behaviour.grow import Budget, explore
from tamis.behaviour.hints import Hints, hints_of
from tamis.behaviour.inputs import Maker
from tamis.behaviour.inquiry import Choosing, Inquiry
from tamis.behaviour.lab import Lab
from tamis.behaviour.matrix import Matrix
from tamis.behaviour.observe import Observer
from tamis.behaviour.odds import FITTED, Fit
from tamis.behaviour.owner import ActingOwner, Owner, Told
from tamis.behaviour.surface import Surface, surface_of
from tamis.behaviour.unstable import STEADY, unstable_in
from tamis.checks.base import Found
from tamis.checks.cases import CasesCheck
from tamis.checks.tests import TestsCheck
from tamis.clock import OpenSpan
from tamis.errors import BriefError, boundary
from tamis.reading import Pool
from tamis.records import Choice, Draft, Held, NoAnswer, Question, Spec
from tamis.run import Run
from tamis.sandbox import Limits, Program, Ran, Sandbox


@dataclass(frozen=True)
class Seen:
    """What drafts were seen to do: what can be called, what each did, and the points on which they part. `tested` are
    the programs that the given tests run, as far as these could be read."""

    surface: Surface
    matrix: Matrix
    decisions: Sequence[Decision]
    tested: Sequence[Program] = ()


class SoftwareDesk:
    """The software desk of one run. It starts its sandbox when one is first needed; `close` ends it. Without an
    `owner` nobody is asked. `fit` are the numbers that its odds rest on."""

    fit: Fit = FITTED

    def __init__(self, run: Run, *, owner: Owner | None = None) -> None:
        if run.loaded.settings.behaviour.crosshair:
            symbolic.demand()
        self._run = run
        self._owner = owner
        self._open = ExitStack()
        self._box: Sandbox | None = None
        self._passed = 0
        """How many distinct drafts pass their tests, of those that have come."""
        self.open = False
        """Whether questions are left that nobody answered."""

    def close(self) -> None:
        self._open.close()

    def take(self, pool: Pool, drafts: Iterator[Draft]) -> None:
        """Tests each draft as it comes."""
        if not self._given_tests():
            for _ in drafts:
                self._passed += 1
            return
        run, check = self._run, self._tests()
        missing = (draft for draft in drafts if not self._passed_or_not(check.spec, draft.id))
        first = next(missing, None)  # no span is opened and no box started before there is a draft for it
        if first is None:
            return
        names: dict[str, str] = {}

        def arriving() -> Iterator[tuple[Draft, bytes]]:
            since = run.clock.now()
            for draft in chain((first,), missing):
                span.wait(run.clock.now() - since, on="folding")
                names[draft.id] = draft.name
                yield draft, pool.contents[draft.id]
                since = run.clock.now()

        with run.spans.span("tests", "tests", cpu=time.thread_time) as span:
            for found in check.follow(arriving(), codes=pool.codes):
                self._tested(found, names.pop(found.draft), check.spec, span)

    def _tested(self, found: Found, name: str, check: Spec, span: OpenSpan) -> None:
        """Records what a draft's tests came to, and the time that they took it."""
        run, now = self._run, self._run.clock.now()
        cpu_seconds = found.cpu_seconds or 0.0
        own = run.spans.past(
            "tests",
            name,
            started=now - (found.wall_seconds or 0.0),
            ended=now,
            cpu_seconds=cpu_seconds,
            after=(),
            resource="core",
        )
        span.cpu_seconds += cpu_seconds
        run.findings.record(check, (found.draft,), found.answer, how=found.how, span=own)
        self._passed += isinstance(found.answer, Held)

    def _passed_or_not(self, check: Spec, draft: str) -> bool:
        """Whether it is known already what its tests come to; one that passes counts."""
        known = self._run.findings.about(check, draft)
        self._passed += known is not None and isinstance(known.answer, Held)
        return known is not None and not isinstance(known.answer, NoAnswer)

    def enough(self) -> bool:
        """Whether as many distinct drafts pass their tests as the settings ask for."""
        wanted = self._run.loaded.settings.drafts.enough
        return wanted is not None and self._passed >= wanted

    def test(self, pool: Pool, parsed: Sequence[Draft]) -> list[Draft]:
        """The drafts that pass the given tests; all of them where none were given."""
        run = self._run
        if not self._given_tests() or not parsed:
            return list(parsed)
        run.progress.start("given tests", len(parsed))
        with run.spans.span("tests", "tests") as span:
            check = self._tests()
            found = run.findings.gather(
                check, parsed, pool.contents, folded=pool.folded, span=span.id, each=run.progress.advance
            )
            span.cpu_seconds += check.cpu_seconds
        return [draft for draft in parsed if isinstance(found.get(draft.id), Held)]

    def settle(self, pool: Pool, passed: Sequence[Draft]) -> Choice:
        """The draft that the owner's answers speak for, or by weight where nobody answered; none where none is
        right."""
        if not passed:
            return self._record(pool, passed, Chosen(draft=None, because="no draft passes every check"))
        apart = [draft for draft in passed if draft.id not in pool.folded]
        with self._run.spans.span("tests", "behaviour") as span:
            observe, again = self._observer(pool, hash_seed=0), self._observer(pool, hash_seed=1)
            seen = self._look(pool, apart, observe, again)
            span.cpu_seconds += observe.cpu_seconds + again.cpu_seconds
        camps, questions = camps_of(seen.matrix), self._questions(pool, seen)
        if not seen.matrix.programs:
            return self._record(pool, passed, nothing_to_call(camps), camps)
        if seen.matrix.is_unsettled():
            return self._record(pool, passed, nothing_settled(len(passed)), camps)
        unstable = self._tell_unstable(pool, seen.matrix)
        inquiry = self._inquiry(pool, seen, observe, again)
        if self._owner is not None:
            _can_be_asked(self._owner, seen.surface)
            self.open = not converse(self._run, inquiry, self._owner)
        else:
            self.open = not inquiry.told and any(one.state == "open" for one in seen.decisions)
        with self._run.spans.span("ranking", "choosing"):
            chosen = with_unstable(chosen_of(inquiry, camps, tested=seen.tested), unstable)
            self._keep(inquiry, chosen, observe, seen.surface)
            return self._record(pool, passed, chosen, camps, questions)

    # behaviour

    def _look(self, pool: Pool, drafts: Sequence[Draft], observe: Observer, again: Observer) -> Seen:
        """Explores what the drafts do, and where they part."""
        surface, hints = self._what_can_be_called(pool, drafts)
        matrix = self._explore(surface, hints, drafts, observe, again)
        if self._run.loaded.settings.behaviour.crosshair and matrix.programs:
            self._search(pool, matrix, Maker(surface, hints), observe, again)
        decisions = decisions_of(matrix, surface, observe, hints=hints, again=again)
        return Seen(surface, matrix, decisions, Maker(surface, hints).seeds())

    def _what_can_be_called(self, pool: Pool, drafts: Sequence[Draft]) -> tuple[Surface, Hints]:
        brief = self._run.loaded.brief.text
        sources = [pool.contents[draft.id].decode("utf-8") for draft in drafts]
        given = self._given_tests().items()
        tests = [content.decode("utf-8", "replace") for name, content in given if name.endswith(".py")]
        surface = surface_of(brief, sources)
        return surface, hints_of(tests, sources, brief, surface=surface)

    def _explore(
        self, surface: Surface, hints: Hints, drafts: Sequence[Draft], observe: Observer, again: Observer
    ) -> Matrix:
        settings, progress = self._run.loaded.settings.behaviour, self._run.progress
        budget = Budget(calls=settings.calls)
        progress.start("behaviour", budget.calls * len(drafts))
        done = 0

        def advance(_programs: int, _groups: int, calls: int) -> None:
            nonlocal done
            progress.advance(calls - done)
            done = calls

        ids = [draft.id for draft in drafts]
        rng = random.Random(settings.seed)
        return explore(surface, hints, ids, observe, rng=rng, budget=budget, again=again, progress=advance)

    def _search(self, pool: Pool, matrix: Matrix, maker: Maker, observe: Observer, again: Observer) -> None:
        """Looks further for what parts drafts that exploring has left together."""
        run, box = self._run, self._sandbox()
        budget = symbolic.SearchBudget(cpu_seconds=run.loaded.settings.behaviour.crosshair_cpu_seconds)
        searcher = symbolic.Searcher(run, box.search, pool.contents, args={"module": run.loaded.module})
        run.progress.start("CrossHair", budget.pairs)
        with run.spans.span("tests", "crosshair") as span:
            searched = symbolic.search(
                matrix, maker, searcher, observe, again=again, budget=budget, progress=run.progress.advance
            )
            span.cpu_seconds += searcher.cpu_seconds
        searcher.conclude(matrix.drafts, searched)

    def _observer(self, pool: Pool, *, hash_seed: int) -> Observer:
        box = self._sandbox()

        def runs(sources: Mapping[str, bytes], programs: Sequence[Program]) -> Iterator[tuple[str, Ran]]:
            return box.run(sources, programs, hash_seed=hash_seed)

        return Observer(self._run, runs, pool.contents, self._limits(), hash_seed=hash_seed)

    # the owner

    def _inquiry(self, pool: Pool, seen: Seen, observe: Observer, again: Observer) -> Inquiry:
        settings = self._run.loaded.settings.choose
        return Inquiry(
            ground_of(seen.matrix),
            seen.decisions,
            run=observe,
            again=again,
            lab=self._lab(pool, seen.matrix.drafts),
            choosing=Choosing(odds=settings.odds, budget=settings.budget),
            fit=self.fit,
            broke=len(pool.drafts) - len(pool.with_folded(seen.matrix.drafts)),
            told=told_before(self._run),
        )

    def _lab(self, pool: Pool, drafts: Sequence[str]) -> Lab:
        sources = {draft: pool.contents[draft] for draft in drafts}
        return Lab(sources=sources, run=self._run_sources, passing=self._passing)

    def _run_sources(
        self, sources: Mapping[str, bytes], programs: Sequence[Program]
    ) -> Mapping[str, tuple[bytes, ...]]:
        with self._run.spans.span("tests", "mutants"):
            return {key: ran.outcomes for key, ran in self._sandbox().run(sources, programs)}

    def _passing(self, sources: Mapping[str, bytes]) -> frozenset[str]:
        if not self._given_tests():
            return frozenset(sources)
        with self._run.spans.span("tests", "mutants"):
            return self._tests().passing(sources)

    def _keep(self, inquiry: Inquiry, chosen: Chosen, observe: Observer, surface: Surface) -> None:
        """What the owner keeps: her answers as tests, and the next round's brief where no draft is right."""
        loaded = self._run.loaded
        if not inquiry.told:
            return
        verdict = inquiry.verdict()
        best = chosen.draft or verdict.near[0][0]
        self._keep_answers(inquiry.told, verdict.clash, lambda program: observe.calls_of(best, program), surface)
        if chosen.draft is None:
            names = {draft.id: draft.name for draft in self._run.ledger.all(Draft, about=loaded.brief.id)}
            near = [(names[draft], [inquiry.told[place] for place in against]) for draft, against in verdict.near]
            text = next_round.next_brief(loaded.brief.text, inquiry.told, near)
            path = loaded.folder / next_round.FILE_NAME
            with boundary(BriefError, f"writing {path}"):
                path.write_text(text, encoding="utf-8")

    def _keep_answers(
        self, told: Sequence[Told], clash: Sequence[int], outcomes: answers.Outcomes, surface: Surface
    ) -> None:
        loaded = self._run.loaded
        answers.keep(
            loaded.tests or loaded.folder / "tests",
            told,
            module=loaded.module,
            outcomes=outcomes,
            exceptions=surface.exceptions,
            clash=clash,
        )

    # the record

    def _tell_unstable(self, pool: Pool, matrix: Matrix) -> list[str]:
        """Records which drafts do not do the same twice, and gives their names."""
        findings, found = self._run.findings, set[str]()
        for draft, broke in unstable_in(matrix).items():
            for one in pool.with_folded([draft]):
                found.add(one)
                known = findings.about(STEADY, one)
                if known is None or known.answer != broke:
                    findings.record(STEADY, (one,), broke)
        return [draft.name for draft in pool.drafts if draft.id in found]

    def _questions(self, pool: Pool, seen: Seen) -> list[Question]:
        brief, module = self._run.loaded.brief.id, self._run.loaded.module
        questions = [
            question_of(one, brief=brief, module=module, with_folded=pool.with_folded) for one in seen.decisions
        ]
        for question in questions:
            self._run.ledger.add(question)
        return questions

    def _record(
        self,
        pool: Pool,
        passed: Sequence[Draft],
        chosen: Chosen,
        camps: Sequence[Camp] = (),
        questions: Sequence[Question] = (),
    ) -> Choice:
        choice = choice_of(
            chosen,
            brief=self._run.loaded.brief.id,
            saw=self._run.ledger.position(),
            among=[draft.id for draft in passed],
            camps=camps,
            questions=questions,
            with_folded=pool.with_folded,
        )
        self._run.ledger.add(choice)
        return choice

    # the box

    def _given_tests(self) -> Mapping[str, bytes]:
        """The owner's tests. Answers that the ledger knows are evidence of their own and no given tests."""
        known = any(True for _ in told_before(self._run))
        files = self._run.loaded.test_files
        if not known:
            return files
        given = {name: content for name, content in files.items() if not self._is_answer(name)}
        return given if any(map(_may_hold_tests, given)) else {}

    def _is_answer(self, name: str) -> bool:
        return name == answers.FILE_NAME

    def _tests(self) -> TestsCheck | CasesCheck:
        return TestsCheck(self._run.loaded, self._given_tests(), self._sandbox())

    def _limits(self) -> Limits:
        tests, sandbox = self._run.loaded.settings.tests, self._run.loaded.settings.sandbox
        return Limits(
            cpu_seconds=tests.cpu_seconds,
            memory_mb=tests.memory_mb,
            scratch_mb=sandbox.scratch_mb,
            output_kb=sandbox.output_kb,
            allow=sandbox.allow,
        )

    def _sandbox(self) -> Sandbox:
        if self._box is None:
            loaded = self._run.loaded
            box = Sandbox(self._limits(), module=loaded.module, command=loaded.settings.sandbox.command)
            self._box = self._open.enter_context(box)
        return self._box


def _may_hold_tests(file: str) -> bool:
    """Whether a file of the tests' folder is more than what prepares for tests."""
    return file.endswith(".py") and file.rpartition("/")[2] not in ("__init__.py", "conftest.py")


def _can_be_asked(owner: Owner, surface: Surface) -> None:
    """Raises BriefError where the owner's file lacks what the brief is about: every call would raise, and that would
    pass for what she wants."""
    if not isinstance(owner, ActingOwner):
        return
    names = [*(one.name for one in surface.functions), *(one.name for one in surface.classes)]
    if lacking := owner.lacking(names):
        raise BriefError(
            f"the owner {owner.name} does not define {', '.join(lacking)}",
            hint="a file answers by making the same calls, so it has to define what the drafts define",
        )
