"""The batches of a campaign, row by row, for programs and for the report."""

import msgspec

from tamis.lab.campaign import Campaign, Row
from tamis.lab.settings import Goal


class MeasuredView(msgspec.Struct, frozen=True):
    """One row of a batch. `value` is the mean of its results for the first goal, None while there is none.
    `failed_before` is how often its idea had failed in batches before: it is tried again."""

    name: str
    value: float | None
    row: str
    why: str
    state: str
    failed_before: int


def rows_of(campaign: Campaign, goal: Goal) -> list[list[MeasuredView]]:
    """Every row, batch by batch."""
    failed = campaign.failed_before()
    return [[_measured(row, goal, failed.get(row.proposed.row, 0)) for row in batch] for batch in campaign.batches]


def _measured(row: Row, goal: Goal, failed_before: int) -> MeasuredView:
    values = [event.values[goal.name] for event in row.results]
    state = "measured" if values else "withdrawn" if row.withdrawn else "failed" if row.failed else "waits"
    value = sum(values) / len(values) if values else None
    return MeasuredView(row.proposed.name, value, row.proposed.row, row.proposed.why, state, failed_before)
