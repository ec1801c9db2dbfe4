"""The simulated writer in a process of its own, so that it and its reader have a core each.

The child writes its address to its standard output when it is ready, and ends when its standard input closes: so it
never outlives who started it.
"""

import asyncio
import gc
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from tamis.errors import TamisError
from tamis.simulate.server import serving
from tamis.simulate.settings import Simulated

CHILD = "from tamis.simulate.process import child; child()"


@contextmanager
def started(settings: Simulated) -> Iterator[str]:
    """Its address, as long as the context lasts. Raises TamisError where it could not start."""
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD, msgspec.json.encode(settings).decode()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C reaches the one who started it, who then closes it
    )
    assert process.stdout is not None
    try:
        address = process.stdout.readline().decode().strip()
        if not address:
            raise TamisError(f"the simulated writer did not start; it ended with code {process.wait()}")
        yield address
    finally:
        process.terminate()
        process.communicate()


def child() -> None:
    """What the process runs: the settings are its first argument."""
    settings = msgspec.json.decode(sys.argv[1].encode(), type=Simulated)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    collect_rarely()
    asyncio.run(_serve(settings))


def collect_rarely() -> None:
    """Let the garbage collector run a hundred times less often. Ten thousand streams are half a million objects, which
    it would look at again and again, and none of them is in a cycle that must be found soon."""
    gc.set_threshold(70_000, 50, 100)


async def _serve(settings: Simulated) -> None:
    async with serving(settings) as address:
        os.write(sys.stdout.fileno(), address.encode() + b"\n")
        loop = asyncio.get_running_loop()
        closed = asyncio.Event()
        loop.add_reader(sys.stdin.fileno(), closed.set)
        await closed.wait()
