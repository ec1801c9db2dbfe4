"""What the report and `tamis show` tell of a campaign, from the ledger alone: its picture, its batches, and the ideas
measured, best first. No model is fitted for it, so nothing is guessed: what was measured stands here as it came."""

from collections.abc import Sequence

import msgspec

from tamis.lab.batches import MeasuredView, rows_of
from tamis.lab.campaign import Campaign, load
from tamis.lab.picture import campaign_picture
from tamis.lab.settings import Goal, LabSection, goals_of
from tamis.ledger import Ledger

MOST = 15


class MeasuredIdea(msgspec.Struct, frozen=True):
    """`values` are the means of its results by goal, `runs` how many those are, `spread` the range between its
    replicates in the first goal."""

    name: str
    values: dict[str, float]
    runs: int
    spread: float
    sources: list[str]


class LabPage(msgspec.Struct, frozen=True):
    """`picture` is an SVG element. `proposed`, `measured`, `failed` and `waiting` count rows, `ideas` and `replicated`
    ideas measured. `predicted`: models have learned enough to give forecasts. `rows` are all, batch by batch."""

    picture: str
    goals: list[str]
    units: list[str]
    best: list[MeasuredIdea]
    batches: int
    proposed: int
    measured: int
    failed: int
    replicated: int
    ideas: int
    waiting: int
    predicted: bool
    rows: list[list[MeasuredView]]


def lab_page(ledger: Ledger, brief: str, lab: LabSection) -> LabPage | None:
    """None before the first batch."""
    campaign = load(ledger, brief)
    if not campaign.batches:
        return None
    goals = goals_of(lab)
    rows = list(campaign.rows())
    ideas = _ideas(campaign, goals)
    return LabPage(
        picture=campaign_picture(campaign, goals),
        goals=[goal.name for goal in goals],
        units=[goal.unit or "" for goal in goals],
        best=sorted(ideas, key=lambda one: -goals[0].sign * one.values[goals[0].name])[:MOST],
        batches=len(campaign.batches),
        proposed=len(rows),
        measured=sum(1 for row in rows if row.results),
        failed=sum(1 for row in rows if row.failed and not row.results),
        replicated=sum(1 for one in ideas if one.runs > 1),
        ideas=len(ideas),
        waiting=sum(1 for row in rows if row.waits),
        predicted=any(row.proposed.forecasts for row in rows),
        rows=rows_of(campaign, goals[0]),
    )


def _ideas(campaign: Campaign, goals: Sequence[Goal]) -> list[MeasuredIdea]:
    names = {row.proposed.draft: row.proposed.name for row in campaign.rows()}
    found = []
    for draft, events in campaign.measured().items():
        first = [event.values[goals[0].name] for event in events]
        found.append(
            MeasuredIdea(
                name=names[draft],
                values={goal.name: sum(e.values[goal.name] for e in events) / len(events) for goal in goals},
                runs=len(events),
                spread=max(first) - min(first),
                sources=sorted({event.synthesis for event in events if event.synthesis}),
            )
        )
    return found
