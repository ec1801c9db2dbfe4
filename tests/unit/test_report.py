"""What people read of a run, from a ledger made by hand: numbers of one kind, and nothing said that is not so."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tamis.cli import screens
from tamis.ledger import Ledger
from tamis.records import Answer, Brief, Broke, Choice, Desk, Draft, Evidence, Held, Odds, Question, Spec, digest
from tamis.report.page import MOST_ROWS, funnel, page
from tamis.views import Kept, run_view

WRITER = Spec(kind="writer", name="files", version="1")
SOURCE = b"def add(a, b):\n    return a + b\n"


class Made:
    """A ledger with one brief, whose drafts and evidence are put in one by one."""

    def __init__(self, folder: Path, desk: Desk = "software") -> None:
        self.ledger = Ledger(folder)
        self.brief = Brief(id=digest("brief"), title="Sums", text="Add.", desk=desk)
        self.ledger.add(self.brief)
        self.drafts: list[str] = []

    def draft(self, name: str, content: bytes = SOURCE) -> str:
        one = Draft(id=digest(name), brief=self.brief.id, name=name, blob=self.ledger.add_blob(content), writer=WRITER)
        self.ledger.add(one)
        self.drafts.append(one.id)
        return one.id

    def found(self, check: str, draft: str, answer: Answer, **how: str) -> None:
        spec = Spec(kind="check", name=check, version="1")
        self.ledger.add(Evidence(id=digest(check, draft), drafts=(draft,), check=spec, answer=answer, how=how))

    def chosen(self, draft: str | None, *, odds: float | None = None, decisions: tuple[str, ...] = ()) -> None:
        choice = Choice(
            id=digest("choice"), brief=self.brief.id, draft=draft, odds=Odds(p=odds), saw=0, among=tuple(self.drafts),
            because="so it is", decisions=decisions, strength={"mutants": 3, "mutants_by_tests": 1, "drafts": 2,
            "drafts_by_tests": 1, "mutants_with_answers": 3, "drafts_with_answers": 2},
        )  # fmt: skip
        self.ledger.add(choice)

    def kept(self) -> Kept:
        pool = Spec(kind="check", name="pool", version="1")
        self.ledger.add(Evidence(id=digest("pool"), drafts=tuple(self.drafts), check=pool, answer=Held()))
        self.ledger.flush()
        return Kept(self.ledger)


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Made]:
    one = Made(tmp_path)
    with one.ledger:
        yield one


def five_drafts(made: Made) -> None:
    """A pair of the same text that passes, one that fails its tests with another of the same text, one that does not
    parse."""
    names = ("a.py", "a_again.py", "b.py", "b_again.py", "broken.py")
    a, again, b, b_again, broken = map(made.draft, names)
    for draft, keeper in ((again, a), (b_again, b)):
        made.found("duplicates", draft, Held(), folded="yes", keeper=keeper)
    for draft in (a, again, b, b_again):
        made.found("parses", draft, Held())
    made.found("parses", broken, Broke(witness="line 1: never closed"))
    for draft in (a, again):
        made.found("tests", draft, Held(cases=2))
    for draft in (b, b_again):
        made.found("tests", draft, Broke(witness="test_sum", failed=("test_sum",), cases=2))


def test_after_the_step_that_folds_duplicates_every_step_counts_distinct_drafts(made: Made) -> None:
    five_drafts(made)
    view = run_view(made.kept())
    assert (view.drafts.written, view.drafts.distinct) == (5, 3)
    assert (view.drafts.parsed, view.drafts.passed) == (4, 2)
    assert (view.drafts.distinct_parsed, view.drafts.distinct_passed) == (2, 1)
    counts = [step.count for step in funnel(view)]
    assert counts[:4] == [5, 3, 2, 1]


def test_the_screen_counts_as_the_report_does(made: Made, capsys: pytest.CaptureFixture[str]) -> None:
    five_drafts(made)
    screens.run(made.kept())
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[1:4] == [
        "distinct 3 2 drafts folded into an equal one",
        "parse 2",
        "given tests 1 pass what came with the brief",
    ]


def test_a_report_without_a_choice_speaks_of_no_chosen_draft(made: Made) -> None:
    five_drafts(made)
    sides = ((made.drafts[0],), (made.drafts[2],))
    question = Question(
        id="q", brief=made.brief.id, form="pick", witness="from sums import add\n\nresult = add(1, 2)",
        options=("3", "4"), sides=sides, asked_at=1.0,
    )  # fmt: skip
    made.ledger.add(question)
    made.chosen(None, odds=0.1, decisions=("q",))
    text = page(made.kept(), made.ledger)
    assert "None chosen" in text
    assert "chosen draft" not in text
    assert "small changes to the likeliest draft" in text
    assert "Odds of the likeliest: 0.10" in text
    assert "<code>add(1, 2)</code>" in text
    assert "from sums import" not in text.split("What the owner said")[1]


def test_a_report_with_a_choice_says_whose_side_is_coloured(made: Made) -> None:
    five_drafts(made)
    made.ledger.add(Question(id="q", brief=made.brief.id, form="pick", witness="add(1, 2)", options=()))
    made.chosen(made.drafts[0], decisions=("q",))
    text = page(made.kept(), made.ledger)
    assert "The side of the chosen draft is coloured." in text
    assert "Odds: not stated (uncalibrated)" in text
    assert "a draft that is the same as another is not counted again" in text


def test_a_report_of_very_many_drafts_stays_one_that_a_browser_shows(made: Made) -> None:
    for number in range(MOST_ROWS + 1):
        made.draft(f"draft_{number:05}.py")
    text = page(made.kept(), made.ledger)
    assert f"draft_{MOST_ROWS - 1:05}.py" in text
    assert f"draft_{MOST_ROWS:05}.py" not in text
    assert f"The first {MOST_ROWS:,} of {MOST_ROWS + 1:,}" in text


def test_names_and_texts_of_drafts_are_shown_and_never_run(made: Made) -> None:
    made.draft("<script>alert(1)</script>.py", b"</pre><script>alert(2)</script>")
    made.chosen(made.drafts[0])
    assert "<script" not in page(made.kept(), made.ledger)


@pytest.mark.parametrize("desk", ["prose", "lab"])
def test_other_desks_are_not_told_of_given_tests(tmp_path: Path, desk: Desk) -> None:
    made = Made(tmp_path, desk)
    with made.ledger:
        made.found("parses", made.draft("one.txt", b"Once."), Held())
        kept = made.kept()
        view = run_view(kept)
        assert [one.standing for one in view.drafts.list] == ["passed"]
        assert "given tests" not in page(kept, made.ledger)
        assert [step.name for step in funnel(view)][-1] == "chosen"
        assert "the tests that came with the brief" not in {step.note for step in funnel(view)}
