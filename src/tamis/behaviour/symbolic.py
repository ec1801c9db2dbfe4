"""Symbolic search. After exploring, looks with CrossHair for inputs that part drafts which no program has parted.

Pairs within the heaviest groups come first, one of each group by turns. CrossHair runs in the box, with both drafts of
a pair; what it proposes is first run in those two, plainly, and in all drafts only where they part. So what a draft may
forge in there costs two runs and parts nobody. What was searched is recorded, and not searched again.

Its budget is of pairs and of paths first; CPU seconds end what takes too long, so that a slower machine may find less.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, pairwise, zip_longest
from typing import Protocol

import msgspec

from tamis.behaviour.camps import Partition
from tamis.behaviour.inputs import Maker
from tamis.behaviour.matrix import Keys, Matrix, Runner, outcomes_of
from tamis.behaviour.programs import key_of, unique
from tamis.behaviour.skeletons import filled, skeletons_of
from tamis.errors import UsageError
from tamis.records import Measured, NoAnswer, Observed, Record, Spec, digest
from tamis.run import Run
from tamis.sandbox import Pair, Program, Sought
from tamis.sandbox.symbolic import is_installed, version

CHECK = "crosshair"
TOGETHER = 2
"""Pairs that are searched before what was proposed is run: what parts one pair may part the next."""

MOST_TRIED = 100
"""Pairs that are looked at, also those in which there is nothing to search."""
PATHS = 200
"""Paths that are followed in each skeleton, each way round."""


class Searches(Protocol):
    """Searches pairs, by key, each in at most so many CPU seconds: how, is the sandbox's matter."""

    def __call__(
        self, pairs: Mapping[str, Pair], *, cpu_seconds: float, paths: int
    ) -> Iterator[tuple[str, Sought]]: ...


def demand() -> None:
    """Raises UsageError where CrossHair is not installed."""
    if not is_installed():
        raise UsageError("[behaviour] crosshair needs CrossHair", hint="pip install 'tamis[crosshair]'")


class SearchBudget(Record, frozen=True, kw_only=True):
    """How far to search: pairs of drafts, CPU seconds for one pair, and for all of them together."""

    pairs: int = 10
    pair_cpu_seconds: float = 10.0
    cpu_seconds: float = 60.0


class Searched(Record, frozen=True, kw_only=True):
    """What a search came to: pairs searched, values proposed that make sense, and inputs that part drafts which nothing
    had parted before."""

    pairs: int
    inputs: int
    proposed: int
    cpu_seconds: float


class Searcher:
    """Searches pairs of drafts, by id, each once. `args` are what else would make the proposals others."""

    def __init__(
        self, run: Run, searches: Searches, contents: Mapping[str, bytes], *, args: Mapping[str, str | float | int]
    ) -> None:
        self._run = run
        self._searches = searches
        self._contents = contents
        self._args = {**args, "crosshair": version(), "paths": PATHS}
        self.cpu_seconds = 0.0
        """What the drafts used in their boxes now, which this process does not count as its own."""

    def source(self, draft: str) -> str:
        return self._contents[draft].decode("utf-8")

    def __call__(self, pairs: Mapping[tuple[str, str], Pair], cpu_seconds: float) -> dict[tuple[str, str], Sought]:
        checks = {pair: self._check(pair, what, cpu_seconds) for pair, what in pairs.items()}
        known = {pair: sought for pair, check in checks.items() if (sought := self._recorded(check, pair)) is not None}
        keys = {f"{a} {b}": (a, b) for a, b in pairs if (a, b) not in known}
        missing = {key: pairs[pair] for key, pair in keys.items()}
        for key, sought in self._searches(missing, cpu_seconds=cpu_seconds, paths=PATHS) if missing else ():
            known[keys[key]] = sought
            self.cpu_seconds += sought.cpu_seconds
            self._record(checks[keys[key]], keys[key], pairs[keys[key]], sought)
        return {pair: known[pair] for pair in pairs}

    def _check(self, pair: tuple[str, str], what: Pair, cpu_seconds: float) -> Spec:
        python = f"{sys.version_info.major}.{sys.version_info.minor}"
        skeletons = digest(msgspec.json.encode(what.skeletons).decode())
        args = {"with": pair[1], "skeletons": skeletons, "cpu_seconds": cpu_seconds, "python": python, **self._args}
        return Spec(kind="check", name=CHECK, version="1", args=args)

    def _recorded(self, check: Spec, pair: tuple[str, str]) -> Sought | None:
        evidence = self._run.findings.about(check, pair[0])
        match evidence.answer if evidence else None:
            case Observed(outcomes=blob):
                return msgspec.json.decode(self._run.ledger.blob(blob), type=Sought)
            case _:
                return None

    def _record(self, check: Spec, pair: tuple[str, str], what: Pair, sought: Sought) -> None:
        if sought.fault is not None:
            self._run.findings.record(check, pair, NoAnswer(fault="sandbox", why=sought.fault))
            return
        inputs = self._run.ledger.add_blob(msgspec.json.encode(what.skeletons))
        outcomes = self._run.ledger.add_blob(msgspec.json.encode(sought))
        self._run.findings.record(check, pair, Observed(inputs=inputs, outcomes=outcomes), how=sought.how)

    def conclude(self, drafts: Sequence[str], searched: Searched) -> None:
        """Records how many inputs came of it all, about all these drafts."""
        check = Spec(kind="check", name=CHECK, version="1", args={"drafts": digest(*drafts), **self._args})
        answer = Measured(value=searched.inputs, unit="input" if searched.inputs == 1 else "inputs")
        known = self._run.findings.about(check, drafts[0])
        if known is None or known.answer != answer:
            how = {"pairs": str(searched.pairs), "proposed": str(searched.proposed)}
            self._run.findings.record(check, tuple(drafts), answer, how=how)


def search(
    matrix: Matrix,
    maker: Maker,
    searcher: Searcher,
    run: Runner,
    *,
    again: Runner,
    budget: SearchBudget | None = None,
    progress: Callable[[], None] = lambda: None,
) -> Searched:
    """Adds to the matrix the inputs found that part drafts which it leaves together. `again` runs programs under
    another hash seed, so that what is not deterministic parts nobody. `progress` is told of each pair."""
    budget = budget or SearchBudget()
    hunt = _Hunt(matrix, maker, searcher, run, again)
    while hunt.searched < budget.pairs and hunt.cpu_seconds < budget.cpu_seconds:
        pairs = hunt.next_pairs(min(TOGETHER, budget.pairs - hunt.searched))
        if not pairs:
            break
        share = (budget.cpu_seconds - hunt.cpu_seconds) / len(pairs)
        for pair, sought in searcher(pairs, min(budget.pair_cpu_seconds, share)).items():
            hunt.take(pair, pairs[pair], sought)
            progress()
    return Searched(pairs=hunt.searched, inputs=hunt.inputs, proposed=hunt.proposed, cpu_seconds=hunt.cpu_seconds)


class _Hunt:
    """One search: what nothing has parted yet, what was tried, and what it came to so far."""

    def __init__(self, matrix: Matrix, maker: Maker, searcher: Searcher, run: Runner, again: Runner) -> None:
        self._matrix = matrix
        self._maker = maker
        self._searcher = searcher
        self._run = run
        self._again = again
        self._partition = Partition(len(matrix.drafts))
        for column in matrix.columns:
            self._partition.part(column)
        self._known = set(map(key_of, matrix.programs))
        self._tried: set[tuple[str, str]] = set()
        self.searched = self.inputs = self.proposed = 0
        self.cpu_seconds = 0.0

    def next_pairs(self, most: int) -> dict[tuple[str, str], Pair]:
        """The next pairs to search, at most so many: those in which there is something that can be searched."""
        found: dict[tuple[str, str], Pair] = {}
        for a, b in self._untried():
            if len(found) == most or len(self._tried) >= MOST_TRIED:
                break
            self._tried.add((a, b))
            one, two = self._searcher.source(a), self._searcher.source(b)
            skeletons = skeletons_of(one, two, a, self._matrix, self._maker)
            if skeletons:
                found[a, b] = Pair(first=one.encode(), second=two.encode(), skeletons=skeletons)
        return found

    def _untried(self) -> Iterator[tuple[str, str]]:
        """One pair of each group by turns, the heaviest first: each draft with the next, then with the one after, so
        that one which hides from the search hides no other."""
        groups: dict[int, list[str]] = {}
        for draft, group in zip(self._matrix.drafts, self._partition.groups.tolist(), strict=True):
            groups.setdefault(group, []).append(draft)
        heaviest = sorted((g for g in groups.values() if len(g) > 1), key=len, reverse=True)
        pairs = (chain(pairwise(group), zip(group, group[2:], strict=False)) for group in heaviest)
        for turn in zip_longest(*pairs):
            yield from (pair for pair in turn if pair is not None and pair not in self._tried)

    def take(self, pair: tuple[str, str], what: Pair, sought: Sought) -> None:
        """Runs what was proposed for a pair, and adds to the matrix what parts it."""
        self.searched += 1
        self.cpu_seconds += sought.cpu_seconds
        programs = (filled(what.skeletons[number], values) for number, values in sought.proposed)
        sensible = unique([program for program in programs if program is not None])
        self.proposed += len(sensible)
        telling = self._telling(pair, [program for program in sensible if key_of(program) not in self._known])
        if telling:
            self._add(telling)

    def _telling(self, pair: tuple[str, str], programs: Sequence[Program]) -> list[Program]:
        """Those on which the two drafts do otherwise when they are run plainly."""
        if not programs:
            return []
        ran, keys = self._run(pair, programs), Keys()

        def did(draft: str, i: int) -> list[int]:
            return [keys.of(outcome) for outcome in outcomes_of(ran[draft][i])]

        return [program for i, program in enumerate(programs) if did(pair[0], i) != did(pair[1], i)]

    def _add(self, programs: Sequence[Program]) -> None:
        matrix = self._matrix
        ran, second = self._run(matrix.drafts, programs), self._again(matrix.drafts, programs)
        for i, program in enumerate(programs):
            inside = self._maker.inside(program)
            column = matrix.add(program, {d: ran[d][i] for d in matrix.drafts}, inside=inside)
            column.run_again({at: second[d][i] for at, d in enumerate(matrix.drafts)}, matrix.keys)
            self._known.add(key_of(program))
            self.inputs += self._partition.part(column) > 0
