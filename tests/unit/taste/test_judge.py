from collections.abc import Sequence

import numpy as np
import pytest

from tamis.errors import CheckError
from tamis.taste.features import read_features
from tamis.taste.judge import (
    AskingJudge,
    Doubled,
    ask_doubled,
    judge_habits,
    judged_utilities,
    pairs_to_double,
    read_verdict,
)

TEXTS = [" ".join(["word"] * n) for n in range(1, 31)]
LENGTHS = list(range(1, 31))


class Longer:
    """Takes the longer text."""

    def prefer(self, texts: Sequence[str]) -> int | None:
        return int(len(texts[1]) > len(texts[0]))


class First:
    """Takes what is shown first."""

    def prefer(self, texts: Sequence[str]) -> int | None:
        return 0


def asked(judge: Longer | First, n_pairs: int = 200) -> list:
    pairs = pairs_to_double(len(TEXTS), np.random.default_rng(0), n_pairs=n_pairs)
    return [ask_doubled(judge, TEXTS, pair) for pair in pairs]


def test_a_judge_that_takes_the_longer_is_found_out() -> None:
    found = judge_habits(asked(Longer()), LENGTHS)
    assert found.longer.p == 1.0
    assert found.left.p == 0.5
    assert found.consistent.p == 1.0
    assert found.enough


def test_a_judge_that_takes_the_first_is_found_out() -> None:
    found = judge_habits(asked(First()), LENGTHS)
    assert found.left.p == 1.0
    assert found.consistent.p == 0.0


def test_the_interval_is_of_pairs_and_not_of_answers() -> None:
    one_sided = judge_habits(asked(First()), LENGTHS).left
    even = judge_habits(asked(Longer()), LENGTHS).left
    assert one_sided.low is not None
    assert even.low is not None
    assert even.high is not None
    assert one_sided.low > 0.98
    assert 0.49 < even.low <= 0.5 <= even.high < 0.51


def test_a_pair_answered_in_one_order_only_says_nothing_of_the_side() -> None:
    found = judge_habits([Doubled(pair=(0, 1), straight=0, swapped=None)], LENGTHS)
    assert found.left.p is None
    assert found.n_pairs == 0


def test_pairs_answered_before_count_among_those_wanted() -> None:
    known = [(0, 1), (3, 2)]
    pairs = pairs_to_double(30, np.random.default_rng(0), n_pairs=20, known=known)
    assert len(pairs) == 18
    assert not {frozenset(pair) for pair in pairs} & {frozenset(pair) for pair in known}


def test_fewer_than_two_hundred_doubled_pairs_are_not_enough() -> None:
    assert not judge_habits(asked(Longer(), n_pairs=50), LENGTHS).enough


def test_pairs_to_double_are_different_and_no_more_than_there_are() -> None:
    pairs = pairs_to_double(5, np.random.default_rng(0))
    assert len({frozenset(pair) for pair in pairs}) == len(pairs) == 10


def test_the_judges_opinion_becomes_a_number_for_every_text() -> None:
    utilities = judged_utilities(read_features(TEXTS), asked(Longer(), n_pairs=60))
    assert np.corrcoef(utilities, LENGTHS)[0, 1] > 0.9


@pytest.mark.parametrize(
    ("answer", "place"),
    [("B", 1), ("A.", 0), ("Text B is better than Text A, so: B", 1), ("=", None), ("I can't say", None), ("C", None)],
)
def test_a_verdict_is_read_from_what_a_model_answers(answer: str, place: int | None) -> None:
    assert read_verdict(answer, 2) == place


def test_a_judging_model_is_shown_the_rubric_and_every_text() -> None:
    prompts: list[str] = []
    judge = AskingJudge(lambda prompt: prompts.append(prompt) or "B", rubric="Quiet endings win.")
    assert judge.prefer(["one text", "another text"]) == 1
    assert all(part in prompts[0] for part in ("Quiet endings win.", "one text", "another text"))


def test_a_judge_that_answers_nonsense_is_blamed() -> None:
    class Odd:
        def prefer(self, texts: Sequence[str]) -> int | None:
            return 7

    with pytest.raises(CheckError, match="7"):
        ask_doubled(Odd(), TEXTS, (0, 1))
