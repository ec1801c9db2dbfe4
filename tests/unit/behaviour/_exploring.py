"""Explores a small brief from beginning to end, as the tests of this folder need it."""

import random
from dataclasses import dataclass
from functools import cached_property

from tamis.behaviour.decisions import Decision, decisions_of
from tamis.behaviour.grow import Budget, explore
from tamis.behaviour.hints import Hints, hints_of
from tamis.behaviour.matrix import Matrix
from tamis.behaviour.surface import Surface, surface_of
from tamis.behaviour.words import names_of, outcome_said, said

from ._briefs import Case
from ._running import InProcess


@dataclass
class Explored:
    """A case, explored with a budget of calls per draft."""

    case: Case
    calls: int = 2_500
    seed: int = 0
    round_calls: int = 400

    @cached_property
    def surface(self) -> Surface:
        return surface_of(self.case.brief, list(self.case.drafts.values()))

    @cached_property
    def hints(self) -> Hints:
        return hints_of(self.case.tests, list(self.case.drafts.values()), self.case.brief, surface=self.surface)

    @cached_property
    def run(self) -> InProcess:
        return InProcess(self.case.module, self.case.drafts)

    @cached_property
    def matrix(self) -> Matrix:
        budget = Budget(calls=self.calls, round_calls=self.round_calls)
        rng = random.Random(self.seed)
        return explore(self.surface, self.hints, tuple(self.case.drafts), self.run, rng=rng, budget=budget)

    @cached_property
    def decisions(self) -> tuple[Decision, ...]:
        return decisions_of(self.matrix, self.surface, self.run, hints=self.hints)

    def sides(self, decision: Decision) -> dict[str, set[str]]:
        """Who does what."""
        return {outcome_said(o.outcome, dates=False): set(o.drafts) for o in decision.options}

    def shown(self, decision: Decision) -> str:
        """The witness, call by call."""
        program, names = decision.witness, names_of(decision.witness)
        return "; ".join(said(program, i, names, dates=False) for i in range(len(program)))

    def parting(self, *drafts: str) -> list[Decision]:
        """The open decisions that set exactly these drafts off against the most."""
        open_ = [d for d in self.decisions if d.state == "open"]
        return [d for d in open_ if {x for o in d.options[1:] for x in o.drafts} == set(drafts)]
