"""What a run writes for its owner is named where she reads how it ended."""

from pathlib import Path

import pytest

from .conftest import Tamis

FEE = '''
def fee(days: int) -> int:
    """Cents for a tool that is `days` late."""
    if days < 0:
        {below}
    return min(25 * days, {cap})
'''
BELOW = ("return 0", 'raise ValueError("no such day")')


def fee(below: int, cap: int) -> str:
    return FEE.format(below=BELOW[below], cap=cap)


@pytest.fixture
def fees(tmp_path: Path) -> Path:
    brief = tmp_path / "fees"
    (brief / "drafts").mkdir(parents=True)
    (brief / "BRIEF.md").write_text(
        "# Late fees\n\nA tool that is late costs 25 cents a day, up to a cap. In `fees.py`:\n\n"
        "```python\ndef fee(days: int) -> int: ...\n```\n"
    )
    (brief / "tamis.toml").write_text("[behaviour]\ncalls = 300\n")
    for name, source in (("one", fee(0, 1000)), ("two", fee(1, 1000)), ("three", fee(0, 500))):
        (brief / "drafts" / f"{name}.py").write_text(source)
    return brief


def test_answers_that_became_tests_are_named_at_the_end_and_before_there_are_any_nothing_is(
    tamis: Tamis, fees: Path, tmp_path: Path
) -> None:
    said = tamis("run", fees, "--owner", "none").stderr
    assert "the report:" in said
    assert "kept" not in said
    assert "NEXT.md" not in said
    (tmp_path / "owner.py").write_text(fee(1, 1000))
    ran = tamis("run", fees, "--owner", tmp_path / "owner.py")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert f"your answers are kept as tests, to be run and edited: {fees / 'tests' / 'test_answers.py'}" in ran.stderr
    assert "NEXT.md" not in ran.stderr


def test_where_no_draft_is_right_the_next_rounds_brief_is_named_and_tells_each_case_once(
    tamis: Tamis, fees: Path, tmp_path: Path
) -> None:
    (tmp_path / "owner.py").write_text("def fee(days: int) -> int:\n    return 7 * days + 3\n")
    ran = tamis("run", fees, "--owner", tmp_path / "owner.py")
    assert ran.returncode == 3, ran.stdout + ran.stderr
    ahead = fees / "NEXT.md"
    assert f"no draft is right; the brief for the next round, with what is settled: {ahead}" in ran.stderr
    text = ahead.read_text()
    settled = [line.partition(". ")[2] for line in text.splitlines() if line[:1].isdigit()]
    assert settled
    assert all(text.count(line) == 1 for line in settled)
    assert "odds of the likeliest" in ran.stdout
