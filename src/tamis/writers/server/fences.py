"""Fenced blocks in an answer of a chat model, told as a patient reader would.

CommonMark's rules for fences, with what models do beyond them: a fence inside a fence of the same length (a docstring
that shows an example) is taken as part of it where it opens with a language, and a fence that is still open when the
answer was cut off holds all that there is.
"""

import re
from collections.abc import Sequence

import msgspec

_FENCE = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,})(?P<info>[^\n]*)$")
_FILE = re.compile(r"(?:[\w.-]+/)*[\w-][\w.-]*\.[A-Za-z][A-Za-z0-9]{0,7}")
_LONGEST_NAME_LINE = 200
"""A line that is longer names no file, and no pattern is tried on it."""
_LABELS = re.compile(r"(?i)^(?:file(?:name)?|path|title)$")


class Fence(msgspec.Struct, frozen=True):
    """One block. `language` is in lower case and empty where none is said, `file` the name that the answer gives it,
    None where it gives none; `closed` is False where the answer ended inside it."""

    language: str
    file: str | None
    content: str
    closed: bool = True


class Parted(msgspec.Struct, frozen=True):
    """An answer taken apart: its blocks, and the text around them."""

    fences: tuple[Fence, ...]
    around: str


def parted(answer: str) -> Parted:
    """The blocks of an answer in their order."""
    lines = answer.replace("\r\n", "\n").split("\n")
    fences: list[Fence] = []
    around: list[str] = []
    at = 0
    while at < len(lines):
        opening = _FENCE.match(lines[at])
        if opening is None or ("`" in opening["info"] and opening["mark"][0] == "`"):
            around.append(lines[at])
            at += 1
            continue
        end = _end_of(lines, at, opening["mark"])
        closed = end < len(lines)
        content = _without_indent(lines[at + 1 : end], lines[at])
        fences.append(_fence(opening["info"], content, around, closed=closed))
        at = end + 1
    return Parted(tuple(fences), "\n".join(around).strip())


def _end_of(lines: Sequence[str], opening: int, mark: str) -> int:
    """The line that closes the block which line `opening` opens; past the last line where none does."""
    inner: list[str] = []
    for at in range(opening + 1, len(lines)):
        found = _FENCE.match(lines[at])
        if found is None or found["mark"][0] != mark[0]:
            continue
        if found["info"].strip():
            if "`" not in found["info"]:
                inner.append(found["mark"])
        elif inner and len(found["mark"]) >= len(inner[-1]) and _closes_later(lines, at, mark):
            inner.pop()
        elif len(found["mark"]) >= len(mark):
            return at
    return len(lines)


def _closes_later(lines: Sequence[str], at: int, mark: str) -> bool:
    """Whether another bare fence follows that could close the outer block before a new one opens."""
    for later in range(at + 1, len(lines)):
        found = _FENCE.match(lines[later])
        if found is not None and found["mark"][0] == mark[0]:
            return len(found["mark"]) >= len(mark) and not found["info"].strip()
    return False


def _without_indent(content: Sequence[str], opening: str) -> str:
    """The content without the blanks that the fence itself is set in by, where every line of it is."""
    blanks = opening[: len(opening) - len(opening.lstrip(" "))]
    if blanks and all(line.startswith(blanks) or not line.strip() for line in content):
        content = [line.removeprefix(blanks) for line in content]
    return "".join(f"{line}\n" for line in content)


def _fence(info: str, content: str, before: Sequence[str], *, closed: bool) -> Fence:
    words = info.replace(":", " ").replace("{", " ").replace("}", " ").replace(",", " ").split()
    language = words[0].lower().lstrip(".") if words and not _FILE.fullmatch(words[0]) else ""
    file = _named_in(info) or _named_above(before) or _named_inside(content)
    return Fence("" if "=" in language else language, file, content, closed)


def _named_in(info: str) -> str | None:
    """A file's name in the line of the fence: ```python lending.py, ```lending.py, ```python title="a/b.py"."""
    for word in re.split(r"[\s:{},]+", info[:_LONGEST_NAME_LINE]):
        label, equals, value = word.partition("=")
        name = value.strip("\"'") if equals and _LABELS.match(label) else word
        if _FILE.fullmatch(name):
            return name
    return None


def _named_above(before: Sequence[str]) -> str | None:
    """A name that stands alone on the last line above: `### lending.py`, **lending.py**:, File: `a/b.py`."""
    line = next((line.strip() for line in reversed(before[-3:]) if line.strip()), "")
    if len(line) > _LONGEST_NAME_LINE:
        return None
    words = [word.strip("*`_:\"'()") for word in line.lstrip("#").split()]
    words = [word for word in words if word and not re.fullmatch(r"\d+[.)]", word)]
    if len(words) == 2 and _LABELS.match(words[0]):
        words = words[1:]
    return words[0] if len(words) == 1 and _FILE.fullmatch(words[0]) else None


def _named_inside(content: str) -> str | None:
    """A comment that is the first line of the content and holds a file's name alone: # lending.py, // src/a.rs."""
    words = content[:_LONGEST_NAME_LINE].lstrip("\n").partition("\n")[0].split()
    if len(words) < 2 or words[0] not in {"#", "//", "--", "/*", "<!--"}:
        return None
    names = [word for word in words[1:] if word not in {"*/", "-->"} and not _LABELS.match(word.rstrip(":"))]
    return names[0] if len(names) == 1 and _FILE.fullmatch(names[0]) else None
