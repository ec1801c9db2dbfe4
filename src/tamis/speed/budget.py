"""What measuring may cost: tokens and seconds. Kept by asking first, never by hoping."""

import time
from collections.abc import Callable


class Budget:
    """Tokens in and out together, and seconds from now. A measurement asks `affords` before it spends."""

    def __init__(self, tokens: int, seconds: float, *, now: Callable[[], float] = time.monotonic) -> None:
        self.tokens, self.seconds = tokens, seconds
        self.spent_tokens = 0
        self._now = now
        self._until = now() + seconds

    def affords(self, tokens: float, seconds: float = 0.0) -> bool:
        """Whether that much is left."""
        return self.spent_tokens + tokens <= self.tokens and seconds <= self.left_seconds

    def spend(self, tokens: int) -> None:
        self.spent_tokens += tokens

    def part(self, share: float) -> "Budget":
        """A budget for one measurement: a share of the tokens that are left, and of the time. What it spends has to be
        spent here too."""
        return Budget(int(self.left_tokens * share), self.left_seconds * share, now=self._now)

    @property
    def left_tokens(self) -> int:
        return max(0, self.tokens - self.spent_tokens)

    @property
    def left_seconds(self) -> float:
        return max(0.0, self._until - self._now())
