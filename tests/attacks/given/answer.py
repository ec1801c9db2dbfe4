"""The given tests of the attacked brief: `answer(n)` is n squared."""

import pytest
from module import answer


@pytest.mark.parametrize(("n", "squared"), [(3, 9), (4, 16), (5, 25)])
def test_it_squares(n, squared):
    assert answer(n) == squared


def test_a_word_is_refused():
    with pytest.raises(TypeError):
        answer("three")
