"""Which desk a brief goes to, who is there to answer, and how each desk says where it stands."""

from collections.abc import Callable
from pathlib import Path

import msgspec

from tamis.cli import show
from tamis.desks import BenchDesk, Desk, TasteDesk
from tamis.lab.desk import Standing
from tamis.ledger import Ledger
from tamis.records import Draft
from tamis.run import Run
from tamis.views import Kept, RunView, run_view

View = RunView | dict[str, object]
"""What `--json` writes: the view that all desks share, with what the desk adds."""


def desk_of(owner: str, *, batches: int | None = None) -> Callable[[Run], Desk]:
    """Makes the desk of a run. `owner` is "none", "terminal" or a file of Python, which each desk asks in its way."""

    def make(run: Run) -> Desk:
        match run.loaded.brief.desk:
            case "software":
                return _software(run, owner)
            case "prose":
                return _prose(run, owner)
            case "lab":
                return _lab(run, owner, batches)

    return make


def _software(run: Run, owner: str) -> Desk:
    from tamis.behaviour.owner import file_owner  # noqa: PLC0415 - each desk's models are loaded for it alone
    from tamis.cli.ask import TerminalOwner  # noqa: PLC0415
    from tamis.programs import ProgramDesk  # noqa: PLC0415
    from tamis.software import SoftwareDesk  # noqa: PLC0415

    desk = ProgramDesk if run.loaded.settings.draft.command else SoftwareDesk
    match owner:
        case "none":
            return desk(run)
        case "terminal":
            terminal = TerminalOwner(show.out, progress=run.progress, name_of=_names(run))
            return desk(run, owner=terminal)
        case _:
            return desk(run, owner=file_owner(Path(owner)))


def _names(run: Run) -> Callable[[str], str]:
    def name_of(draft: str) -> str:
        found = run.ledger.find(Draft, draft)
        return draft if found is None else found.name

    return name_of


def _prose(run: Run, owner: str) -> Desk:
    from tamis.cli.compare import TerminalReader  # noqa: PLC0415
    from tamis.taste.readers import ChoicesFile, Reader, reader_in  # noqa: PLC0415

    reader: Reader | ChoicesFile | None
    match owner:
        case "none":
            reader = None
        case "terminal":
            reader = TerminalReader(progress=run.progress)
        case _ if owner.startswith("terminal:") and len(owner) > len("terminal:"):
            reader = TerminalReader(owner.removeprefix("terminal:"), progress=run.progress)
        case _:
            reader = reader_in(Path(owner))
    return TasteDesk(run, reader, say=show.say)


def _lab(run: Run, owner: str, batches: int | None) -> Desk:
    from tamis.lab.owner import stand_in  # noqa: PLC0415

    if owner in {"none", "terminal"}:
        return BenchDesk(run, None, batches=batches)
    return BenchDesk(run, stand_in(Path(owner), run.loaded.settings.lab), batches=batches)


def seen(kept: Kept, ledger: Ledger, desk: Desk) -> tuple[View, list[str]]:
    """The run's view with what its desk adds, and the lines in which the desk tells it; none for software, whose
    screen is the shared one."""
    shared = run_view(kept)
    match desk:
        case TasteDesk():
            from tamis.cli.compare import shortlist_lines  # noqa: PLC0415
            from tamis.taste.view import taste_view  # noqa: PLC0415

            taste = taste_view(ledger)
            return (_with(shared, taste), shortlist_lines(taste)) if taste else (shared, [shared.choice.because])
        case BenchDesk(standing=Standing() as standing, lab=lab):
            from tamis.lab.settings import goals_of  # noqa: PLC0415
            from tamis.lab.story import lab_view  # noqa: PLC0415
            from tamis.lab.telling import told  # noqa: PLC0415

            goals = goals_of(lab)
            return _with(shared, lab_view(standing, goals)), list(told(standing, goals, lab))
        case _:
            return shared, []


def _with(shared: RunView, added: msgspec.Struct) -> View:
    return {**msgspec.to_builtins(shared), **msgspec.to_builtins(added)}
