"""Beliefs. What is known at one point of the conversation with the owner: the answers so far, what they went over, and
what follows for every draft. It asks nothing; `Inquiry` does.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

import msgspec
import numpy as np

from tamis.behaviour.decisions import Decision
from tamis.behaviour.ground import (
    NEVER,
    UNTOLD,
    Flags,
    Floats,
    Ground,
    Ints,
    differing,
    first_difference,
    numbered,
    preparing,
)
from tamis.behaviour.lab import Lab
from tamis.behaviour.matrix import outcomes_of
from tamis.behaviour.mutants import Mutant
from tamis.behaviour.odds import FITTED, Clue, Fit, Posterior, posterior, prior_weights, stated
from tamis.behaviour.owner import (
    Ask,
    Page,
    Told,
    same,
)
from tamis.behaviour.questions import Candidate, candidate
from tamis.behaviour.storyboard import Cover, candidates_for_mutants, cover_of
from tamis.behaviour.waivers import Waiver, apply, waiver_of
from tamis.records import Odds, Record
from tamis.sandbox import Program

Runner = Callable[[Sequence[str], Sequence[Program]], Mapping[str, tuple[bytes, ...]]]
CONSIDERED = 8
"""Camps for which what the answers went over is reckoned in full; the others are too unlikely to matter."""


class Choosing(Record, frozen=True, kw_only=True):
    """How far to go. `budget` is the number of questions, `lines` the number of storyboard lines, `page_lines` of them
    on a page; `mutants` and `programs` bound the work for one storyboard; `least_bits` is what a question must tell."""

    odds: float = 0.95
    budget: int = 15
    lines: int = 24
    page_lines: int = 12
    mutants: int = 160
    programs: int = 160
    least_bits: float = 0.12


@dataclass
class _Watch:
    """One base under watch: what is covered, and which of its mutants still live."""

    cover: Cover
    alive: tuple[Mutant, ...] = ()
    done: int = 0


class Beliefs:
    """The same answers learned in any order give the same belief."""

    def __init__(
        self,
        ground: Ground,
        decisions: Sequence[Decision],
        *,
        run: Runner,
        lab: Lab,
        again: Runner | None = None,
        choosing: Choosing | None = None,
        fit: Fit = FITTED,
        broke: int = 0,
        told: Iterable[Told] = (),
    ) -> None:
        """`told` is what the owner answered before."""
        self.choosing = choosing or Choosing()
        self.fit = fit
        self.ground = ground
        self._run, self._again_run, self._lab, self._broke = run, again, lab, broke
        self._waivers: list[Waiver] = []
        self._open = [d for d in decisions if d.state == "open"]
        self._asks, self._also = self._candidates()
        self._camp_up()
        self.told: list[Told] = []
        self.clues: list[Clue] = []
        self._gone_over: list[tuple[int, int, tuple[int, ...], bool]] = []
        self._watched: dict[int, _Watch] = {}
        self._mutants: dict[int, tuple[tuple[Mutant, ...], dict[int, Ints]]] = {}
        self._located: dict[bytes, tuple[int, int]] = {}
        self._again: list[Ask] = []
        self._asked_again: set[str] = set()
        self._belief: Posterior | None = None
        self.questions = 0
        self.lines_read = 0
        self.pages = 0
        self.odds_before: Odds | None = None
        self._waiting: Ask | Page | None = None
        self.stopped: str | None = None
        for one in told:
            if one.page is not None and self.odds_before is None:
                self.odds_before = self._stated(self._leader())
            self._take(one)
        for draft in dict.fromkeys(one.draft for one in self.told if one.page is not None):
            if draft in self.ground.drafts:  # as when its page was put
                self._run_mutants(self.ground.drafts.index(draft))
        self._from_before = list(self.told)
        self.questions = sum(t.page is None for t in self.told)
        self.lines_read = len({(t.page, t.line) for t in self.told if t.page is not None})
        self.pages = len({t.page for t in self.told if t.page is not None})

    def _candidates(self) -> tuple[list[Candidate], dict[str, list[Program]]]:
        """The open decisions as questions; their witnesses join the ground."""
        places = self._join([d.witness for d in self._open])
        asks = [candidate(self.ground, d, p) for d, p in zip(self._open, places, strict=True)]
        return asks, {d.id: list(d.also) for d in self._open}

    def _join(self, programs: Sequence[Program], *, aside: bool = False) -> list[int]:
        """The places of the programs in the ground; new ones are run in all drafts first."""
        new = [p for p in programs if self.ground.place(p) is None]
        ran = self._run(self.ground.drafts, new) if new else {}
        unstable = [d for d in self.ground.drafts if d in self.ground.unstable]
        second = self._again_run(unstable, new) if new and unstable and self._again_run is not None else {}
        nothing = self.ground.keys.of(b'["=",null]')
        for i, program in enumerate(new):
            rans = [ran[d][i] for d in self.ground.drafts]
            steps = numbered(rans, self.ground.keys, len(program))
            for draft, other in second.items():
                at = self.ground.drafts.index(draft)
                if (numbered([other[i]], self.ground.keys, len(program)) != steps[at]).any():
                    steps[at] = UNTOLD
            place = self.ground.add(program, steps, rans, preparing=preparing(program, steps, nothing), aside=aside)
            for draft in self.ground.drafts:
                self._note(outcomes_of(ran[draft][i]))
            for waiver in self._waivers:
                apply(waiver, self.ground, place)
        return [p for p in map(self.ground.place, programs) if p is not None]

    def _note(self, outcomes: Sequence[bytes]) -> None:
        for outcome in outcomes:
            self._raw.setdefault(self.ground.keys.of(outcome), outcome)

    def _number(self, said: bytes) -> int:
        """The number of an outcome that the owner named: the drafts' own where it is the same to her."""
        key = self.ground.keys.of(said)
        if key not in self._raw:
            like = next((n for n, raw in self._raw.items() if raw[:4] == b'["!"' == said[:4] and same(raw, said)), None)
            if like is not None:
                return like
            self._raw[key] = said
        return key

    @property
    def _raw(self) -> dict[int, bytes]:
        return self.ground.raw

    @property
    def belief(self) -> Posterior:
        if self._belief is None:
            drafts = len(self.ground.drafts)
            exposed = np.zeros(drafts)
            first = self._posterior(self.clues, exposed)
            for d in self._likeliest(first):
                exposed[d] = self.fit.seen * self._watch(d).cover.exposed() if self._gone_over else 0.0
            for camp in self.camps:  # what was gone over for one holds for its like
                exposed[list(camp)] = exposed[list(camp)].max()
            self._belief = self._posterior(self.clues, exposed)
        return self._belief

    def _posterior(self, clues: Sequence[Clue], exposed: Floats) -> Posterior:
        """What the clues say. That a draft does one thing now and another then is one more against it: what is meant
        does not change from run to run."""
        unstable = np.array([name in self.ground.unstable for name in self.ground.drafts], dtype=np.bool_)
        more = [Clue("steady", "", ~unstable, unstable)] if unstable.any() else []
        return posterior([*clues, *more], self._weights, exposed, self.fit)

    def _likeliest(self, belief: Posterior) -> list[int]:
        """One draft of each of the likeliest camps."""
        order = sorted(self.camps, key=lambda camp: (-self._of_camp(belief.base, camp[0]), camp[0]))
        return [camp[0] for camp in order[:CONSIDERED]]

    def _watch(self, base: int) -> _Watch:
        """The cover of a base, with everything that was asked and read so far gone over."""
        watch = self._watched.get(base)
        if watch is None:
            alive, first = self._mutants_told(base)
            watch = _Watch(cover_of(self.ground, base, first, len(alive), self.fit.shares), alive)
            self._watched[base] = watch
        for p, step, read, line in self._gone_over[watch.done :]:
            for begun in read:
                watch.cover.read(begun, step)
            if not read:
                parted, does, situations = self.ground.showing(p, base, step)
                here = self.ground.steps[p][:, step]
                watch.cover.asked(parted if line else differing(here, here[base]), does, situations)
                if p in watch.cover.first:
                    watch.cover.mutants = np.where(watch.cover.first[p] <= step, 0.0, watch.cover.mutants)
        watch.done = len(self._gone_over)
        return watch

    def _leader(self) -> int:
        """The draft that the truth is most probably nearest to; its camp counts together."""
        return max(range(len(self.ground.drafts)), key=lambda d: (self._of_camp(self.belief.base, d), -d))

    def _of_camp(self, values: Floats, draft: int) -> float:
        return float(values[list(self._camp(draft))].sum())

    def _camp(self, draft: int) -> tuple[int, ...]:
        return next(c for c in self.camps if draft in c)

    def leading(self) -> str:
        """The draft that the truth is most probably nearest to."""
        return self.ground.drafts[self._leader()]

    def chance(self, draft: str) -> float:
        """The probability that this draft, or one that behaves exactly alike, is right."""
        return self._of_camp(self.belief.right, self.ground.drafts.index(draft))

    def uncovered(self) -> dict[int, tuple[float, float, float]]:
        """For the likeliest drafts, by place: the shares of ways, mutants and situations that nothing went over yet."""
        return {d: self._watch(d).cover.left() for d in self._likeliest(self.belief)}

    def odds(self) -> dict[str, Odds]:
        """For each draft, the odds that it is right."""
        answers = len(self.clues)
        return {
            name: stated(self._of_camp(self.belief.right, d), answers, self.fit)
            for d, name in enumerate(self.ground.drafts)
        }

    def _stated(self, draft: int) -> Odds:
        return stated(self._of_camp(self.belief.right, draft), len(self.clues), self.fit)

    def _run_mutants(self, base: int) -> None:
        if base in self._mutants:
            return
        places = candidates_for_mutants(self.ground, base, self.choosing.programs)
        programs = [self.ground.programs[p] for p in places]
        alive, first = self._lab.first(self.ground.drafts[base], programs, self.choosing.mutants)
        self._mutants[base] = alive, dict(zip(places, first, strict=True))
        self._watched.pop(base, None)
        self._belief = None

    def _mutants_told(self, base: int) -> tuple[tuple[Mutant, ...], dict[int, Ints]]:
        """The mutants of a base that were run and show somewhere, and for each program where each first does: not in
        calls of which nothing is told."""
        alive, first = self._mutants.get(base, ((), {}))
        told = {p: np.where(f < self.ground.told(p, base), f, NEVER) for p, f in first.items()}
        shows = np.zeros(len(alive), dtype=np.bool_)
        for steps in told.values():
            shows |= steps < NEVER
        kept = tuple(alive[i] for i in np.flatnonzero(shows).tolist())
        return kept, {p: f[shows] for p, f in told.items()}

    def _take(self, one: Told) -> None:
        """Adds one answer to what is known. The same answer twice is one."""
        if any(t.id == one.id for t in self.told):
            return
        self.told.append(one)
        self._belief = None
        if one.kind not in ("never", "unknown"):
            self._go_over(one)
        if one.kind in ("either", "never"):
            self._waive(one)
        elif one.kind != "unknown":
            self.clues.append(self._clue(one))

    def _waive(self, one: Told) -> None:
        """From now on what she does not mind, or what never happens, parts nobody, here and in the same case
        elsewhere."""
        place, _ = self._locate(one.program)
        waiver = waiver_of(cast(Literal["either", "never"], one.kind), self.ground, one.program, place)
        self._waivers.append(waiver)
        for p in range(len(self.ground.programs)):
            apply(waiver, self.ground, p)
        self._camp_up()
        self._watched.clear()
        self._asks = [replace(ask, outcomes=self.ground.last_outcomes(ask.place)) for ask in self._asks]
        self.clues = [self._clue(t) for t in self.told if t.kind in ("value", "wrong")]

    def _camp_up(self) -> None:
        self.camps = self.ground.camps()
        self._weights = prior_weights(self.camps, len(self.ground.drafts), self.fit.size_power)

    def _clue(self, one: Told) -> Clue:
        """What an answer says of each draft."""
        place, last = self._locate(one.program)
        steps = self.ground.steps[place]
        if one.outcome is not None:
            agrees = steps[:, last] == self._number(one.outcome)
        else:  # she said only that it is not what was shown
            agrees = steps[:, last] != self._number(one.shown or b"")
        there = steps[:, last] != UNTOLD
        if one.shown is not None:  # in a storyboard, whoever went another way before was told of there
            lead = self.ground.keys.of(one.shown)
            like = next((d for d, name in enumerate(self.ground.drafts) if name == one.draft), None)
            if like is not None and int(steps[like, last]) == lead:
                there &= first_difference(steps[:, : last + 1], steps[like, : last + 1]) >= last
        there &= agrees | ~self._followed(place, last, agrees)
        return Clue(one.decision, one.program[last].name, agrees, there)

    def _followed(self, place: int, last: int, agrees: Flags) -> Flags:
        """(drafts,): of whom nobody knows whether what they give at call `last` only follows from something that the
        owner does not mind: they did otherwise there than all who agree with her now."""
        found = np.zeros(len(agrees), dtype=np.bool_)
        for step in range(last if agrees.any() else 0):
            if (place, step) in self.ground.waived:
                here = self.ground.steps[place][:, step]
                found |= ~np.isin(here, here[agrees])
        return found

    def _go_over(self, one: Told) -> int:
        """Notes what the answer goes over. A line that was read goes over all that programs beginning so show."""
        place, step = self._locate(one.program)
        read = () if one.shown is None else self.ground.beginning_with(one.program)
        self._gone_over.append((place, step, read, one.shown is not None))
        return place

    def _locate(self, program: Program) -> tuple[int, int]:
        """A program of the ground that begins with this one, and the step at which this one ends."""
        key = msgspec.json.encode(program)
        if key not in self._located:
            begun = self.ground.beginning_with(program)
            place = self.ground.place(program)
            if place is None:
                place = begun[0] if begun else self._join([program], aside=True)[0]
            self._located[key] = place, len(program) - 1
        return self._located[key]

    def _against(self, draft: int) -> tuple[int, ...]:
        """The places in `told` of the answers that go against the draft."""
        return tuple(i for i, one in enumerate(self.told) if self._goes_against(one, draft))

    def _goes_against(self, one: Told, draft: int) -> bool:
        return not self._meets(one)[draft]

    def _meets(self, one: Told) -> Flags:
        """(drafts,): whether nothing in what each draft does goes against the answer."""
        place, step = self._locate(one.program)
        here = self.ground.steps[place][:, step]
        if one.kind not in ("value", "wrong"):
            return np.ones(len(here), dtype=np.bool_)
        said = self._number(one.shown or b"" if one.outcome is None else one.outcome)
        meets = here != said if one.outcome is None else here == said
        return np.asarray(meets | (here == UNTOLD) | self._followed(place, step, meets), dtype=np.bool_)
