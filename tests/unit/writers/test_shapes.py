"""Files as other tools leave them: EvalPlus, OpenAI's batches, SWE-bench, tables and Parquet by a map of columns."""

import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.brief import load_brief
from tamis.errors import DraftsError, TamisError
from tamis.writers.base import Written
from tamis.writers.files import FilesWriter
from tamis.writers.json_items import ItemSplitter
from tamis.writers.table import rows

BRIEF = "# A brief\n\n```python\ndef f() -> int: ...\n```\n"


def drafts_in(
    folder: Path, name: str, content: object = None, *, toml: str = "", desk: str = "software"
) -> list[Written]:
    """The drafts of a source; where it is one file, that is written first: text and bytes as they are, else JSON."""
    folder.mkdir(exist_ok=True)
    (folder / "BRIEF.md").write_text(BRIEF)
    (folder / "tamis.toml").write_text(f'[brief]\ndesk = "{desk}"\n[drafts]\nfrom = "{name}"\n{toml}')
    if content is not None:
        raw = content if isinstance(content, bytes) else content if isinstance(content, str) else json.dumps(content)
        (folder / name).write_bytes(raw.encode() if isinstance(raw, str) else raw)

    async def collect() -> list[Written]:
        brief = load_brief(folder)
        return [draft async for draft in FilesWriter(brief).write(brief)]

    return asyncio.run(collect())


def lines(*records: object) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


# EvalPlus


def test_a_solution_stands_for_itself_and_a_completion_goes_on_from_its_prompt(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text(lines({"task_id": "Mbpp/2", "prompt": "def f():\n"}))
    text = lines(
        {"task_id": "Mbpp/2", "solution": "def f(): return 1", "_identifier": "Mbpp/2 (0)"},
        {"task_id": "Mbpp/2", "completion": "    return 2"},
        {"task_id": "Mbpp/3", "solution": "x"},
    )
    drafts = drafts_in(tmp_path, "s.jsonl", text, toml='task = "Mbpp/2"\nproblems = "p.jsonl"\n')
    assert [draft.content for draft in drafts] == [b"def f(): return 1", b"def f():\n    return 2"]


def test_a_folder_of_samples_by_task_gives_those_of_the_task(tmp_path: Path) -> None:
    for task in ("HumanEval_0", "HumanEval_1"):
        (tmp_path / "out" / task).mkdir(parents=True)
        for number in range(3):
            (tmp_path / "out" / task / f"{number}.py").write_text(f"{task} = {number}")
    drafts = drafts_in(tmp_path, "out", toml='task = "HumanEval/1"\n')
    assert [(draft.name, draft.content) for draft in drafts] == [
        (f"{number}.py", f"HumanEval_1 = {number}".encode()) for number in range(3)
    ]
    with pytest.raises(DraftsError, match=r"several tasks \(HumanEval/0, HumanEval/1\)"):
        drafts_in(tmp_path, "out")
    with pytest.raises(DraftsError, match="did you mean 'HumanEval_1'"):
        drafts_in(tmp_path, "out", toml='task = "HumanEval/11"\n')


# batches


def choice(text: str | None, reason: str = "stop", **more: object) -> dict[str, object]:
    return {"index": 0, "message": {"role": "assistant", "content": text, **more}, "finish_reason": reason}


def answered(custom_id: str, *choices: object, status: int = 200, tokens: int = 9) -> dict[str, object]:
    body = {"id": "chatcmpl-1", "choices": choices, "usage": {"completion_tokens": tokens, "prompt_tokens": 3}}
    response = {"status_code": status, "request_id": "r", "body": body}
    return {"id": "batch_req_1", "custom_id": custom_id, "response": response, "error": None}


def test_each_choice_of_a_batch_is_a_draft_named_by_its_request(tmp_path: Path) -> None:
    text = lines(
        answered("one", choice("Here:\n\n```python\ndef f(): return 1\n```\nDone.")),
        answered("two", choice("def f(): return 2"), choice("def f(): ret", "length"), tokens=30),
    )
    one, two, cut = drafts_in(tmp_path, "batch.jsonl", text)
    assert (one.name, one.content, one.tokens, one.counted_by) == ("one", b"def f(): return 1\n", 9, "usage")
    assert (two.name, two.tokens) == ("two#1", None)  # the usage is of both together
    assert (cut.name, cut.finish) == ("two#2", "length")


def test_what_a_batch_did_not_write_is_told_with_its_reason_and_the_others_go_on(tmp_path: Path) -> None:
    expired = {"id": "b", "custom_id": "a", "response": None, "error": {"code": "batch_expired", "message": "too late"}}
    failed = {"id": "b", "custom_id": "b", "error": None}
    failed["response"] = {"status_code": 400, "body": {"error": {"message": "no such model", "type": "invalid"}}}
    drafts = drafts_in(
        tmp_path,
        "batch.jsonl",
        lines(
            expired, failed, answered("c"), answered("d", choice(None, refusal="I can't.")), answered("e", choice("x"))
        ),
    )
    assert [(draft.name, draft.problem, draft.fault) for draft in drafts] == [
        ("batch.jsonl:1", "was not written: batch_expired: too late", "sandbox"),
        ("batch.jsonl:2", "was not written: invalid: no such model", "sandbox"),
        ("batch.jsonl:3", "was answered with no choice", "sandbox"),
        ("d", "was refused by its writer: I can't.", "draft"),
        ("e", None, "draft"),
    ]
    assert drafts[3].finish == "refused"


def test_the_responses_api_and_completions_are_read_too(tmp_path: Path) -> None:
    parts = [{"type": "output_text", "text": "def f(): "}, {"type": "output_text", "text": "return 1"}]
    output = [{"type": "reasoning", "summary": []}, {"type": "message", "role": "assistant", "content": parts}]
    body = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": output}
    body["usage"] = {"output_tokens": 4}
    new = {"custom_id": "new", "response": {"status_code": 200, "body": body}}
    old = {"custom_id": "old", "response": {"status_code": 200, "body": {"choices": [{"text": "x = 1"}]}}}
    first, second = drafts_in(tmp_path, "batch.jsonl", lines(new, old))
    assert (first.content, first.finish, first.tokens) == (b"def f(): return 1\n", "length", 4)
    assert (second.content, second.finish) == (b"x = 1", "stop")


def test_requests_of_a_batch_are_chosen_by_a_pattern(tmp_path: Path) -> None:
    text = lines(*(answered(name, choice("x = 1")) for name in ("lend-1", "lend-2", "other-1")))
    assert [draft.name for draft in drafts_in(tmp_path, "b.jsonl", text, toml='task = "lend-*"\n')] == [
        "lend-1",
        "lend-2",
    ]


# SWE-bench


PREDICTIONS = [
    {"instance_id": "django-1", "model_name_or_path": "org/model a", "model_patch": "diff --git a/x b/x\n"},
    {"instance_id": "django-1", "model_name_or_path": "org/model a", "model_patch": "diff --git a/y b/y\n"},
    {"instance_id": "flask-2", "model_name_or_path": "b", "model_patch": "diff --git a/z b/z\n"},
    {"instance_id": "django-1", "model_name_or_path": "c", "model_patch": None},
    {"instance_id": "django-1", "model_name_or_path": "../d", "model_patch": ""},
]


@pytest.mark.parametrize("name", ["preds.jsonl", "preds.json"])
def test_predictions_are_patches_named_by_who_made_them(tmp_path: Path, name: str) -> None:
    content = lines(*PREDICTIONS) if name.endswith("l") else PREDICTIONS
    drafts = drafts_in(tmp_path, name, content, toml='task = "django-1"\n')
    assert [draft.name for draft in drafts] == [
        "org-model-a.patch",
        "org-model-a.patch#2",
        "c.patch",
        "d.patch",
    ]
    assert drafts[1].content == b"diff --git a/y b/y\n"
    assert [draft.problem for draft in drafts] == [None, None, "holds no patch: its model_patch is null", "is empty"]


def test_predictions_by_the_name_of_their_task_are_read_as_well(tmp_path: Path) -> None:
    content = {
        "django-1": {"model_name_or_path": "a", "model_patch": "diff 1"},
        "flask-2": {"model_name_or_path": "a", "model_patch": "diff 2", "instance_id": "flask-2"},
        "odd-3": 7,
    }
    drafts = drafts_in(tmp_path, "preds.json", content, toml='task = "flask-2"\n')
    assert [(draft.name, draft.content) for draft in drafts if not draft.problem] == [("a.patch", b"diff 2")]
    assert [draft.name for draft in drafts if draft.problem] == ["preds.json:3"]


def test_predictions_for_several_tasks_need_a_choice(tmp_path: Path) -> None:
    with pytest.raises(DraftsError, match="several tasks"):
        drafts_in(tmp_path, "preds.json", PREDICTIONS)


def test_a_json_list_of_samples_is_as_good_as_lines(tmp_path: Path) -> None:
    drafts = drafts_in(tmp_path, "s.json", [{"text": "a, [b]"}, 3, {"text": '"}'}])
    assert [draft.content for draft in drafts if not draft.problem] == [b"a, [b]", b'"}']
    assert (drafts[1].name, drafts[1].fault) == ("s.json:2", "person")


def test_a_json_file_that_breaks_off_loses_its_last_item_only(tmp_path: Path) -> None:
    good, bad = drafts_in(tmp_path, "s.json", '[{"text": "a"}, {"text": "b')
    assert good.content == b"a"
    assert bad.problem is not None and bad.problem.startswith("breaks off")


@pytest.mark.parametrize("content", ['{"a": 1}', "[1, 2]", "3", '"x"', "[", "{", "", "nonsense", '{"a": {"b": 1}}'])
def test_any_other_json_file_is_one_draft_as_it_is(tmp_path: Path, content: str) -> None:
    (draft,) = drafts_in(tmp_path, "x.json", content)
    assert (draft.name, draft.content) == ("x.json", content.encode())


def test_for_the_lab_a_json_file_is_one_idea(tmp_path: Path) -> None:
    (draft,) = drafts_in(tmp_path, "x.json", [{"text": "a"}], desk="lab")
    assert draft.name == "x.json"


# a folder of patches


def test_a_folder_of_patches_is_a_draft_each(tmp_path: Path) -> None:
    (tmp_path / "patches").mkdir()
    for name in ("b.diff", "a.patch", "notes.rst"):
        (tmp_path / "patches" / name).write_text("--- a/x\n+++ b/x\n")
    assert [draft.name for draft in drafts_in(tmp_path, "patches")] == ["a.patch", "b.diff"]


# a map of columns


COLUMNS = 'columns = {text = "answer.body", name = "id", finish_reason = "why", tokens = "n", task = "of"}\n'


def test_lines_of_any_shape_are_read_by_a_map(tmp_path: Path) -> None:
    text = lines(
        {"id": 7, "answer": {"body": "x = 1"}, "why": "max_tokens", "n": 12, "of": "t", "text": "not this"},
        {"id": "b", "answer.body": "x = 2", "of": "t"},
        {"id": "c", "answer": {"body": 3}, "of": "t"},
        {"id": "d"},
        {"id": "e", "answer": {"body": "x = 5"}, "of": "other"},
    )
    drafts = drafts_in(tmp_path, "s.jsonl", text, toml=COLUMNS + 'task = "t"\n')
    assert [(draft.name, draft.content, draft.finish, draft.tokens) for draft in drafts if not draft.problem] == [
        ("7", b"x = 1", "length", 12),
        ("b", b"x = 2", "stop", None),
    ]
    assert [draft.problem for draft in drafts if draft.problem] == [
        "has no text in 'answer.body', but a number",
        "has no 'answer.body', where [drafts] columns says that the draft is; it has id",
    ]


def test_a_table_is_read_by_a_map(tmp_path: Path) -> None:
    toml = 'columns = {text = "out", name = "who", tokens = "n"}\n'
    drafts = drafts_in(tmp_path, "t.csv", 'who,out,n\na,"x = 1\ny = 2",5\nb,x = 3,\n', toml=toml)
    assert [(draft.name, draft.content, draft.tokens) for draft in drafts] == [
        ("a", b"x = 1\ny = 2", 5),
        ("b", b"x = 3", None),
    ]
    (bad,) = drafts_in(tmp_path, "t.csv", "who,n\na,5\n", toml=toml)
    assert bad.problem == "has no column 'out'; the table has who, n"


def test_a_table_whose_columns_say_what_they_are_needs_no_map(tmp_path: Path) -> None:
    (draft,) = drafts_in(tmp_path, "t.csv", "id,text,finish_reason\na,It was dawn.,length\n", desk="prose")
    assert (draft.name, draft.content, draft.finish) == ("a", b"It was dawn.", "length")


def test_a_cell_that_is_too_large_or_odd_loses_its_row_only(tmp_path: Path) -> None:
    big = "x" * 300_000
    text = f"id,text\na,{big}\nb,fine\nc,{'y' * 150_000}\n"
    drafts = drafts_in(tmp_path, "t.csv", text, toml="max_mb = 0.1\n", desk="prose")
    assert [(draft.name, draft.fault) for draft in drafts] == [
        ("t.csv:2", "person"),
        ("b", "draft"),
        ("t.csv:4", "budget"),
    ]
    assert (drafts[0].problem or "").startswith("is on a line longer than")


@given(st.binary(max_size=200))
def test_any_bytes_can_be_a_table(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("t") / "t.csv"
    path.write_bytes(b"id,text\n" + content)
    for row in rows(path, max_bytes=50):
        assert (row.problem is None) == bool(row.cells)


def parquet_at(path: Path, rows_: list[dict[str, object]], **options: object) -> None:
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'tamis[parquet]'")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.Table.from_pylist(rows_), path, **options)


def test_rows_of_parquet_are_drafts_by_their_known_columns_or_a_map(tmp_path: Path) -> None:
    parquet_at(
        tmp_path / "s.parquet",
        [{"name": f"n{i}", "code": f"x = {i}", "out": {"body": f"y = {i}"}, "note": None} for i in range(150)],
        row_group_size=40,
    )
    drafts = drafts_in(tmp_path, "s.parquet")
    assert [(draft.name, draft.content) for draft in drafts] == [(f"n{i}", f"x = {i}".encode()) for i in range(150)]
    mapped = drafts_in(tmp_path, "s.parquet", toml='columns = {text = "out.body"}\n')
    assert (mapped[149].name, mapped[149].content) == ("s.parquet:150", b"y = 149")
    with pytest.raises(DraftsError, match="has no column 'gone'; it has name, code, out, note"):
        drafts_in(tmp_path, "s.parquet", toml='columns = {text = "gone"}\n')


def test_for_the_lab_a_row_of_parquet_is_an_idea(tmp_path: Path) -> None:
    parquet_at(tmp_path / "s.parquet", [{"id": 3, "Ni": 0.8, "why": "as ever"}])
    (draft,) = drafts_in(tmp_path, "s.parquet", desk="lab")
    assert (draft.name, json.loads(draft.content)) == ("3", {"id": 3, "Ni": 0.8, "why": "as ever"})


def test_a_parquet_file_that_is_none_is_an_error_that_names_it(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'tamis[parquet]'")
    with pytest.raises(DraftsError, match=r"s\.parquet can't be read"):
        drafts_in(tmp_path, "s.parquet", b"PAR1 nonsense PAR1")


def test_without_pyarrow_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)
    with pytest.raises(TamisError) as raised:
        drafts_in(tmp_path, "s.parquet", b"x")
    assert "tamis[parquet]" in (raised.value.hint or "")


# whatever lies in a file


def test_a_last_line_that_breaks_off_says_so(tmp_path: Path) -> None:
    good, bad = drafts_in(tmp_path, "s.jsonl", '{"text": "a"}\n{"text": "b')
    assert good.problem is None
    assert bad.problem is not None and bad.problem.startswith("breaks off: the input ended within the line")


@pytest.mark.parametrize(
    "line", ['{"text": "a\\u0000b"}', '{"text": "a", "name": "\\u0000"}', '{"text": "\\ud83d\\ude00"}']
)
def test_odd_characters_are_kept_as_they_are(tmp_path: Path, line: str) -> None:
    (draft,) = drafts_in(tmp_path, "s.jsonl", line)
    assert draft.content == json.loads(line)["text"].encode()
    assert draft.name == "s.jsonl:1"


@pytest.mark.parametrize("line", [b'{"text": "\\ud800"}', b'{"text": "a\x00"}', b'\x00{"text": "a"}', b"\xff\xfe{"])
def test_a_line_that_is_no_json_is_one_draft_lost(tmp_path: Path, line: bytes) -> None:
    bad, good = drafts_in(tmp_path, "s.jsonl", line + b'\n{"text": "a"}\n')
    assert bad.problem is not None
    assert good.content == b"a"


json_values = st.recursive(
    st.none() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@given(st.lists(json_values, max_size=5), st.integers(1, 9), st.booleans())
def test_the_items_of_a_document_are_the_same_however_it_comes_in(
    values: list[object], block: int, ascii_: bool
) -> None:
    content = json.dumps(values, ensure_ascii=ascii_).encode("utf-8", "surrogatepass") + b" \n"
    splitter = ItemSplitter(10_000)
    found = [item for at in range(0, len(content), block) for item in splitter.feed(content[at : at + block])]
    found += splitter.end()
    assert [json.loads(item.content or b"") for item in found] == values
    assert splitter.ended


@given(st.lists(st.integers(0, 30), max_size=20), st.integers(1, 9))
def test_only_items_over_the_limit_are_passed_over(sizes: list[int], block: int) -> None:
    content = json.dumps(["x" * size for size in sizes]).encode()
    splitter = ItemSplitter(16)
    found = [item for at in range(0, len(content), block) for item in splitter.feed(content[at : at + block])]
    assert len(found) == len(sizes)
    assert all(item.content is not None for item, size in zip(found, sizes, strict=True) if size <= 13)
    assert all(item.content is None for item, size in zip(found, sizes, strict=True) if size > 14)


@given(st.binary(), st.integers(1, 9))
def test_any_bytes_can_be_taken_for_a_document(content: bytes, block: int) -> None:
    splitter = ItemSplitter(20)
    for at in range(0, len(content), block):
        for item in splitter.feed(content[at : at + block]):
            assert item.content is None or len(item.content) <= 20
    list(splitter.end())
