import re

import pytest

from tamis.errors import UsageError
from tamis.time.arithmetic import arithmetic, tokens_written
from tamis.time.outlook import outlook
from tamis.time.plan_file import PlanError
from tamis.time.plan_reading import load_plan, read_plan, shipped_plans
from tamis.time.playing import Playable, Variant

HEAD = """\
[plan]
title = "a plan"

[writer]
stream_speed = 100
throughput = 400

[resources.core]
places = 2

[resources.reviewer]
hours = "Mon-Fri 09:00-17:00"

"""
WRITE = """\
[[step]]
name = "write"
count = 8
tokens = 1_000

"""
REVIEW = """\
[[step]]
name = "review"
stage = "reading"
takes = "1 h"
"""


def seconds(text: str, **variant: object) -> float:
    """What the one run takes of a plan without luck."""
    return Playable(read_plan(text)).play(1, variant=Variant(**variant)).seconds[0]


def test_streams_share_the_throughput():
    assert seconds(HEAD + WRITE) == pytest.approx(8 * 1_000 / 400)


def test_more_streams_help_a_fan_out_and_no_chain():
    chain = WRITE.replace("count", "repeat")
    assert seconds(HEAD + WRITE, throughput=8_000.0) == pytest.approx(10)
    assert seconds(HEAD + chain) == pytest.approx(80)
    assert seconds(HEAD + chain, throughput=8_000.0) == pytest.approx(80)
    assert seconds(HEAD + chain, stream_speed=1_000.0, throughput=8_000.0) == pytest.approx(8)


def test_a_step_waits_for_the_one_before_it_unless_it_says_otherwise():
    assert seconds(HEAD + WRITE + REVIEW) == pytest.approx(20 + 3_600)
    assert seconds(HEAD + WRITE + REVIEW + "after = []") == pytest.approx(3_600)


def test_lines_that_follow_line_by_line_do_not_wait_for_all():
    two_by_two = 'stage = "tests"\ncount = 8\nneeds = "core"\ntakes = 10\n'
    write = WRITE.replace("tokens = 1_000", 'stage = "writing"\nneeds = "core"\ntakes = 5')
    waiting = HEAD + write + '[[step]]\nname = "tests"\n' + two_by_two
    assert seconds(waiting) == pytest.approx(4 * 5 + 4 * 10)
    alone = write.replace('needs = "core"\n', "")
    assert seconds(HEAD + alone + '[[step]]\nname = "tests"\neach = "write"\n' + two_by_two) == pytest.approx(5 + 40)


def test_parts_of_a_chain_follow_each_other_round_after_round():
    step = """\
[[step]]
name = "turns"
repeat = 200
parts = [
    { name = "call", tokens = 50 },
    { name = "tool", stage = "tools", takes = "2 s" },
]
"""
    assert seconds(HEAD + step) == pytest.approx(200 * (0.5 + 2))


def test_a_reviewer_sleeps():
    review = REVIEW.replace('"1 h"', '"10 h"') + 'needs = "reviewer"\n'
    assert seconds(HEAD + review) == pytest.approx(8 * 3_600 + 16 * 3_600 + 2 * 3_600)
    friday = HEAD.replace('"a plan"', '"a plan"\nstarts = "Fri 16:00"')
    assert seconds(friday + REVIEW.replace('"1 h"', '"2 h"') + 'needs = "reviewer"\n') == pytest.approx(66 * 3_600)


def test_an_oven_runs_on_when_the_lab_closes():
    lab = HEAD.replace('17:00"', '17:00"\nruns_on = true')
    assert seconds(lab + REVIEW.replace('"1 h"', '"2 days"') + 'needs = "reviewer"\n') == pytest.approx(2 * 86_400)


def test_work_that_is_sent_back_is_done_again_from_where_it_is_sent_to():
    gate = REVIEW + 'accept = 0.0\nback_to = "write"\nat_most = 3\n'
    found = Playable(read_plan(HEAD + WRITE + gate)).play(1)
    assert found.seconds[0] == pytest.approx(3 * (20 + 3_600))
    assert found.rounds == {"review": 3}


def test_rework_comes_as_often_as_its_probability_says():
    gate = REVIEW + "accept = 0.25\n"
    found = Playable(read_plan(HEAD + gate)).play(4_000)
    assert found.rounds["review"] == pytest.approx(4, rel=0.1)
    assert found.mean == pytest.approx(4 * 3_600, rel=0.1)


def test_a_gate_within_a_gate_starts_counting_anew():
    inner = REVIEW + "accept = 0.0\nat_most = 2\n"
    outer = inner.replace('"review"', '"release"') + 'back_to = "review"\n'
    found = Playable(read_plan(HEAD + inner + outer)).play(1)
    assert found.rounds == {"review": 4, "release": 2}


def test_a_lognormal_has_its_median_and_p90():
    step = REVIEW.replace('"1 h"', '{ median = "1 h", p90 = "3 h" }')
    found = Playable(read_plan(HEAD + step)).play(4_000)
    assert found.percentile(0.5) == pytest.approx(3_600, rel=0.1)
    assert found.percentile(0.9) == pytest.approx(3 * 3_600, rel=0.1)


def test_the_same_seed_plays_the_same_runs():
    plan = Playable(load_plan("lending"))
    assert plan.play(20, seed=3) == plan.play(20, seed=3)
    assert plan.play(20, seed=3) != plan.play(20, seed=4)


def test_the_path_the_closed_hours_and_the_parts_add_up_to_the_whole():
    found = Playable(load_plan("catalyst")).play(50)
    assert sum(found.by_part.values()) + found.closed == pytest.approx(found.mean)
    assert sum(found.by_stage.values()) == pytest.approx(sum(found.by_part.values()))


def test_halving_is_judged_by_what_it_saves_from_end_to_end():
    found = outlook(read_plan(HEAD + WRITE + REVIEW), runs=5)
    assert [(help.what, round(help.saves_seconds)) for help in found.helps] == [
        ("review", 1_800),
        ("write", 10),
        ("core", 0),
        ("reviewer", 0),
    ]


def test_the_curve_goes_flat_where_a_faster_writer_saves_less_than_a_twentieth():
    found = outlook(read_plan(HEAD + WRITE + REVIEW), runs=1)
    assert found.flat_from == 100
    assert found.floor.percentile(0.5) == 3_600
    assert found.sweep["any"][10.0] == pytest.approx(800 + 3_600)
    assert found.sweep["more streams"][1e6] == pytest.approx(10 + 3_600)


def test_a_plan_that_writes_nothing_has_no_sweep():
    found = outlook(read_plan(HEAD + REVIEW), runs=1)
    assert found.sweep == {}
    assert found.flat_from is None


@pytest.mark.parametrize(
    ("name", "tokens", "quoted_seconds"),
    [("story", 1_000_000, 1.0), ("lending", 800_000, 0.8), ("catalyst", 3_000_000, 3.0)],
)
def test_the_shipped_plans_contain_the_sums_that_everyone_quotes(name, tokens, quoted_seconds):
    plan = load_plan(name)
    assert tokens_written(plan) == tokens
    assert sum(line.seconds for line in arithmetic(plan) if line.stage == "writing") == pytest.approx(quoted_seconds)
    assert plan.leaves_out


def test_ten_thousand_streams_take_as_long_as_one():
    text = shipped_plans()["streams"]
    many, one = (Playable(read_plan(t)).play(1).by_part["reply"] for t in (text, text.replace("10_000", "1")))
    assert many == pytest.approx(one) == pytest.approx(5.3)


@pytest.mark.parametrize("name", sorted(shipped_plans()))
def test_every_figure_of_a_shipped_plan_says_what_it_rests_on(name):
    for line in arithmetic(load_plan(name)):
        assert line.basis == "assumed" or line.source


def test_an_assumption_is_never_called_a_measurement():
    assert {line.basis for line in arithmetic(read_plan(HEAD + WRITE + REVIEW))} == {"assumed"}
    measured = read_plan(HEAD + REVIEW + 'measured = "a stopwatch"')
    assert [(line.basis, line.source) for line in arithmetic(measured)] == [("measured", "a stopwatch")]


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        (HEAD + WRITE.replace("tokens", "tokns"), "tokns = 1_000", "did you mean 'tokens'"),
        (HEAD + REVIEW.replace("reading", "reding"), 'stage = "reding"', "did you mean 'reading'"),
        (HEAD + REVIEW.replace("reading", "whole"), 'stage = "whole"', "no stage is called 'whole'"),
        (HEAD + WRITE + REVIEW.replace('stage = "reading"\n', ""), "[[step]]", "has no stage"),
        (HEAD + REVIEW.replace('"1 h"', "-5"), "takes = -5", "negative time"),
        (HEAD + REVIEW.replace('"1 h"', '"-5 h"'), 'takes = "-5 h"', "can't read the time"),
        (HEAD + REVIEW.replace('"1 h"', '"5 parsecs"'), 'takes = "5 parsecs"', "no unit of time"),
        (HEAD + REVIEW.replace('"1 h"', '{ median = "2 h", p90 = "1 h" }'), "takes = {", "p90 above it"),
        (HEAD + REVIEW.replace('takes = "1 h"', ""), "[[step]]", "neither what it takes nor how many tokens"),
        (HEAD + WRITE + REVIEW + 'after = ["wirte"]', 'after = ["wirte"]', "did you mean 'write'"),
        (HEAD + WRITE + 'after = ["review"]\n' + REVIEW + 'after = ["write"]', "after = ", "circle"),
        (HEAD + REVIEW + 'after = ["review"]', 'after = ["review"]', "circle"),
        (HEAD + REVIEW + 'needs = "reviewr"', 'needs = "reviewr"', "did you mean 'reviewer'"),
        (HEAD + WRITE + REVIEW + 'each = "write"\ncount = 7', "count = 7", "7 lines where that has 8"),
        (HEAD + REVIEW + "count = 0", "count = 0", "1 or more"),
        (HEAD + REVIEW + "accept = 0.0", "accept = 0.0", "never reached"),
        (HEAD + REVIEW + "accept = 2.0", "accept = 2.0", "accept is 2"),
        (HEAD + REVIEW + 'accept = 0.5\nback_to = "nowhere"', 'back_to = "nowhere"', "does not come before"),
        (HEAD + REVIEW + 'back_to = "review"\nat_most = 2', "[[step]]", "without accept"),
        (HEAD + REVIEW + "count = 2\naccept = 0.5", "accept = 0.5", "as a whole"),
        (HEAD + REVIEW.replace("1 h", "2 days") + 'needs = "reviewer"', 'takes = "2 days"', "a day of work is unclear"),
        (HEAD.replace("places = 2", "places = 0") + REVIEW, "places = 0", "never reached"),
        (HEAD.replace("17:00", "27:00") + REVIEW, "hours = ", "no time of day"),
        (HEAD.replace("17:00", "07:00") + REVIEW, "hours = ", "close before they open"),
        (HEAD.replace("Fri", "Fry") + REVIEW, "hours = ", "no day is called"),
        (HEAD.replace("= 100", "= 0") + WRITE, "stream_speed = 0", "nothing would ever be written"),
        (HEAD + REVIEW + REVIEW, 'name = "review"', "a second step"),
        (HEAD + WRITE.replace("count = 8", "count = 300_000"), "[[step]]", "more than"),
        (HEAD + WRITE + "tokens_in = 5", "tokens_in = 5", "input_speed"),
        ("[plan]\ntitle = 'x'\nstep = 5\n", "step = 5", "unknown key"),
        ("[plan\n", "[plan", "not TOML"),
    ],
)
def test_a_plan_that_can_not_be_played_is_refused_with_its_line(text, line, what):
    with pytest.raises(PlanError, match=what) as refused:
        read_plan(text)
    number = re.search(r"line (\d+)", refused.value.what)
    assert number, refused.value.what
    assert line in text.splitlines()[int(number[1]) - 1]


def test_a_step_that_takes_up_what_may_be_sent_back_is_refused():
    early = '[[step]]\nname = "deploy"\nstage = "deployment"\ntakes = 5\nafter = ["write"]\n'
    gate = REVIEW + 'accept = 0.5\nback_to = "write"\nafter = ["write"]\n'
    with pytest.raises(PlanError, match="may send back"):
        read_plan(HEAD + WRITE + gate + early)


def test_tokens_without_a_writer_are_refused():
    with pytest.raises(PlanError, match="writer with a speed"):
        read_plan('[plan]\ntitle = "x"\n' + WRITE)


def test_a_plan_that_is_not_there_names_those_that_are():
    with pytest.raises(UsageError, match="did you mean 'lending'"):
        load_plan("lendin")
    with pytest.raises(UsageError, match="can't read the plan"):
        load_plan("nowhere.toml")
