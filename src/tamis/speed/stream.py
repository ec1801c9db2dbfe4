"""Stream speed: one stream alone, by length, and with it the time to first token and the times between tokens."""

from itertools import count as counting
from itertools import pairwise

import msgspec

from tamis.speed.budget import Budget
from tamis.speed.counting import Count, count, stream_speed
from tamis.speed.dialect import Ask
from tamis.speed.figures import Figure, Interval, ends, median_interval, percentiles
from tamis.speed.heard import Heard
from tamis.speed.prompts import fresh
from tamis.speed.source import Session, Source, must
from tamis.tokens import count_words

PILOT_TOKENS = 24
PROMPT_TOKENS = 48
FEWEST_RUNS, MOST_RUNS = 5, 9
MOST_BROKEN = 5
NARROW = 0.01
"""An interval narrower than this needs no more runs."""
SECONDS_A_RUN = 2.0
FEWEST_TOKENS, MOST_TOKENS = 16, 2_000_000
FEWEST_EVENTS = 3
"""With fewer there is hardly a rate to see."""
READ_SECONDS = 0.0002
"""Below this, the times between reads are the reader's own."""


class AtLength(msgspec.Struct, frozen=True):
    """Stream speed in answers of about so many tokens."""

    tokens: int
    speed: Interval


class Alone(msgspec.Struct, frozen=True):
    """What one stream alone showed."""

    stream: Figure
    first_token: Figure
    by_length: list[AtLength]
    between_tokens: dict[str, float]
    words_per_token: float
    tokens_per_event: float
    events_per_read: float
    acceptance: float | None
    idle_share: float | None


class _Run(msgspec.Struct, frozen=True):
    heard: Heard
    count: Count
    speed: float | None
    idle_share: float | None


def measure_alone(source: Source, budget: Budget, *, cap: int = MOST_TOKENS, seed: int = 0) -> Alone:
    """Run one stream again and again until its interval is narrow or the budget is spent. Raises TamisError where
    nothing was written at all."""
    seeds = counting(seed)
    pilot = _pilot(source, budget, cap, seeds)
    length = _length(source, budget, pilot, cap, seeds)
    failures: list[str] = []
    runs = _repeated(source, budget, length, seeds, failures)
    used = runs or [pilot]
    lengths = [_at_length(used)] if runs else []
    for part in (length // 4, length // 16):
        shorter = _few(source, budget, part, seeds) if part >= FEWEST_TOKENS else []
        if shorter:
            lengths.append(_at_length(shorter))
    return _summed(used, [one for one in lengths if one is not None], failures)


def _pilot(source: Source, budget: Budget, cap: int, seeds: "counting[int]") -> _Run:
    """A first short run, tried again where it breaks off. A model that reasons without showing it may use up a few
    tokens before it says anything, so more are asked for until something is said. Raises TamisError."""
    tokens, broken = min(PILOT_TOKENS, cap), 0
    while True:
        session = source.hear([Ask(fresh(PROMPT_TOKENS, next(seeds)), tokens)], budget)
        heard = session.heard[0]
        if heard.status == 200 and heard.failed and broken < MOST_BROKEN:
            broken += 1
        elif (
            heard.status == 200 and not heard.failed and not heard.times and tokens < cap and budget.affords(tokens * 8)
        ):
            tokens = min(cap, tokens * 8)
        else:
            return _understood(session)


def _run(source: Source, budget: Budget, tokens: int, seed: int) -> _Run | str:
    """One run, or why it brought nothing that can be measured."""
    session = source.hear([Ask(fresh(PROMPT_TOKENS, seed), tokens)], budget)
    heard = session.heard[0]
    if heard.failed is not None:
        return heard.failed
    return _understood(session) if heard.times else "nothing was written"


def _understood(session: Session) -> _Run:
    heard = must(session, "measuring one stream")[0]
    counted = count(heard)
    assert counted is not None  # must() has seen that there was text
    return _Run(heard, counted, stream_speed(heard, counted), session.idle_share)


def _length(source: Source, budget: Budget, pilot: _Run, cap: int, seeds: "counting[int]") -> int:
    """So many tokens that a run lasts about SECONDS_A_RUN and has some events, found by asking for eight times as many
    until a run lasts long enough to tell; within the cap and the budget."""
    most = min(cap, MOST_TOKENS, max(FEWEST_TOKENS, budget.left_tokens // (FEWEST_RUNS + 2)))
    tokens, run = PILOT_TOKENS, pilot
    while run.heard.lasted_seconds < SECONDS_A_RUN / 8 and tokens < most and run.heard.finish != "stop":
        tokens = min(most, tokens * 8)
        longer = _run(source, budget, tokens, next(seeds))
        if isinstance(longer, str):
            break
        run = longer
    if run.speed is None:
        return most
    fewest = max(FEWEST_TOKENS, FEWEST_EVENTS * run.count.tokens_per_event)
    return int(min(most, max(fewest, run.speed * SECONDS_A_RUN)))


def _repeated(source: Source, budget: Budget, tokens: int, seeds: "counting[int]", failures: list[str]) -> list[_Run]:
    """Runs until the interval is narrow; why some failed is added to `failures`."""
    runs: list[_Run] = []
    seconds = 0.0
    while len(runs) < MOST_RUNS and len(failures) < MOST_RUNS and budget.affords(tokens, seconds):
        run = _run(source, budget, tokens, next(seeds))
        if isinstance(run, str):
            failures.append(run)
            continue
        runs.append(run)
        seconds = run.heard.lasted_seconds + (run.heard.first_token_seconds or 0.0)
        speeds = [run.speed for run in runs if run.speed is not None]
        if len(runs) >= FEWEST_RUNS and speeds and median_interval(speeds).width < NARROW:
            break
    return runs


def _few(source: Source, budget: Budget, tokens: int, seeds: "counting[int]") -> list[_Run]:
    runs = [_run(source, budget, tokens, next(seeds)) for _ in range(3) if budget.affords(tokens, SECONDS_A_RUN)]
    return [run for run in runs if not isinstance(run, str)]


def _at_length(runs: list[_Run]) -> AtLength | None:
    speeds = [run.speed for run in runs if run.speed is not None]
    return AtLength(round(runs[-1].count.tokens), median_interval(speeds)) if speeds else None


def _summed(runs: list[_Run], lengths: list[AtLength], failures: list[str]) -> Alone:
    last = runs[-1]
    return Alone(
        stream=_stream_figure(runs, failures),
        first_token=_first_token_figure(runs),
        by_length=sorted(lengths, key=lambda one: one.tokens),
        between_tokens=_between(runs),
        words_per_token=count_words(last.heard.text) / last.count.tokens,
        tokens_per_event=last.count.tokens_per_event,
        events_per_read=last.count.events_per_read,
        acceptance=_acceptance(last.heard),
        idle_share=min((run.idle_share for run in runs if run.idle_share is not None), default=None),
    )


def _stream_figure(runs: list[_Run], failures: list[str]) -> Figure:
    speeds = [run.speed for run in runs if run.speed is not None]
    flags = {flag for run in runs for flag in run.count.flags}
    if failures:
        flags.add(f"{len(failures)} runs failed: {failures[0]}")
    last = runs[-1]
    if not speeds:
        flags.add("everything came in one read: no rate can be seen")
        return Figure(value=None, unit="tokens/s", counted_by=last.count.counted_by, flags=tuple(sorted(flags)))
    if len(speeds) < FEWEST_RUNS:
        flags.add(f"only {len(speeds)} runs fitted the budget")
    if last.heard.lasted_seconds < 0.1:
        flags.add(f"a run lasted only {last.heard.lasted_seconds * 1000:.0f} ms")
    if last.heard.finish == "stop":
        flags.add(f"the text ended by itself after {last.count.tokens:,.0f} tokens")
    interval = median_interval(speeds)
    low, high = ends(interval)
    return Figure(
        value=interval.value,
        low=low,
        high=high,
        unit="tokens/s",
        counted_by=last.count.counted_by,
        flags=tuple(sorted(flags)),
    )


def _first_token_figure(runs: list[_Run]) -> Figure:
    seconds = [run.heard.first_token_seconds for run in runs if run.heard.first_token_seconds is not None]
    interval = median_interval(seconds)
    low, high = ends(interval)
    hidden = {flag for run in runs for flag in run.count.flags if "reasoning" in flag}
    return Figure(
        value=interval.value,
        low=low,
        high=high,
        unit="s",
        counted_by="clock",
        flags=tuple(sorted(hidden)),
    )


def _between(runs: list[_Run]) -> dict[str, float]:
    """Percentiles of the seconds between tokens; empty where reads carry several, or come too fast to tell apart."""
    if not all(run.count.one_by_one for run in runs):
        return {}
    gaps = [after - before for run in runs for before, after in pairwise(run.heard.times)]
    found = percentiles(gaps, (1, 50, 90, 99, 100))
    return found if found and found["p50"] > READ_SECONDS else {}


def _acceptance(heard: Heard) -> float | None:
    """Which share of the tokens that a draft model proposed was taken, where the server tells."""
    if heard.accepted is None or heard.rejected is None:
        return None
    proposed = heard.accepted + heard.rejected
    return heard.accepted / proposed if proposed else None
