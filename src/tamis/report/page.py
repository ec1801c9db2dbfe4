"""The report: one HTML file with everything in it, no script and nothing to fetch, for a person who has five minutes.

It shows what the view of the run shows, the chosen draft's source, and where the time went, as run and at other
writing speeds.
"""

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
from tamis.taste.view import taste_view
from tamis.time.charts import speeds_chart
from tamis.views import Kept, RunView, call_of, run_view

REPORT_FILE = "report.html"


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
    chosen = next((draft for draft in kept.pool if kept.choice and draft.id == kept.choice.draft), None)
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            view=view,
            taste=taste_view(ledger) if view.brief.desk == "prose" else None,
            lab=lab,
            lab_picture=Markup(lab.picture) if lab else None,
            funnel=funnel(view, lab),
            chosen=chosen,
            source=_source(chosen, ledger) if chosen else None,
            python=_python,
            call_of=call_of,
            tokens=sum(draft.tokens or 0 for draft in view.drafts.list),
            words=sum(draft.words or 0 for draft in view.drafts.list),
            chart=Markup(speeds_chart(kept.spans, tokens=sum(draft.tokens or 0 for draft in kept.pool))),
            highlighting=Markup(str(_formatter().get_style_defs(".source"))),  # type: ignore[no-untyped-call]  # stubs lack it
            version=__version__,
        )
    )


def funnel(view: RunView, lab: LabPage | None = None) -> list[Step]:
    """From written to chosen, each with what is left."""
    drafts = view.drafts
    camps = len(view.choice.camps)
    if view.brief.desk == "prose":
        steps = [
            ("written", drafts.written, ""),
            ("distinct", drafts.distinct, "the same, or nearly, folded"),
            ("chosen", 0 if view.choice.draft is None else 1, view.choice.draft or "none"),
        ]
        return [Step(name, count, count / max(1, drafts.written), note) for name, count, note in steps]
    if lab is not None:
        steps = [
            ("written", drafts.written, ""),
            ("measured", lab.measured, "at the bench"),
            ("replicated", lab.replicated, "measured twice or more, so that they may be called verified"),
            ("chosen", 0 if view.choice.draft is None else 1, view.choice.draft or "none"),
        ]
        return [Step(name, count, count / max(1, drafts.written), note) for name, count, note in steps]
    steps = [
        ("written", drafts.written, ""),
        ("distinct", drafts.distinct, "same bytes or same syntax tree folded"),
        ("parse", drafts.parsed, ""),
        ("pass", drafts.passed, "the tests that came with the brief"),
        ("camps", camps, "alike on every input tried"),
        ("chosen", 0 if view.choice.draft is None else 1, view.choice.draft or "none"),
    ]
    return [Step(name, count, count / max(1, drafts.written), note) for name, count, note in steps]


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
