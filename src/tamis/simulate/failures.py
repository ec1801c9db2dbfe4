"""What goes wrong on purpose: refusals, stalls and cut streams, at the rates asked for.

What happens to a request hangs on the seed and on its number alone, so a failing run can be repeated.
"""

from typing import NamedTuple

from tamis.simulate.asked import Refused, drawn
from tamis.simulate.settings import Failures


class Mishap(NamedTuple):
    """In the middle of a reply, `share` of its way: it stalls for so many seconds, or it is cut (None)."""

    share: float
    stall_seconds: float | None


def fate_of(failures: Failures, seed: int, number: int) -> Refused | Mishap | None:
    """What becomes of request `number`: an error at once, a mishap in its middle, or nothing."""
    rng = drawn(seed, "fate", number)
    lot = rng.random()
    where = rng.uniform(0.1, 0.9)
    for share, fate in (
        (failures.too_many, _too_many(failures.retry_after_seconds)),
        (failures.broken, _broken(rng.choice((500, 503)))),
        (failures.stall, Mishap(where, failures.stall_seconds)),
        (failures.cut, Mishap(where, None)),
    ):
        if lot < share:
            return fate
        lot -= share
    return None


def _too_many(retry_after_seconds: float) -> Refused:
    message = "Rate limit reached: this is a simulated failure."
    return Refused(
        429, message, kind="rate_limit_error", code="rate_limit_exceeded", retry_after_seconds=retry_after_seconds
    )


def _broken(status: int) -> Refused:
    return Refused(status, "The server had an error: this is a simulated failure.", kind="server_error")
