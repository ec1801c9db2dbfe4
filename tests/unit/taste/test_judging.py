"""A judge within a run: asked once, recorded in both orders, a feature and never a vote."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tamis.brief import LoadedBrief, load_brief
from tamis.errors import BriefError, CheckError
from tamis.ledger import Ledger
from tamis.reading import read
from tamis.records import Choice, Evidence, NoAnswer, Spec
from tamis.report.page import page
from tamis.run import Run
from tamis.taste.desk import ProseDesk
from tamis.taste.judging import Seated, answer_of, habits_of_judge, judge_check, judge_named
from tamis.taste.settings import TasteSection
from tamis.taste.view import TasteView, taste_view
from tamis.views import Kept
from tamis.writers.base import Writer, Written
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


def no_writer(_: LoadedBrief) -> Writer:
    raise AssertionError("no writer is asked for")


def sit(
    folder: Path,
    judge: str = "longest.py",
    *,
    make_writer: Callable[[LoadedBrief], Writer] = no_writer,
    rubric: str | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Choice:
    with Ledger(folder) as ledger:
        run = Run(load_brief(folder, desk="prose"), ledger)
        pool = asyncio.run(read(run, FilesWriter(run.loaded)))
        named = judge_named(judge, run.loaded, make_writer, rubric=rubric)
        return ProseDesk(run, None, judge=named, top=3, settings=TasteSection(judge=judge), say=say).settle(
            pool, pool.usable
        )


def seen(folder: Path) -> TasteView:
    with Ledger(folder, read_only=True) as ledger:
        view = taste_view(ledger)
    assert view is not None
    return view


def said(folder: Path) -> list[Evidence]:
    with Ledger(folder, read_only=True) as ledger:
        return [evidence for evidence in ledger.all(Evidence) if evidence.check.name == "judge"]


def test_without_her_answers_the_order_is_the_judges_and_says_so(folder: Path) -> None:
    choice = sit(folder)
    assert choice.draft is None
    assert "the judge's, not hers" in choice.because
    view = seen(folder)
    assert view.shortlist[0].name in {"text_9.txt", "text_8.txt"}
    assert all(one.odds.p is None for one in view.shortlist)
    assert view.comparisons == 0


def test_each_pair_is_asked_in_both_orders_once_and_kept(folder: Path) -> None:
    sit(folder)
    (folder / "longest.py").write_text("def prefer(texts): raise RuntimeError('asked again')\n")
    sit(folder)
    asked = said(folder)
    with Ledger(folder, read_only=True) as ledger:
        lengths = {draft: n for n, draft in enumerate({d for e in asked for d in e.drafts})}
        found = habits_of_judge(ledger, judge_check("longest.py").key, lengths)
    assert len(asked) == 2 * (9 * 8 // 2)
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
    named = judge_named("verdicts", load_brief(folder, desk="prose"), lambda _: Verdicts(), rubric="rubric.md")
    assert isinstance(named, Seated)
    assert named.judge.prefer(["one", "two"]) == 1


def test_a_writer_can_judge_within_a_running_loop(folder: Path) -> None:
    loaded = load_brief(folder, desk="prose")

    async def within() -> str:
        return answer_of(lambda _: Verdicts(), loaded, "Which of these texts?")

    assert asyncio.run(within()) == "B"


def test_a_rubric_that_is_not_there_is_told(folder: Path) -> None:
    with pytest.raises(BriefError, match=r"rubric nowhere\.md"):
        judge_named("verdicts", load_brief(folder, desk="prose"), lambda _: Verdicts(), rubric="nowhere.md")


class Failing:
    """A writer that has no answer where a text names a colour, and says why; elsewhere it takes the second."""

    spec = Spec(kind="writer", name="failing", version="1", args={"model": "m"})

    def __init__(self, colour: str) -> None:
        self._colour = colour

    async def write(self, brief: LoadedBrief) -> AsyncIterator[Written]:
        silent = self._colour in brief.brief.text
        yield Written(name="v", content=b"B", problem="is out of memory" if silent else None, fault="sandbox")


def test_a_pair_without_an_answer_is_missing_and_asked_again_next_time(folder: Path) -> None:
    told: list[str] = []
    sit(folder, "failing", make_writer=lambda _: Failing("black"), say=told.append)
    missing = [evidence.answer for evidence in said(folder) if isinstance(evidence.answer, NoAnswer)]
    assert len(missing) % 2 == 0
    assert missing[0] == NoAnswer(fault="sandbox", why="is out of memory")
    assert any("gave no answer on" in note and "out of memory" in note for note in told)
    sit(folder, "failing", make_writer=lambda _: Failing("nothing at all"))
    judge = seen(folder).habits.judge
    assert judge is not None
    assert judge.pairs == 9 * 8 // 2


def test_a_judge_that_never_answers_is_told_and_not_taken_for_undecided(folder: Path) -> None:
    with pytest.raises(CheckError, match="failing has no answers: is out of memory"):
        sit(folder, "failing", make_writer=lambda _: Failing("Which"))


def test_another_rubric_is_asked_anew(folder: Path) -> None:
    (folder / "rubric.md").write_text("Quiet endings win.")
    sit(folder, "verdicts", make_writer=lambda _: Verdicts(), rubric="rubric.md")
    (folder / "rubric.md").write_text("Loud endings win.")
    sit(folder, "verdicts", make_writer=lambda _: Verdicts(), rubric="rubric.md")
    assert len(said(folder)) == 2 * 9 * 8


def test_the_judges_habits_are_told_with_intervals(folder: Path) -> None:
    sit(folder, "verdicts", make_writer=lambda _: Verdicts())
    judge = seen(folder).habits.judge
    assert judge is not None
    assert (judge.name, judge.pairs, judge.enough) == ("verdicts", 36, False)
    assert judge.left.p == 0.0
    assert judge.left.high is not None
    assert 0.0 < judge.left.high < 0.1
    assert judge.longer.p == 0.5


def test_scores_from_a_file_are_a_feature_and_no_habits_are_claimed(folder: Path) -> None:
    rows = [f"text_{n}.txt,{n},words" for n in range(1, 9)]
    (folder / "scores.csv").write_text("\n".join(["name,score,remark", *rows, "stranger.txt,3,words"]))
    told: list[str] = []
    choice = sit(folder, "scores.csv", say=told.append)
    assert "the judge's, not hers" in choice.because
    view = seen(folder)
    assert view.shortlist[0].name == "text_8.txt"
    assert view.habits.judge is not None
    assert view.habits.judge.pairs == 0
    assert view.habits.judge.left.p is None
    assert any("no score for 1 of 9 texts" in note and "stranger.txt" in note for note in told)


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        ("text,score\ntext_1.txt,3\n", "names no texts"),
        ("name,score\ntext_1.txt,good\n", "holds no scores"),
        ("name,score\nother.txt,3\n", "scores none of these texts"),
        ("", "names no texts"),
    ],
)
def test_a_file_without_usable_scores_is_told(folder: Path, content: str, wrong: str) -> None:
    (folder / "scores.csv").write_text(content)
    with pytest.raises(BriefError, match=wrong):
        sit(folder, "scores.csv")


def test_scores_may_be_json_lines(folder: Path) -> None:
    lines = [f'{{"name": "text_{n}.txt", "quiet": {-n}, "by": "m"}}' for n in range(1, 10)]
    (folder / "scores.jsonl").write_text("\n".join(lines))
    sit(folder, "scores.jsonl")
    assert seen(folder).shortlist[0].name == "text_1.txt"


def test_the_report_shows_the_shortlist_and_the_habits(folder: Path) -> None:
    sit(folder, "verdicts", make_writer=lambda _: Verdicts())
    with Ledger(folder, read_only=True) as ledger:
        html = page(Kept(ledger), ledger)
    assert all(part in html for part in ("The shortlist", "text_9.txt", "same answer again", "takes the longer"))
    assert "36 pairs are few" in html
    assert "tests that came with the brief" not in html
