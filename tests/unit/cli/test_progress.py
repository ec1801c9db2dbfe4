"""Progress as it is shown: never more done than there is to do."""

import io

from rich.console import Console

from tamis.cli import show


def test_no_bar_shows_more_done_than_was_announced(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(show, "talk", Console(file=io.StringIO(), force_terminal=True))
    bars = show.Bars()
    bars.start("behaviour", 900)
    bars.advance(800)
    assert (bars.task.completed, bars.task.total) == (800, 900)
    bars.advance(4171)
    assert (bars.task.completed, bars.task.total) == (4971, None)
    assert not bars.task.finished
    bars.start("choosing", 1)
    bars.advance()
    assert bars.task.finished
    bars.stop()
