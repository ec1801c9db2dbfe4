"""A judge within a run: asked once, recorded in both orders, a feature and never a vote."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tamis.brief import LoadedBrief, load_brief
from tamis.errors import BriefError
from tamis.ledger import Ledger
from tamis.reading import read
from tamis.records import Choice, Evidence, Spec
from tamis.run import Run
from tamis.taste.desk import ProseDesk
from tamis.taste.judging import FileJudge, answer_of, habits_of_judge, judge_named
from tamis.taste.settings import TasteSection
from tamis.taste.view import taste_view
from tamis.writers.base import Written
from tamis.writers.files import FilesWriter

LONGEST = "calls = 0\ndef prefer(texts):\n    return max(range(len(texts)), key=lambda i: len(texts[i]))\n"
COLOURS = ["red", "blue", "green", "grey", "black", "white"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "drafts").mkdir()
    (tmp_path / "BRIEF.md").write_text("# Endings\n\nWrite one.\n")
    for n in range(1, 10):
        words = " ".join(f"{COLOURS[n % 6]}{place}" for place in range(4 * n))
        (tmp_path / "drafts" / f"text_{n}.txt").write_text(f"The sea was {words}.")
    (tmp_path / "longest.py").write_text(LONGEST)
    return tmp_path


def sit(folder: Path) -> Choice:
    with Ledger(folder) as ledger:
        run = Run(load_brief(folder, desk="prose"), ledger)
        pool = asyncio.run(read(run, FilesWriter(run.loaded)))
        judge = FileJudge(folder / "longest.py")
        return ProseDesk(run, None, judge=judge, top=3, settings=TasteSection(judge="longest.py")).settle(
            pool, pool.usable
        )


def test_without_her_answers_the_order_is_the_judges_and_says_so(folder: Path) -> None:
    choice = sit(folder)
    assert choice.draft is None
    assert "the judge's, not hers" in choice.because
    with Ledger(folder, read_only=True) as ledger:
        view = taste_view(ledger)
    assert view is not None
    assert view.shortlist[0].name in {"text_9.txt", "text_8.txt"}
    assert all(one.odds.p is None for one in view.shortlist)
    assert view.comparisons == 0


def test_each_pair_is_asked_in_both_orders_once_and_kept(folder: Path) -> None:
    sit(folder)
    (folder / "longest.py").write_text("def prefer(texts): raise RuntimeError('asked again')\n")
    sit(folder)
    with Ledger(folder, read_only=True) as ledger:
        said = [evidence for evidence in ledger.all(Evidence) if evidence.check.name == "judge"]
        lengths = {draft: n for n, draft in enumerate({d for e in said for d in e.drafts})}
        found = habits_of_judge(ledger, "longest.py", lengths)
    assert len(said) == 2 * (9 * 8 // 2)
    assert found.consistent.p == 1.0
    assert found.left.p == 0.5
    assert not found.enough


class Verdicts:
    """A writer that writes a verdict on whatever brief it is given."""

    spec = Spec(kind="writer", name="verdicts", version="1")

    async def write(self, brief: LoadedBrief) -> AsyncIterator[Written]:
        assert "Which of these texts" in brief.brief.text
        yield Written(name="verdict", content=b"B")


def test_any_writer_can_judge(folder: Path) -> None:
    (folder / "rubric.md").write_text("Quiet endings win.")
    judge = judge_named("verdicts", load_brief(folder, desk="prose"), lambda _: Verdicts(), rubric="rubric.md")
    assert judge.prefer(["one", "two"]) == 1


def test_a_writer_can_judge_within_a_running_loop(folder: Path) -> None:
    loaded = load_brief(folder, desk="prose")

    async def within() -> str:
        return answer_of(lambda _: Verdicts(), loaded, "Which of these texts?")

    assert asyncio.run(within()) == "B"


def test_a_rubric_that_is_not_there_is_told(folder: Path) -> None:
    with pytest.raises(BriefError, match=r"rubric nowhere\.md"):
        judge_named("verdicts", load_brief(folder, desk="prose"), lambda _: Verdicts(), rubric="nowhere.md")
