import pytest

from tamis.errors import UsageError
from tamis.time.critical import critical_path
from tamis.time.graph import graph
from tamis.time.tree import tree
from tamis.time.whatif import Changes, at_speeds, drafts_written, what_if

from .time_made import chain, fan_out, span, whole


def changed(spans, **changes):
    return what_if(spans, Changes(**changes)).changed.seconds


def test_the_critical_path_is_what_the_end_waited_for():
    spans = [whole(0, 10), span("long", "tests", 0, 8), span("short", "tests", 0, 3), span("last", "ranking", 8, 10)]
    found = critical_path(spans)
    assert [piece.name for piece in found.pieces] == ["long", "last"]
    assert found.slack == {"long": 0, "short": 5, "last": 0}


def test_a_place_that_somebody_else_held_is_waited_for():
    spans = [
        whole(0, 5),
        span("a", "tests", 0, 3, after=(), resource="core"),
        span("b", "tests", 3, 5, after=(), resource="core", waited=0.0),
    ]
    found = critical_path(spans)
    assert [piece.name for piece in found.pieces] == ["a", "b"]
    assert what_if(spans, Changes(places={"core": 2})).changed.seconds == 3


def test_what_lies_between_spans_is_on_the_path_and_of_no_stage():
    found = critical_path([whole(0, 10), span("a", "tests", 2, 4)])
    assert found.shares() == {"whole": 8, "tests": 2}


def test_a_late_start_that_nothing_explains_is_a_lag():
    found = critical_path([whole(0, 10), span("a", "tests", 0, 4), span("b", "tests", 3, 10)])
    assert found.shares() == {"tests": 7, "unknown": 3}


def test_waiting_on_the_path_says_on_what():
    (piece,) = critical_path([whole(0, 9), span("q", "people", 0, 9, waited=9, waited_on="owner")]).pieces
    assert (piece.kind, piece.on, piece.seconds) == ("wait", "owner", 9)


def test_the_longest_chain_of_tokens_is_told_from_all_tokens():
    assert (critical_path(chain()).chain_tokens, critical_path(chain()).all_tokens) == (300, 300)
    assert (critical_path(fan_out()).chain_tokens, critical_path(fan_out()).all_tokens) == (1_000, 4_000)


def test_a_chain_gains_from_faster_streams_only():
    assert changed(chain(), throughput=1e6) == pytest.approx(6)
    assert changed(chain(), stream_speed=1e6) == pytest.approx(3 + 300 / 1e6)


def test_a_fan_out_gains_from_more_streams_as_from_faster_ones():
    assert changed(fan_out(), throughput=400) == pytest.approx(30)
    assert changed(fan_out(), stream_speed=200) == pytest.approx(30)


def test_a_throughput_below_the_recorded_one_slows_all_streams():
    assert changed(fan_out(), throughput=100) == pytest.approx(60)


def test_the_floor_is_what_an_infinitely_fast_writer_leaves():
    found = what_if(fan_out(), Changes(writer_times=10_000))
    assert found.floor.seconds == pytest.approx(20)
    assert found.next_stage == "people"
    assert found.sentence() == "writing 10,000 times faster makes the whole 2.00 times faster"


def test_the_wait_for_the_first_token_does_not_shrink_with_the_stream():
    spans = [whole(0, 10), span("w", "writing", 0, 10, tokens_out=91, first_token_at=1.0)]
    assert changed(spans, stream_speed=90) == pytest.approx(2)
    assert what_if(spans, Changes(stream_speed=90)).floor.seconds == pytest.approx(1)


def test_a_reply_that_came_all_at_once_counts_as_streaming():
    spans = [whole(0, 10), span("w", "writing", 0, 10, tokens_out=100, first_token_at=10.0)]
    assert changed(spans, stream_speed=100) == pytest.approx(1)


def test_a_stage_and_places_are_changed_by_name():
    assert changed(fan_out(), stages={"tests": 0.5}) == pytest.approx(38)
    assert changed(fan_out(), places={"core": 4}) == pytest.approx(38)
    assert changed(fan_out(), places={"writer": 1}) == pytest.approx(60)


def test_waiting_for_a_place_is_found_out_anew_and_not_kept():
    spans = [
        whole(0, 6),
        span("a", "tests", 0, 3, after=(), resource="core"),
        span("b", "tests", 0, 6, after=(), resource="core", waited=3, waited_on="core"),
    ]
    assert critical_path(spans).total_seconds == 6
    assert changed(spans, places={"core": 2}) == 3


def test_what_came_after_what_is_taken_at_its_word():
    spans = [
        whole(0, 4),
        span("w1", "writing", 0, 1, tokens_out=100, after=()),
        span("w2", "writing", 0, 2, tokens_out=200, after=()),
        span("t1", "tests", 3, 4, after=("w1",)),
    ]
    # nothing says why t1 began only at 3, so its lag of two seconds after w1 stays
    assert changed(spans, stream_speed=1e6) == pytest.approx(3, abs=1e-3)


def test_spans_that_came_after_each_other_in_a_circle_are_told_by_the_times():
    spans = [whole(0, 0), span("a", "tests", 0, 0, after=("b",)), span("b", "tests", 0, 0, after=("a",))]
    assert any("circle" in note for note in graph(tree(spans)).notes)
    assert critical_path(spans).total_seconds == 0


def test_a_span_that_came_after_a_later_one_is_noted():
    spans = [whole(0, 4), span("a", "tests", 0, 2, after=("b",)), span("b", "tests", 1, 4, after=("gone",))]
    assert any("not here or ended later" in note for note in what_if(spans, Changes()).notes)


def test_writing_without_tokens_keeps_its_time_and_is_noted():
    found = what_if([whole(0, 5), span("w", "writing", 0, 5)], Changes(writer_speed=1e6))
    assert found.changed.seconds == 5
    assert any("tell no tokens" in note for note in found.notes)
    assert any("changes nothing" in note for note in found.notes)


def test_the_time_between_runs_is_left_out_of_the_replay():
    spans = [whole(0, 5, name="1", run="1"), whole(1e6, 1e6 + 7, name="2", run="2")]
    assert critical_path(spans).total_seconds == 12


def test_drafts_written_before_are_put_before_the_run():
    spans = [whole(100, 105), span("tests", "tests", 100, 105, after=())]
    made = graph(tree(drafts_written(spans, [30_000, 31_000])))
    found = at_speeds(made, (1_000.0, 1e6))
    assert found[1_000.0].seconds == pytest.approx(61 + 5)
    assert found[1e6].seconds == pytest.approx(0.061 + 5)
    assert found[1_000.0].shares()["writing"] == pytest.approx(61)


def test_a_run_whose_writing_was_measured_gets_no_other():
    assert drafts_written(fan_out(), [1_000_000]) == fan_out()


def test_a_replay_that_is_not_true_says_so():
    # a place was free from 2 on, so nothing explains why c began only at 4
    spans = [
        whole(0, 5),
        span("a", "tests", 0, 2, after=(), resource="core"),
        span("b", "tests", 1, 2, after=(), resource="core"),
        span("c", "tests", 4, 5, after=("a", "b"), resource="core"),
    ]
    found = what_if(spans, Changes())
    assert found.as_run.seconds < 5
    assert any("instead of the 5 s recorded" in note for note in found.notes)


def test_places_that_nothing_queued_for_are_noted():
    found = what_if(chain(), Changes(places={"core": 16}))
    assert found.changed.seconds == found.as_run.seconds
    assert any("'core'" in note for note in found.notes)


def test_too_few_places_for_what_is_nested_is_an_error_in_a_sentence():
    spans = [
        whole(0, 4),
        span("outer", "tests", 0, 4, after=(), resource="core"),
        span("inner", "tests", 1, 3, parent="outer", after=(), resource="core"),
    ]
    with pytest.raises(UsageError, match="few places"):
        what_if(spans, Changes(places={"core": 1}))


@pytest.mark.parametrize(
    "changes",
    [
        {"writer_speed": 0.0},
        {"stream_speed": -5.0},
        {"writer_speed": 10.0, "stream_speed": 10.0},
        {"stages": {"tests": -1.0}},
        {"places": {"core": 0}},
    ],
)
def test_changes_that_make_no_sense_are_refused(changes):
    with pytest.raises(UsageError):
        Changes(**changes)
