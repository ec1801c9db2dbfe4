"""What holds of the time of any run and any network."""

import math
from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.records import Span, Stage
from tamis.time.account import account
from tamis.time.critical import critical_of
from tamis.time.durations import parse, spoken
from tamis.time.exports import chrome_json, otlp_json
from tamis.time.graph import graph
from tamis.time.hours import WEEK, Hours
from tamis.time.imports import read_trace
from tamis.time.intervals import length, split, union, without
from tamis.time.network import Network, Player, Resource, Work
from tamis.time.tree import tree
from tamis.time.whatif import Changes, what_if

STAGES: tuple[Stage, ...] = ("writing", "tests", "people", "tools", "whole")
# a busy machine must not fail a test
unhurried = settings(deadline=None, max_examples=60)
QUARTERS = st.integers(0, 80).map(lambda n: n / 4)


@st.composite
def runs(draw: st.DrawFn) -> list[Span]:
    """Any spans: nested, overlapping, outliving their parents, without length, of several runs, with lost parents."""
    spans: list[Span] = []
    for number in range(draw(st.integers(1, 12))):
        started, seconds = draw(QUARTERS), draw(QUARTERS)
        parents = [None, "lost", *(span.id for span in spans)]
        spans.append(
            Span(
                id=f"{number}",
                parent=draw(st.sampled_from(parents)),
                stage=draw(st.sampled_from(STAGES)),
                name=f"span {number}",
                started=started,
                ended=started + seconds,
                waited=seconds * draw(st.sampled_from([0.0, 0.25, 1.0])),
                waited_on=draw(st.sampled_from([None, "owner"])),
                tokens_out=draw(st.sampled_from([0, 1, 100])),
                first_token_at=draw(st.sampled_from([None, started + seconds / 2])),
                run=draw(st.sampled_from(["a", "b"])),
            )
        )
    return spans


@given(runs())
@unhurried
def test_a_run_replayed_as_it_was_takes_as_long_as_it_took(spans):
    assert critical_of(graph(tree(spans))).total_seconds == pytest.approx(account(spans).total_seconds)


@given(runs())
@unhurried
def test_the_pieces_of_the_critical_path_follow_each_other_without_a_gap(spans):
    found = critical_of(graph(tree(spans)))
    at = 0.0
    for piece in found.pieces:
        assert piece.began == pytest.approx(at)
        at += piece.seconds
    assert at == pytest.approx(found.total_seconds)


@given(runs())
@unhurried
def test_what_is_on_the_critical_path_has_no_slack(spans):
    found = critical_of(graph(tree(spans)))
    assert all(slack >= 0 for slack in found.slack.values())
    for piece in found.pieces:
        if piece.kind in ("work", "wait"):
            assert found.slack[piece.span] == pytest.approx(0, abs=1e-6)


@given(runs())
@unhurried
def test_an_account_never_holds_more_than_the_clock(spans):
    found = account(spans)
    for took in (*found.stages.values(), *found.by_name.values()):
        assert 0 <= took.waited <= took.seconds + 1e-9
        assert took.seconds <= found.total_seconds + 1e-9
    assert 0 <= found.unaccounted_seconds <= found.total_seconds + 1e-9


@given(runs(), st.randoms(use_true_random=False))
@unhurried
def test_an_account_does_not_depend_on_the_order_of_the_spans(spans, chance):
    mixed = list(spans)
    chance.shuffle(mixed)
    one, other = account(spans), account(mixed)
    assert one.total_seconds == pytest.approx(other.total_seconds)
    assert {s: t.seconds for s, t in one.stages.items()} == pytest.approx(
        {s: t.seconds for s, t in other.stages.items()}
    )


@given(runs(), st.floats(1, 1e4))
@unhurried
def test_a_faster_writer_never_makes_a_run_longer(spans, times):
    found = what_if(spans, Changes(writer_times=times))
    assert found.floor.seconds - 1e-9 <= found.changed.seconds <= found.as_run.seconds + 1e-9


@given(runs())
@unhurried
def test_exports_come_back_as_they_went(spans):
    # not in 1970, since OTLP writes an end that never came as 0
    spans = [
        msgspec.structs.replace(s, started=s.started + 1e6, ended=s.ended + 1e6, first_token_at=None) for s in spans
    ]
    found = account(spans)
    for export in (otlp_json, chrome_json):
        back = account(read_trace(export(spans)).spans)
        assert {s: t.seconds for s, t in back.stages.items()} == pytest.approx(
            {s: t.seconds for s, t in found.stages.items()}, abs=1e-5
        )


@st.composite
def networks(draw: st.DrawFn) -> tuple[Network, Work]:
    n = draw(st.integers(1, 9))
    after = tuple(tuple(sorted(draw(st.sets(st.integers(0, i - 1), max_size=3)))) if i else () for i in range(n))
    resource = {i: name for i in range(n) if (name := draw(st.sampled_from([None, "a", "b"]))) is not None}
    places = {name: Resource(places=draw(st.integers(1, 3))) for name in ("a", "b")}
    seconds = [float(draw(st.integers(0, 6))) for _ in range(n)]
    return Network(after=after, resource=resource, resources=places), Work(seconds, [0.0] * n, [0.0] * n)


@given(networks())
@unhurried
def test_a_network_plays_as_one_that_looks_at_every_moment(made):
    network, work = made
    assert Player(network).play(work).seconds == slowly(network, work)


def slowly(network: Network, work: Work) -> float:
    """First come, first served, moment by moment: lengths are whole numbers."""
    ended: dict[int, float] = {}
    running: dict[int, float] = {}
    ready: dict[int, float] = {}
    now = 0.0
    while len(ended) < len(work.seconds):
        moved = True
        while moved:
            moved = False
            for step in [s for s, end in running.items() if end == now]:
                ended[step] = running.pop(step)
                moved = True
            for step, after in enumerate(network.after):
                if step not in ready and all(a in ended for a in after):
                    ready[step] = now
                    moved = True
            if moved:
                continue
            for step in sorted((s for s in ready if s not in running and s not in ended), key=lambda s: (ready[s], s)):
                name = network.resource.get(step)
                held = sum(network.resource.get(other) == name for other in running)
                if name is None or held < network.resources[name].places:
                    running[step] = now + work.seconds[step]
                    moved = True
                    break
        now += 1.0
    return max(ended.values())


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(1, 20)), min_size=1, max_size=8), st.integers(1, 40))
@unhurried
def test_streams_that_share_a_throughput_write_no_more_than_it(streams, throughput):
    tokens, speeds = [float(t) for t, _ in streams], [float(s) for _, s in streams]
    alone = [t / s for t, s in zip(tokens, speeds, strict=True)]
    n = len(streams)
    network = Network(after=((),) * n)
    played = Player(network).play(Work([0.0] * n, alone, speeds, float(throughput)))
    assert played.seconds >= sum(tokens) / throughput - 1e-6
    assert played.seconds >= max(alone) - 1e-6
    if sum(speeds) <= throughput:
        assert played.seconds == pytest.approx(max(alone))
    if len(set(alone)) == 1 and sum(speeds) >= throughput:
        assert played.seconds == pytest.approx(sum(tokens) / throughput)


@st.composite
def opening_hours(draw: st.DrawFn) -> Hours:
    marks = sorted(draw(st.sets(st.integers(0, 7 * 24), min_size=2, max_size=8)))
    return Hours(open=tuple((3600.0 * a, 3600.0 * b) for a, b in zip(marks[::2], marks[1::2], strict=False)))


@given(opening_hours(), st.floats(0, 3 * WEEK), st.floats(0, 3 * WEEK))
@unhurried
def test_work_takes_its_length_of_open_hours(hours, at, seconds):
    began, ended = hours.works(at, seconds)
    assert at <= began <= ended
    weeks = range(int(began // WEEK), int(ended // WEEK) + 1)
    shifted = [(w * WEEK + start, w * WEEK + end) for w in weeks for start, end in hours.open]
    inside = [(max(start, began), min(end, ended)) for start, end in shifted]
    assert length(union(inside)) == pytest.approx(seconds, abs=1e-3)


INTERVALS = st.lists(st.tuples(QUARTERS, QUARTERS), max_size=8)


def covered(intervals: Sequence[tuple[float, float]], moment: float) -> bool:
    return any(start <= moment < end for start, end in intervals)


@given(INTERVALS, INTERVALS)
@unhurried
def test_stretches_cover_the_moments_that_they_should(some, others):
    merged = union(some)
    left = without((0.0, 20.0), union(others))
    for moment in (n / 8 for n in range(160)):
        assert covered(merged, moment) == covered(some, moment)
        assert covered(left, moment) == (not covered(others, moment))


@given(INTERVALS, st.floats(0, 30))
@unhurried
def test_a_split_loses_nothing(some, seconds):
    merged = union(some)
    first, rest = split(merged, seconds)
    assert length(first) == pytest.approx(min(seconds, length(merged)), abs=1e-9)
    assert length(first) + length(rest) == pytest.approx(length(merged), abs=1e-9)


@given(st.floats(1e-3, 1e8))
@unhurried
def test_a_spoken_time_can_be_read_again_and_is_right_to_a_tenth(seconds):
    assert math.isclose(parse(spoken(seconds)), seconds, rel_tol=0.1)
