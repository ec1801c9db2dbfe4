"""HTTP for the meter: requests as bytes, and answers taken apart after they have been read.

Heads are parsed by the standard library; the body's chunks are taken apart here, a read at a time, because what matters
is which read brought which event.
"""

import http.client
import io
from urllib.parse import urlsplit

import msgspec

from tamis.errors import UsageError
from tamis.speed.reader import Target


class Head(msgspec.Struct, frozen=True):
    """The head of an answer. `length` is its size in bytes."""

    status: int
    reason: str
    headers: dict[str, str]
    length: int


class Address(msgspec.Struct, frozen=True):
    """A server's address: where it is and what stands before `/v1`."""

    target: Target
    prefix: str
    shown: str


def address(url: str) -> Address:
    """The parts of a URL such as http://127.0.0.1:8000, with or without /v1 and what follows. Raises UsageError."""
    parts = urlsplit(url if "://" in url else f"http://{url}")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"{url!r} is no server's address", hint="such as http://127.0.0.1:8000 or https://host/v1")
    tls = parts.scheme == "https"
    try:
        port = parts.port or (443 if tls else 80)
    except ValueError as error:
        raise UsageError(f"{url!r}: {error}") from error
    prefix = parts.path.split("/v1")[0].rstrip("/")
    shown = f"{parts.scheme}://{parts.hostname}:{port}{prefix}"
    return Address(Target(parts.hostname, port, tls), prefix, shown)


def request(where: Address, method: str, path: str, headers: dict[str, str], body: bytes = b"") -> bytes:
    """A whole request. The connection is closed after its answer, so that the end of an answer can't be missed."""
    lines = [
        f"{method} {where.prefix}{path} HTTP/1.1",
        f"host: {where.target.host}:{where.target.port}",
        "connection: close",
        "accept: */*",
        "user-agent: tamis-speed",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    if method == "POST":
        lines += ["content-type: application/json", f"content-length: {len(body)}"]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def head_of(data: bytes | bytearray) -> Head | None:
    """The head, or None where it is not whole or is no HTTP."""
    end = data.find(b"\r\n\r\n")
    first, _, rest = bytes(data[: end + 4]).partition(b"\r\n")
    words = first.decode("latin-1").split(" ", 2)
    if end < 0 or len(words) < 2 or not words[0].startswith("HTTP/") or not words[1].isdigit():
        return None
    fields = http.client.parse_headers(io.BytesIO(rest))
    headers = {name.lower(): value for name, value in fields.items()}
    return Head(int(words[1]), words[2] if len(words) > 2 else "", headers, end + 4)


class Dechunker:
    """Takes the chunks of a body apart as its pieces come, wherever they are cut."""

    def __init__(self) -> None:
        self._left = 0
        self._line = b""
        self._after_chunk = False

    def feed(self, piece: bytes) -> bytes:
        """What of the body was in this piece."""
        parts: list[bytes] = []
        at = 0
        while at < len(piece):
            if self._left:
                taken = piece[at : at + self._left]
                parts.append(taken)
                self._left -= len(taken)
                at += len(taken)
                self._after_chunk = not self._left
                continue
            end = piece.find(b"\n", at)
            if end < 0:
                self._line += piece[at:]
                break
            line, self._line = (self._line + piece[at:end]).strip(), b""
            at = end + 1
            if self._after_chunk and not line:
                self._after_chunk = False
            elif line:
                self._left = int(line.split(b";")[0], 16)
        return b"".join(parts)
