"""The prose desk on a ledger of its own: what is asked, recorded, resumed and taken back."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tamis.brief import load_brief
from tamis.ledger import Ledger
from tamis.reading import Pool, read
from tamis.records import Broke, Choice, Draft, Evidence, NoAnswer, Preferred, Question
from tamis.run import Run
from tamis.taste.desk import ProseDesk
from tamis.taste.memory import answered, picks
from tamis.taste.readers import ChoicesFile, Said, Screen
from tamis.taste.view import TasteView, taste_view
from tamis.writers.files import FilesWriter

NOUNS = ["sea", "lamp", "dog", "letter", "window", "ferry", "island", "winter"]
NOUNS += ["pier", "house", "brother", "light", "rain", "harbour", "boat", "stone"]


def text(n_sentences: int) -> str:
    """A text of so many sentences, each of them different from those of other texts."""
    return " ".join(
        f"The {NOUNS[(3 * n_sentences + place) % 16]} waited {n_sentences} nights beside the {NOUNS[place % 16]}."
        for place in range(n_sentences)
    )


class Scripted:
    """A reader that says what it is told to, and remembers its screens. A crash stands for a kill."""

    def __init__(self, says: Callable[[Screen, int], Said], name: str = "ann") -> None:
        self.name = name
        self.screens: list[Screen] = []
        self._says = says

    def compare(self, screen: Screen) -> Said:
        self.screens.append(screen)
        return self._says(screen, len(self.screens))


def longest(screen: Screen, _: int) -> Said:
    return max(range(len(screen.texts)), key=lambda place: len(screen.texts[place]))


class Killed(Exception):
    pass


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "drafts").mkdir()
    (tmp_path / "BRIEF.md").write_text("# Endings\n\nWrite one.\n")
    for n in range(1, 13):
        (tmp_path / "drafts" / f"text_{n:02}.txt").write_text(text(n))
    return tmp_path


def sit(folder: Path, reader: Scripted | None, *, drafts: Sequence[Draft] | None = None, **settings: object) -> Choice:
    with Ledger(folder) as ledger:
        run = Run(load_brief(folder, desk="prose"), ledger)
        pool: Pool = asyncio.run(read(run, FilesWriter(run.loaded)))
        desk = ProseDesk(run, reader, **{"top": 3, "budget": 40, **settings})  # type: ignore[arg-type]
        return desk.settle(pool, drafts or pool.usable)


def seen(folder: Path) -> TasteView:
    with Ledger(folder, read_only=True) as ledger:
        view = taste_view(ledger)
    assert view is not None
    return view


def kept(folder: Path, reader: str = "ann") -> list[tuple[tuple[str, ...], str | None]]:
    with Ledger(folder, read_only=True) as ledger:
        (brief,) = {question.brief for question in ledger.all(Question)} or {""}
        return [(pick.shown, pick.taken) for pick in picks(answered(ledger, brief, reader=reader))]


def test_a_reader_who_likes_the_longest_gets_the_longest(folder: Path) -> None:
    sit(folder, Scripted(longest))
    names = [one.name for one in seen(folder).shortlist]
    assert len({"text_12.txt", "text_11.txt", "text_10.txt"} & set(names)) >= 2


def test_every_comparison_is_a_question_and_its_answer_in_the_ledger(folder: Path) -> None:
    reader = Scripted(longest)
    sit(folder, reader, budget=8)
    with Ledger(folder, read_only=True) as ledger:
        questions = {question.id: question for question in ledger.all(Question)}
        answers = [evidence for evidence in ledger.all(Evidence) if evidence.check.name == "taste"]
    assert len(questions) == len(answers) == len(reader.screens) == 8
    for answer in answers:
        assert isinstance(answer.answer, Preferred)
        assert answer.question in questions
        assert answer.drafts == questions[answer.question].options
        assert answer.answer.shown_first == answer.drafts[0]


def test_a_run_killed_in_the_middle_goes_on_as_if_it_had_not_been(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    def dies(screen: Screen, n: int) -> Said:
        if n == 8:
            raise Killed
        return longest(screen, n)

    with pytest.raises(Killed):
        sit(folder, Scripted(dies), budget=15)
    assert len(kept(folder)) == 7
    again = Scripted(longest)
    sit(folder, again, budget=15)
    other = tmp_path_factory.mktemp("whole")
    (other / "drafts").mkdir()
    for file in [Path("BRIEF.md"), *(Path("drafts") / f"text_{n:02}.txt" for n in range(1, 13))]:
        (other / file).write_text((folder / file).read_text())
    sit(other, Scripted(longest), budget=15)
    assert len(again.screens) == 8
    assert kept(folder) == kept(other)
    assert [one.name for one in seen(folder).shortlist] == [one.name for one in seen(other).shortlist]


def test_the_budget_holds_over_all_sittings(folder: Path) -> None:
    sit(folder, Scripted(longest), budget=6)
    more = Scripted(longest)
    sit(folder, more, budget=6)
    assert more.screens == []


def test_undo_takes_the_last_answer_back_and_it_is_asked_again(folder: Path) -> None:
    def wavers(screen: Screen, n: int) -> Said:
        return "undo" if n == 4 else "quit" if n == 6 else longest(screen, n)

    reader = Scripted(wavers)
    sit(folder, reader)
    assert reader.screens[4].names == reader.screens[2].names
    assert len(kept(folder)) == 3
    with Ledger(folder, read_only=True) as ledger:
        undone = [e for e in ledger.all(Evidence) if isinstance(e.answer, NoAnswer) and e.supersedes]
    assert len(undone) == 1


def test_undo_before_any_answer_changes_nothing(folder: Path) -> None:
    sit(folder, Scripted(lambda screen, n: "undo" if n < 3 else "quit"))
    assert kept(folder) == []


def test_skipping_says_nothing_but_is_not_asked_again(folder: Path) -> None:
    reader = Scripted(lambda screen, n: "skip" if n < 5 else "quit")
    sit(folder, reader)
    assert seen(folder).comparisons == 0
    assert len({frozenset(screen.names) for screen in reader.screens[:4]}) == 4


def test_alike_and_none_good_are_kept_as_themselves(folder: Path) -> None:
    sit(folder, Scripted(lambda screen, n: {1: "alike", 2: "none good"}.get(n, "quit")))  # type: ignore[arg-type, return-value]
    with Ledger(folder, read_only=True) as ledger:
        said = [e.how["said"] for e in ledger.all(Evidence) if e.check.name == "taste"]
    assert said == ["alike", "none good"]
    assert seen(folder).comparisons == 2


def test_readers_are_kept_apart_and_their_agreement_is_told(folder: Path) -> None:
    def shortest(screen: Screen, _: int) -> Said:
        return min(range(len(screen.texts)), key=lambda place: len(screen.texts[place]))

    sit(folder, Scripted(longest, "ann"), budget=12)
    sit(folder, Scripted(shortest, "bob"), budget=12)
    view = seen(folder)
    assert view.reader == "bob"
    assert view.comparisons == 12
    (agreement,) = view.agreement
    assert agreement.readers == ["ann", "bob"]
    assert agreement.same.p == 0.0


def test_nobody_there_to_compare_is_not_an_order(folder: Path) -> None:
    choice = sit(folder, None)
    assert choice.draft is None
    assert "nobody has compared" in choice.because
    assert all(one.odds.p is None for one in seen(folder).shortlist)


def test_without_a_reader_the_order_of_an_earlier_one_is_shown(folder: Path) -> None:
    sit(folder, Scripted(longest), budget=20)
    before = [one.name for one in seen(folder).shortlist]
    sit(folder, None)
    assert [one.name for one in seen(folder).shortlist] == before
    assert seen(folder).comparisons == 20


def test_what_is_nearly_the_same_is_shown_once_with_its_variants(folder: Path) -> None:
    (folder / "drafts" / "text_13.txt").write_text(text(12) + " Again.")
    reader = Scripted(longest)
    sit(folder, reader, budget=25)
    assert all("text_13.txt" not in screen.names for screen in reader.screens)
    variants = {one.name: one.variants for one in seen(folder).shortlist}
    assert variants["text_12.txt"] == ["text_13.txt"]
    assert any(n for screen in reader.screens for n in screen.variants)


def test_answers_on_a_text_that_is_gone_are_left_aside(folder: Path) -> None:
    sit(folder, Scripted(longest), budget=20)
    (folder / "drafts" / "text_12.txt").unlink()
    sit(folder, None)
    view = seen(folder)
    assert "text_12.txt" not in [one.name for one in view.shortlist]
    assert 0 < view.comparisons < 20


def test_one_text_is_chosen_without_a_question(folder: Path) -> None:
    for n in range(2, 13):
        (folder / "drafts" / f"text_{n:02}.txt").unlink()
    reader = Scripted(longest)
    choice = sit(folder, reader)
    assert choice.draft is not None
    assert reader.screens == []


def test_texts_all_the_same_are_one_text(folder: Path) -> None:
    for n in range(1, 13):
        (folder / "drafts" / f"text_{n:02}.txt").write_text(text(3))
    reader = Scripted(longest)
    assert sit(folder, reader).draft is not None
    assert reader.screens == []


def test_two_texts_make_one_comparison(folder: Path) -> None:
    for n in range(3, 13):
        (folder / "drafts" / f"text_{n:02}.txt").unlink()
    reader = Scripted(longest)
    sit(folder, reader, top=1)
    assert len(reader.screens) == 1


def test_answers_that_contradict_each_other_settle_nothing(folder: Path) -> None:
    sit(folder, Scripted(lambda screen, n: n % 2), top=2, budget=40)
    view = seen(folder)
    assert not view.settled
    assert "more would settle it" in view.because


def test_more_than_two_can_be_shown_at_a_time(folder: Path) -> None:
    from tamis.taste.settings import TasteSection

    reader = Scripted(longest)
    sit(folder, reader, budget=6, settings=TasteSection(options=4))
    assert all(len(screen.texts) == 4 for screen in reader.screens)
    assert seen(folder).comparisons == 6


def test_a_file_of_choices_is_learned_from_and_asked_about_once(folder: Path) -> None:
    rows = [f"text_{a:02}.txt,text_{b:02}.txt,text_{max(a, b):02}.txt" for a in range(1, 13) for b in range(a + 1, 13)]
    (folder / "choices.csv").write_text("\n".join(["first,second,taken", *rows]))
    for _ in range(2):
        sit(folder, ChoicesFile(folder / "choices.csv"))  # type: ignore[arg-type]
    view = seen(folder)
    assert view.comparisons == len(rows)
    assert view.reader == "choices"
    assert {one.name for one in view.shortlist} == {"text_12.txt", "text_11.txt", "text_10.txt"}


def test_cut_texts_and_texts_of_another_language_are_set_aside_with_the_reason(folder: Path) -> None:
    cut = '{"name": "cut", "text": "The sea was grey and", "finish_reason": "length"}'
    (folder / "drafts" / "more.jsonl").write_text(cut)
    (folder / "drafts" / "german.txt").write_text(
        "Das Meer war grau und die Lampe stand auf dem Tisch, und sie ist nicht da. " * 3
    )
    reader = Scripted(longest)
    sit(folder, reader, budget=20)
    assert not {"cut", "german.txt"} & {name for screen in reader.screens for name in screen.names}
    with Ledger(folder, read_only=True) as ledger:
        aside = [
            e.answer.witness for e in ledger.all(Evidence) if e.check.name == "whole" and isinstance(e.answer, Broke)
        ]
    assert sorted(aside) == [
        "is in another language than the rest (German, not English)",
        "was cut off at the writer's limit",
    ]


def test_a_text_of_two_megabytes_is_compared_like_any_other(folder: Path) -> None:
    (folder / "drafts" / "long.txt").write_text("".join(text(n) + "\n" for n in range(12, 220)) * 2)
    assert (folder / "drafts" / "long.txt").stat().st_size > 2_000_000
    sit(folder, Scripted(longest), budget=20)
    assert "long.txt" in [one.name for one in seen(folder).shortlist]


def test_style_numbers_that_do_not_apply_are_left_out_and_it_is_said_once(folder: Path) -> None:
    words = ["رسالة", "البحر", "ليل", "ضوء", "قارب", "بيت", "ريح"]
    for n in range(1, 13):
        (folder / "drafts" / f"text_{n:02}.txt").write_text(" ".join(words[(n * k) % 7] for k in range(1, 3 * n)) + ".")
    said: list[str] = []
    for reader in (Scripted(longest), None):
        sit(folder, reader, budget=6, say=said.append)
    assert sum("left out" in note for note in said) == 2  # once in each of two sittings
    assert seen(folder).comparisons == 6
