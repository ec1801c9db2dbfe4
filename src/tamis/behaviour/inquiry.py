"""Inquiry. The conversation with the owner, step by step: questions while they tell most, then a storyboard of what the
likeliest draft does, then more of either where a correction calls for it.

It can be stopped and taken up anywhere: the same answers learned in any order give the same belief, and what was
answered is never asked again. Where it stops, it says why.
"""

from collections import Counter
from collections.abc import Sequence

import msgspec
import numpy as np
from msgspec.structs import replace

from tamis.behaviour.beliefs import Beliefs, Choosing, Runner
from tamis.behaviour.clash import counting, smallest_clash, why_again
from tamis.behaviour.ground import UNTOLD, Ints
from tamis.behaviour.odds import Posterior
from tamis.behaviour.owner import (
    Answer,
    Ask,
    DontKnow,
    LineAnswer,
    Page,
    ShownCall,
    ShownLine,
    Told,
    Wrong,
)
from tamis.behaviour.packing import further
from tamis.behaviour.questions import most_telling
from tamis.behaviour.storyboard import Cover, Scene, Shown, plan
from tamis.behaviour.telling import told_of, told_of_line
from tamis.behaviour.words import heading, names_of, the_year
from tamis.records import Odds, Record, digest
from tamis.sandbox import Program

NONE_LEFT = 0.97
"""The probability that no draft is right at which asking ends."""


class Strength(Record, frozen=True, kw_only=True):
    """How many of the mutants of the chosen draft, and of the drafts that behave otherwise, are caught by the given
    tests alone, and with the answers as well."""

    mutants: int
    mutants_by_tests: int
    mutants_with_answers: int
    drafts: int
    drafts_by_tests: int
    drafts_with_answers: int


class Verdict(Record, frozen=True, kw_only=True):
    """Which draft, if any; with what odds before the storyboard and now; `alike` behave as it does everywhere. `near`
    are the nearest drafts, and for each the places of the answers (in `told`) that go against it. `clash` has the
    places of a few answers that no draft meets all of, where there is none that meets all."""

    draft: str | None
    alike: tuple[str, ...]
    odds: Odds
    odds_before: Odds | None
    none_p: float
    near: tuple[tuple[str, tuple[int, ...]], ...]
    because: str
    clash: tuple[int, ...] = ()


class Inquiry(Beliefs):
    """Ask it what comes next, tell it what the owner said, and read off what is believed."""

    def next_question(self) -> Ask | Page | None:
        """What to put to the owner now, None when it is over: `stopped` then says why."""
        if self._waiting is not None:
            return self._waiting
        self._take_up_doubts()
        self._take_up_clash()
        if self._again and self.questions < self.choosing.budget:  # however little is left: two slips look like that
            return self._wait(self._again[0])
        self.stopped = self._over()
        if self.stopped is not None:
            return None
        ask = self._next_ask()
        if ask is not None:
            return self._wait(ask)
        page = self._next_page()
        if page is not None:
            return page
        self.stopped = self._why_no_more()
        return None

    def _over(self) -> str | None:
        p = self._of_camp(self.belief.right, self._leader())
        if p >= self.choosing.odds:
            return f"the odds reached {self.choosing.odds:g}"
        if self.belief.none >= NONE_LEFT and (self.pages or self._is_upheld(self.clash())):
            return "no draft is right: the answers rule each of them out"
        return None

    def _why_no_more(self) -> str:
        if self.questions >= self.choosing.budget:
            return f"the budget of {_several(self.choosing.budget, 'question')} is spent"
        if self.lines_read >= self.choosing.lines:
            return f"the {self.choosing.lines} lines of storyboard are read"
        return "nothing that could be asked would help"

    def _wait(self, what: Ask | Page) -> Ask | Page:
        self._waiting = what
        return what

    def _next_ask(self) -> Ask | None:
        """The best question, None where a storyboard does better or the budget is spent."""
        if self.questions >= self.choosing.budget:
            return None
        asked = {t.decision for t in self.told}
        left = [a for a in self._asks if a.decision not in asked and not self._was_seen(a.place)]
        read = frozenset(t for a in self._asks if a.decision in asked for t in a.texts)
        vague = Counter(t.program[-1].name for t in self.told if t.kind in ("either", "never", "unknown"))
        best = most_telling(left, self.belief, self.fit, read_before=read, vague=vague)
        if best is None or best[1] < self.choosing.least_bits:
            return None
        return self._ask(best[0].decision, best[0].place, best[0].options)

    def _was_seen(self, place: int) -> bool:
        return msgspec.json.encode(self.ground.programs[place]) in self._located

    def _ask(self, decision: str, place: int, options: Sequence[int], *, again: str = "") -> Ask:
        """The question as it is put; `again` is the answer that it asks about once more."""
        program = self.ground.programs[place]
        return Ask(
            id=digest("ask", decision, str(place), *(str(self._raw[o]) for o in options), *([again] if again else ())),
            decision=decision,
            program=program,
            setup=self.ground.setup[place],
            options=tuple(self._raw[o] for o in options),
            number=self.questions + 1,
            about=max(self.questions + 1, self._about()),
            again=bool(again),
        )

    def _about(self) -> int:
        """How many questions there will be, from how much is still open: each is hoped to tell two thirds of a bit."""
        base = np.array([self._of_camp(self.belief.base, c[0]) for c in self.camps])
        some = base[base > 0]
        bits = float(-(some * np.log2(some)).sum())
        return min(self.choosing.budget, self.questions + max(1, round(bits / 0.66)))

    def _next_page(self) -> Page | None:
        """The next page for the leading draft, None where no line is left or nothing is worth one."""
        lines = min(self.choosing.page_lines, self.choosing.lines - self.lines_read)
        if lines <= 0:
            return None
        leader = self._leader()
        self._run_mutants(leader)
        watch = self._watch(leader)
        shown = Shown(self.ground, self._raw, leader)
        trial = watch.cover.copy()
        for one in self.told:  # what she could say nothing of is not shown again, though it tells nothing
            if one.shown is not None and one.kind in ("never", "unknown"):
                self._pass_over(trial, leader, one)

        def goes_on(p: int, stop: int, room: int, least: float) -> int:
            return further(trial, shown, p, stop, self._aside, lines=room, least=least)

        scenes = plan(trial, shown, lines=lines, goes_on=goes_on)
        if not scenes:
            return None
        if self.pages == 0:
            self.odds_before = self._stated(leader)
        page = self._page(leader, scenes)
        self._wait(page)
        return page

    def _pass_over(self, cover: Cover, leader: int, one: Told) -> None:
        place, step = self._locate(one.program)
        cover.asked(*self.ground.showing(place, leader, step))
        for begun in self.ground.beginning_with(one.program):
            cover.read(begun, step)

    def _aside(self, programs: Sequence[Program]) -> list[int]:
        return self._join(programs, aside=True)

    def _page(self, leader: int, scenes: Sequence[Scene]) -> Page:
        shown_scenes, headings = [], []
        for scene in scenes:
            program = self.ground.programs[scene.place]
            numbers = self.ground.steps[scene.place][leader]
            where = heading(program, self.ground.setup[scene.place], names_of(program))
            year = the_year([*self.ground.texts(scene.place)])
            headings.append(f"{where}, in {year}" if year else where)
            shown_scenes.append(
                tuple(
                    ShownLine(
                        program=program[: scene.lines[-1].last + 1],
                        calls=tuple(
                            ShownCall(step=i, outcome=self._raw[int(numbers[i])])
                            for i in range(line.first, line.last + 1)
                        ),
                        text=line.text,
                    )
                    for line in scene.lines
                )
            )
        text = [line.text for scene in shown_scenes for line in scene]
        return Page(
            id=digest("page", self.ground.drafts[leader], *text),
            draft=self.ground.drafts[leader],
            scenes=tuple(shown_scenes),
            headings=tuple(headings),
        )

    def learn(self, answer: Answer) -> Told:
        """Takes the answer to the question that was put, and gives what to keep of it."""
        ask = self._waiting
        assert isinstance(ask, Ask)
        self._waiting = None
        before = self.belief
        one = told_of(ask, answer)
        self.questions += 1
        if self._again and ask.id == self._again[0].id:
            del self._again[0]
            self._take(one)
        else:
            self._take(one)
            self._doubt(before, one)
        return one

    def learn_page(self, answers: Sequence[LineAnswer]) -> list[Told]:
        """Takes the answers to the lines of the page that was put, as far as they go."""
        page = self._waiting
        assert isinstance(page, Page)
        self._waiting = None
        self.pages += 1
        before = self.belief
        found: list[Told] = []
        for number, (line, answer) in enumerate(zip(page.lines, answers, strict=False)):
            if isinstance(answer, DontKnow) and _follows_a_correction(page, number, answers):
                continue
            self.lines_read += 1
            found += told_of_line(page, number, line, answer)
        for one in found:
            self._take(one)
        for one in found:
            if _corrects(one):
                self._doubt(before, one)
        return found

    def _doubt(self, before: Posterior, one: Told) -> None:
        """Where one answer goes against what looked settled, it is asked again in a neighbouring case, once."""
        leader = int(before.right.argmax())
        held = self._of_camp(before.right, leader)
        if held < 0.3 or not self._goes_against(one, leader) or one.decision in self._asked_again:
            return
        self._asked_again.add(one.decision)
        again = self._neighbour(leader, one)
        if again is not None:
            self._again.append(again)

    def _take_up_doubts(self) -> None:
        """Corrections of an earlier run that were to be asked again when it ended."""
        before, self._from_before = self._from_before, []
        answered = Counter(one.decision for one in self.told)
        for one in before:
            if _corrects(one) and answered[one.decision] == 1:
                others = [clue for clue in self.clues if clue.group != one.decision]
                nothing = np.zeros(len(self.ground.drafts))
                self._doubt(self._posterior(others, nothing), one)

    def _take_up_clash(self) -> None:
        """Where no draft does all that was answered, the answers that show it are each asked again in the same calls,
        unless they were: it may be that no draft is right, or that one of them is not meant."""
        if self._again:
            return
        answered = Counter(one.decision for one in self.told)
        clash = self.clash()
        for i, one in ((i, self.told[i]) for i in clash):
            if answered[one.decision] == 1 and one.decision not in self._asked_again:
                self._asked_again.add(one.decision)
                ask = self._asked_like(one.program, self._leader(), one)
                self._again.append(replace(ask, why=why_again(self.told, clash, i)))

    def _is_upheld(self, clash: Sequence[int]) -> bool:
        """Whether answers clash that were all given twice."""
        answered = Counter(one.decision for one in self.told)
        return bool(clash) and all(answered[self.told[i].decision] > 1 for i in clash)

    def clash(self) -> tuple[int, ...]:
        """The places in `told` of a few answers that no draft meets all of; none where some draft meets all.
        Unstable drafts don't count: they meet an answer now and then."""
        counted = counting(self.told)
        steady = [d for d, name in enumerate(self.ground.drafts) if name not in self.ground.unstable]
        if not counted:
            return ()
        return tuple(counted[i] for i in smallest_clash(np.stack([self._meets(self.told[i])[steady] for i in counted])))

    def _neighbour(self, leader: int, one: Told) -> Ask | None:
        """A like case, to ask again in: other calls in which the drafts part the same way. A correction in a storyboard
        has none: nobody knows what she saw there that no draft did, so the same calls are put again, as a question."""
        if one.shown is not None:
            return self._asked_like(one.program, leader, one)
        place, last = self._locate(one.program)
        for other in self._like(leader, place, last):
            return self._asked_like(self.ground.programs[other[0]][: other[1] + 1], leader, one)
        return None

    def _asked_like(self, program: Program, leader: int, one: Told) -> Ask:
        (at,) = self._join([program], aside=True)
        column = self.ground.steps[at][:, -1]
        options = self._options(column, leader, one, same_calls=program == one.program)
        return self._ask(one.decision, at, options, again=one.id)

    def _options(self, column: Ints, leader: int, one: Told, *, same_calls: bool) -> list[int]:
        """What the leader gives, what the owner said of these calls, and what others give: six at most."""
        said = [self._number(one.outcome)] if one.outcome is not None and same_calls else []
        options = dict.fromkeys([int(column[leader]), *said, *map(int, column)])
        return [number for number in options if number != UNTOLD][:6]

    def _like(self, leader: int, place: int, last: int) -> list[tuple[int, int]]:
        """(program, step) of like cases, shortest first, the asked one left out."""
        known = self.ground.programs[place][: last + 1]
        departures = self.ground.departures(leader)
        ways = {w for step, w in departures.at.get(place, ()) if step == last}
        found = [(p, s) for p, at in departures.at.items() for s, w in at if w in ways]
        fresh = [(p, s) for p, s in found if self.ground.programs[p][: s + 1] != known]
        return sorted(fresh, key=lambda ps: (ps[1] - self.ground.setup[ps[0]], ps[0]))[:1]

    def verdict(self) -> Verdict:
        """What is to be chosen now. None where it is likelier that none is right than that the best is."""
        belief = self.belief
        leader = max(range(len(self.ground.drafts)), key=lambda d: (self._of_camp(belief.right, d), belief.base[d], -d))
        p = self._of_camp(belief.right, leader)
        chosen = p >= 0.5 or p >= belief.none
        order = sorted(range(len(self.ground.drafts)), key=lambda d: (-self._of_camp(belief.base, d), d))
        near = tuple((self.ground.drafts[d], self._against(d)) for d in order[:3])
        alike = tuple(self.ground.drafts[d] for d in self._camp(leader) if d != leader)
        return Verdict(
            draft=self.ground.drafts[leader] if chosen else None,
            alike=alike if chosen else (),
            odds=self._stated(leader),
            odds_before=self.odds_before,
            none_p=belief.none,
            near=near,
            because=self._because(leader, chosen),
            clash=self.clash(),
        )

    def _because(self, leader: int, chosen: bool) -> str:
        against = len(self._against(leader))
        answers = f"{_several(self.questions, 'question')} and {_several(self.lines_read, 'storyboard line')}"
        if chosen:
            return f"it does what was answered in {answers}" + (f", but for {against}" if against else "")
        return f"no draft does what was answered in {answers}; the nearest goes against {against} of them"

    def strength(self) -> Strength:
        """How strong the tests are without and with the answers, against mutants of the leading draft that are seen to
        behave otherwise, and against the drafts that are not its like."""
        leader = self._leader()
        self._run_mutants(leader)
        alive, made = self._lab.survivors(self.ground.drafts[leader], self.choosing.mutants)
        left = self._watch(leader).cover.mutants
        by_tests = made - len(alive)
        others = [d for d in range(len(self.ground.drafts)) if d not in self._camp(leader)]
        out = sum(bool(self._against(d)) for d in others)
        return Strength(
            mutants=by_tests + len(left),
            mutants_by_tests=by_tests,
            mutants_with_answers=by_tests + int((left == 0).sum()),
            drafts=len(others) + self._broke,
            drafts_by_tests=self._broke,
            drafts_with_answers=self._broke + out,
        )


def _follows_a_correction(page: Page, number: int, answers: Sequence[LineAnswer]) -> bool:
    """Whether a line of the same scene before this one was corrected, so that this one need not be read."""
    start = 0
    for scene in page.scenes:
        if number < start + len(scene):
            break
        start += len(scene)
    return any(isinstance(answer, Wrong) for answer in answers[start:number])


def _corrects(one: Told) -> bool:
    """Whether she said that a storyboard line should be otherwise."""
    return one.shown is not None and one.kind in ("value", "wrong") and one.outcome != one.shown


def _several(count: int, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}"


__all__ = ["Choosing", "Inquiry", "Runner", "Strength", "Verdict"]
