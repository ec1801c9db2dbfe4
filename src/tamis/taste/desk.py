"""The prose desk: from drafts to a shortlist by her taste.

Everything she is asked and says is recorded before the next question is put, so a run can be killed at any moment and
goes on where it was; what is believed is worked out again from what the ledger holds. A changed mind is a later
answer that supersedes an earlier one.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain

import msgspec

from tamis.reading import Pool
from tamis.records import (
    Broke,
    Choice,
    Draft,
    Evidence,
    Held,
    Measured,
    NoAnswer,
    Odds,
    Preferred,
    Question,
    Spec,
    digest,
)
from tamis.run import Run
from tamis.taste.aside import language_of, why_aside
from tamis.taste.coming import Coming
from tamis.taste.features import Features
from tamis.taste.folding import Folds, fold_many, fold_shingles
from tamis.taste.judging import Seated, with_judge
from tamis.taste.memory import Answered, answered
from tamis.taste.next_pair import Ask, NothingLeft
from tamis.taste.readers import ChoicesFile, Reader, Said, read_choices
from tamis.taste.scores import Scores
from tamis.taste.sentences import with_sentences
from tamis.taste.settings import TasteSection
from tamis.taste.sitting import Sitting
from tamis.taste.stopping import Shortlist, comparisons_to_settle

WHOLE = Spec(kind="check", name="whole", version="1")
"""Whether a text is one that she can be asked about."""
FOLDING = Spec(kind="check", name="folding", version="1")
"""A draft that is nearly the same as its keeper, which stands for it."""
SHORTLIST = Spec(kind="check", name="shortlist", version="1")
LOOK_EVERY, LOOK_SHARE = 10, 0.1
"""It is looked whether the shortlist is settled after so many comparisons, or this share of those so far, if more."""


class ProseDesk:
    """The prose desk of one run. `reader` is who compares, None where nobody is there to ask. `budget` is how many
    comparisons there may be in all, over all sittings."""

    def __init__(
        self,
        run: Run,
        reader: Reader | ChoicesFile | None,
        *,
        settings: TasteSection | None = None,
        top: int = 10,
        budget: int | None = None,
        similarity: float = 0.8,
        judge: Seated | Scores | None = None,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._run = run
        self._reader = reader
        self._settings = settings or TasteSection()
        self._top = top
        self._budget = self._settings.budget if budget is None else budget
        self._similarity = similarity
        self._judge = judge
        self._say = say
        self._coming = Coming()
        self._languages: dict[str, str | None] = {}
        self.open = False
        """Whether the shortlist is not settled, so that more could be asked."""

    def take(self, pool: Pool, drafts: Iterator[Draft]) -> None:
        """Measures the texts while others still arrive."""
        first = next(drafts, None)
        if first is None:
            return
        with self._run.spans.span("reading", "features", cpu=time.thread_time) as span:
            since = self._run.clock.now()
            for draft in chain((first,), drafts):
                span.wait(self._run.clock.now() - since, on="folding")
                if draft.finish == "stop":
                    text = pool.contents[draft.id].decode("utf-8", "replace")
                    self._languages[draft.id] = language_of(text)
                    self._coming.add(draft.id, text)
                since = self._run.clock.now()
            self._coming.measure()

    def test(self, pool: Pool, parsed: Sequence[Draft]) -> list[Draft]:  # noqa: ARG002 - as other desks have it
        """Texts have no tests to pass."""
        return list(parsed)

    def close(self) -> None:
        """Nothing was started that would have to be ended."""

    def settle(self, pool: Pool, drafts: Sequence[Draft]) -> Choice:
        """Asks until the shortlist is settled, the budget is spent, nothing is left to ask, or she has had enough."""
        texts = self._whole_texts(pool, drafts)
        if not texts:
            return self._choice(None, (), "no text is left to compare")
        sitting = self._sit_down(pool, texts)
        if len(sitting.drafts) == 1:
            return self._choice(
                sitting.drafts[0], sitting.drafts, "there is only one text (all others are folded behind it)"
            )
        match self._reader:
            case None:
                pass
            case ChoicesFile():
                self._learn_choices(pool, sitting, self._reader)
            case reader:
                self._ask(sitting, reader)
        return self._close(sitting)

    # the texts

    def _whole_texts(self, pool: Pool, drafts: Sequence[Draft]) -> dict[str, str]:
        """Draft id → text, of those she can be asked about; why not is recorded for the others."""
        with self._run.spans.span("reading", "set aside") as span:
            texts = [pool.contents[draft.id].decode("utf-8", "replace") for draft in drafts]
            told = self._languages
            languages = {place: told[draft.id] for place, draft in enumerate(drafts) if draft.id in told}
            reasons = why_aside(texts, [draft.finish for draft in drafts], known=languages)
            for place, draft in enumerate(drafts):
                answer = Broke(witness=reasons[place]) if place in reasons else Held()
                known = self._run.findings.about(WHOLE, draft.id)
                if known is None or known.answer != answer:
                    self._run.findings.record(WHOLE, (draft.id,), answer, span=span.id)
        return {draft.id: texts[place] for place, draft in enumerate(drafts) if place not in reasons}

    def _sit_down(self, pool: Pool, texts: Mapping[str, str]) -> Sitting:
        """Folds what is nearly the same, reads features, and learns again from all that she said before."""
        run = self._run
        run.progress.start("features")
        with run.spans.span("reading", "features") as span:
            behind = {draft: pool.folded[draft] for draft in texts if pool.folded.get(draft) in texts}
            apart = [draft for draft in texts if draft not in behind]
            contents = {draft: texts[draft] for draft in apart}
            texts_read, places = self._coming.read(contents)
            if texts_read.shingles is None:
                folds = fold_many(list(contents.values()), similarity=self._similarity)
            else:
                folds = fold_shingles(texts_read.shingles, similarity=self._similarity)
            behind |= self._fold(apart, folds, span.id)
            keepers = folds.keepers()
            features = texts_read.features([places[keeper] for keeper in keepers])
            notes = features.notes
            if self._settings.sentences is not None:
                kept = [contents[apart[place]] for place in keepers]
                features, note = with_sentences(features, kept, self._settings.sentences)
                notes = (*notes, *filter(None, [note]))
        for note in notes:
            self._say(note)
        standing = [apart[place] for place in keepers]
        names = {draft.id: draft.name for draft in pool.drafts}
        if len(standing) > 1:
            features = self._judged(features, standing, texts, names)
        sitting = Sitting(
            standing, names=names, texts=texts, behind=_flat(behind), features=features, seed=self._settings.seed
        )
        self._remember(sitting)
        return sitting

    def _fold(self, apart: Sequence[str], folds: Folds, span: str) -> dict[str, str]:
        """Draft → the one that stands for it, for those that are nearly the same as an earlier one; recorded."""
        behind = {}
        for place, keeper in enumerate(folds.keeper.tolist()):
            if keeper != place:
                behind[apart[place]] = apart[keeper]
                how = {"keeper": apart[keeper], "similarity": f"{folds.similarity[place]:.3f}"}
                known = self._run.findings.about(FOLDING, apart[place])
                if known is None or known.how != how:
                    self._run.findings.record(FOLDING, (apart[place],), Held(), how=how, span=span)
        return behind

    def _judged(
        self, features: Features, standing: Sequence[str], texts: Mapping[str, str], names: Mapping[str, str]
    ) -> Features:
        """The features with what the judge says as one more group."""
        match self._judge:
            case None:
                return features
            case Scores() as scores:
                named = [names[draft] for draft in standing]
                features, note = features.with_group("judge", scores.of(named)), scores.note(named)
            case seated:
                features, note = with_judge(
                    self._run, seated, features, drafts=standing, texts=texts, seed=self._settings.seed
                )
        if note:
            self._say(note)
        return features

    def _remember(self, sitting: Sitting) -> None:
        if self._reader is None:
            names = {one.reader for one in answered(self._run.ledger, self._run.loaded.brief.id)}
            reader = min(names) if names else None
        else:
            reader = self._reader.name
        sitting.reader = reader
        if reader is None:
            return
        past = answered(self._run.ledger, self._run.loaded.brief.id, reader=reader)
        self._run.progress.start("earlier answers", len(past))
        with self._run.spans.span("ranking", "earlier answers"):
            for one in past:
                sitting.learn(one)
                self._run.progress.advance()

    # the questions

    def _learn_choices(self, pool: Pool, sitting: Sitting, file: ChoicesFile) -> None:
        """Records choices made elsewhere, those not yet recorded, and learns from them."""
        known = {one.evidence.question for one in sitting.past}
        ids = {draft.name: draft.id for draft in pool.usable}
        choices = read_choices(file.path, list(ids))
        for note in choices.notes:
            self._say(note)
        same: Counter[tuple[object, ...]] = Counter()
        for given in choices.given:
            drafts = tuple(ids[name] for name in given.shown)
            # by what it says and not by its row, so that a row put before it makes no new choice of it
            said = (*drafts, given.taken)
            question = self._question_of(drafts, file.name, f"{given.taken} {same[said]}")
            same[said] += 1
            if question.id not in known:
                ask = Ask(shown=(), why="given")
                evidence = self._evidence(
                    question, ask, "alike" if given.taken is None else given.taken, file.name, None
                )
                self._run.ledger.add(question)
                self._run.ledger.add(evidence)
                sitting.learn(Answered(reader=file.name, evidence=evidence))
        self._run.ledger.flush()

    def _ask(self, sitting: Sitting, reader: Reader) -> None:
        run = self._run
        run.progress.start("comparing", self._budget)
        look_at = len(sitting.past) if sitting.past else LOOK_EVERY
        while len(sitting.past) < self._budget:
            if len(sitting.past) >= look_at:
                look_at = len(sitting.past) + max(LOOK_EVERY, int(LOOK_SHARE * len(sitting.past)))
                with run.spans.span("ranking", "settled?"):
                    surely_open = sitting.is_open(self._top, self._settings.settled)
                    if not surely_open and self._settled(sitting.shortlist(self._top)):
                        return
            with run.spans.span("ranking", "next question"):
                try:
                    ask = sitting.next_ask(self._top, self._settings.options)
                except NothingLeft:
                    return
            if not self._put(sitting, ask, reader):
                return

    def _put(self, sitting: Sitting, ask: Ask, reader: Reader) -> bool:
        """Puts one question and records the answer; False where she has had enough."""
        run = self._run
        drafts = tuple(sitting.drafts[place] for place in ask.shown)
        question = self._question_of(drafts, reader.name, f"{len(sitting.past)} at {run.clock.now()}", sitting=sitting)
        with run.spans.span("people", "compare", resource="owner") as span:
            started = run.clock.now()
            said = reader.compare(sitting.screen(ask, self._budget))
            span.wait(run.clock.now() - started, on=reader.name)
        match said:
            case "quit":
                return False
            case "undo":
                self._take_back(sitting)
                return True
            case _:
                pass
        evidence = self._evidence(question, ask, said, reader.name, span.id)
        run.ledger.add(question)
        run.ledger.add(evidence)
        run.ledger.flush()
        sitting.learn(Answered(reader=reader.name, evidence=evidence))
        run.progress.advance()
        return True

    def _question_of(
        self, drafts: tuple[str, ...], reader: str, which: str, *, sitting: Sitting | None = None
    ) -> Question:
        """The record of one comparison. `which` tells it from others of the same texts by the same reader."""
        return Question(
            id=digest("pair", self._run.loaded.brief.id, reader, *drafts, which),
            brief=self._run.loaded.brief.id,
            form="pair",
            witness="which would you rather keep?",
            options=drafts,
            sides=tuple((draft, *(sitting.variants(draft) if sitting else ())) for draft in drafts),
            asked_of=reader,
            asked_at=self._run.clock.now(),
        )

    def _evidence(self, question: Question, ask: Ask, said: Said, reader: str, span: str | None) -> Evidence:
        how = {"said": "taken" if isinstance(said, int) else str(said), "why": ask.why}
        answer: Preferred | NoAnswer
        if said == "skip":
            answer = NoAnswer(fault="person", why="skipped")
        else:
            which = question.options[said] if isinstance(said, int) else None
            answer = Preferred(which=which, shown_first=question.options[0])
        return Evidence(
            id=digest("taste", question.id, repr(answer), how["said"]),
            drafts=question.options,
            check=taste_check(reader),
            answer=answer,
            span=span,
            question=question.id,
            how=how,
        )

    def _take_back(self, sitting: Sitting) -> None:
        """Supersedes her last answer with none, and works out again what is believed."""
        if not sitting.past:
            return
        last = sitting.past[-1].evidence
        taken_back = msgspec.structs.replace(
            last,
            id=digest("taken back", last.id),
            answer=NoAnswer(fault="person", why="taken back"),
            supersedes=last.id,
            how={"said": "undo", "why": last.how.get("why", "top")},
        )
        self._run.ledger.add(taken_back)
        self._run.ledger.flush()
        sitting.forget_last()

    # the shortlist

    def _settled(self, best: Shortlist) -> bool:
        return best.preferred_share <= self._settings.settled

    def _close(self, sitting: Sitting) -> Choice:
        """Records the shortlist as it is now, and the choice: the first of it where it is settled."""
        run = self._run
        with run.spans.span("ranking", "shortlist") as span:
            best = sitting.shortlist(self._top, self._settings.per_kind)
            settled = self._settled(best) and sitting.n_informed > 0
            self.open = not settled
            drafts = tuple(sitting.drafts[place] for place in best.texts)
            because = self._because(sitting, best, settled)
            self._record_shortlist(sitting, best, settled, because, span.id)
        odds = Odds(p=best.odds[0] if sitting.n_informed else None, basis=basis(sitting.n_informed))
        return self._choice(drafts[0] if settled else None, tuple(sitting.drafts), because, odds=odds)

    def _record_shortlist(self, sitting: Sitting, best: Shortlist, settled: bool, because: str, span: str) -> None:
        """Each shortlist is evidence of its own: what was believed when so much had been said."""
        drafts = tuple(sitting.drafts[place] for place in best.texts)
        saw = str(self._run.ledger.position())
        evidence = Evidence(
            id=digest("shortlist", self._run.loaded.brief.id, saw, *drafts),
            drafts=drafts,
            check=SHORTLIST,
            answer=Measured(value=best.regret, unit="log-odds"),
            span=span,
            how={
                "odds": " ".join(f"{p:.4f}" for p in best.odds),
                "settled": "yes" if settled else "no",
                "preferred share": f"{best.preferred_share:.4f}",
                "regret low": f"{best.regret_low:.4f}",
                "regret high": f"{best.regret_high:.4f}",
                "comparisons": str(sitting.n_informed),
                "reader": sitting.reader or "",
                **self._judge_told(sitting),
                "because": because,
                "basis": basis(sitting.n_informed),
                "saw": saw,
            },
        )
        self._run.ledger.add(evidence)

    def _judge_told(self, sitting: Sitting) -> dict[str, str]:
        """Whose opinion was a feature, and the check under which its answers are kept."""
        if self._judge is None or not sitting.has_judge:
            return {}
        under = {"judge check": self._judge.spec.key} if isinstance(self._judge, Seated) else {}
        return {"judge": self._judge.name, **under}

    def _because(self, sitting: Sitting, best: Shortlist, settled: bool) -> str:
        n, who = sitting.n_informed, sitting.reader or "nobody"
        if not n and sitting.has_judge:
            return "nobody has compared any of these texts yet: this order is the judge's, not hers"
        if not n:
            return "nobody has compared any of these texts yet, so there is no order that is hers"
        often = (
            f"{who} would be expected to take one of the true best over a shown text "
            f"{best.preferred_share:.0%} of the time"
        )
        if settled:
            return f"settled after {n} comparisons: {often}"
        more = comparisons_to_settle(best, n, self._settings.settled)
        return f"not settled after {n} comparisons: {often}; about {more} more would settle it"

    def _choice(self, draft: str | None, among: Sequence[str], because: str, *, odds: Odds | None = None) -> Choice:
        run = self._run
        saw = run.ledger.position()
        choice = Choice(
            id=digest("choice", run.loaded.brief.id, str(saw)),
            brief=run.loaded.brief.id,
            draft=draft,
            odds=odds or Odds(p=None),
            saw=saw,
            among=tuple(among),
            because=because,
        )
        run.ledger.add(choice)
        return choice


def taste_check(reader: str) -> Spec:
    """The check under which a reader's comparisons are recorded."""
    return Spec(kind="check", name="taste", version="1", args={"reader": reader})


def basis(n: int) -> str:
    """What the odds of a shortlist rest on."""
    if not n:
        return "no comparisons yet"
    return (
        f"{n} comparisons by one reader; a model of taste whose claims were checked where the truth is known "
        "(docs/explanation/taste.md)"
    )


def _flat(behind: Mapping[str, str]) -> dict[str, str]:
    """Each folded draft → the one that stands for it in the end."""
    flat = {}
    for draft in behind:
        keeper = draft
        while keeper in behind:
            keeper = behind[keeper]
        flat[draft] = keeper
    return flat
