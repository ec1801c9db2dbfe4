"""Asking the owner at a terminal: one screen a question, one page a storyboard.

A key and Enter answers. She can leave at any screen; what she answered is kept, and the next run goes on from there.
"""

import ast
from collections.abc import Callable, Sequence

import msgspec
from rich.console import Console
from rich.text import Text

from tamis.behaviour.owner import (
    Answer,
    Ask,
    DontKnow,
    Either,
    LineAnswer,
    Neither,
    NeverHappens,
    Page,
    Picked,
    Right,
    ShownLine,
    Wrong,
)
from tamis.behaviour.words import date_typed, heading, names_of, outcome_said, said
from tamis.cli.terminal import asking
from tamis.progress import Progress, Silent
from tamis.sandbox import encode

OTHERWISE = (
    "  [b]n[/b]  neither: …   [b]e[/b]  either will do   [b]x[/b]  this never happens   "
    "[b]?[/b]  don't know   [b]q[/b]  quit"
)
LETTERS = "abcdfghijklmoprstuvwyz"
"""For options: without n, e, x and q, which mean something else."""


class TerminalOwner:
    """The owner at her terminal. `read` gives one typed line; it raises EOFError when there is no more. `name_of` gives
    the name of a draft by its id."""

    name = "terminal"

    def __init__(
        self,
        console: Console,
        *,
        read: Callable[[str], str] = input,
        progress: Progress | None = None,
        name_of: Callable[[str], str] = str,
    ) -> None:
        self._console = console
        self._read = read
        self._progress = progress or Silent()
        self._name_of = name_of
        self._hoped: int | None = None
        """How many questions there were to be in all, by the last one shown."""

    def answer(self, ask: Ask) -> Answer | None:
        """Shows the question and reads until something that answers it is typed. None when she leaves."""
        self._show(ask)
        while True:
            typed = self._typed("> ")
            if typed is None or typed in ("q", "quit"):
                return None
            found = _answer(typed, ask)
            if found is None and typed[:1] == "n":
                found = self._neither(typed[1:].lstrip(": "))
            if found is not None:
                return found
            self._console.print(
                f"{typed!r} is none of the letters; q leaves, and the answers so far are kept", style="yellow"
            )

    def _show(self, ask: Ask) -> None:
        self._progress.pause()
        names = names_of(ask.program)
        where = heading(ask.program, ask.setup, names)
        again = f"   ({ask.why or 'a like case again: much hangs on it'})" if ask.again else ""
        self._console.print()
        self._console.print(Text.assemble((self._how_far(ask), "bold"), f"        {where}{again}"))
        last = len(ask.program) - 1
        for i in range(ask.setup, last):
            self._console.print(Text(f"    {said(ask.program, i, names)}"))
        self._console.print(Text(f"    {said(ask.program, last, names)}  →  what should this give?"))
        for letter, option in zip(LETTERS, ask.options, strict=False):
            self._console.print(Text.assemble("  ", (letter, "bold"), f"  {outcome_said(option)}"))
        self._console.print(OTHERWISE)

    def _how_far(self, ask: Ask) -> str:
        """Which question it is and how many more there may be; where that grows, it is said."""
        left = ask.about - ask.number
        grew = self._hoped is not None and ask.about > self._hoped
        self._hoped = ask.about
        more = "perhaps the last" if left <= 0 else f"about {left} more"
        return f"question {ask.number}, {more}" + (
            " (more than it looked: answers told less than hoped)" if grew else ""
        )

    def _typed(self, prompt: str) -> str | None:
        try:
            with asking(self._progress):
                return self._read(prompt).strip()
        except EOFError:
            return None

    def _neither(self, text: str) -> Answer | None:
        """The value that it should be instead: Python, a date as it is written, or `raises SomeError`."""
        typed: str | None = text
        while True:
            if not typed:
                typed = self._typed("what should it give? (a value, or: raises SomeError) ")
            if typed is None:
                return None
            outcome = outcome_typed(typed)
            if outcome is not None:
                return Neither(outcome=outcome)
            self._console.print(
                f"{typed!r} is no value that can be read; write it as Python, or a date like 1 March 2026",
                style="yellow",
            )
            typed = None

    def review(self, page: Page) -> Sequence[LineAnswer] | None:
        """Shows the page; Enter says that all of it is right, a line's number that this one is not."""
        lines = page.lines
        self._show_page(page)
        answers: list[LineAnswer] = [Right() for _ in lines]
        while True:
            typed = self._typed(
                "all as it should be? Enter, or the number of a line that is not; ? don't know; q quit > "
            )
            if typed is None or typed in ("q", "quit"):
                return None
            if typed == "":
                return answers
            if typed == "?":
                return [DontKnow() for _ in lines]
            if typed.isdigit() and 1 <= int(typed) <= len(lines):
                place = int(typed) - 1
                answers[place] = self._corrected(lines[place])
                _unread(page, answers, place)
            else:
                self._console.print(f"{typed!r} is no line from 1 to {len(lines)}", style="yellow")

    def _show_page(self, page: Page) -> None:
        self._progress.pause()
        self._console.print()
        self._console.print(Text(f"What {self._name_of(page.draft)} does. Is each line as you mean it?", style="bold"))
        number = 1
        for where, scene in zip(page.headings, page.scenes, strict=True):
            self._console.print(Text(f"    {where}", style="dim"))
            for line in scene:
                self._console.print(Text.assemble((f"{number:3}", "bold"), f"   {line.text}"))
                number += 1

    def _corrected(self, line: ShownLine) -> LineAnswer:
        """What the line should say. With several calls in it, she first says which."""
        names = names_of(line.program)
        call = line.calls[0]
        if len(line.calls) > 1:
            for i, one in enumerate(line.calls, start=1):
                self._console.print(
                    Text(f"   {i}  {said(line.program, one.step, names)} → {outcome_said(one.outcome)}")
                )
            typed = self._typed("which one? ")
            if typed and typed.isdigit() and 1 <= int(typed) <= len(line.calls):
                call = line.calls[int(typed) - 1]
        while True:
            typed = self._typed(
                "what should it give? (a value, raises SomeError, e either, x never happens, ? don't know) "
            )
            match typed:
                case None | "?" | "":
                    return Wrong(step=call.step, outcome=None)
                case "e":
                    return Either()
                case "x":
                    return NeverHappens()
            outcome = outcome_typed(typed)
            if outcome is not None:
                return Wrong(step=call.step, outcome=outcome)


def _answer(typed: str, ask: Ask) -> Answer | None:
    match typed.lower():
        case "e":
            return Either()
        case "x":
            return NeverHappens()
        case "?":
            return DontKnow()
        case letter if len(letter) == 1 and letter in LETTERS[: len(ask.options)]:
            return Picked(option=LETTERS.index(letter))
    return None


def _unread(page: Page, answers: list[LineAnswer], place: int) -> None:
    """After a correction the rest of that scene was shown for nothing."""
    at = 0
    for scene in page.scenes:
        if at <= place < at + len(scene):
            for i in range(place + 1, at + len(scene)):
                answers[i] = DontKnow()
        at += len(scene)


def outcome_typed(text: str) -> bytes | None:
    """The outcome that a person wrote, as JSON; None where it can't be read."""
    word, _, name = text.strip().partition(" ")
    if word in ("raises", "raise") and name.strip().isidentifier():
        return msgspec.json.encode(["!", name.strip(), [], ""])
    day = date_typed(text)
    if day is not None:
        return msgspec.json.encode(["=", encode(day)])
    try:
        return msgspec.json.encode(["=", encode(ast.literal_eval(text.strip()))])
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
