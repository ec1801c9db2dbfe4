"""What every chapter of a run works with: the brief, its ledger, what is known so far, and the clock."""

from tamis.brief import LoadedBrief
from tamis.clock import Clock, Spans
from tamis.findings import Findings
from tamis.ledger import Ledger
from tamis.progress import Progress, Silent


class Run:
    """One run over a brief. Opening it records the brief and what came with it."""

    def __init__(
        self, loaded: LoadedBrief, ledger: Ledger, *, clock: Clock | None = None, progress: Progress | None = None
    ) -> None:
        self.loaded = loaded
        self.ledger = ledger
        self.clock = clock or Clock()
        self.spans = Spans(self.clock, ledger.add)
        self.progress = progress or Silent()
        self.findings = Findings(ledger)
        ledger.add(loaded.brief)
        for content in loaded.blobs.values():
            ledger.add_blob(content)
