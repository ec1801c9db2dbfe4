"""Lines of a file that may be large, still coming, or not text at all, in bounded memory.

Files are read in blocks, standard input as it comes. A line longer than the limit is passed over and told, never
held. Lines are bytes: whether they are text is for their reader to say.
"""

import asyncio
import gzip
import os
import zlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import BinaryIO, cast

from tamis.errors import DraftsError
from tamis.records import Record

BLOCK_BYTES = 1 << 18


class Line(Record, frozen=True, kw_only=True):
    """A line without its end, `number` counting from 1. `content` is None where it is longer than the limit; `ended`
    is False for a last line that has no end, so that the input may have broken off in it."""

    number: int
    content: bytes | None
    ended: bool = True


class LineSplitter:
    """Blocks in, lines out."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._number = 0
        self._rest = bytearray()
        self._too_long = False

    def feed(self, block: bytes) -> Iterator[Line]:
        """The lines that this block completes."""
        *ended, rest = block.split(b"\n")
        for piece in ended:
            self._keep(piece)
            yield self._line()
        self._keep(rest)

    def end(self) -> Iterator[Line]:
        """The last line, where the file did not end with a line end."""
        if self._rest or self._too_long:
            yield self._line(ended=False)

    def _keep(self, piece: bytes) -> None:
        if self._too_long or len(self._rest) + len(piece) > self._max_bytes:
            self._too_long = True
            self._rest.clear()
        else:
            self._rest += piece

    def _line(self, *, ended: bool = True) -> Line:
        self._number += 1
        content = None if self._too_long else bytes(self._rest).removesuffix(b"\r")
        if self._number == 1 and content is not None:
            content = content.removeprefix(b"\xef\xbb\xbf")
        self._rest.clear()
        self._too_long = False
        return Line(number=self._number, content=content, ended=ended)


def lines_of_file(path: Path, *, max_bytes: int) -> Iterator[Line]:
    """The lines of a file, gzipped where its name ends in .gz. Raises DraftsError where it can't be read on."""
    splitter = LineSplitter(max_bytes)
    for block in blocks_of_file(path):
        yield from splitter.feed(block)
    yield from splitter.end()


def blocks_of_file(path: Path) -> Iterator[bytes]:
    """The bytes of a file, gzipped where its name ends in .gz. Raises DraftsError where it can't be read on."""
    try:
        with cast(BinaryIO, gzip.open(path)) if path.suffix == ".gz" else path.open("rb") as file:
            while block := file.read(BLOCK_BYTES):
                yield block
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise DraftsError(f"{path} can't be read: {reason}", hint="the drafts read before it are kept") from error


async def lines_of_stdin(descriptor: int, *, max_bytes: int) -> AsyncIterator[Line]:
    """The lines of standard input as they come. No thread waits for it, so that Ctrl-C stops at once."""
    splitter = LineSplitter(max_bytes)
    while block := await _next_block(descriptor):
        for line in splitter.feed(block):
            yield line
    for line in splitter.end():
        yield line


async def _next_block(descriptor: int) -> bytes:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    try:
        loop.add_reader(descriptor, ready.set)
    except PermissionError:  # a regular file can't be polled, and never makes anyone wait
        await asyncio.sleep(0)
        return os.read(descriptor, BLOCK_BYTES)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)
    return os.read(descriptor, BLOCK_BYTES)
