"""The account of a run: where its time went, stage by stage, waiting apart from working.

It is made from spans alone. Seconds are seconds on the wall: what ran at the same time is counted once within a stage,
and a span's own time is what its children leave of it. A ledger may hold several runs (killed and resumed): the account
sums over them, and the time between them is shown, never counted as work. What no stage accounts for is shown too.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import get_args

from tamis.records import Record, Span, Stage
from tamis.time.intervals import Interval, length, split, union, without
from tamis.time.tree import Tree, between, tree

FOR_DRAFTS = frozenset({"the writer", "reading", "parsing", "folding"})
"""What the stages of the pipeline wait on for drafts to come. While a writer writes, that is the writing's time."""

APART: tuple[Stage, ...] = ("writing", "people", "lab")
"""Stages with a row of their own beside a writer's speed; all that lies between them is the sifting."""


class StageTime(Record, frozen=True, kw_only=True):
    """What one stage took. `seconds` are on the wall and include `waited`, those in which nothing of the stage worked;
    a span's waiting is taken to come before its work. Waiting for drafts while they are written is the writing's time
    and stands in no other row. `waited_on` sums the spans' waiting by what they waited for, and exceeds `waited` where
    several waited at once. `cpu_seconds` is None where no span measured it."""

    seconds: float = 0.0
    waited: float = 0.0
    waited_on: Mapping[str, float] = {}
    cpu_seconds: float | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    spans: int = 0


class Account(Record, frozen=True, kw_only=True):
    """Where the time went. `by_name` holds the parts of a run (the children of its whole, each with all below it) in
    the order in which they first began; `sifting` all that is neither writing nor people nor the bench, `sifting_names`
    its parts.

    `total_seconds` leaves out `between_runs_seconds`; `unaccounted_seconds` of it lie within no stage. Stages that ran
    at the same time add up to more than the total. `since_seconds` is how long ago the last span ended, None where
    nobody said what time it is. `notes` tell what was missing or odd."""

    stages: Mapping[Stage, StageTime] = {}
    by_name: Mapping[str, StageTime] = {}
    sifting: StageTime = StageTime()
    sifting_names: tuple[str, ...] = ()
    total_seconds: float = 0.0
    unaccounted_seconds: float = 0.0
    runs: int = 0
    between_runs_seconds: float = 0.0
    since_seconds: float | None = None
    notes: tuple[str, ...] = ()


class Row(Record, frozen=True, kw_only=True):
    """A row of the table of writing speeds: seconds as run and at the speed, None where there is nothing to tell,
    with the word that stands there instead ("recorded": it was written before the run; "–": there was none)."""

    what: str
    as_run: float | None
    at_speed: float | None
    as_run_word: str = "–"


def account(spans: Sequence[Span], *, now: float | None = None) -> Account:
    """The account of these spans, whatever their order. `now` is in seconds since 1970."""
    return account_of(tree(spans), now=now)


def account_of(spans: Tree, *, now: float | None = None) -> Account:
    extents = [spans.extent(root) for root in spans.roots]
    staged: dict[Stage, list[Span]] = defaultdict(list)
    for span in spans.everything():
        staged[span.stage].append(span)
    staged.pop("whole", None)
    sifting = [s for stage, members in staged.items() if stage not in APART for s in members]
    accounted = union((s.started, s.ended) for members in staged.values() for s in members)
    total = length(union(extents))
    writing = union((s.started, s.ended) for s in staged.get("writing", ()))
    return Account(
        stages={stage: stage_time(spans, staged[stage], writing) for stage in get_args(Stage) if stage in staged},
        by_name={name: stage_time(spans, members, writing) for name, members in _parts(spans).items()},
        sifting=stage_time(spans, sifting, writing),
        sifting_names=tuple(name for name, (first, *_) in _parts(spans).items() if first.stage not in APART),
        total_seconds=total,
        unaccounted_seconds=max(0.0, total - length(accounted)),
        runs=len(extents),
        between_runs_seconds=between(extents),
        since_seconds=max(0.0, now - max(end for _, end in extents)) if now is not None and extents else None,
        notes=spans.notes,
    )


def stage_time(spans: Tree, members: Iterable[Span], writing: Sequence[Interval] = ()) -> StageTime:
    """What these spans took together, leaving out what children took that are not among them, and waiting for drafts
    while they were written: `writing` is sorted and disjoint."""
    stretches: list[Interval] = []
    working: list[Interval] = []
    waited_on: dict[str, float] = defaultdict(float)
    members = list(members)
    for span in members:
        waiting, work = split(spans.own(span), span.waited)
        waited = span.waited
        if span.waited_on in FOR_DRAFTS:
            left = [part for whole in waiting for part in without(whole, writing)]
            waited -= length(waiting) - length(left)
            waiting = left
        stretches += waiting + work
        working += work
        if waited > 1e-9:
            waited_on[span.waited_on or "unknown"] += waited
    seconds = length(union(stretches))
    cpu = [c for span in members if (c := spans.own_cpu_seconds(span)) is not None]
    return StageTime(
        seconds=seconds,
        waited=max(0.0, seconds - length(union(working))),
        waited_on=dict(waited_on),
        cpu_seconds=sum(cpu) if cpu else None,
        tokens_in=sum(span.tokens_in for span in members),
        tokens_out=sum(span.tokens_out for span in members),
        spans=len(members),
    )


def rows_at_speed(account: Account, tokens_per_second: float, *, tokens_to_write: int | None = None) -> tuple[Row, ...]:
    """The account as run beside what it would be with a writer of that throughput over all its streams: the tokens
    divided by the speed, all else as it was. How far writing and the rest overlap is left open: `whatif` replays that.

    A bench has a row of its own where there is one, since days there are nobody's work here.

    `tokens_to_write` are the drafts' tokens, for a run whose drafts were written before it; the writing's own count
    goes first where it was measured. Where nobody counted tokens, the writing at that speed is None."""
    writing = account.stages.get("writing", StageTime())
    tokens = writing.tokens_out or tokens_to_write
    people = account.stages.get("people")
    people_seconds = people.seconds if people else None
    bench = account.stages.get("lab")
    return (
        Row(
            what="writing",
            as_run=writing.seconds if writing.tokens_out else None,
            at_speed=tokens / tokens_per_second if tokens else None,
            as_run_word="recorded",
        ),
        Row(
            what=", ".join(account.sifting_names) or "sifting",
            as_run=account.sifting.seconds,
            at_speed=account.sifting.seconds,
        ),
        Row(what="people", as_run=people_seconds, at_speed=people_seconds),
        *((Row(what="the bench", as_run=bench.seconds, at_speed=bench.seconds),) if bench else ()),
    )


def _parts(spans: Tree) -> dict[str, list[Span]]:
    """Each part's spans by its name, the part itself first."""
    parts: dict[str, list[Span]] = defaultdict(list)
    for root in spans.roots:
        for child in spans.below(root):
            parts[child.name] += [child, *spans.walk(child)]
    return parts
