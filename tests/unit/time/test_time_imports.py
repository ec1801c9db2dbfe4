import io
import json
import zipfile

import pytest

from tamis.time.account import account
from tamis.time.critical import critical_path
from tamis.time.imports import TraceError, read_trace, read_trace_file

T0 = 1_800_000_000
ISO = "2027-01-15T08:00:{:06.3f}Z"  # T0 is 08:00:00 of that day


def as_bytes(value) -> bytes:
    return json.dumps(value).encode()


def otlp_span(name, start, end, *, parent=None, **attributes):
    def any_value(value):
        kind = {bool: "boolValue", str: "stringValue", float: "doubleValue", int: "intValue"}[type(value)]
        return {kind: str(value) if kind == "intValue" else value}

    return {
        "traceId": "a" * 32,
        "spanId": name,
        "parentSpanId": parent or "",
        "name": name,
        "startTimeUnixNano": str(round((T0 + start) * 1e9)),
        "endTimeUnixNano": str(round((T0 + end) * 1e9)) if end is not None else "0",
        "attributes": [{"key": key, "value": any_value(value)} for key, value in attributes.items()],
    }


def otlp(*spans):
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {"name": "agent"}, "spans": list(spans)}]}]}


CHAT = {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 50, "gen_ai.usage.output_tokens": 101}
AGENT = [
    otlp_span("agent", 0, 10, **{"gen_ai.operation.name": "invoke_agent"}),
    otlp_span("chat", 1, 4, parent="agent", **CHAT, **{"gen_ai.response.time_to_first_chunk": 1.0}),
    otlp_span("search", 5, 9, parent="agent", **{"gen_ai.operation.name": "execute_tool"}),
]


def by_name(found):
    return {span.name: span for span in found.spans}


def test_opentelemetry_model_calls_become_writing_and_tools_tools():
    found = read_trace(as_bytes(otlp(*AGENT)))
    spans = by_name(found)
    assert (spans["agent"].stage, spans["chat"].stage, spans["search"].stage) == ("whole", "writing", "tools")
    assert (spans["chat"].tokens_in, spans["chat"].tokens_out) == (50, 101)
    assert spans["chat"].first_token_at == pytest.approx(T0 + 2)


def test_gaps_are_shown_as_of_unknown_cause():
    found = read_trace(as_bytes(otlp(*AGENT)))
    assert account(found.spans).unaccounted_seconds == pytest.approx(3)
    assert critical_path(found.spans).shares()["whole"] == pytest.approx(3)


def test_a_collectors_file_has_an_export_a_line():
    content = b"\n".join(as_bytes(otlp(span)) for span in AGENT)
    assert len(read_trace(content).spans) == 3


@pytest.mark.parametrize(
    "attributes",
    [
        {"openinference.span.kind": "LLM", "llm.token_count.completion": 101, "llm.token_count.prompt": 50},
        {"llm.request.type": "chat", "gen_ai.usage.completion_tokens": 101, "gen_ai.usage.prompt_tokens": 50},
        {"ai.operationId": "ai.streamText.doStream", "ai.usage.completionTokens": 101, "ai.usage.promptTokens": 50},
        {
            "gen_ai.operation.name": "text_completion",
            "gen_ai.usage.output_tokens": 101,
            "gen_ai.usage.input_tokens": 50,
        },
    ],
)
def test_other_dialects_of_opentelemetry_are_understood(attributes):
    (chat,) = read_trace(as_bytes(otlp(otlp_span("call", 0, 1, **attributes)))).spans
    assert (chat.stage, chat.tokens_in, chat.tokens_out) == ("writing", 50, 101)


def test_a_span_that_never_ended_lasts_until_the_last_thing_known_in_it():
    found = read_trace(as_bytes(otlp(otlp_span("agent", 0, None), otlp_span("chat", 1, 4, parent="agent", **CHAT))))
    assert by_name(found)["agent"].seconds == pytest.approx(4)
    assert any("never ended" in note for note in found.notes)


def test_tokens_told_twice_are_counted_once():
    inner = otlp_span("inner", 1, 3, parent="outer", **CHAT)
    found = read_trace(as_bytes(otlp(otlp_span("outer", 0, 4, **CHAT), inner)))
    assert critical_path(found.spans).all_tokens == 101
    assert any("counted there, once" in note for note in found.notes)


def test_transport_inside_a_call_is_part_of_the_call():
    http = otlp_span("POST", 1.1, 3.9, parent="chat", **{"http.request.method": "POST"})
    found = read_trace(as_bytes(otlp(*AGENT, http)))
    assert account(found.spans).stages["writing"].seconds == pytest.approx(3)
    assert any("part of those" in note for note in found.notes)


def test_an_agent_run_by_a_tool_keeps_what_it_did():
    sub = otlp_span("sub", 5, 9, parent="search", **{"gen_ai.operation.name": "invoke_agent"})
    call = otlp_span("call", 6, 8, parent="sub", **CHAT)
    stages = account(read_trace(as_bytes(otlp(*AGENT, sub, call))).spans).stages
    assert (stages["writing"].seconds, stages["writing"].tokens_out) == (pytest.approx(5), 202)


def test_a_missing_parent_is_told_and_nothing_lost():
    found = read_trace(as_bytes(otlp(*AGENT[1:])))
    told = account(found.spans)
    assert told.stages["writing"].seconds == pytest.approx(3)
    assert any("never recorded" in note for note in told.notes)


def test_children_may_overlap():
    spans = [otlp_span(str(n), n, n + 3, parent="agent", **CHAT) for n in range(3)]
    found = account(read_trace(as_bytes(otlp(AGENT[0], *spans))).spans)
    assert found.stages["writing"].seconds == pytest.approx(5)


SAMPLE = {
    "id": 1,
    "epoch": 1,
    "events": [
        {"event": "span_begin", "id": "s", "name": "solvers", "type": "solvers", "timestamp": ISO.format(0)},
        {
            "event": "model",
            "model": "mockllm/model",
            "timestamp": ISO.format(1),
            "completed": ISO.format(5),
            "working_time": 3.0,
            "span_id": "s",
            "output": {"usage": {"input_tokens": 10, "output_tokens": 40}},
        },
        {
            "event": "tool",
            "function": "bash",
            "timestamp": ISO.format(5),
            "completed": ISO.format(7),
            "working_time": 2.0,
            "span_id": "s",
        },
        {"event": "span_end", "id": "s", "timestamp": ISO.format(8)},
        {"event": "state", "timestamp": ISO.format(8)},
    ],
    "total_time": 9.0,
}


def inspect_zip(*samples) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as log:
        log.writestr("header.json", "{}")
        for number, sample in enumerate(samples):
            log.writestr(f"samples/{number}_epoch_1.json", json.dumps(sample))
    return content.getvalue()


@pytest.mark.parametrize(
    "content", [inspect_zip(SAMPLE), as_bytes({"version": 2, "eval": {}, "samples": [SAMPLE]})], ids=["eval", "json"]
)
def test_an_inspect_log_is_a_run_a_sample(content):
    found = read_trace(content)
    told = account(found.spans)
    assert (told.runs, told.total_seconds) == (1, pytest.approx(9))
    assert told.stages["writing"].seconds == pytest.approx(4)
    assert told.stages["writing"].waited_on == {"limits, retries and Inspect itself": pytest.approx(1)}
    assert (told.stages["writing"].tokens_out, told.stages["tools"].seconds) == (40, pytest.approx(2))
    assert told.unaccounted_seconds == pytest.approx(3)


def test_a_log_compressed_with_zstd_is_read_or_says_what_would_read_it():
    zstd = pytest.importorskip("backports.zstd.zipfile", reason="backports.zstd is an extra")
    content = io.BytesIO()
    with zstd.ZipFile(content, "w", zstd.ZIP_ZSTANDARD) as log:
        log.writestr("samples/1_epoch_1.json", json.dumps(SAMPLE))
    assert account(read_trace(content.getvalue()).spans).stages["writing"].tokens_out == 40


def test_an_agent_that_an_inspect_tool_ran_is_seen_within_the_tool():
    inner = [
        {
            "event": "span_begin",
            "id": "t",
            "parent_id": "s",
            "name": "bash",
            "type": "tool",
            "timestamp": ISO.format(5),
        },
        {
            "event": "model",
            "model": "inner",
            "timestamp": ISO.format(5.5),
            "completed": ISO.format(6.5),
            "span_id": "t",
            "output": {"usage": {"output_tokens": 9}},
        },
        {"event": "span_end", "id": "t", "timestamp": ISO.format(7)},
    ]
    found = account(read_trace(inspect_zip({**SAMPLE, "events": SAMPLE["events"] + inner})).spans)
    assert found.stages["writing"].tokens_out == 49
    assert found.stages["tools"].seconds == pytest.approx(1)


def test_samples_without_events_are_counted_and_left_out():
    found = read_trace(inspect_zip(SAMPLE, {"id": 2, "epoch": 1, "events": []}))
    assert any("1 of 2 samples" in note for note in found.notes)


OBSERVATIONS = [
    {"id": "a", "traceId": "t", "type": "AGENT", "name": "agent", "startTime": ISO.format(0), "endTime": ISO.format(9)},
    {
        "id": "g",
        "traceId": "t",
        "parentObservationId": "a",
        "type": "GENERATION",
        "name": "call",
        "startTime": ISO.format(1),
        "completionStartTime": ISO.format(2),
        "endTime": ISO.format(4),
        "usageDetails": {"input": 7, "output": 21},
    },
    {"id": "e", "traceId": "t", "parentObservationId": "a", "type": "EVENT", "name": "x", "startTime": ISO.format(5)},
]


@pytest.mark.parametrize(
    "content",
    [
        as_bytes(OBSERVATIONS),
        as_bytes({"data": OBSERVATIONS, "meta": {}}),
        as_bytes({"id": "t", "name": "trace", "observations": OBSERVATIONS}),
        b"\n".join(as_bytes(one) for one in OBSERVATIONS),
    ],
    ids=["list", "page", "trace", "lines"],
)
def test_langfuse_generations_become_writing(content):
    found = read_trace(content)
    call = by_name(found)["call"]
    assert (found.format, call.stage, call.tokens_in, call.tokens_out) == ("Langfuse", "writing", 7, 21)
    assert call.first_token_at == pytest.approx(T0 + 2)
    assert any("1 events" in note for note in found.notes)


RUNS = [
    {
        "id": "c",
        "trace_id": "c",
        "name": "chain",
        "run_type": "chain",
        "start_time": "2027-01-15T08:00:00",
        "end_time": "2027-01-15T08:00:09.000000",
    },
    {
        "id": "l",
        "trace_id": "c",
        "parent_run_id": "c",
        "name": "ChatModel",
        "run_type": "llm",
        "start_time": "2027-01-15T08:00:01+00:00",
        "end_time": "2027-01-15T08:00:04+00:00",
        "prompt_tokens": 7,
        "completion_tokens": 21,
        "events": [{"name": "start", "time": ISO.format(1)}, {"name": "new_token", "time": ISO.format(2)}],
    },
]


@pytest.mark.parametrize(
    "content",
    [
        as_bytes(RUNS),
        as_bytes({"runs": RUNS, "cursors": {}}),
        as_bytes({**RUNS[0], "child_runs": [RUNS[1]]}),
        b"\n".join(as_bytes(one) for one in RUNS),
    ],
    ids=["list", "page", "nested", "lines"],
)
def test_langsmith_llm_runs_become_writing(content):
    found = read_trace(content)
    call = by_name(found)["ChatModel"]
    assert (found.format, call.stage, call.tokens_in, call.tokens_out) == ("LangSmith", "writing", 7, 21)
    assert (call.parent, call.first_token_at) == ("c", pytest.approx(T0 + 2))


EVENTS = [
    {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "agent"}},
    {"ph": "X", "name": "run", "pid": 1, "tid": 1, "ts": 0, "dur": 10e6},
    {"ph": "X", "name": "call", "cat": "llm", "pid": 1, "tid": 1, "ts": 1e6, "dur": 3e6, "args": {"tokens_out": 30}},
    {"ph": "B", "name": "pytest", "cat": "tests", "pid": 1, "tid": 1, "ts": 5e6},
    {"ph": "E", "pid": 1, "tid": 1, "ts": 7e6},
    {"ph": "b", "name": "later", "cat": "tool", "id": "0x1", "pid": 1, "tid": 9, "ts": 7e6},
    {"ph": "e", "name": "later", "cat": "tool", "id": "0x1", "pid": 1, "tid": 9, "ts": 8e6},
]


@pytest.mark.parametrize(
    "content",
    [
        as_bytes({"traceEvents": EVENTS}),
        as_bytes(EVENTS),
        as_bytes(EVENTS)[:-1] + b",",  # a writer that was killed never closed its list
    ],
    ids=["object", "list", "unclosed"],
)
def test_chrome_slices_lie_within_each_other(content):
    found = read_trace(content)
    spans = by_name(found)
    assert (spans["call"].stage, spans["call"].tokens_out) == ("writing", 30)
    assert (spans["pytest"].stage, spans["pytest"].parent) == ("tests", spans["run"].id)
    assert account(found.spans).stages["tools"].seconds == pytest.approx(1)


def test_a_slice_that_never_ended_is_told():
    found = read_trace(as_bytes([*EVENTS, {"ph": "B", "name": "x", "pid": 1, "tid": 1, "ts": 9e6}]))
    assert any("1 spans never ended" in note for note in found.notes)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "empty"),
        (b"{}", "no trace that tamis knows"),
        (b"[]", "no trace that tamis knows"),
        (b"hello", "line 1: not JSON"),
        (b"[1, 2", "no trace that tamis knows"),
        (b'[{"a": 1', "not whole JSON"),
        (b'{"resourceSpans": []}', "holds no spans"),
        (b"PK\x03\x04nonsense", "damaged"),
        (inspect_zip(), "no samples"),
    ],
)
def test_what_is_no_trace_is_refused_in_a_sentence(content, what):
    with pytest.raises(TraceError, match=what):
        read_trace(content)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(TraceError, match="can't read"):
        read_trace_file(tmp_path / "nothing.json")


def test_a_trace_with_parents_in_a_circle_is_read():
    loop = [otlp_span("a", 0, 2, parent="b", **CHAT), otlp_span("b", 0, 2, parent="a", **CHAT)]
    assert account(read_trace(as_bytes(otlp(*loop))).spans).total_seconds == pytest.approx(2)


def test_a_first_token_outside_its_call_is_not_believed():
    odd = otlp_span("chat", 0, 1, **CHAT, **{"gen_ai.response.time_to_first_chunk": 700.0})
    (span,) = read_trace(as_bytes(otlp(odd))).spans
    assert span.first_token_at is None
