"""The three loads of the pace benchmark, made by a seeded generator, and the writer that hands them over from memory at
a set speed.

Each load is varied, with 15 % near-duplicates of an earlier draft (one word, number or line in fifty changed) and 5 %
broken ones. After the first two thousand, new texts are halves of earlier ones put together, which is quick to make and
no near-duplicate of either. Drafts are made one by one as they are asked for, so that a million takes no memory.
"""

import asyncio
import itertools
import json
import random
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tamis.brief import LoadedBrief
from tamis.clock import Spans
from tamis.ledger import Ledger
from tamis.records import Finish, Spec
from tamis.tokens import count_tokens
from tamis.writers.base import Written, flaw
from tamis.writers.server import ServerWriter

EXAMPLES = Path(__file__).parent.parent / "examples"
NEAR, BROKEN = 0.15, 0.05
RECENT, MADE = 50, 2_000


@dataclass(frozen=True)
class Load:
    """`count` drafts of about `tokens` tokens each for one desk. `must` is the most that may pass between the last
    token and the last result, as a multiple of the writing time; `drafts(n)` makes n of them, each with its tokens."""

    name: str
    desk: str
    count: int
    tokens: int
    must: float
    work: str
    drafts: Callable[[int], Iterator[tuple[Written, int]]]
    settings: str
    tests: Path | None = None

    def brief(self, folder: Path, *, more: str = "") -> Path:
        """A folder with the brief that the load answers, and `more` in its settings."""
        (folder / "drafts").mkdir(parents=True)
        text = (EXAMPLES / {"prose": "endings", "lab": "catalyst"}.get(self.desk, "lending") / "BRIEF.md").read_text()
        (folder / "BRIEF.md").write_text(text)
        (folder / "tamis.toml").write_text(f'[brief]\ndesk = "{self.desk}"\n{self.settings}{more}')
        if self.tests is not None:
            (folder / "tests").mkdir()
            for path in self.tests.glob("*.py"):
                (folder / "tests" / path.name).write_bytes(path.read_bytes())
        return folder


def endings(count: int, *, tokens: int = 1_000) -> Iterator[tuple[Written, int]]:
    """Story endings: sentences of the words of the example's endings, drawn as often as they stand there."""
    rng, size, texts = random.Random(1), _Sizes(), _Texts(random.Random(1), tokens)
    for number in range(count):
        kind = rng.random()
        content = (texts.changed() if kind < NEAR else texts.fresh()).encode()
        finish: Finish = "length" if NEAR <= kind < NEAR + BROKEN else "stop"
        yield Written(name=f"ending_{number:07}.txt", content=content, finish=finish), size(content)


def ideas(count: int, *, tokens: int = 300) -> Iterator[tuple[Written, int]]:
    """Catalyst ideas: JSON records of a composition and how it is fired, with reasons in prose."""
    rng, size, texts = random.Random(2), _Sizes(), _Texts(random.Random(2), tokens - 50)
    metals = ["Ni", "Fe", "Co", "Mn", "Ce", "La"]
    for number in range(count):
        kind = rng.random()
        shares = [rng.gammavariate(0.7, 1) + 0.001 for _ in metals]
        formula = "".join(f"{m}{s / sum(shares):.3f}" for m, s in zip(metals, shares, strict=True))
        why = texts.changed() if kind < NEAR else texts.fresh()
        record = {"formula": formula, "fired": f"{rng.randrange(200, 600)} degC", "why": why}
        content = json.dumps(record).encode()
        if NEAR <= kind < NEAR + BROKEN:
            content = rng.choice((content[: len(content) // 2], content.replace(b"degC", b"parsec")))
        yield Written(name=f"idea_{number:07}", content=content), size(content)


def modules(count: int, *, tokens: int = 20_000) -> Iterator[tuple[Written, int]]:
    """Lending desks of the example, padded with more of their own kind of code: their classes and functions once more
    under other names and with other numbers. A near-duplicate differs in one constant, or in nothing but its layout."""
    rng, size = random.Random(3), _Sizes()
    sources = [path.read_text() for path in sorted((EXAMPLES / "lending" / "drafts").glob("*.py"))]
    recent: list[str] = []
    for number in range(count):
        kind = rng.random()
        if recent and kind < NEAR:
            source = rng.choice(recent) + rng.choice(("\n\n# the end\n", f"\nEXTRA = {rng.randrange(10**6)}\n"))
        else:
            source = _padded(rng, sources[number % len(sources)], tokens)
            recent = [*recent[1 - RECENT :], source]
        if NEAR <= kind < NEAR + BROKEN:
            source = rng.choice((source[: len(source) * 2 // 3] + "\n  (", source.replace("50", "51")))
        content = source.encode()
        yield Written(name=f"desk_{number:05}.py", content=content), size(content)


LOADS = (
    Load(
        name="endings",
        desk="prose",
        count=1_000,
        tokens=1_000,
        must=1.0,
        work="read, hash, count, fold near-duplicates, features for taste, record",
        drafts=endings,
        settings="[choose]\ntop = 10\n",
    ),
    Load(
        name="modules",
        desk="software",
        count=40,
        tokens=20_000,
        must=2.0,
        work="read, parse, fold by syntax tree, 11 given tests each, record",
        drafts=modules,
        settings="",
        tests=EXAMPLES / "lending" / "tests",
    ),
    Load(
        name="ideas",
        desk="lab",
        count=10_000,
        tokens=300,
        must=1.0,
        work="read, validate, fold, features, record",
        drafts=ideas,
        settings="""[lab]
goal = "minimize overpotential_V"
unit = "V"
composition = "formula"
number = [{ name = "fired", unit = "degC", low = 200, high = 600 }]
""",
    ),
)


class MemoryWriter:
    """Hands the drafts over when a writer of that throughput would have them written: one after another, each with its
    last token. `last_due` is when the last token was due, by the monotonic clock."""

    spec = Spec(kind="writer", name="memory", version="1")

    def __init__(
        self, drafts: Sequence[tuple[Written, int]] | Iterator[tuple[Written, int]], speed: float | None
    ) -> None:
        self._drafts = drafts
        self._speed = speed
        self.drafts = 0
        self.tokens = 0
        self.floor = 0.0
        self.first_at = 0.0
        self.last_due = 0.0

    async def write(self, brief: LoadedBrief) -> AsyncIterator[Written]:  # noqa: ARG002 - as writers are called
        self.first_at = self.last_due = time.monotonic()
        for written, tokens in self._drafts:
            self.drafts += 1
            self.tokens += tokens
            if self._speed is not None:
                self.last_due = self.first_at + self.tokens / self._speed
                early = self.last_due - time.monotonic()
                if early > 0:
                    await asyncio.sleep(early)
            yield Written(
                name=written.name, content=written.content, finish=written.finish, problem=flaw(written.content)
            )
        if self._speed is None:
            self.last_due = time.monotonic()


class Timed:
    """A writer, with when its drafts came. The last token was there when the last draft was handed over."""

    def __init__(self, writer: ServerWriter) -> None:
        self._writer = writer
        self.drafts = 0
        self.tokens = 0
        self.floor = 0.0
        self.first_at = self.last_due = 0.0

    @property
    def spec(self) -> Spec:
        return self._writer.spec

    def keep_in(self, ledger: Ledger, spans: Spans) -> None:
        self._writer.keep_in(ledger, spans)

    async def write(self, brief: LoadedBrief) -> AsyncIterator[Written]:
        self.first_at = time.monotonic()
        async for written in self._writer.write(brief):
            self.drafts += 1
            self.tokens += written.tokens or 0
            self.last_due = time.monotonic()
            yield written


@cache
def _vocabulary() -> tuple[list[str], float]:
    """The words of the example's endings, and how many tokens a word has on average."""
    lines = (EXAMPLES / "endings" / "endings.jsonl").read_text().splitlines()
    text = " ".join(json.loads(line)["text"] for line in lines)
    words = re.findall(r"[A-Za-z][A-Za-z'’]*", text)
    return words, 1.12 * count_tokens(" ".join(words[:20_000])) / min(len(words), 20_000)


def _sentences(rng: random.Random, words: list[str], count: int) -> list[str]:
    text: list[str] = []
    while len(text) < count:
        start, length = rng.randrange(len(words) - 30), rng.randrange(5, 25)
        sentence = [*words[start : start + length // 2], *rng.choices(words, k=length - length // 2)]
        said = rng.random() < 0.2
        sentence[0] = ('"' if said else "") + sentence[0].capitalize()
        sentence[len(sentence) // 2] += ","
        sentence[-1] += rng.choice(".....?!") + ('"' if said else "")
        text += sentence
    return text[:count]


class _Texts:
    """Texts of about so many tokens, each new or nearly an earlier one."""

    def __init__(self, rng: random.Random, tokens: int) -> None:
        self._rng = rng
        self._words, tokens_a_word = _vocabulary()
        self._length = int(tokens / tokens_a_word)
        self._made: list[list[str]] = []
        self._recent: list[list[str]] = []

    def fresh(self) -> str:
        rng = self._rng
        if len(self._made) < MADE:
            text = _sentences(rng, self._words, int(self._length * rng.uniform(0.8, 1.2)))
            self._made.append(text)
        else:
            one, other = rng.choice(self._made), rng.choice(self._made)
            at = rng.randrange(self._length // 3, self._length // 2)
            text = one[:at] + other[at:]
        self._recent = [*self._recent[1 - RECENT :], text]
        return " ".join(text)

    def changed(self) -> str:
        """A recent text with one word in fifty changed."""
        if not self._recent:
            return self.fresh()
        text = list(self._rng.choice(self._recent))
        for at in self._rng.sample(range(len(text)), max(1, len(text) // 50)):
            text[at] = self._rng.choice(self._words)
        return " ".join(text)


class _Sizes:
    """How many tokens a writer would have needed: counted for the first drafts, by their bytes for the rest."""

    def __init__(self) -> None:
        self._bytes = self._tokens = self._drafts = 0

    def __call__(self, content: bytes) -> int:
        if self._drafts < 10:
            self._drafts += 1
            self._bytes += len(content)
            self._tokens += count_tokens(content.decode())
        return round(len(content) * self._tokens / self._bytes)


def _padded(rng: random.Random, source: str, tokens: int) -> str:
    """The module with copies of its own classes and functions until it has so many tokens."""
    pieces = re.split(r"(?m)^(?=(?:class|def|@)\b)", source)
    names = re.findall(r"(?m)^(?:class|def) (\w+)", source)
    want = len(source) * tokens / count_tokens(source)
    text = [source]
    size = len(source)
    for copy in itertools.count(1):
        for piece in pieces[1:]:
            more = re.sub(rf"\b({'|'.join(map(re.escape, names))})\b", rf"\g<1>_{copy}", piece)
            more = re.sub(r"\b(\d+)\b(?=\s*$)", lambda m: str(int(m[1]) + rng.randrange(9)), more, flags=re.MULTILINE)
            text.append("\n\n" + more)
            size += len(more)
        if size >= want:
            return "".join(text)
    raise AssertionError("unreachable")
