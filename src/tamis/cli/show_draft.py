"""`tamis show`: how a run stands, or one draft whole: its source, the evidence on it, and what sets it apart."""

from collections.abc import Sequence
from typing import Annotated

import typer

from tamis.brief import load_brief
from tamis.cli import screens, show
from tamis.cli.options import Folder, Json
from tamis.cli.shown import View, shown
from tamis.errors import UsageError, nearest
from tamis.ledger import Ledger
from tamis.views import Kept, to_json
from tamis.views_draft import draft_view


def show_command(
    folder: Folder,
    draft: Annotated[str | None, typer.Argument(help="a draft's name, to see it whole", show_default=False)] = None,
    json: Json = None,
) -> None:
    """Show how a run stands, or one draft with its evidence."""
    with Ledger(load_brief(folder).folder, read_only=True) as ledger:
        kept = Kept(ledger)
        if draft is None:
            _whole(kept, *shown(kept, ledger, folder), json)
            return
        view = draft_view(kept, ledger, _named(kept, draft))
    show.json_to(json, to_json(view)) if json else screens.draft(view)


def _whole(kept: Kept, view: View, lines: Sequence[str], json: str | None) -> None:
    if json:
        show.json_to(json, to_json(view))
    elif lines:
        screens.told(kept, lines)
    else:
        screens.run(kept)


def _named(kept: Kept, name: str) -> str:
    """The id of the draft of that name. The ending may be left out."""
    ids = {one.name: one.id for one in kept.pool}
    short = {one.rsplit(".", 1)[0]: one for one in ids}
    if name not in ids and name not in short:
        near = nearest(name, ids)
        raise UsageError(
            f"no draft called {name!r} among the {len(ids)} of this brief",
            hint=f"did you mean {near}?" if near else None,
        )
    return ids.get(name) or ids[short[name]]
