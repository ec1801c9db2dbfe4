"""Whether two Python modules differ in comments and blank lines alone: a look at their text that takes a fortieth of
what their syntax trees take.

It answers for certain or not at all. Where a text has anything that could make a line break or a number sign mean
something else than it seems to, it is left to the trees.
"""

import re
import sys

_PIECES = re.compile(
    rb'"""(?:[^\\"]++|\\.|"(?!""))*"""|"(?:[^\\"\n]++|\\.)*"'
    rb"|'''(?:[^\\']++|\\.|'(?!''))*'''|'(?:[^\\'\n]++|\\.)*'"
    rb"|\#[^\n]*|\"|'|\\|\r|\f",
    re.DOTALL,
)
"""Texts, comments, and what makes it uncertain. Each begins with a plain character, so that the search is a scan."""
_CODING = re.compile(rb"coding[:=]")
_BLANK_LINES = re.compile(rb"[ \t]*\n(?:[ \t]*\n)*")
_FORMATTED = re.compile(rb"[fFtT][rR]?$")
_NESTS = sys.version_info >= (3, 12)
"""Whether the quotes of a formatted text may stand within it too."""


def without_layout(source: bytes) -> bytes | None:
    """A module that its parser accepts, without comments and blank lines; two of which the same is left have the same
    syntax tree. None where that can't be told from the text: it has line breaks within statements (a backslash), other
    line ends than \\n, a coding of its own, or formatted texts with anything to evaluate where those may nest."""
    if source.startswith(b"\xef\xbb\xbf") or _CODING.search(b"".join(source.split(b"\n", 2)[:2])):
        return None
    kept: list[bytes] = []
    strings: list[bytes] = []
    at = 0
    for piece in _PIECES.finditer(source):
        text = piece[0]
        before = source[at : piece.start()]
        at = piece.end()
        kept.append(before)
        if text[:1] == b"#":
            continue
        if len(text) == 1 or (_NESTS and b"{" in text and _FORMATTED.search(before)):
            return None
        strings.append(text)
        kept.append(b"\0")  # which no module holds: blank lines within a string are no layout
    kept.append(source[at:])
    code = _BLANK_LINES.sub(b"\n", b"\n" + b"".join(kept) + b"\n")
    return b"\0".join([code, *strings])
