"""What a question at the terminal needs of the rest: no bar that draws over it, and a Ctrl-C that stops at once."""

import contextlib
import signal
import threading
from collections.abc import Iterator

from tamis.progress import Progress


@contextlib.contextmanager
def asking(progress: Progress) -> Iterator[None]:
    """While somebody is asked. The loop that a run lives in takes the first Ctrl-C as a wish to end soon; somebody who
    sits before a question means now."""
    progress.pause()
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
