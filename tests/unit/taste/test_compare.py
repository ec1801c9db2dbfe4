"""The terminal: what keys say, and how texts are laid out."""

from types import SimpleNamespace

import pytest
from rich.cells import cell_len

from tamis.cli import desk
from tamis.cli.compare import layout, read_key, shortlist_lines
from tamis.progress import Silent
from tamis.taste.readers import Said, Screen
from tamis.taste.view import HabitsView, OddsView, RegretView, ShortlistView, TasteView


def screen(*texts: str) -> Screen:
    return Screen(
        texts=texts,
        names=tuple(f"t{n}" for n in range(len(texts))),
        answered=4,
        budget=300,
        variants=(2,) + (0,) * (len(texts) - 1),
    )


@pytest.mark.parametrize(
    ("key", "n_texts", "said"),
    [
        ("1", 2, 0),
        ("2\n", 2, 1),
        ("\x1b[D", 2, 0),
        ("\x1b[C", 2, 1),
        ("\x1b[C", 4, None),
        ("4", 4, 3),
        ("3", 2, None),
        ("=", 2, "alike"),
        ("0", 2, "none good"),
        ("s", 2, "skip"),
        ("U", 2, "undo"),
        ("q\n", 2, "quit"),
        ("", 2, "quit"),
        ("x", 2, None),
        ("²", 4, None),
        ("\n", 2, None),
    ],
)
def test_each_key_says_one_thing(key: str, n_texts: int, said: Said | None) -> None:
    assert read_key(key, n_texts) == said


def test_two_texts_stand_side_by_side_where_they_fit() -> None:
    rows = layout(screen("left " * 30, "right " * 30), 130)
    assert rows[0].startswith("[1]  and 2 nearly the same")
    assert "[2]" in rows[0]
    assert any("left" in row and "right" in row for row in rows)
    assert all(len(row) <= 130 for row in rows)


def test_texts_stand_under_one_another_where_the_terminal_is_narrow() -> None:
    rows = layout(screen("left " * 30, "right " * 30), 70)
    assert not any("left" in row and "right" in row for row in rows)


def test_wide_characters_stay_within_their_column() -> None:
    rows = layout(screen("海边的灯还亮着。" * 20, "short"), 130)
    assert all(cell_len(row) <= 130 for row in rows)


def test_a_very_long_text_is_cut_and_says_so() -> None:
    rows = layout(screen("word " * 400_000, "short"), 130)
    assert len(rows) < 500
    assert "2,000,000 characters" in rows[-1] or "1,999,999 characters" in rows[-1]


def test_the_shortlist_says_what_is_not_known() -> None:
    unknown = OddsView(p=None, low=None, high=None, basis="no comparisons of two yet")
    view = TasteView(
        shortlist=[
            ShortlistView(name="ending_007", odds=OddsView(p=0.81, low=None, high=None, basis="x"), variants=["e8"])
        ],
        settled=False,
        because="not settled after 9 comparisons",
        regret=RegretView(value=0.4, unit="log-odds", preferred_share=0.6, basis="x"),
        comparisons=9,
        habits=HabitsView(left=unknown, consistent=unknown),
        reader="ann",
        agreement=[],
    )
    lines = shortlist_lines(view)
    assert lines[0] == "  1   81%  ending_007   +1 nearly the same"
    assert any("–   (no comparisons of two yet)" in line for line in lines)


def test_readers_at_the_terminal_are_told_apart_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk, "TasteDesk", lambda run, reader, say: reader)
    run = SimpleNamespace(progress=Silent())
    assert desk._prose(run, "terminal:ann").name == "ann"  # type: ignore[arg-type, attr-defined]
    assert desk._prose(run, "terminal").name == "owner"  # type: ignore[arg-type, attr-defined]
