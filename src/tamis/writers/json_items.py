"""The items of one large JSON document, an array or an object, one after another in bounded memory.

Only the outermost brackets are looked at; what an item holds is for its reader to decode. An item over the limit is
passed over and told, as a line is.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tamis.records import Record
from tamis.writers.lines import Line, blocks_of_file

_OUTSIDE = re.compile(rb'["\[\]{},]')
_INSIDE = re.compile(rb'["\\]')
_Member = dict[str, dict[str, msgspec.Raw]]


class Document(Record, frozen=True, kw_only=True):
    """A document's first character, and the items in it. An item's number counts from 1."""

    opening: bytes
    items: Iterator[Line]


def open_document(path: Path, *, max_bytes: int) -> Document:
    """The document in a file. Reading it raises DraftsError where the file can't be read on."""
    blocks = blocks_of_file(path)
    splitter = ItemSplitter(max_bytes)
    first = next(blocks, b"")
    found = list(splitter.feed(first.removeprefix(b"\xef\xbb\xbf")))

    def items() -> Iterator[Line]:
        yield from found
        for block in blocks:
            yield from splitter.feed(block)
        yield from splitter.end()

    return Document(opening=splitter.opening if first.lstrip()[:1] in b"\xef[{" else b"", items=items())


def members(items: Iterator[Line], key_field: str) -> Iterator[Line]:
    """The members of an object of objects as lines, each with its key as the field `key_field` where it has none of its
    own. One that is no object stays as it is, and is told by whoever decodes it."""
    for item in items:
        try:
            ((key, value),) = msgspec.json.decode(b"{%b}" % (item.content or b""), type=_Member).items()
        except (msgspec.DecodeError, ValueError, RecursionError):
            yield item
        else:
            content = msgspec.json.encode({key_field: key} | value)
            yield Line(number=item.number, content=content, ended=item.ended)


class ItemSplitter:
    """Blocks in, items out. In an array an item is an element; in an object it is `"key": value`, as it stands.
    `opening` is the bracket that the document opens with, b"" before it was seen."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._number = 0
        self._depth = 0
        self._in_text = False
        self._skip = 0
        self._rest = bytearray()
        self._too_long = False
        self.opening = b""

    @property
    def ended(self) -> bool:
        return bool(self.opening) and self._depth <= 0

    def feed(self, block: bytes) -> Iterator[Line]:
        """The items that this block completes. What follows the document is passed over."""
        start, at = 0, self._skip
        while not self.ended and (mark := (_INSIDE if self._in_text else _OUTSIDE).search(block, at)):
            at = mark.end()
            if mark.group() == b"\\":
                at += 1  # the next character is none of ours, even where the next block brings it
            elif self._cuts(mark.group()):
                self._keep(block[start : mark.start()])
                start = at
                if self._rest.strip() or self._too_long:
                    yield self._item()
        self._skip = max(0, at - len(block))
        if not self.ended:
            self._keep(block[start:])

    def end(self) -> Iterator[Line]:
        """What the document broke off in."""
        if not self.ended and (self._rest.strip() or self._too_long):
            yield self._item(ended=False)

    def _cuts(self, mark: bytes) -> bool:
        """Whether this mark ends an item: a comma or the closing bracket of the document itself. Its opening bracket
        cuts too, with nothing before it."""
        if mark == b'"':
            self._in_text = not self._in_text
            return False
        if mark in b"[{":
            self._depth += 1
            if self.opening:
                return False
            self.opening = mark
            return True
        if mark in b"]}":
            self._depth -= 1
            return self._depth == 0
        return self._depth == 1

    def _keep(self, piece: bytes) -> None:
        if self._too_long or len(self._rest) + len(piece) > self._max_bytes:
            self._too_long = True
            self._rest.clear()
        else:
            self._rest += piece

    def _item(self, *, ended: bool = True) -> Line:
        self._number += 1
        content = None if self._too_long else bytes(self._rest).strip()
        self._rest.clear()
        self._too_long = False
        return Line(number=self._number, content=content, ended=ended)
