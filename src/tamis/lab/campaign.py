"""The campaign: what was proposed, sent, measured, failed, withdrawn and corrected, as evidence in the ledger.

A proposal and an upload are one record each, with a blob that holds their rows, so neither can be half there; the
records of single rows follow from it and are added again when a kill came between. Everything else is worked out from
these events whenever it is needed.

    proposed    about all ideas of a batch; `how`: batch, at, plan (blob of the `Proposed` rows)
    uploaded    about all ideas of an upload; `how`: by, at, file, events (blob of the `Event`s)
    lab         about one idea: Measured, or NoAnswer for a run that failed; `question` is the row's, `how` the event's
    sent, withdrawn   about one idea, `question` is the row's
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from tamis.ledger import Ledger
from tamis.records import Answer, Evidence, Held, Measured, NoAnswer, Question, Record, Spec, digest

PROPOSED = Spec(kind="check", name="proposed", version="1")
UPLOADED = Spec(kind="check", name="uploaded", version="1")
LAB = Spec(kind="check", name="lab", version="1")
SENT = Spec(kind="check", name="sent", version="1")
WITHDRAWN = Spec(kind="check", name="withdrawn", version="1")

Kind = Literal["sent", "measured", "failed", "withdrawn", "corrected"]


class Forecast(Record, frozen=True, kw_only=True):
    """What was expected of a row before it was measured, for one goal: mean and sd of the idea's true value in the
    goal's unit, the sd of measuring, and each model's mean and sd."""

    mean: float
    sd: float
    noise_sd: float
    members: Mapping[str, tuple[float, float]] = {}


class Proposed(Record, frozen=True, kw_only=True):
    """A row of a batch. `row` is its id on the sheet, `hash` that of the idea's content."""

    row: str
    draft: str
    name: str
    hash: str
    why: Literal["spread", "explore", "doubt", "repeat"]
    forecasts: Mapping[str, Forecast] = {}


class Event(Record, frozen=True, kw_only=True):
    """Something that happened to a row. `values` are results by goal in the goal's unit, empty where it failed or
    was withdrawn. `synthesis` and `lab_batch` say where the sample came from and with which others it was measured,
    `corrects` is the key of the event that a correction stands for."""

    row: str
    kind: Kind
    values: Mapping[str, float] = {}
    why: str = ""
    at: str = ""
    by: str = ""
    synthesis: str = ""
    lab_batch: str = ""
    file: str = ""
    line: int | None = None
    corrects: str = ""

    @property
    def key(self) -> str:
        return digest(msgspec.json.encode(self))

    @property
    def same_as(self) -> tuple[object, ...]:
        """What makes two events the same one, told twice."""
        return (self.row, self.kind, tuple(sorted(self.values.items())), self.why, self.lab_batch, self.at)


@dataclass
class Row:
    """A row and what has happened to it. `results` are the measurements that count, the newest of corrected ones."""

    proposed: Proposed
    batch: int
    results: list[Event] = field(default_factory=list)
    failed: list[Event] = field(default_factory=list)
    withdrawn: bool = False
    sent: Event | None = None

    @property
    def waits(self) -> bool:
        return not (self.results or self.failed or self.withdrawn)


@dataclass
class Campaign:
    """All batches of a brief, by the ledger."""

    id: str
    batches: list[list[Row]] = field(default_factory=list)
    proposed_at: list[float] = field(default_factory=list)
    """When each batch was proposed, in seconds since 1970."""
    uploads: list[Evidence] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def rows(self) -> Iterable[Row]:
        return (row for batch in self.batches for row in batch)

    def by_id(self) -> dict[str, Row]:
        return {row.proposed.row: row for row in self.rows()}

    def measured(self) -> dict[str, list[Event]]:
        """Draft → its measurements, over all rows of that draft."""
        found: dict[str, list[Event]] = {}
        for row in self.rows():
            if row.results:
                found.setdefault(row.proposed.draft, []).extend(row.results)
        return found

    def failures(self) -> dict[str, int]:
        """Draft → how many of its runs failed."""
        found: dict[str, int] = {}
        for row in self.rows():
            if row.failed:
                found[row.proposed.draft] = found.get(row.proposed.draft, 0) + len(row.failed)
        return found

    def failed_before(self) -> dict[str, int]:
        """Row → how often its idea had failed, by now, in batches before it; rows whose idea never did are left out."""
        found: dict[str, int] = {}
        so_far: dict[str, int] = {}
        for batch in self.batches:
            found |= {row.proposed.row: so_far[row.proposed.draft] for row in batch if row.proposed.draft in so_far}
            for row in batch:
                if row.failed:
                    so_far[row.proposed.draft] = so_far.get(row.proposed.draft, 0) + len(row.failed)
        return found


def load(ledger: Ledger, brief: str) -> Campaign:
    """The campaign of a brief as the ledger holds it."""
    campaign = Campaign(id=brief)
    for evidence in ledger.all(Evidence):
        if evidence.how.get("brief") != brief:
            continue
        if evidence.check.name == PROPOSED.name:
            rows = msgspec.json.decode(ledger.blob(evidence.how["plan"]), type=list[Proposed])
            campaign.batches.append([Row(row, len(campaign.batches) + 1) for row in rows])
            campaign.proposed_at.append(float(evidence.how["at"]))
        elif evidence.check.name == UPLOADED.name:
            campaign.uploads.append(evidence)
            happened(campaign, msgspec.json.decode(ledger.blob(evidence.how["events"]), type=list[Event]))
    return campaign


def happened(campaign: Campaign, events: Sequence[Event]) -> None:
    """Takes events into the campaign's rows."""
    rows = campaign.by_id()
    for event in events:
        row = rows[event.row]
        campaign.events.append(event)
        match event.kind:
            case "measured":
                row.results.append(event)
            case "corrected":
                row.results, row.failed = [event], []
            case "failed":
                row.failed.append(event)
            case "withdrawn":
                row.withdrawn = True
            case "sent":
                row.sent = event


def propose(
    ledger: Ledger, campaign: Campaign, rows: Sequence[Proposed], *, at: float, span: str | None = None
) -> list[Row]:
    """Records a batch. Its number is one more than the last one's."""
    number = len(campaign.batches) + 1
    plan = ledger.add_blob(msgspec.json.encode(list(rows)))
    drafts = tuple(row.draft for row in rows)
    how = {"brief": campaign.id, "batch": str(number), "at": repr(at), "plan": plan}
    ledger.add(
        Evidence(
            id=digest("proposed", campaign.id, str(number)),
            drafts=drafts,
            check=PROPOSED,
            answer=Held(cases=len(rows)),
            how=how,
            span=span,
        )
    )
    batch = [Row(row, number) for row in rows]
    campaign.batches.append(batch)
    campaign.proposed_at.append(at)
    for row in batch:
        ledger.add(_question(campaign, row, asked_at=at))
    return batch


def record(
    ledger: Ledger,
    campaign: Campaign,
    events: Sequence[Event],
    units: Mapping[str, str | None],
    *,
    by: str,
    at: str,
    file: str = "",
    span: str | None = None,
) -> None:
    """Records what came in one upload: all of it or, where a kill comes first, none."""
    if not events:
        return
    rows = campaign.by_id()
    content = msgspec.json.encode(list(events))
    blob = ledger.add_blob(content)
    drafts = tuple(dict.fromkeys(rows[event.row].proposed.draft for event in events))
    how = {"brief": campaign.id, "by": by, "at": at, "file": file, "events": blob}
    upload = Evidence(
        id=digest("uploaded", campaign.id, str(len(campaign.uploads)), blob),
        drafts=drafts,
        check=UPLOADED,
        answer=Held(cases=len(events)),
        how=how,
        span=span,
    )
    ledger.add(upload)
    for event in events:
        for evidence in _evidence(campaign, rows[event.row], event, units, upload.id):
            ledger.add(evidence)
    campaign.uploads.append(upload)
    happened(campaign, events)


def mend(ledger: Ledger, campaign: Campaign, units: Mapping[str, str | None]) -> None:
    """Adds again what follows from a proposal or an upload, where a kill came before it was all recorded. Adding what
    is there already changes nothing."""
    for row in campaign.batches[-1] if campaign.batches else []:
        ledger.add(_question(campaign, row, asked_at=campaign.proposed_at[-1]))
    if campaign.uploads:
        upload = campaign.uploads[-1]
        rows = campaign.by_id()
        for event in msgspec.json.decode(ledger.blob(upload.how["events"]), type=list[Event]):
            for evidence in _evidence(campaign, rows[event.row], event, units, upload.id):
                ledger.add(evidence)


def _question(campaign: Campaign, row: Row, *, asked_at: float) -> Question:
    return Question(
        id=_question_id(campaign, row),
        brief=campaign.id,
        form="measurement",
        witness=f"{row.proposed.row} {row.proposed.name}",
        options=(),
        sides=((row.proposed.draft,),),
        asked_of="lab",
        asked_at=asked_at,
    )


def _question_id(campaign: Campaign, row: Row) -> str:
    return digest("measurement", campaign.id, row.proposed.row)


def _evidence(
    campaign: Campaign, row: Row, event: Event, units: Mapping[str, str | None], upload: str
) -> Iterable[Evidence]:
    """The records of one event; a result has one for each goal."""
    answers: list[tuple[Spec, Answer, str]]
    if event.kind in {"measured", "corrected"}:
        answers = [
            (LAB, Measured(value=value, unit=units.get(name) or ""), name) for name, value in event.values.items()
        ]
    elif event.kind == "failed":
        answers = [(LAB, NoAnswer(fault="check", why=event.why or "the run failed"), "")]
    else:
        answers = [(SENT if event.kind == "sent" else WITHDRAWN, Held(), "")]
    question = _question_id(campaign, row)
    for check, answer, goal in answers:
        how = {"brief": campaign.id, "row": event.row, "event": event.kind, "goal": goal, "upload": upload}
        how |= {
            "at": event.at,
            "by": event.by,
            "synthesis": event.synthesis,
            "lab_batch": event.lab_batch,
            "file": event.file,
        }
        yield Evidence(
            id=digest("lab event", event.key, goal),
            drafts=(row.proposed.draft,),
            check=check,
            answer=answer,
            question=question,
            supersedes=digest("lab event", event.corrects, goal) if event.corrects else None,
            how={name: value for name, value in how.items() if value},
        )
