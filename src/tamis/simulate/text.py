"""What the simulated writer writes: small sentences of a small grammar, whose tokens tokenizers see as one each.

So a count of events, of usage and of a tokenizer agree, and where they do not, it is the counting and not the text. The
text of a seed is always the same; it says nothing.
"""

import random
from collections.abc import Iterator
from functools import cache
from itertools import chain

import msgspec


def _words(listed: str) -> list[str]:
    return listed.split()


NAMES = _words("Alice Maria Peter John Anna Sarah David Thomas Laura James")
PLACES = _words("river garden village harbor forest market bridge station island mountain castle valley")
THINGS = _words("book letter lamp door window boat clock stone picture map basket bottle coin song chair coat")
KINDS = _words("old small quiet bright heavy broken empty strange warm narrow green white dark simple perfect lost")
DEEDS = _words("found carried opened watched painted followed remembered lost counted kept moved showed wanted sold")
TIMES = _words("yesterday today later again once twice early finally slowly quickly")
LINKS = _words("because while before after until although")
WAYS = _words("near behind beside under above across from toward")

SENTENCES_IN_POOL = 8192
SENTENCES_IN_PARAGRAPH = 6

Tokens = list[bytes]
"""Tokens as the bytes that stand for them inside a JSON string, ready to be joined."""


def _noun(rng: random.Random) -> list[str]:
    kind = [f" {rng.choice(KINDS)}"] if rng.random() < 0.6 else []
    return [" the", *kind, f" {rng.choice(THINGS)}"]


def _deed(rng: random.Random) -> list[str]:
    where = [f" {rng.choice(WAYS)}", " the", f" {rng.choice(PLACES)}"] if rng.random() < 0.5 else []
    when = [f" {rng.choice(TIMES)}"] if rng.random() < 0.3 else []
    return [f" {rng.choice(DEEDS)}", *_noun(rng), *where, *when]


def _sentence(rng: random.Random) -> list[str]:
    more = [",", f" {rng.choice(LINKS)}", " she", *_deed(rng)] if rng.random() < 0.4 else []
    return [f" {rng.choice(NAMES)}", *_deed(rng), *more, "."]


@cache
def _pool() -> tuple[tuple[bytes, ...], ...]:
    """The sentences that every text is made of: made once, so that writing is picking and joining."""
    rng = random.Random("the pool of sentences")
    return tuple(tuple(token.encode() for token in _sentence(rng)) for _ in range(SENTENCES_IN_POOL))


def generated(seed: int) -> Iterator[Tokens]:
    """An endless text, a paragraph at a time."""
    pool = _pool()
    rng = random.Random(seed)
    while True:
        tokens = list(chain.from_iterable(rng.choices(pool, k=SENTENCES_IN_PARAGRAPH)))
        tokens[0] = tokens[0].lstrip()  # after a paragraph's end no blank follows
        tokens[-1] = b".\\n\\n"
        yield tokens


def escaped(token: str) -> bytes:
    """A token as it stands inside a JSON string."""
    return msgspec.json.encode(token)[1:-1]


def as_text(tokens: Tokens) -> str:
    """The text that such tokens stand for."""
    return msgspec.json.decode(b'"' + b"".join(tokens) + b'"', type=str)
