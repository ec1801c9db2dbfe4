"""The lab desk's path: ideas become valid and distinct, a batch is proposed, results come back, and it is said what
they mean.

Nothing is remembered between two calls but what the ledger holds, so a run may be killed anywhere and go on, and a
result may come weeks later. What a batch holds follows from the events before it and the seed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

import msgspec
import numpy as np

from tamis.errors import BriefError
from tamis.lab import campaign as events
from tamis.lab.bank import bank_of
from tamis.lab.calendar import Calendar, calendar
from tamis.lab.campaign import Campaign, Event, Row
from tamis.lab.failures import Failing
from tamis.lab.features import Features, features_of
from tamis.lab.ideas import Cells, Coming, Each, Ideas, Listed, NoneValid, Reader, listed
from tamis.lab.novelty import distances_to
from tamis.lab.outlook import Best, Outlook, outlook
from tamis.lab.owner import StandIn
from tamis.lab.plan import Learned, choose, mark_of_idea, proposed, study
from tamis.lab.settings import LabSection, goals_of
from tamis.lab.sheet import Read, as_csv, read_cells, read_results, require_columns, table, write_xlsx
from tamis.lab.trade import Bench
from tamis.ledger import Ledger
from tamis.records import Broke, Choice, Draft, Evidence, Held, Odds, Span, Spec, digest
from tamis.run import Run

VALID = Spec(kind="check", name="parses", version="lab 1")
DISTINCT = Spec(kind="check", name="duplicates", version="lab 1")
SHEETS = "batches"
ENOUGH_EXPERIENCE = 20
"""Odds rest on how the campaign's own forecasts fared; before so many came back there are none."""

Drafts = Listed | Iterable[tuple[str, str, bytes]]
"""Draft id, name and content."""


@dataclass(frozen=True)
class Standing:
    """Where a campaign stands, for whoever tells it. `sheets` are the files of the batches that go out now, `failing`
    the kinds of ideas whose runs keep failing, `calendar` how its days go, `tokens` how long all ideas are together."""

    ideas: Ideas
    campaign: Campaign
    outlook: Outlook
    sheets: tuple[Path, ...]
    choice: Choice
    failing: tuple[Failing, ...] = ()
    calendar: Calendar | None = None
    tokens: int = 0
    gone: tuple[str, ...] = ()
    """Names of ideas of the campaign that are no longer among the ideas."""


class LabDesk:
    """One brief's lab. `lab` is `[lab]` of tamis.toml. `drafts` are those of the run; without them, the ledger's. What
    has been read of them while they came is in `coming`."""

    def __init__(
        self, run: Run, lab: LabSection, drafts: Drafts | None = None, *, coming: Coming | None = None
    ) -> None:
        self._run, self._lab = run, lab
        self._opened = run.clock.now()
        self._goals, self._bank = goals_of(lab), bank_of(lab.models)
        self._units = {goal.name: goal.unit for goal in self._goals}
        self._learned: tuple[int, Learned] | None = None
        self._brief = run.loaded.brief.id
        run.progress.start("ideas")
        with run.spans.span("reading", "ideas") as span:
            drafts = drafts if drafts is not None else drafts_of(run.ledger, self._brief)
            try:
                self.ideas = (coming or Coming(lab)).ideas(drafts if isinstance(drafts, Listed) else listed(drafts))
            except NoneValid as none:
                self._record_refused(none.refused, span.id)  # each can be looked up with its reason all the same
                raise
            self._record_ideas(span.id)
        self.campaign = events.load(run.ledger, self._brief)
        self._gone = self._find_again()
        require_columns(self._fields, self._goals)
        self._require_goals()
        events.mend(run.ledger, self.campaign, self._units)

    def _find_again(self) -> tuple[str, ...]:
        """Ideas may come to stand elsewhere in their file, as other drafts: a row goes with the idea of its content.
        Returns the names of those in the campaign that are nowhere now."""
        if not self.campaign.batches:
            return ()
        places = self.ideas.places()
        moved = [row for row in self.campaign.rows() if row.proposed.draft not in places]
        now = {self._mark(draft): draft for draft in places} if moved else {}
        for row in moved:
            if row.proposed.hash in now:
                row.proposed = msgspec.structs.replace(row.proposed, draft=now[row.proposed.hash])
        return tuple(dict.fromkeys(row.proposed.name for row in moved if row.proposed.hash not in now))

    def _require_goals(self) -> None:
        """Raises BriefError where results are of other goals than are sought now."""
        names = {goal.name for goal in self._goals}
        for row in self.campaign.rows():
            for event in row.results:
                if not names <= event.values.keys():
                    had, now = ", ".join(event.values), ", ".join(sorted(names))
                    raise BriefError(
                        f"this campaign has results of {had}, and [lab] goal now asks for {now}",
                        hint="put the goal back, or begin another campaign in a folder of its own",
                    )

    def _mark(self, draft: str) -> str:
        return mark_of_idea(self._hashes[draft])

    # what is known of the ideas

    def _record_ideas(self, span: str) -> None:
        """Refusals and folds one by one, the valid together: all of them again only where they have changed."""
        findings, ideas = self._run.findings, self.ideas
        self._record_refused(ideas.refused, span)
        for draft, keeper in ideas.folded.items():
            if findings.about(DISTINCT, draft) is None:
                how = {"folded": "yes", "keeper": keeper, "kind": "same idea"}
                findings.record(DISTINCT, (draft,), Held(), how=how, span=span)
        valid = tuple(draft for idea in ideas.ideas for draft in (idea.draft, *idea.also))
        if any(findings.about(VALID, draft) is None for draft in valid):
            findings.record(VALID, valid, Held(cases=len(valid)), span=span)

    def _record_refused(self, refused: Mapping[str, str], span: str) -> None:
        findings = self._run.findings
        for draft, reason in refused.items():
            if findings.about(VALID, draft) is None:
                findings.record(VALID, (draft,), Broke(witness=reason), span=span)

    @cached_property
    def features(self) -> Features:
        with self._run.spans.span("ranking", "features"):
            return features_of(self.ideas.columns, seed=self._lab.seed)

    def learned(self) -> Learned:
        """What the models make of the results; fitted once for the same results, however often it is asked for."""
        known = len(self.campaign.events)
        if self._learned is None or self._learned[0] != known:
            with self._run.spans.span("ranking", "models"):
                found = study(
                    self.campaign, self.ideas, self.features, self._goals, seed=self._lab.seed, bank=self._bank
                )
            self._learned = (known, found)
        return self._learned[1]

    # batches

    def next_batch(self, *, planned: int | None = None) -> list[Row]:
        """Proposes and records the next batch; empty where no idea is left. `planned` is how many batches there are to
        be, where that is not what tamis.toml says."""
        planned = self._planned(planned)
        number = len(self.campaign.batches) + 1
        learned = self.learned()
        with self._run.spans.span("ranking", "batch") as span:
            picks = choose(
                self.campaign,
                learned,
                self._lab.batch,
                seed=self._lab.seed,
                repeat_every=self._lab.repeat_every,
                left=None if planned is None else planned - number,
            )
            if not picks:
                return []
            rows = proposed(picks, number, self.ideas, self._hashes, self._goals, models=learned.models)
            now = self._run.clock.now()
            batch = events.propose(self._run.ledger, self.campaign, rows, at=now, span=span.id)
        bench = on_the_bench(learned.bench, [pick.row for pick in picks])
        self._learned = (len(self.campaign.events), replace(learned, bench=bench))
        return batch

    def _planned(self, said: int | None) -> int | None:
        """How many batches there are to be: as tamis.toml has it, more where more were asked for."""
        return max(said or 0, self._lab.batches or 0) or None

    def batch_to_measure(self) -> list[Row]:
        """The batch that the lab should have now: the last one while it was not noted as sent and nothing of it came
        back, else a new one. So a lab whose results come late gets its next batch by saying that the last is on the
        bench."""
        last = self.campaign.batches[-1] if self.campaign.batches else []
        if last and all(row.waits for row in last) and not all(row.sent for row in last):
            return last
        return self.next_batch()

    def awaited(self) -> bool:
        """Whether results are still to come of the last batch."""
        return any(row.waits for row in self.campaign.batches[-1]) if self.campaign.batches else False

    def write_sheet(self, rows: Sequence[Row]) -> Path:
        """The batch as a file for the lab, beside the brief. A sheet that is there already is left alone: the lab may
        be filling it in."""
        folder = self._run.loaded.folder / SHEETS
        path = folder / f"batch-{rows[0].batch:02d}.{self._lab.sheet}"
        if not path.exists():
            folder.mkdir(exist_ok=True)
            lines = table(rows, self._cells, self._goals, self._fields, self.campaign)
            part = path.with_suffix(".part")
            if self._lab.sheet == "xlsx":
                write_xlsx(part, lines)
            else:
                part.write_text(as_csv(lines), encoding="utf-8")
            part.replace(path)
        return path

    @property
    def _cells(self) -> Mapping[str, Cells]:
        return Each(self.ideas, self.ideas.cells)

    @property
    def _hashes(self) -> Mapping[str, str]:
        return Each(self.ideas, lambda draft: digest(repr(self.ideas.key(draft))))

    @property
    def _fields(self) -> tuple[str, ...]:
        reader, lab = Reader(self._lab), self._lab
        formula = (reader.formula,) if reader.formula else ()
        return (
            *formula,
            *reader.elements,
            *lab.smiles,
            *lab.category,
            *(one.name for one in reader.numbers),
            *lab.text,
        )

    # results

    def require_sheets(self, paths: Sequence[Path]) -> None:
        """Raises DraftsError where one of them is no sheet of this campaign's goals: asked of all of them before the
        first is recorded, so that several sent together are not taken by half."""
        for path in paths:
            read_cells(path, self._goals)

    def take_sheet(self, path: Path, *, by: str) -> Read:
        """Records the good rows of a sheet that came back and returns what was in it."""
        at = _iso(self._run.clock.now())
        read = read_results(path, self.campaign, self._goals, by=by, at=at)
        self.take(read.events, by=by, file=path.name)
        return read

    def take(self, happened: Sequence[Event], *, by: str, file: str = "") -> None:
        """Records events, and the span of each batch that they complete."""
        now = self._run.clock.now()
        waited = {row.batch for row in self.campaign.rows() if row.waits}
        with self._run.spans.span("lab", "results") as span:
            events.record(
                self._run.ledger, self.campaign, happened, self._units, by=by, at=_iso(now), file=file, span=span.id
            )
        still = {row.batch for row in self.campaign.rows() if row.waits}
        for batch in sorted(waited - still):
            self._run.ledger.add(self._bench_span(batch, now))

    def _bench_span(self, batch: int, now: float) -> Span:
        """From proposing a batch to its last result: what a faster writer doesn't change. Results of a batch that an
        earlier process proposed were there when this one began."""
        started = self.campaign.proposed_at[batch - 1]
        waited = max(0.0, (self._opened if started < self._opened else now) - started)
        return Span(
            id=digest("bench", self._brief, str(batch)),
            parent=None,
            stage="lab",
            name=f"batch {batch}",
            started=started,
            ended=started + waited,
            waited=waited,
            waited_on="the bench",
            resource="bench",
        )

    def withdraw(self, row: str, *, by: str, why: str) -> None:
        """Takes a row back that is not measured yet. Raises BriefError where there is none."""
        self._open_row(row)
        self.take([Event(row=row, kind="withdrawn", why=why, by=by, at=_iso(self._run.clock.now()))], by=by)

    def sent(self, batch: int, *, by: str) -> int:
        """Notes that a batch has gone to the lab; returns of how many rows that is news."""
        if not 1 <= batch <= len(self.campaign.batches):
            known = len(self.campaign.batches)
            so_far = f"proposed so far: batch 1{f' to {known}' if known > 1 else ''}"
            hint = so_far if known else "`tamis run` proposes the first"
            raise BriefError(f"there is no batch {batch}", hint=hint)
        rows = [row for row in self.campaign.batches[batch - 1] if row.sent is None]
        at = _iso(self._run.clock.now())
        self.take([Event(row=row.proposed.row, kind="sent", by=by, at=at) for row in rows], by=by)
        return len(rows)

    def _open_row(self, row: str) -> Row:
        found = self.campaign.by_id().get(row)
        if found is None or not found.waits:
            state = (
                "was never proposed" if found is None else "has its result already" if found.results else "is settled"
            )
            waiting = [one.proposed.row for one in self.campaign.rows() if one.waits]
            raise BriefError(
                f"row {row} {state}",
                hint=f"rows that can be taken back: {', '.join(waiting)}" if waiting else "no row waits for a result",
            )
        return found

    def play(self, owner: StandIn, batches: int, *, planned: int | None = None) -> None:
        """Plays the campaign on with a stand-in lab until it has so many batches, and takes what comes late."""
        waiting = [row for row in self.campaign.rows() if row.waits]
        if waiting:  # a run before this one was stopped while they were on the bench
            self.take(owner.results(len(self.campaign.batches), waiting, self._cells, self._goals), by=owner.where)
        self._run.progress.start("batches", max(0, batches - len(self.campaign.batches)))
        while len(self.campaign.batches) < batches:
            rows = self.next_batch(planned=planned)
            if not rows:
                break
            self.take(owner.results(rows[0].batch, rows, self._cells, self._goals), by=owner.where)
            self._run.progress.advance()
        self.take(owner.rest(), by=owner.where)

    # what it says

    def standing(self, *, sheets: Sequence[Path] = (), planned: int | None = None) -> Standing:
        """Where the campaign stands, with the choice that follows, recorded. `planned` is how many batches it is to
        have, where that is not what tamis.toml says."""
        learned = self.learned()
        with self._run.spans.span("ranking", "choose"):
            known = distances_to(self._lab, self._run.loaded.folder, self.ideas)
            said = outlook(self.campaign, self.ideas, learned, self._goals, self._lab, known=known)
            choice = self._choice(said, learned)
        days = calendar(self.campaign, self._lab, now=self._run.clock.now(), planned=self._planned(planned))
        tokens = sum(draft.tokens or 0 for draft in self._run.ledger.all(Draft, about=self._brief))
        return Standing(
            self.ideas, self.campaign, said, tuple(sheets), choice, learned.failing, days, tokens, self._gone
        )

    def _choice(self, said: Outlook, learned: Learned) -> Choice:
        """The best of the ideas that are verified; none before one is."""
        verified = [best for best in said.best if best.rung == "replicated" and not best.disagree]
        saw = self._run.ledger.position()
        choice = Choice(
            id=digest("choice", self._brief, str(saw)),
            brief=self._brief,
            draft=verified[0].draft if verified else None,
            odds=self._odds(verified[0], said, learned) if verified else Odds(p=None, basis="nothing is verified yet"),
            saw=saw,
            among=tuple(idea.draft for idea in self.ideas.ideas),
            because=_because(said, verified),
        )
        self._run.ledger.add(choice)
        return choice

    def _odds(self, best: Best, said: Outlook, learned: Learned) -> Odds:
        past = learned.pasts[0]
        if len(past) < ENOUGH_EXPERIENCE:
            return Odds(p=None, basis=f"{len(past)} forecasts have come back, too few to rest odds on")
        share = said.covered["90"]
        basis = f"{len(past)} forecasts came back, and {share:.0%} of them lay in their 90% intervals"
        return Odds(p=said.leads.get(best.draft), basis=basis)


def settle(
    run: Run,
    lab: LabSection,
    drafts: Drafts,
    *,
    coming: Coming | None = None,
    owner: StandIn | None = None,
    batches: int | None = None,
) -> Standing:
    """What `tamis run` does for the lab desk. Without an owner it proposes the batch that the lab should have now and
    writes its sheet, and further ones until there are `batches`, for a lab whose results come late; with one it plays
    the campaign on until it has `batches` (one more than now, where None)."""
    desk = LabDesk(run, lab, drafts, coming=coming)
    if owner is not None:
        desk.play(owner, batches or len(desk.campaign.batches) + 1, planned=batches)
        return desk.standing(planned=batches)
    rows = desk.batch_to_measure() if batches is None or batches > len(desk.campaign.batches) else []
    sheets = [desk.write_sheet(rows)] if rows else []
    while rows and len(desk.campaign.batches) < (batches or 0):
        rows = desk.next_batch()
        sheets += [desk.write_sheet(rows)] if rows else []
    return desk.standing(sheets=sheets)


def drafts_of(ledger: Ledger, brief: str) -> Listed:
    """The drafts of the newest reading, from the ledger alone. Raises BriefError where nothing was read yet."""
    pool: tuple[str, ...] = ()
    for evidence in ledger.all(Evidence):
        if evidence.check.name == "pool":
            pool = evidence.drafts
    wanted = set(pool)
    found = [draft for draft in ledger.all(Draft, about=brief) if draft.id in wanted]
    if not found:
        raise BriefError("no ideas were read yet", hint="`tamis run` reads them and proposes the first batch")
    blobs = {draft.id: draft.blob for draft in found}
    return Listed([(draft.id, draft.name) for draft in found], lambda draft: ledger.blob(blobs[draft]))


def on_the_bench(bench: Bench, rows: Sequence[int]) -> Bench:
    """The bench after these ideas went to it."""
    taken = np.array(rows, dtype=np.intp)
    free, pending = np.setdiff1d(bench.free, taken), np.union1d(bench.pending, taken)
    return replace(bench, free=free, pending=pending, out=bench.out + len(rows))


def _because(said: Outlook, verified: Sequence[Best]) -> str:
    if not said.best:
        return said.stop
    leader = said.best[0]
    if not verified:
        return f"nothing is verified: {leader.name} leads, {leader.disagree or leader.rung}. {said.stop}"
    if verified[0].draft != leader.draft:
        return f"it is the best that is verified; {leader.name} leads, {leader.disagree or leader.rung}. {said.stop}"
    return f"it leads, measured {leader.measurements} times. {said.stop}"


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, tz=UTC).isoformat(timespec="seconds")
