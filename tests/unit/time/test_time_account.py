import pytest

from tamis.time.account import account, rows_at_speed

from .time_made import fan_out, span, whole


def test_what_runs_at_the_same_time_counts_once_within_a_stage():
    found = account([whole(0, 10), span("a", "tests", 0, 4), span("b", "tests", 2, 6)])
    assert found.stages["tests"].seconds == 6
    assert found.stages["tests"].spans == 2


def test_a_parent_counts_only_what_its_children_leave():
    spans = [whole(0, 10), span("behaviour", "tests", 0, 10), span("question", "people", 4, 9, parent="behaviour")]
    found = account(spans)
    assert (found.stages["tests"].seconds, found.stages["people"].seconds) == (5, 5)
    assert found.by_name["behaviour"].seconds == 10


def test_waiting_is_told_apart_from_working():
    found = account([whole(0, 10), span("question", "people", 0, 10, waited=9, waited_on="owner")])
    people = found.stages["people"]
    assert (people.seconds, people.waited, dict(people.waited_on)) == (10, 9, {"owner": 9})


def test_a_stage_does_not_wait_while_another_of_its_spans_works():
    spans = [whole(0, 10), span("a", "tests", 0, 10), span("b", "tests", 0, 10, waited=8, waited_on="core")]
    tests = account(spans).stages["tests"]
    assert tests.waited == 0
    assert tests.waited_on["core"] == 8


def test_waiting_for_drafts_while_they_are_written_is_the_writing_s_time_alone():
    pipeline = [
        whole(0, 100),
        span("write", "writing", 0, 90),
        span("read", "reading", 0, 100, waited=94, waited_on="the writer"),
        span("parse", "reading", 0, 100, waited=96, waited_on="reading"),
        span("tests", "tests", 10, 100, waited=70, waited_on="folding"),
    ]
    told = account(pipeline)
    assert told.stages["writing"].seconds == 90
    assert told.stages["reading"].seconds == 10  # of which the writing covers none
    assert told.stages["reading"].waited == 4
    assert told.stages["reading"].waited_on == {"the writer": 4, "reading": 6}
    assert told.stages["tests"].seconds == 20
    assert told.sifting.seconds == 20
    assert account([one for one in pipeline if one.stage != "writing"]).stages["reading"].waited == 94


def test_what_no_stage_accounts_for_is_shown():
    found = account([whole(0, 10), span("a", "tests", 2, 5)])
    assert found.unaccounted_seconds == 7
    assert found.total_seconds == 10


def test_the_time_between_runs_is_not_work():
    spans = [whole(0, 10, name="first", run="1"), whole(1_000, 1_005, name="second", run="2")]
    found = account(spans, now=1_105)
    assert (found.runs, found.total_seconds, found.between_runs_seconds) == (2, 15, 990)
    assert found.since_seconds == 100


def test_a_killed_run_is_one_run_however_much_of_it_never_closed():
    first = [
        span("parse", "reading", 0, 1, parent="lost", run="1"),
        span("t", "tests", 2, 3, parent="lost too", run="1"),
    ]
    second = [whole(10, 12, run="2"), span("tests", "tests", 10, 12, run="2")]
    found = account([*first, *second])
    assert found.runs == 2
    assert found.total_seconds == 5
    assert any("never recorded" in note for note in found.notes)


def test_a_process_that_counted_its_childrens_cpu_seconds_too_is_not_counted_twice():
    spans = [
        whole(0, 10),
        span("tests", "tests", 0, 10, cpu_seconds=8),
        span("t", "tests", 0, 5, parent="tests", cpu_seconds=3),
    ]
    assert account(spans).stages["tests"].cpu_seconds == 8


def test_cpu_seconds_that_nobody_measured_are_none():
    assert account([whole(0, 1), span("a", "lab", 0, 1)]).stages["lab"].cpu_seconds is None


def test_no_spans_are_an_empty_account():
    found = account([], now=5.0)
    assert (found.total_seconds, found.runs, found.stages, found.since_seconds) == (0, 0, {}, None)


@pytest.mark.parametrize(
    ("spans", "what"),
    [
        ([whole(0, 10), span("a", "tests", 5, 3)], "before beginning"),
        ([whole(0, 10), span("a", "tests", 8, 12)], "outside its parent"),
        ([whole(0, 10), whole(0, 10)], "recorded twice"),
        ([span("a", "tests", 0, 1, parent="b"), span("b", "tests", 0, 1, parent="a")], "below itself"),
    ],
)
def test_odd_spans_are_accounted_for_and_told(spans, what):
    assert any(what in note for note in account(spans).notes)


def test_drafts_written_before_the_run_are_recorded_and_not_measured():
    spans = [whole(0, 5), span("parse", "reading", 0, 1), span("tests", "tests", 1, 5)]
    writing, sifting, people = rows_at_speed(account(spans), 1_000_000, tokens_to_write=61_000)
    assert (writing.as_run, writing.as_run_word) == (None, "recorded")
    assert writing.at_speed == pytest.approx(0.061)
    assert (sifting.what, sifting.as_run, sifting.at_speed) == ("parse, tests", 5, 5)
    assert people.as_run is None


def test_writing_that_was_measured_is_its_own_row():
    writing, sifting, people = rows_at_speed(account(fan_out()), 1_000)
    assert (writing.as_run, writing.at_speed) == (20, 4)
    assert (sifting.as_run, people.as_run) == (4, 16)


def test_tokens_that_nobody_counted_leave_the_writing_unknown():
    writing, *_ = rows_at_speed(account([whole(0, 5)]), 1_000_000)
    assert writing.at_speed is None
