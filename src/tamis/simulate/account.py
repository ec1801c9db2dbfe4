"""What the simulated writer did, told apart by who was too slow: the reader, or the machine it ran on.

A stream's tokens are due at known times. What was due and could not be written because the reader's side was full
is "client-limited"; what came late although it could be written is the server's own. A reader's kernel keeps some
megabytes, so a short stream can end before its reader is found slow.
"""

from tamis.records import Record

TOLERATED_SHARE = 0.01
TOLERATED_SECONDS = 0.02


class StreamReport(Record, frozen=True, kw_only=True):
    """One answered request; of one that was cut, `tokens` are what was written until then. `late_seconds` is by how
    much its last token came later than it was due, `paused_seconds` how long the reader's side was full,
    `lasted_seconds` from the first token to the last."""

    tokens: int
    events: int
    writes: int
    lasted_seconds: float
    late_seconds: float
    paused_seconds: float
    cut: bool = False

    @property
    def is_late(self) -> bool:
        return self.late_seconds > TOLERATED_SECONDS + TOLERATED_SHARE * self.lasted_seconds

    @property
    def client_limited(self) -> bool:
        return self.is_late and self.paused_seconds >= self.late_seconds / 2

    @property
    def server_limited(self) -> bool:
        return self.is_late and not self.client_limited

    def __str__(self) -> str:
        per_write = self.tokens / self.writes if self.writes else 0.0
        said = f"{self.tokens:,} tokens in {self.lasted_seconds:.3f} s, {per_write:.1f} a write"
        if self.client_limited:
            waited = f"{self.paused_seconds:.3f} s waiting for the reader"
            return f"{said}; client-limited: {self.late_seconds:.3f} s late, {waited}"
        if self.server_limited:
            return f"{said}; server-limited: {self.late_seconds:.3f} s late, this machine could not keep the rate"
        return said


class Account:
    """The sums over all requests so far."""

    def __init__(self) -> None:
        self.requests = 0
        self.refused = 0
        self.streams = 0
        self.tokens = 0
        self.writes = 0
        self.client_limited = 0
        self.server_limited = 0
        self.late_seconds_most = 0.0
        self.cut = 0

    def add(self, report: StreamReport) -> None:
        self.streams += 1
        self.tokens += report.tokens
        self.writes += report.writes
        self.client_limited += report.client_limited
        self.server_limited += report.server_limited
        self.cut += report.cut
        self.late_seconds_most = max(self.late_seconds_most, report.late_seconds)

    def __str__(self) -> str:
        said = f"{self.streams:,} answers, {self.tokens:,} tokens in {self.writes:,} writes"
        if self.client_limited or self.server_limited:
            said += (
                f"; late: {self.client_limited:,} client-limited, {self.server_limited:,} server-limited, "
                f"the latest by {self.late_seconds_most:.3f} s"
            )
        return said

    def told(self) -> dict[str, int | float]:
        return dict(vars(self))
