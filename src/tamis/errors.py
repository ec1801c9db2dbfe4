"""Errors, each the fault of one party and written for the reader who has it at midnight.

An error says what happened, with the value; what was expected; and what to do, as `hint`. `boundary` is where a plain
exception becomes one of these: once, at the border of what it blames.
"""

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class TamisError(Exception):
    """Anything that tamis tells its user instead of a traceback. `exit_code` is what the CLI ends with."""

    exit_code = 1

    def __init__(self, what: str, *, hint: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint


class UsageError(TamisError):
    """The command was called wrongly: an argument, not the brief."""

    exit_code = 2


class BriefError(TamisError):
    """The brief, its settings or its folder can't be used as they are: the owner can mend it."""


class DraftsError(TamisError):
    """The drafts can't be read at all. A single draft that is bad is evidence, never this."""


class CheckError(TamisError):
    """A check could not be made ready, for instance a test folder that does not collect. No draft is blamed."""


class SandboxFault(TamisError):
    """The box could not be started or was lost: our fault or the machine's, never the draft's."""


class LedgerError(TamisError):
    """The ledger can't be opened, read or written."""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that `word` was most likely meant to be, or None where nothing is near."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return close[0] if close else None


@contextmanager
def boundary(blames: type[TamisError], doing: str, *, hint: str | None = None) -> Iterator[None]:
    """Inside, plain exceptions fly; out of it comes `blames`, with what was being done."""
    try:
        yield
    except TamisError:
        raise
    except Exception as error:
        raise blames(f"{doing}: {type(error).__name__}: {error}", hint=hint) from error
