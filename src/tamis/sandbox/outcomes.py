"""From a child's lines to each program's outcomes, and the key by which outcomes are compared."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence

import msgspec

from tamis.sandbox.box.values import Value, canonical

_NO_SENSE: Value = ["#", "crashed", "wrote no outcome"]
NOT_REACHED: Value = ["#", "not reached", ""]
FLOAT_DIGITS = 9
"""Floats that agree to this many significant digits are one outcome."""


def boundaries(sizes: Sequence[int]) -> list[int]:
    """After how many lines each program is finished; the first line is the import's."""
    ends, total = [], 1
    for size in sizes:
        total += size
        ends.append(total)
    return ends


def read(line: bytes) -> Value:
    """One outcome. Lines that no runner wrote are the draft's own doing, and make no sense."""
    try:
        value: Value = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return _NO_SENSE
    if not (isinstance(value, list) and len(value) >= 2 and value[0] in ("=", "!", "#")):
        return _NO_SENSE
    return canonical(value) if b'"dict"' in line else value


def sensible(line: bytes) -> str:
    """The line as it came, where it is an outcome; else one that says that it makes no sense."""
    try:
        value: Value = msgspec.json.decode(line)
        known = isinstance(value, list) and len(value) >= 2 and value[0] in ("=", "!", "#")
        return line.decode() if known else msgspec.json.encode(_NO_SENSE).decode()
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return msgspec.json.encode(_NO_SENSE).decode()


def read_all(lines: Sequence[bytes]) -> list[Value]:
    """The same for many lines at once, which is what makes it fast."""
    joined = b"[" + b",".join(lines) + b"]"
    if b'"dict"' in joined:
        return [read(line) for line in lines]
    try:
        values = msgspec.json.decode(joined, type=list[list[object]])
    except (msgspec.DecodeError, RecursionError):
        return [read(line) for line in lines]
    if len(values) != len(lines) or not all(len(v) >= 2 and v[0] in _TAGS for v in values):
        return [read(line) for line in lines]
    return values  # type: ignore[return-value]


_TAGS = frozenset(("=", "!", "#"))


def per_program(outcomes: Sequence[Value], sizes: Sequence[int]) -> Iterator[bytes]:
    """One JSON array for each program that is complete in `outcomes`."""
    at, encode = 0, _ENCODER.encode
    for size in sizes:
        if at + size > len(outcomes):
            return
        yield encode(outcomes[at : at + size])
        at += size


def died_in(outcomes: Sequence[Value], size: int, ending: Value) -> bytes:
    """The program in which the draft died: what it did before, how it ended, what was not reached."""
    done = list(outcomes[: size - 1])
    return _ENCODER.encode([*done, ending, *[NOT_REACHED] * (size - len(done) - 1)])


def whole(size: int, outcome: Value) -> bytes:
    """A program whose every call has the same outcome."""
    return _ENCODER.encode([outcome] * size)


_ENCODER = msgspec.json.Encoder()


def program_of(lines: int, ends: Sequence[int]) -> int:
    """The number of the program that was running when there were so many lines."""
    return bisect_right(ends, lines)


def outcome_key(outcomes: bytes) -> bytes:
    """What decides whether two drafts did the same: exception messages and details of an ending are dropped, floats
    are rounded to FLOAT_DIGITS significant digits."""
    if (
        b'"!"' not in outcomes
        and b'"float"' not in outcomes
        and b'"exception"' not in outcomes
        and b'"#"' not in outcomes
    ):
        return outcomes
    calls = msgspec.json.decode(outcomes)
    return _ENCODER.encode([_key(call) for call in calls])


def _key(call: list[Value]) -> Value:
    if call[0] == "!":
        return call[:3]
    if call[0] == "#":
        return call[:2]
    return [
        _rounded(part) if not isinstance(part, dict) else {k: _rounded(v) for k, v in part.items()} for part in call
    ]


def _rounded(value: Value) -> Value:
    if not isinstance(value, list) or not value:
        return value
    if value[0] == "float" and len(value) == 2:
        return ["float", f"{float(str(value[1])):.{FLOAT_DIGITS}g}"]
    if value[0] == "complex" and len(value) == 3:
        return ["complex", *(f"{float(str(part)):.{FLOAT_DIGITS}g}" for part in value[1:])]
    if value[0] == "exception" and len(value) == 3:
        return value[:2]
    return [_rounded(item) for item in value]
