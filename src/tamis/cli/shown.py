"""How each desk tells a run that is looked at later, from the ledger alone: nothing is worked out anew, and no model is
fitted for it."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tamis.config import load_settings
from tamis.ledger import Ledger
from tamis.views import Kept, RunView, run_view

if TYPE_CHECKING:
    from tamis.lab.page import LabPage

View = RunView | dict[str, object]


def shown(kept: Kept, ledger: Ledger, folder: Path) -> tuple[View, list[str]]:
    """The run's view with what its desk adds, and the lines in which the desk tells it; none for software, whose
    screen is the shared one. `folder` is the brief's."""
    shared = run_view(kept)
    match shared.brief.desk:
        case "prose":
            return _prose(shared, ledger)
        case "lab":
            return _lab(shared, kept, ledger, folder)
        case _:
            return shared, []


def _prose(shared: RunView, ledger: Ledger) -> tuple[View, list[str]]:
    from tamis.cli.compare import shortlist_lines  # noqa: PLC0415 - each desk's parts are loaded for it alone
    from tamis.taste.view import taste_view  # noqa: PLC0415

    taste = taste_view(ledger)
    if taste is None:
        return shared, [f"  {shared.choice.because}"]
    return {**msgspec.to_builtins(shared), **msgspec.to_builtins(taste)}, shortlist_lines(taste)


def _lab(shared: RunView, kept: Kept, ledger: Ledger, folder: Path) -> tuple[View, list[str]]:
    from tamis.lab.campaign import load  # noqa: PLC0415
    from tamis.lab.desk import SHEETS  # noqa: PLC0415
    from tamis.lab.outlook import RUNGS  # noqa: PLC0415
    from tamis.lab.page import lab_page  # noqa: PLC0415
    from tamis.lab.settings import goals_of  # noqa: PLC0415
    from tamis.lab.story import like_reasons  # noqa: PLC0415
    from tamis.lab.telling import ladder_told, page_told  # noqa: PLC0415

    refused = like_reasons(one.because for one in shared.drafts.list if one.standing == "broke")
    lab = load_settings(kept.brief.settings).lab
    page = lab_page(ledger, kept.brief.id, lab)
    drafts, forecast = shared.drafts, page is not None and page.predicted
    measured, replicated = (page.ideas, page.replicated) if page else (0, 0)
    counts = (drafts.written, drafts.parsed, drafts.distinct_parsed, drafts.distinct_parsed * forecast)
    ladder: dict[str, int] = dict(zip(map(str, RUNGS), (*counts, measured, replicated), strict=True))
    lines = list(ladder_told(ladder, refused))
    view = {**msgspec.to_builtins(shared), "ladder": ladder, "refused": refused, "batches": [], "measured": []}
    if page is not None:
        view |= {"batches": msgspec.to_builtins(page.rows), "measured": msgspec.to_builtins(page.best)}
        lines += page_told(page, load(ledger, kept.brief.id), goals_of(lab))
    lines.append(f"  {shared.choice.because}")
    return view, [*lines, *(_awaited(page, folder / SHEETS) if page else ())]


def _awaited(page: "LabPage", folder: Path) -> Iterator[str]:
    """The batches that results are still to come of, each with its sheet."""
    for number, rows in enumerate(page.rows, start=1):
        count = sum(1 for row in rows if row.state == "waits")
        sheet = next(folder.glob(f"batch-{number:02d}.*"), None)
        if count:
            yield f"  batch {number}: {count} awaited" + (
                f"; with results filled in: tamis measure {sheet}" if sheet else ""
            )
