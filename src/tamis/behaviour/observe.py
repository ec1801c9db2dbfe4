"""Observing: runs drafts on programs in the box, each pair once. What was recorded is not run again, so an exploration
that was killed comes back to where it was by making the same programs."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from tamis.behaviour.matrix import outcomes_of
from tamis.records import NoAnswer, Observed, Spec
from tamis.run import Run
from tamis.sandbox import Limits, Program, Ran

Runs = Callable[[Mapping[str, bytes], Sequence[Program]], Iterator[tuple[str, Ran]]]
"""Runs sources, by key, on programs: how, is the sandbox's matter."""
_BLOBS = msgspec.json.Decoder(list[str])


class Observer:
    """Runs drafts, by id, on programs. `hash_seed` fixes the order of the draft's own sets, so that a second Observer
    with another seed shows what is not deterministic. `args` are what else would make the outcomes others. `faults` are
    the drafts that the box itself failed on."""

    def __init__(
        self,
        run: Run,
        runs: Runs,
        contents: Mapping[str, bytes],
        limits: Limits,
        *,
        hash_seed: int = 0,
        args: Mapping[str, str] | None = None,
    ) -> None:
        self._run = run
        self._runs = runs
        self._args = dict(args or {})
        self._contents = contents
        self._hash_seed = hash_seed
        self._limits = limits
        self.faults: dict[str, str] = {}
        self.cpu_seconds = 0.0
        """What the drafts used in their boxes, which this process does not count as its own."""

    def __call__(self, drafts: Sequence[str], programs: Sequence[Program]) -> dict[str, tuple[bytes, ...]]:
        """What each draft did, one JSON text a program. A draft that the box failed on is `not reached` throughout."""
        block = self._run.ledger.add_blob(msgspec.json.encode(programs))
        check = self._check(block)
        known = {draft: ran for draft in drafts if (ran := self._recorded(check, draft)) is not None}
        missing = {draft: self._contents[draft] for draft in drafts if draft not in known}
        if missing:
            known |= self._observe(check, block, missing, programs)
        return {draft: known[draft] for draft in drafts}

    def calls_of(self, draft: str, program: Program) -> tuple[bytes, ...]:
        """What one draft does in one program, one JSON text a call."""
        return outcomes_of(self([draft], [program])[draft][0])

    def _check(self, block: str) -> Spec:
        return Spec(
            kind="check",
            name="behaviour",
            version="1",
            args={
                "inputs": block,
                "module": self._run.loaded.module,
                "hash_seed": self._hash_seed,
                "cpu_seconds": self._limits.cpu_seconds,
                "memory_mb": self._limits.memory_mb,
                "python": f"{sys.version_info.major}.{sys.version_info.minor}",
                **self._args,
            },
        )

    def _recorded(self, check: Spec, draft: str) -> tuple[bytes, ...] | None:
        evidence = self._run.findings.about(check, draft)
        match evidence.answer if evidence else None:
            case Observed(outcomes=blob):
                return tuple(text.encode() for text in _BLOBS.decode(self._run.ledger.blob(blob)))
            case _:
                return None

    def _observe(
        self, check: Spec, block: str, missing: Mapping[str, bytes], programs: Sequence[Program]
    ) -> dict[str, tuple[bytes, ...]]:
        found: dict[str, tuple[bytes, ...]] = {}
        for draft, ran in self._runs(missing, programs):
            self.cpu_seconds += ran.cpu_seconds
            if ran.fault is not None:
                self.faults[draft] = ran.fault
                self._run.findings.record(check, (draft,), NoAnswer(fault="sandbox", why=ran.fault), how=ran.how)
                found[draft] = tuple(_not_reached(program) for program in programs)
                continue
            outcomes = self._run.ledger.add_blob(msgspec.json.encode([text.decode() for text in ran.outcomes]))
            self._run.findings.record(check, (draft,), Observed(inputs=block, outcomes=outcomes), how=ran.how)
            found[draft] = ran.outcomes
        return found


def _not_reached(program: Program) -> bytes:
    return msgspec.json.encode([["#", "not reached", ""]] * len(program))
