"""Comparing at the terminal: texts side by side, one key each. The only place where the prose desk prints.

Keys: the number of the text taken (or ← and → for two), `=` alike, `0` none is good, `s` skip, `u` undo, `q` enough
for now. On a terminal one key press is an answer; where input is piped, a line is.
"""

import contextlib
import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence

from rich.cells import cell_len, set_cell_size

from tamis.cli import show
from tamis.cli.terminal import asking
from tamis.progress import Progress, Silent
from tamis.taste.readers import Said, Screen, Word
from tamis.taste.view import JudgeView, OddsView, ShortlistView, TasteView

MOST_LINES = 400
"""Of a very long text so many lines are shown; the rest can be read in its file."""
NARROW = 60
"""Columns below which texts stand under one another."""

_WORDS: dict[str, Word] = {"=": "alike", "0": "none good", "s": "skip", "u": "undo", "q": "quit"}
_ARROWS = {"\x1b[D": 0, "\x1b[C": 1, "\x1bOD": 0, "\x1bOC": 1}


class TerminalReader:
    """A person at this terminal. `name` keeps her answers apart from other readers'."""

    def __init__(self, name: str = "owner", *, progress: Progress | None = None) -> None:
        self.name = name
        self._progress = progress or Silent()

    def compare(self, screen: Screen) -> Said:
        with asking(self._progress):
            return self._compared(screen)

    def _compared(self, screen: Screen) -> Said:
        show.line()
        show.line(headline(screen))
        for row in layout(screen, shutil.get_terminal_size().columns):
            show.line(row)
        n = len(screen.texts)
        keys = "  ".join(f"{place + 1}" for place in range(n)) + ("  or ← →" if n == 2 else "")
        show.line(f"which would you rather keep?   {keys}   = alike   0 none is good   s skip   u undo   q enough")
        while True:
            said = read_key(_key(), n)
            if said is not None:
                return said
            show.say(f"that key says nothing here; press 1 to {n}, =, 0, s, u or q")


def headline(screen: Screen) -> str:
    """How far she is."""
    return f"{screen.answered + 1} of at most {screen.budget}"


def read_key(key: str, n_texts: int) -> Said | None:
    """What a key, or a line, says; None where it says nothing. The end of input means enough."""
    if key == "":
        return "quit"
    key = key.strip() or key
    if n_texts == 2 and key in _ARROWS:
        return _ARROWS[key]
    if key.isascii() and key.isdigit() and 1 <= int(key) <= n_texts:
        return int(key) - 1
    return _WORDS.get(key.lower())


def layout(screen: Screen, columns: int) -> list[str]:
    """The texts side by side where two fit, else under one another, each with its number above."""
    titles = [_title(screen, place) for place in range(len(screen.texts))]
    if len(screen.texts) == 2 and columns >= 2 * NARROW:
        width = (columns - 3) // 2
        blocks = [_wrapped(text, width) for text in screen.texts]
        blocks = [[title, "", *block] for title, block in zip(titles, blocks, strict=True)]
        return ["   ".join(set_cell_size(part, width) for part in pair).rstrip() for pair in _level(blocks)]
    rows: list[str] = []
    for title, text in zip(titles, screen.texts, strict=True):
        rows += [title, "", *_wrapped(text, min(columns, 100)), ""]
    return rows


def shortlist_lines(taste: TasteView, *, names_wide: int = 40) -> list[str]:
    """The shortlist as a person reads it: what is on it, how sure, and what her answers show of her, of other readers
    and of the judge."""
    lines = [_row(place, one, names_wide) for place, one in enumerate(taste.shortlist, start=1)]
    lines += ["", taste.because]
    lines += [
        _habit("takes the left one", taste.habits.left),
        _habit("same answer again", taste.habits.consistent),
    ]
    lines += [_habit(f"{' and '.join(both.readers)} agree", both.same) for both in taste.agreement]
    judge = taste.habits.judge
    if judge is not None:
        lines += ["", _judge_line(judge)]
    if judge is not None and judge.pairs:
        lines += [
            _habit("takes the left one", judge.left),
            _habit("takes the longer", judge.longer),
            _habit("same either way", judge.consistent),
        ]
    return lines


def _judge_line(judge: JudgeView) -> str:
    about = f"the judge {judge.name} is one more feature; how much it counts is learned from the reader's answers"
    if not judge.pairs:
        return f"{about}; its scores came from a file, so nothing is known of its habits"
    return about if judge.enough else f"{about}; {judge.pairs} pairs are few to know its habits by"


def _habit(name: str, odds: OddsView) -> str:
    if odds.p is None or odds.low is None or odds.high is None:
        return f"  {name:<20}    –   ({odds.basis})"
    return f"  {name:<20} {odds.p:>4.0%}   ({odds.low:.0%} to {odds.high:.0%}; {odds.basis})"


def _row(place: int, one: ShortlistView, names_wide: int) -> str:
    odds = "  –" if one.odds.p is None else f"{one.odds.p:>4.0%}"
    variants = f"   +{len(one.variants)} nearly the same" if one.variants else ""
    return f"{place:>3}  {odds}  {set_cell_size(one.name, min(names_wide, 40)).rstrip()}{variants}"


def _title(screen: Screen, place: int) -> str:
    variants = screen.variants[place]
    return f"[{place + 1}]" + (f"  and {variants} nearly the same" if variants else "")


def _wrapped(text: str, width: int) -> list[str]:
    """The text in lines, no more than MOST_LINES of them; what is beyond is not even wrapped."""
    text = text.strip()
    shown = text[: MOST_LINES * width]
    lines = [line for paragraph in shown.splitlines() for line in _fold(paragraph, width)]
    if len(shown) == len(text) and len(lines) <= MOST_LINES:
        return lines
    return [*lines[:MOST_LINES], f"... and more: {len(text):,} characters in all"]


def _fold(paragraph: str, width: int) -> Iterator[str]:
    """The paragraph in lines of at most `width` columns. Wide characters (CJK) take two."""
    if paragraph.isascii():
        yield from textwrap.wrap(paragraph, width) or [""]
        return
    for line in textwrap.wrap(paragraph, width) or [""]:
        rest = line
        while cell_len(rest) > width:
            head = set_cell_size(rest, width).rstrip()
            yield head
            rest = rest[len(head) :]
        yield rest


def _level(blocks: Sequence[Sequence[str]]) -> Iterator[tuple[str, ...]]:
    for place in range(max(len(block) for block in blocks)):
        yield tuple(block[place] if place < len(block) else "" for block in blocks)


def _key() -> str:
    """One key press, or a line where input is no terminal. Ctrl-C stops as everywhere."""
    if not sys.stdin.isatty():
        return sys.stdin.readline()
    with _keys_at_once():
        key = sys.stdin.read(1)
        if key == "\x1b":
            key += sys.stdin.read(2)
        return "" if key == "\x04" else key


@contextlib.contextmanager
def _keys_at_once() -> Iterator[None]:
    """The terminal hands over each key as it is pressed; Ctrl-C still interrupts. Elsewhere than on Unix, keys end
    with Enter."""
    try:
        import termios  # noqa: PLC0415 - not on every system
        import tty  # noqa: PLC0415
    except ImportError:
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    try:
        tty.setcbreak(sys.stdin)
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
