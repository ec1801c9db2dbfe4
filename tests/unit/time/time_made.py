"""Spans made by hand for the tests of time."""

from tamis.records import Span, Stage


def span(
    name: str,
    stage: Stage,
    started: float,
    ended: float,
    *,
    parent: str | None = "run",
    run: str = "",
    waited: float = 0.0,
    waited_on: str | None = None,
    cpu_seconds: float | None = None,
    tokens_out: int = 0,
    after: tuple[str, ...] | None = None,
    resource: str | None = None,
    first_token_at: float | None = None,
) -> Span:
    """A span whose id is its name."""
    return Span(
        id=name,
        parent=parent,
        stage=stage,
        name=name,
        started=started,
        ended=ended,
        waited=waited,
        waited_on=waited_on,
        cpu_seconds=cpu_seconds,
        tokens_out=tokens_out,
        after=after,
        resource=resource,
        first_token_at=first_token_at,
        run=run,
    )


def whole(started: float, ended: float, *, name: str = "run", run: str = "") -> Span:
    return span(name, "whole", started, ended, parent=None, run=run)


def fan_out() -> list[Span]:
    """Four drafts of 1,000 tokens on two streams of 100 tokens/s (20 s), four tests of 2 s on two cores (4 s), and an
    owner who answers after 16 s: 40 s."""
    spans = [whole(0, 40), span("writing", "writing", 0, 20), span("tests", "tests", 20, 24)]
    for n in range(4):
        at = 10.0 * (n // 2)
        spans.append(
            span(f"draft {n}", "writing", at, at + 10, parent="writing", tokens_out=1_000, after=(), resource="writer")
        )
        at = 20 + 2.0 * (n // 2)
        spans.append(span(f"test {n}", "tests", at, at + 2, parent="tests", after=(), resource="core"))
    return [*spans, span("question", "people", 24, 40, waited=16, waited_on="owner")]


def chain() -> list[Span]:
    """Three calls of 100 tokens at 100 tokens/s, each followed by a tool of 1 s: 6 s."""
    spans = [whole(0, 6)]
    for n in range(3):
        spans.append(span(f"call {n}", "writing", 2.0 * n, 2.0 * n + 1, tokens_out=100))
        spans.append(span(f"tool {n}", "tools", 2.0 * n + 1, 2.0 * n + 2))
    return spans
