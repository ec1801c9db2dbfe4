"""Writer `server`: a model behind any server that speaks OpenAI's chat completions or completions (vLLM, llama.cpp,
SGLang, hosted ones) or Anthropic's messages.

It promises that a budget is never overrun, also across kills; that what came back is never paid for twice; and that an
answer which was cut off or refused says so. The key is read from the environment when a request is built, and stands
nowhere else.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tamis.writers.server.writer import ServerWriter

__all__ = ["ServerWriter"]


def __getattr__(name: str) -> object:
    """The writer, when it is asked for: it brings all of HTTP, and other writers use parts of this package without."""
    if name == "ServerWriter":
        return import_module("tamis.writers.server.writer").ServerWriter
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
