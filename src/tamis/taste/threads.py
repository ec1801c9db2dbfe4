"""One thread for small products. What is believed of a reader is a handful of matrices of some hundred rows; shared out
among threads, their products wait for one another, and on a busy machine a question then takes ten times as long.
"""

from collections.abc import Callable
from functools import cache, wraps
from typing import ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

Given = ParamSpec("Given")
Found = TypeVar("Found")


def on_one_thread(function: Callable[Given, Found]) -> Callable[Given, Found]:
    """The function, during whose calls BLAS takes one thread."""

    @wraps(function)
    def limited(*args: Given.args, **kwargs: Given.kwargs) -> Found:
        with _controller().limit(limits=1, user_api="blas"):
            return function(*args, **kwargs)

    return limited


@cache
def _controller() -> ThreadpoolController:
    """Looks up the loaded libraries once, which takes some milliseconds."""
    return ThreadpoolController()
