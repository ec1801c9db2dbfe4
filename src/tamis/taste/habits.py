"""Her habits, measured as she goes: how often she takes the one on the left, and how often she answers the same when
an earlier pair comes again with its sides swapped. With several readers, how often they agree.

Shares come with the 90 % interval of a Beta posterior that knew nothing before, and say how many answers they rest
on; without any they are unknown.
"""

from collections.abc import Mapping, Sequence

import msgspec
from scipy.stats import beta

from tamis.records import Odds

LEVEL = 0.9


class Pick(msgspec.Struct, frozen=True, kw_only=True):
    """One answered comparison: drafts in the order shown, and the one taken; None where she found them alike or none
    good."""

    shown: tuple[str, ...]
    taken: str | None


class Habits(msgspec.Struct, frozen=True, kw_only=True):
    """`left`: how often she takes the one shown first, of two, whatever stands there. `consistent`: how often a pair
    shown again, swapped, gets the same answer."""

    left: Odds
    consistent: Odds


def habits(picks: Sequence[Pick]) -> Habits:
    """The habits that some picks, in their order, show."""
    pairs = [pick for pick in picks if len(pick.shown) == 2 and pick.taken is not None]
    n_left = sum(pick.taken == pick.shown[0] for pick in pairs)
    before: dict[frozenset[str], Pick] = {}
    again: list[bool] = []
    for pick in picks:
        earlier = before.get(frozenset(pick.shown))
        if earlier is not None and len(pick.shown) == 2:
            again.append(earlier.taken == pick.taken)
        before.setdefault(frozenset(pick.shown), pick)
    return Habits(
        left=share(n_left, len(pairs), "comparisons of two"),
        consistent=share(sum(again), len(again), "pairs shown again with sides swapped"),
    )


def agreement(readers: Mapping[str, Sequence[Pick]]) -> dict[tuple[str, str], Odds]:
    """For each two readers, how often they took the same of what both were shown."""
    names = sorted(readers)
    firsts = {name: _first_answers(readers[name]) for name in names}
    found = {}
    for place, one in enumerate(names):
        for other in names[place + 1 :]:
            both = firsts[one].keys() & firsts[other].keys()
            same = sum(firsts[one][key] == firsts[other][key] for key in both)
            found[one, other] = share(same, len(both), "comparisons that both answered")
    return found


def share(n: int, of: int, what: str) -> Odds:
    """`n` of `of` as odds, with what they rest on."""
    if not of:
        return Odds(p=None, basis=f"no {what} yet")
    low, high = (float(beta.ppf(tail, n + 1, of - n + 1)) for tail in ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return Odds(p=n / of, low=low, high=high, level=LEVEL, basis=f"{n} of {of} {what}")


def _first_answers(picks: Sequence[Pick]) -> dict[frozenset[str], str | None]:
    answers: dict[frozenset[str], str | None] = {}
    for pick in picks:
        answers.setdefault(frozenset(pick.shown), pick.taken)
    return answers
