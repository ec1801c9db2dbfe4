"""Screens: what a person sees of a run, of its drafts, of one draft. `show` prints them."""

from collections.abc import Sequence

from rich.markup import escape
from rich.syntax import Syntax

from tamis.cli import show
from tamis.records import Measured
from tamis.time.account import account, rows_at_speed
from tamis.time.durations import spoken
from tamis.views import Kept, OddsView, RunView, most_common_failures, run_view
from tamis.views_draft import WholeDraftView

AT_SPEED = 1_000_000
LONG_SECONDS = 7200


def run(kept: Kept) -> None:
    """How a run stands: the funnel, the choice, and where the time went. From "distinct" on, drafts that are another's
    duplicate are counted nowhere."""
    view = run_view(kept)
    drafts = view.drafts
    _heading(view)
    rows = [
        ("distinct", str(drafts.distinct), _duplicates_note(kept)),
        ("parse", str(drafts.distinct_parsed), ""),
        ("given tests", str(drafts.distinct_passed), "pass what came with the brief"),
        ("behaviour", _behaviour(view) + _by_crosshair(kept), ""),
        (
            "chosen",
            _chosen(view),
            f"odds{'' if view.choice.draft else ' of the likeliest'}: {odds_text(view.choice.odds)}",
        ),
    ]
    for name, count, note in rows:
        show.line(
            f"  {name:<14}{count:<6}{note}".rstrip() if len(count) < 6 else f"  {name:<14}{count}   {note}".rstrip()
        )
    show.line(f"  {'':<14}{view.choice.because}")
    _asked(view)
    _failures(kept)
    _times(kept, view)


def told(kept: Kept, lines: Sequence[str]) -> None:
    """How a run stands at a desk that tells it itself, and where the time went."""
    view = run_view(kept)
    _heading(view)
    for one in lines:
        show.line(one)
    if view.brief.desk != "lab":  # which tells why ideas were refused itself, like ones together
        _failures(kept)
    _times(kept, view)


def _heading(view: RunView) -> None:
    drafts = view.drafts
    tokens = sum(one.tokens or 0 for one in drafts.list)
    words = sum(one.words or 0 for one in drafts.list)
    show.line(f"{view.brief.title} · {_plural(drafts.written, 'draft')} · {tokens:,} tokens, {words:,} words")


def _asked(view: RunView) -> None:
    """What the owner was asked, and what her answers did to the odds and to the tests."""
    if not view.questions and not view.storyboard:
        return
    choice, strength = view.choice, view.choice.strength
    before = f"; odds before the storyboard: {odds_text(choice.odds_before)}" if choice.odds_before else ""
    asked, lines = _plural(len(view.questions), "question"), _plural(len(view.storyboard), "storyboard line")
    show.line(f"  {'asked':<14}{asked}, {lines}{before}")
    if strength:
        given = f"{strength['mutants_by_tests']} of {strength['mutants']} mutants"
        given += f" and {strength['drafts_by_tests']} of {strength['drafts']} wrong drafts"
        both = f"{strength['mutants_with_answers']} and {strength['drafts_with_answers']}"
        show.line(f"  {'tests catch':<14}{given}; with the answers {both}")


def standings(kept: Kept) -> None:
    """Every draft with where it stands and why."""
    view = run_view(kept)
    grid = show.table("draft", ">tokens", ">words", "standing", "because")
    for one in view.drafts.list:
        grid.add_row(escape(one.name), _count(one.tokens), _count(one.words), one.standing, escape(one.because))
    show.out.print(grid)
    show.line()
    drafts = view.drafts
    counts = [f"{drafts.written} written", f"{drafts.distinct} distinct", f"{drafts.distinct_parsed} of these parse"]
    if view.brief.desk == "software":
        counts.append(f"{drafts.distinct_passed} pass the given tests")
    show.line(", ".join(counts))
    _failures(kept)


def odds_text(odds: OddsView) -> str:
    if odds.p is None:
        return f"not stated ({odds.basis})"
    interval = f" ({odds.low:.2f} to {odds.high:.2f})" if odds.low is not None and odds.high is not None else ""
    return f"{odds.p:.2f}{interval}, {odds.basis}"


def draft(view: WholeDraftView) -> None:
    """One draft whole."""
    counted = f" (counted by {view.counted_by})" if view.counted_by else ""
    show.line(f"{view.name} · {_count(view.tokens)} tokens{counted}, {_count(view.words)} words")
    show.line(f"  {view.standing}: {view.because}")
    for one in view.evidence:
        show.line(f"  {one.check:<12}{one.answer}")
        if one.how:
            show.line(f"  {'':<12}by: {'; '.join(f'{key} {value}' for key, value in one.how.items())}")
    if view.sides:
        show.line()
        show.line("what sets it apart, rarest first:")
        for side in view.sides:
            show.line(f"  {side.call}  →  {side.outcome}   (with {side.alike - 1} others; {side.others} do otherwise)")
    show.line()
    lexer = Syntax.guess_lexer(view.name, view.source)
    show.out.print(
        Syntax(view.source, lexer, line_numbers=False, background_color="default", word_wrap=lexer == "text")
    )


def _plural(count: int, word: str) -> str:
    return f"{count:,} {word}" + ("" if count == 1 else "s")


def _count(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def _duplicates_note(kept: Kept) -> str:
    folded = sum(1 for draft in kept.pool if kept.folded_into(draft.id) is not None)
    near = kept.nearly()
    parts = [f"{_plural(folded, 'draft')} folded into an equal one"] if folded else []
    parts += [f"{_plural(near, 'near-duplicate')} noted"] if near else []
    return ", ".join(parts) or "no duplicates"


def _behaviour(view: RunView) -> str:
    if not view.choice.camps:
        return "not looked at"
    room = sum(1 for one in view.decisions if one.state != "set aside")
    aside = len(view.decisions) - room
    text = f"{_plural(len(view.choice.camps), 'camp')}; {_plural(room, 'decision')} on which the brief leaves room"
    text += " and drafts part"
    return text + (f" ({aside} more outside the brief, set aside)" if aside else "")


def _by_crosshair(kept: Kept) -> str:
    """How many of the inputs that part drafts came from CrossHair, where it was asked."""
    found = (kept.answer(draft.id, "crosshair") for draft in kept.pool)
    numbers = [round(one.value) for one in found if isinstance(one, Measured)]
    return f"; {_plural(max(numbers), 'input')} found by CrossHair" if numbers else ""


def _chosen(view: RunView) -> str:
    choice = view.choice
    if choice.draft is None:
        return "none"
    if not choice.alike:
        return choice.draft
    verb = "behaves" if len(choice.alike) == 1 else "behave"
    named = ", ".join(choice.alike[:3]) + (f" and {len(choice.alike) - 3} more" if len(choice.alike) > 3 else "")
    return f"{choice.draft} ({named} {verb} alike)"


def _failures(kept: Kept) -> None:
    failures = most_common_failures(kept)
    if not failures:
        return
    show.line("  what drafts fail on, most common first:")
    for what, count in failures:
        show.line(f"    {count:>4}  {what}")


def _times(kept: Kept, view: RunView) -> None:
    """The account as run and at another writing speed, side by side."""
    tokens = sum(one.tokens or 0 for one in view.drafts.list)
    grid = show.table("", "as run", f"at {AT_SPEED:,} tokens/s")
    for row in rows_at_speed(account(kept.spans), AT_SPEED, tokens_to_write=tokens):
        as_run = row.as_run_word if row.as_run is None else _seconds(row.as_run)
        grid.add_row(f"  {escape(_few(row.what))}", as_run, "–" if row.at_speed is None else _seconds(row.at_speed))
    show.line()
    show.out.print(grid)


def _few(names: str, most: int = 6) -> str:
    """The first few of names joined by commas, and how many more there are."""
    each = names.split(", ")
    return names if len(each) <= most else f"{', '.join(each[: most - 1])} and {len(each) - most + 1} more"


def _seconds(seconds: float) -> str:
    """Seconds with two digits that count: 0.063 s, 4.1 s, 132 s; from two hours on as a person says it."""
    if seconds >= LONG_SECONDS:
        return spoken(seconds)
    return f"{seconds:.0f} s" if seconds >= 100 else f"{seconds:.2g} s"
