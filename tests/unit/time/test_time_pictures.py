import json
import xml.etree.ElementTree as ET

import pytest

from tamis.records import Span
from tamis.time.account import account
from tamis.time.charts import Bar, curve_chart, flat_curve, speed_bars, speeds_chart
from tamis.time.exports import chrome_json, otlp_json
from tamis.time.imports import read_trace
from tamis.time.waterfall import waterfall_chart

from .time_made import chain, fan_out, span, whole

SVG = "{http://www.w3.org/2000/svg}"


def drawn(picture: str) -> ET.Element:
    root = ET.fromstring(picture)
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    return root


def waterfall_of(spans: list[Span], **options: int) -> str:
    return waterfall_chart(spans, **options)


def test_a_picture_is_heard_by_those_who_can_not_see_it():
    root = drawn(speed_bars([Bar("as run", {"writing": 3.0, "tests": 1.0}), Bar("fast", {"tests": 1.0})]))
    assert "as run 4.0 s; fast 1.0 s" in root.get("aria-label")
    titles = [title.text for title in root.iter(f"{SVG}title")]
    assert "writing: 3.0 s, 75% of 4.0 s (as run)" in titles


def test_a_bar_is_divided_by_the_shares_of_its_stages():
    root = drawn(speed_bars([Bar("as run", {"writing": 3.0, "tests": 1.0})]))
    widths = [float(rect.get("width")) for rect in root.iter(f"{SVG}rect") if rect.find(f"{SVG}title") is not None]
    assert widths[0] == pytest.approx(3 * widths[1])


def test_drafts_written_before_the_run_have_no_writing_as_run_and_some_at_each_speed():
    chart = drawn(speeds_chart([whole(0, 5), span("tests", "tests", 0, 5)], tokens=61_000))
    assert "as run 5.0 s; 100 tokens/s 10 min" in chart.get("aria-label")
    assert "1,000,000 tokens/s 5.1 s" in chart.get("aria-label")


def test_names_from_outside_can_not_break_the_picture():
    odd = [whole(0, 5), span('<script>&"\x7f', "tests", 0, 5)]
    assert "<script>" not in waterfall_of(odd)
    drawn(waterfall_of(odd))


def test_a_name_that_xml_has_no_characters_for_is_drawn_without_them():
    text = waterfall_of([whole(0, 5), span("a\x00b\x1b", "tests", 0, 5)])
    assert drawn(text).tag == f"{SVG}svg"
    assert "\x00" not in text and "\x1b" not in text


def test_the_waterfall_marks_the_critical_path():
    spans = [whole(0, 10), span("long", "tests", 0, 10), span("short", "tests", 0, 3)]
    marks = [r for r in drawn(waterfall_of(spans)).iter(f"{SVG}rect") if r.get("height") == "3"]
    assert len(marks) == 2  # one in the legend, one under the long bar


def test_a_long_run_says_how_many_spans_the_picture_leaves_out():
    spans = [whole(0, 100)] + [span(f"test {n}", "tests", n, n + 1) for n in range(100)]
    assert "71 more spans" in waterfall_of(spans, most_rows=30)


def test_an_empty_run_is_an_empty_picture():
    for empty, full in (
        (waterfall_of([]), waterfall_of([whole(0, 5), span("a", "tests", 0, 5)])),
        (speed_bars([]), curve_chart(fan_out())),
        (flat_curve({}), curve_chart(fan_out())),
    ):
        assert len(list(drawn(empty).iter())) < len(list(drawn(full).iter()))


def test_the_curve_of_a_run_has_its_floor():
    text = curve_chart(fan_out())
    drawn(text)
    assert "infinitely fast: 20 s" in text
    assert "nothing is written" in curve_chart([whole(0, 5)])


def test_the_curve_shows_where_it_goes_flat():
    series = {"any stream": {10.0: 900.0, 100.0: 90.0, 1_000.0: 81.0}}
    text = flat_curve(series, floor_seconds=80.0, flat_from=1_000.0)
    drawn(text)
    assert "flat from 1,000 tokens/s" in text
    assert "infinitely fast: 80 s" in text


@pytest.mark.parametrize("export", [otlp_json, chrome_json])
@pytest.mark.parametrize("spans", [chain(), fan_out()], ids=["chain", "fan-out"])
def test_what_is_exported_can_be_imported_again(export, spans):
    found = account(read_trace(export(spans)).spans)
    expected = account(spans)
    assert found.total_seconds == pytest.approx(expected.total_seconds)
    for stage, took in expected.stages.items():
        assert found.stages[stage].seconds == pytest.approx(took.seconds)
        assert found.stages[stage].waited == pytest.approx(took.waited)
        assert found.stages[stage].tokens_out == took.tokens_out


def test_the_ids_of_an_otlp_export_are_of_the_length_that_it_wants():
    (resource,) = json.loads(otlp_json(fan_out()))["resourceSpans"]
    exported = resource["scopeSpans"][0]["spans"]
    assert {(len(one["traceId"]), len(one["spanId"])) for one in exported} == {(32, 16)}
    ids = {one["spanId"] for one in exported}
    assert len(ids) == len(fan_out())
    assert all(one["parentSpanId"] in ids for one in exported if "parentSpanId" in one)


def test_on_a_chrome_lane_slices_only_nest():
    events = [e for e in json.loads(chrome_json(fan_out()))["traceEvents"] if e["ph"] == "X"]
    for one in events:
        for other in events:
            if one["tid"] == other["tid"] and one["ts"] < other["ts"] < one["ts"] + one["dur"]:
                assert other["ts"] + other["dur"] <= one["ts"] + one["dur"]
