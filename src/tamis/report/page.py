"""The report: one HTML file with everything in it, no script and nothing to fetch, for a person who has five minutes.

It shows what the view of the run shows, the chosen draft's source, and where the time went, as run and at other
writing speeds.
"""

from collections.abc import Collection
from pathlib import Path

import jinja2
import msgspec
from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_for_filename
from pygments.util import ClassNotFound

from tamis import __version__
from tamis.config import load_settings
from tamis.lab.page import LabPage, lab_page
from tamis.ledger import FOLDER, Ledger
from tamis.records import Draft
from tamis.taste.view import TasteView, taste_view
from tamis.time.charts import speeds_chart
from tamis.views import DraftsView, Kept, RunView, run_view

REPORT_FILE = "report.html"
MOST_ROWS = 2_000
"""Of very many drafts the page lists so many, so that a browser can still show it."""
MOST_CHARACTERS = 20_000
"""Of a very long text on the shortlist so much is shown."""


class Step(msgspec.Struct, frozen=True):
    """One level of the funnel: how many drafts are left, and what that means. `share` is of those written, 0 to 1."""

    name: str
    count: int
    share: float
    note: str


def write_report(kept: Kept, ledger: Ledger, folder: Path) -> Path:
    """Writes the report beside the ledger and returns where it is."""
    path = folder / FOLDER / REPORT_FILE
    path.write_text(page(kept, ledger), encoding="utf-8")
    return path


def page(kept: Kept, ledger: Ledger) -> str:
    view = run_view(kept)
    lab = lab_page(ledger, kept.brief.id, load_settings(kept.brief.settings).lab) if view.brief.desk == "lab" else None
    taste = taste_view(ledger) if view.brief.desk == "prose" else None
    chosen = next((draft for draft in kept.pool if kept.choice and draft.id == kept.choice.draft), None)
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            view=view,
            taste=taste,
            lab=lab,
            lab_picture=Markup(lab.picture) if lab else None,
            funnel=funnel(view, lab=lab, taste=taste),
            said_of_odds=said_of_odds(view),
            chosen=chosen,
            source=_source(chosen, ledger) if chosen else None,
            python=_python,
            texts=_texts(kept, ledger, [one.name for one in taste.shortlist]) if taste else {},
            most_rows=MOST_ROWS,
            calls_in=_calls_in,
            tokens=sum(draft.tokens or 0 for draft in view.drafts.list),
            words=sum(draft.words or 0 for draft in view.drafts.list),
            chart=Markup(speeds_chart(kept.spans, tokens=sum(draft.tokens or 0 for draft in kept.pool))),
            highlighting=Markup(str(_formatter().get_style_defs(".source"))),  # type: ignore[no-untyped-call]  # stubs lack it
            version=__version__,
        )
    )


def funnel(view: RunView, *, lab: LabPage | None = None, taste: TasteView | None = None) -> list[Step]:
    """From written to chosen, each with what is left. A draft that stands behind another is counted in the first step
    only."""
    drafts = view.drafts
    match view.brief.desk:
        case "prose":
            steps = _prose_steps(drafts, taste)
        case "lab":
            steps = _lab_steps(drafts, lab)
        case _:
            steps = _software_steps(view)
    chosen = ("chosen", 0 if view.choice.draft is None else 1, view.choice.draft or "none")
    whole = max(1, drafts.written)
    return [Step(name, count, count / whole, note) for name, count, note in (*steps, chosen)]


_Steps = list[tuple[str, int, str]]


def _software_steps(view: RunView) -> _Steps:
    drafts = view.drafts
    return [
        ("written", drafts.written, ""),
        ("distinct", drafts.distinct, "same bytes or same syntax tree folded"),
        ("parse", drafts.distinct_parsed, ""),
        ("pass", drafts.distinct_passed, "the tests that came with the brief"),
        ("camps", len(view.choice.camps), "alike on every input tried"),
    ]


def _prose_steps(drafts: DraftsView, taste: TasteView | None) -> _Steps:
    return [
        ("written", drafts.written, ""),
        ("whole", drafts.parsed, "neither empty nor cut off"),
        ("distinct", drafts.distinct_parsed, "the same, or nearly, folded"),
        ("shortlist", len(taste.shortlist) if taste else 0, ""),
    ]


def _lab_steps(drafts: DraftsView, lab: LabPage | None) -> _Steps:
    return [
        ("ideas", drafts.written, ""),
        ("valid", drafts.parsed, "fit what tamis.toml says of an idea"),
        ("distinct", drafts.distinct_parsed, "the same idea in other words folded"),
        ("predicted", drafts.distinct_parsed if lab and lab.predicted else 0, "by models of what was measured"),
        ("measured", lab.ideas if lab else 0, "at the bench"),
        ("replicated", lab.replicated if lab else 0, "measured twice or more; only these may be called verified"),
    ]


def said_of_odds(view: RunView) -> str | None:
    """What there is to say of the odds; None where they are of nothing, since nothing was chosen."""
    odds = view.choice.odds
    if odds.p is None:
        return f"Odds: not stated ({odds.basis})"
    if view.choice.draft is None and view.brief.desk == "prose":
        return None  # they are those of the first on the shortlist, where they stand beside it
    between = f" ({odds.low:.2f} to {odds.high:.2f})" if odds.low is not None and odds.high is not None else ""
    of = "Odds" if view.choice.draft else "Odds of the likeliest"
    return f"{of}: {odds.p:.2f}{between}, {odds.basis}"


def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("tamis.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )


def _source(draft: Draft, ledger: Ledger) -> Markup:
    text = ledger.blob(draft.blob).decode("utf-8", "replace")
    return _highlighted(text, draft.name)


def _calls_in(witness: str) -> list[str]:
    """What a witness does, call by call, without what it imports."""
    lines = [line for line in witness.splitlines() if line.strip() and not line.startswith(("from ", "import "))]
    return [line.removeprefix("result = ") for line in lines]


def _texts(kept: Kept, ledger: Ledger, names: Collection[str]) -> dict[str, str]:
    """What the drafts of these names say."""
    found = {
        draft.name: ledger.blob(draft.blob).decode("utf-8", "replace") for draft in kept.pool if draft.name in names
    }
    return {
        name: text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]} … ({len(text):,} characters in all)"
        for name, text in found.items()
    }


def _python(source: str) -> Markup:
    return _highlighted(source, "witness.py")


def _highlighted(text: str, name: str) -> Markup:
    try:
        lexer = get_lexer_for_filename(name)
    except ClassNotFound:
        return Markup("<pre>{}</pre>").format(text)
    # the formatter escapes the text itself
    return Markup(highlight(text, lexer, _formatter()))


def _formatter() -> HtmlFormatter[str]:
    return HtmlFormatter(cssclass="source", style="default", nobackground=True)
