"""Texts that exist already, written again: a folder of drafts, a JSONL file, or what a brief's ledger holds.

Each request gets the next text, in the order of their names or of their recording, and from the first again after the
last. Tokens are those of the tokenizer that comes along; bytes that are no text are written as U+FFFD.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol, cast

import msgspec

from tamis.errors import DraftsError
from tamis.ledger.ledger import FOLDER, Ledger
from tamis.records import Draft
from tamis.simulate.text import Tokens, escaped
from tamis.tokens import encode, tokenizer

FIELDS = ("text", "completion", "content", "output", "solution", "code")
"""Where a JSONL row may keep its text; the first one found is taken."""


def read_texts(source: str) -> list[str]:
    """The texts to write again. Raises DraftsError where there are none."""
    path = Path(source)
    if (path / FOLDER).is_dir():
        texts = list(_recorded(path))
    elif path.is_dir():
        files = sorted(f for f in path.rglob("*") if f.is_file() and not f.name.startswith("."))
        texts = [f.read_text("utf-8", "replace") for f in files]
    elif path.is_file() and path.suffix in (".jsonl", ".ndjson"):
        texts = [_text_of(line, path, number) for number, line in enumerate(path.read_bytes().splitlines(), 1) if line]
    elif path.is_file():
        texts = [path.read_text("utf-8", "replace")]
    else:
        raise DraftsError(f"nothing to write again: {source} doesn't exist")
    if not any(texts):
        raise DraftsError(f"nothing to write again: {source} holds no text")
    return [text for text in texts if text]


def _recorded(folder: Path) -> Iterator[str]:
    with Ledger(folder, read_only=True) as ledger:
        for draft in ledger.all(Draft):
            yield ledger.blob(draft.blob).decode("utf-8", "replace")


def _text_of(line: bytes, path: Path, number: int) -> str:
    try:
        row = msgspec.json.decode(line, type=dict[str, object])
    except msgspec.DecodeError as error:
        raise DraftsError(f"{path}, line {number}: not a JSON object: {error}") from error
    for field in FIELDS:
        found = row.get(field)
        if isinstance(found, str):
            return found
    raise DraftsError(f"{path}, line {number}: none of the fields {', '.join(FIELDS)} holds a text")


def tokens_of(text: str) -> Tokens:
    """The text's tokens. One that ends inside a character is empty, and the next one carries the character."""
    decode = cast(_Decoder, tokenizer()).decode
    parts: Tokens = []
    pending: list[int] = []
    for token in encode(text):
        pending.append(token)
        try:
            parts.append(escaped(decode(pending)))
            pending = []
        except ValueError:  # not yet a whole character
            parts.append(b"")
    return parts


class _Decoder(Protocol):
    def decode(self, tokens: list[int]) -> str: ...
