"""Many runs with owners of whom everything is known: each draft that passes is the owner once, with itself in the pool
and with itself and its like taken out, answering well or erring now and then."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from _worlds import World

from tamis.behaviour.inquiry import Choosing, Inquiry
from tamis.behaviour.odds import Clue, Fit, posterior
from tamis.behaviour.owner import Answer as OwnersAnswer
from tamis.behaviour.owner import Ask, DontKnow, LineAnswer, Owner, Page, Picked, Right, Wrong


@dataclass(frozen=True)
class Final:
    """What a finished run's belief rests on, so that other numbers for the model can be tried on it. `left` holds, for
    the likeliest drafts, what share of the ways, mutants and situations was not gone over."""

    clues: tuple[Clue, ...]
    camps: tuple[tuple[int, ...], ...]
    left: dict[int, tuple[float, float, float]]
    leader: tuple[int, ...]

    def p(self, fit: Fit) -> float:
        """The probability that the leading draft is right, by these numbers."""
        n = sum(map(len, self.camps))
        weights = np.zeros(n)
        for camp in self.camps:
            weights[list(camp)] = len(camp) ** fit.size_power / len(camp)
        exposed = np.zeros(n)
        for d, left in self.left.items():
            exposed[d] = fit.seen * (1 - sum(s * x for s, x in zip(fit.shares, left, strict=True)))
        for camp in self.camps:
            exposed[list(camp)] = exposed[list(camp)].max()
        return float(posterior(self.clues, weights / weights.sum(), exposed, fit).right[list(self.leader)].sum())


@dataclass(frozen=True)
class Result:
    """One run. `right` is whether what leads at the end is the owner's own draft or its like; `p` the odds on it."""

    brief: str
    owner: str
    removed: bool
    erring: bool
    chosen: str | None
    right: bool
    p: float
    questions: int
    lines: int
    calls_read: int
    against: int
    stopped: str
    final: Final
    leaders: tuple[bool, ...] = field(default=())


class Erring:
    """An owner who gives a wrong answer now and then: another option, a wrong line let pass, a right one corrected."""

    name = "erring"

    def __init__(self, owner: Owner, rate: float, rng: random.Random) -> None:
        self._owner, self._rate, self._rng = owner, rate, rng

    def answer(self, ask: Ask) -> OwnersAnswer | None:
        true = self._owner.answer(ask)
        if self._rng.random() < self._rate:
            mine = true.option if isinstance(true, Picked) else -1
            others = [i for i in range(len(ask.options)) if i != mine]
            return Picked(option=self._rng.choice(others)) if others else true
        return true

    def review(self, page: Page) -> Sequence[LineAnswer] | None:
        answers = list(self._owner.review(page) or ())
        for i, line in enumerate(page.lines[: len(answers)]):
            if self._rng.random() < self._rate and not isinstance(answers[i], DontKnow):
                call = self._rng.choice(line.calls)
                answers[i] = Right() if isinstance(answers[i], Wrong) else Wrong(step=call.step, outcome=None)
        return answers


def ask_all(inquiry: Inquiry, owner: Owner) -> tuple[str, ...]:
    """The whole conversation; which draft led after each question."""
    led = [inquiry.leading()]
    while (what := inquiry.next_question()) is not None:
        if isinstance(what, Ask):
            answer = owner.answer(what)
            assert answer is not None
            inquiry.learn(answer)
            led.append(inquiry.leading())
        else:
            answers = owner.review(what)
            assert answers is not None
            inquiry.learn_page(answers)
    return tuple(led)


def one_run(
    world: World, draft: str, *, removed: bool, erring: float, choosing: Choosing, fit: Fit, seed: int = 0
) -> Result:
    alike = world.alike(draft)
    ground, decisions = world.without(alike if removed else [])
    owner: Owner = world.owner_like(draft)
    if erring:
        owner = Erring(owner, erring, random.Random(f"{seed} {world.name} {draft} {removed}"))
    inquiry = Inquiry(ground, decisions, run=world.run, lab=world.lab, choosing=choosing, fit=fit)
    led = ask_all(inquiry, owner)
    return _result(world, inquiry, draft, alike=alike, removed=removed, erring=bool(erring), led=led)


def _result(
    world: World, inquiry: Inquiry, draft: str, *, alike: Sequence[str], removed: bool, erring: bool, led: Sequence[str]
) -> Result:
    verdict = inquiry.verdict()
    best = inquiry.leading()
    calls = sum(1 for t in inquiry.told if t.shown is not None)
    return Result(
        brief=world.name,
        owner=draft,
        removed=removed,
        erring=erring,
        chosen=verdict.draft,
        right=best in alike and not removed,
        p=inquiry.chance(best),
        questions=inquiry.questions,
        lines=inquiry.lines_read,
        calls_read=calls,
        against=len(verdict.near[0][1]),
        stopped=inquiry.stopped or "",
        final=final_of(inquiry),
        leaders=tuple(leader in alike for leader in led),
    )


def final_of(inquiry: Inquiry) -> Final:
    left, leader = inquiry.uncovered(), inquiry.leading()
    camps = inquiry.camps
    at = inquiry.ground.drafts.index(leader)
    return Final(tuple(inquiry.clues), tuple(camps), left, next(c for c in camps if at in c))
