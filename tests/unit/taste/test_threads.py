import numpy as np
import pytest
from threadpoolctl import threadpool_info

from tamis.taste.threads import on_one_thread


def blas_threads() -> set[int]:
    np.ones((2, 2)) @ np.ones((2, 2))
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_blas_takes_one_thread_during_the_call_and_as_many_as_before_after_it() -> None:
    before = blas_threads()
    assert on_one_thread(blas_threads)() == {1}
    assert blas_threads() == before


def test_what_is_given_and_found_and_raised_passes_through() -> None:
    @on_one_thread
    def divided(one: float, *, by: float) -> float:
        """Says so."""
        return one / by

    assert divided(6, by=3) == 2
    assert divided.__doc__ == "Says so."
    before = blas_threads()
    with pytest.raises(ZeroDivisionError):
        divided(1, by=0)
    assert blas_threads() == before
