"""`try_writer` tells every fault in words, and finds none in writers that have none."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tamis.brief import LoadedBrief, load_brief
from tamis.clock import Spans
from tamis.errors import DraftsError
from tamis.ledger import Ledger
from tamis.plugins import make_writer
from tamis.records import Spec
from tamis.testing import WriterFaults, try_writer
from tamis.writers.base import Written
from tamis.writers.files import FilesWriter


class Good:
    """A writer with nothing wrong; what is wrong with others is a change to it."""

    spec: object = Spec(kind="writer", name="good", version="1", args={"seed": 1})
    drafts: tuple[object, ...] = (Written(name="a.txt", content=b"one"), Written(name="b.txt", content=b"two"))

    def __init__(self, brief: LoadedBrief) -> None:
        self.brief = brief

    async def write(self, brief: LoadedBrief) -> AsyncIterator[Written]:
        for draft in self.drafts:
            yield draft  # type: ignore[misc]  # what is no draft is what is tried


def faults(writer: object, **parts: object) -> str:
    with pytest.raises(WriterFaults) as raised:
        try_writer(writer, **parts)  # type: ignore[arg-type]  # what is no writer is what is tried
    return str(raised.value)


def one(**fields: object) -> type[Good]:
    """A writer whose one draft is so."""
    draft = Written(**({"name": "a.txt", "content": b"one"} | fields))  # type: ignore[arg-type]
    return type("One", (Good,), {"drafts": (draft,)})


def with_spec(spec: object) -> type[Good]:
    return type("Specced", (Good,), {"spec": spec})


def test_a_good_writer_passes_and_gives_its_drafts() -> None:
    assert [draft.name for draft in try_writer(Good)] == ["a.txt", "b.txt"]


def test_the_files_writer_passes(tmp_path: Path) -> None:
    (tmp_path / "BRIEF.md").write_text("# x\n")
    (tmp_path / "drafts").mkdir()
    for name, content in (("a.txt", b"one"), ("b.txt", b""), ("c.txt", b"\xff")):
        (tmp_path / "drafts" / name).write_bytes(content)
    assert len(try_writer(FilesWriter, load_brief(tmp_path))) == 3


def test_the_how_to_s_writer_passes(tmp_path: Path) -> None:
    how_to = Path(__file__).parents[2] / "docs" / "how-to" / "add-a-writer.md"
    (tmp_path / "dice.py").write_text(how_to.read_text().split("```python\n")[1].split("```")[0])
    drafts = try_writer(lambda brief: make_writer("dice.py:Dice", brief, relative_to=tmp_path))
    assert len(drafts) == 3


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"content": "text"}, "has content of type str and not bytes"),
        ({"content": b""}, "is empty, and has no `problem`"),
        ({"content": b"\xff"}, "is not UTF-8"),
        ({"name": " "}, "has no name in one line"),
        ({"finish": "eos"}, "has the finish 'eos'; it is one of stop, length, refused"),
        ({"fault": "server"}, "has the fault 'server'"),
        ({"sample": -1}, "has the sample -1; samples count from 0"),
        ({"tokens": 5}, "has only one of `tokens` and `counted_by`"),
        ({"tokens": -5, "counted_by": "usage"}, "has -5 tokens"),
        ({"problem": ""}, "has an empty `problem`"),
        ({"writer": "me"}, "has a `writer` of type str"),
    ],
)
def test_what_is_wrong_with_a_draft_is_told(fields: dict[str, object], said: str) -> None:
    assert said in faults(one(**fields))


def test_two_drafts_of_one_name_are_told() -> None:
    twice = type("Twice", (Good,), {"drafts": (Good.drafts[0], Good.drafts[0])})
    assert "two of its drafts are called 'a.txt'" in faults(twice)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("good", "its `spec` is a str"),
        (Spec(kind="check", name="x", version="1"), "its spec's kind is 'check'"),
        (Spec(kind="writer", name="", version="1"), "its spec has no name"),
        (Spec(kind="writer", name="x", version="1", args={"api_key": "abc"}), "argument 'api_key' looks like a secret"),
        (
            Spec(kind="writer", name="x", version="1", args={"auth": "sk-12345678abc"}),
            "argument 'auth' looks like a secret",
        ),
    ],
)
def test_what_is_wrong_with_a_spec_is_told(spec: object, said: str) -> None:
    assert said in faults(with_spec(spec))


def test_a_cap_of_tokens_is_no_secret() -> None:
    assert try_writer(with_spec(Spec(kind="writer", name="x", version="1", args={"max_tokens": 5})))


def test_what_yields_no_draft_is_told() -> None:
    assert "yields a str and not" in faults(type("Texts", (Good,), {"drafts": ("text",)}))


def test_a_write_that_is_no_async_generator_is_told() -> None:
    async def coroutine(self: object, brief: LoadedBrief) -> list[Written]:
        return []

    assert "`write` is a coroutine" in faults(type("Coroutine", (Good,), {"write": coroutine}))
    assert "gives a list and no async iterator" in faults(type("Lists", (Good,), {"write": lambda self, brief: []}))


def test_what_is_no_writer_is_told() -> None:
    assert "neither a writer nor a callable" in faults(5)
    assert "it has no `spec`" in faults(lambda brief: object())
    assert "it has no `write`" in faults(lambda brief: object())
    assert "can't be made of a brief: ZeroDivisionError" in faults(lambda brief: 1 / 0)


def test_a_writer_that_breaks_is_told_with_how_many_had_come() -> None:
    class Breaks(Good):
        async def write(self, brief: LoadedBrief) -> AsyncIterator[Written]:
            yield Written(name="a", content=b"a")
            raise ValueError("out of ink")

    assert "it broke after 1 drafts: ValueError: out of ink" in faults(Breaks)


def test_a_drafts_error_is_for_no_drafts_at_all() -> None:
    class Late(Good):
        async def write(self, brief: LoadedBrief) -> AsyncIterator[Written]:
            yield Written(name="a", content=b"a")
            raise DraftsError("the rest is lost")

    class Never(Good):
        async def write(self, brief: LoadedBrief) -> AsyncIterator[Written]:
            raise DraftsError("there is no server")
            yield

    assert "it raised DraftsError after 1 drafts" in faults(Late)
    with pytest.raises(DraftsError, match="there is no server"):
        try_writer(Never)


def test_a_writer_that_never_ends_is_told() -> None:
    class Hangs(Good):
        async def write(self, brief: LoadedBrief) -> AsyncIterator[Written]:
            yield Written(name="a", content=b"a")
            await asyncio.Event().wait()

    assert "did not end within 0.05 s (1 drafts had come)" in faults(Hangs, seconds=0.05)


def test_a_writer_that_leaves_tasks_behind_is_told() -> None:
    class Leaves(Good):
        async def write(self, brief: LoadedBrief) -> AsyncIterator[Written]:
            self.task = asyncio.create_task(asyncio.Event().wait())
            yield Written(name="a", content=b"a")

    assert "it left 1 tasks running behind it" in faults(Leaves)


def test_a_writer_that_can_not_be_stopped_early_is_told() -> None:
    class Clings(Good):
        async def write(self, brief: LoadedBrief) -> AsyncIterator[Written]:
            try:
                yield Written(name="a", content=b"a")
            finally:
                yield Written(name="b", content=b"b")

    assert "can't be stopped early" in faults(Clings, most=1)


def test_a_name_that_changes_while_it_writes_is_told() -> None:
    class Changes(Good):
        async def write(self, brief: LoadedBrief) -> AsyncIterator[Written]:
            yield Written(name="a", content=b"a")
            self.spec = Spec(kind="writer", name="other", version="1")

    assert "name or version changed while it wrote" in faults(Changes)


def test_a_resuming_writer_that_forgets_is_told() -> None:
    class Forgets(Good):
        made = 0

        def __init__(self, brief: LoadedBrief) -> None:
            type(self).made += 1

        def keep_in(self, ledger: Ledger, spans: Spans) -> None:
            pass

        async def write(self, brief: LoadedBrief) -> AsyncIterator[Written]:
            yield Written(name=f"draft {self.made}", content=b"a")

    class Remembers(Forgets):
        async def write(self, brief: LoadedBrief) -> AsyncIterator[Written]:
            yield Written(name="draft", content=b"a")

    assert "made again with its ledger, it does not hand over 1 drafts, such as 'draft 1'" in faults(Forgets)
    assert len(try_writer(Remembers)) == 1
