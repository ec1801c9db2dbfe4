"""The nouns. Every arrow of the path from brief to release is one of these records: frozen, with no I/O.

A record refuses unknown fields and numbers that are not finite, so what the ledger holds can be trusted without
being checked again. Ids are digests of content: the same thing recorded twice is one record.
"""

import hashlib
import math
from collections.abc import Mapping
from typing import Literal

import msgspec

Desk = Literal["software", "prose", "lab"]
Finish = Literal["stop", "length", "refused"]
Fault = Literal["draft", "check", "sandbox", "budget", "person"]
Stage = Literal["writing", "reading", "ranking", "tools", "permission", "tests", "deployment", "people", "lab", "whole"]
"""Where time goes. "whole" is a span that only holds others, a run; its length is never added to a stage."""


def digest(*parts: str | bytes) -> str:
    """32 hex digits that name this content: SHA-256 over the parts, each with its length before it, so that
    ("ab", "c") and ("a", "bc") differ."""
    h = hashlib.sha256()
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        h.update(len(raw).to_bytes(8, "big"))
        h.update(raw)
    return h.hexdigest()[:32]


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What all nouns share: frozen, strict about its fields, and finite in its numbers."""

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if isinstance(value, float) and not math.isfinite(value):
                raise ValueError(f"{type(self).__name__}.{name} is {value}; a record holds finite numbers only")


class Spec(Record, frozen=True, kw_only=True):
    """Enough to build the writer or the check again: what kind of thing, which, and with what arguments."""

    kind: Literal["writer", "check"]
    name: str
    version: str
    args: Mapping[str, str | int | float | bool | None] = {}

    @property
    def key(self) -> str:
        """The digest that says whether two pieces of evidence came from the same check."""
        return digest(msgspec.json.encode(self, order="sorted"))


class Brief(Record, frozen=True, kw_only=True):
    """What is wanted. `given` maps each file that came with it to the blob of its bytes, `settings` is the text of
    `tamis.toml` as read, empty where there was none."""

    id: str
    title: str
    text: str
    desk: Desk
    given: Mapping[str, str] = {}
    settings: str = ""


class Draft(Record, frozen=True, kw_only=True):
    """One attempt at a brief. The same text twice is two drafts and one blob.

    `tokens` is None where nothing could count them, `words` where the bytes are no text; `counted_by` says what
    counted: "usage" for the writer's own figure, else the tokenizer's name. `bytes` is the size of the blob."""

    id: str
    brief: str
    name: str
    blob: str
    writer: Spec
    sample: int = 0
    finish: Finish = "stop"
    bytes: int = 0
    tokens: int | None = None
    words: int | None = None
    counted_by: str | None = None
    span: str | None = None


class Held(Record, frozen=True, kw_only=True, tag="held"):
    """The check was passed. `cases` is how many things were checked, where that can be counted."""

    cases: int | None = None


class Broke(Record, frozen=True, kw_only=True, tag="broke"):
    """The check was not passed, and this is the draft's own doing. `witness` is what shows it, for a person;
    `failed` names the cases that failed, of `cases` in all."""

    witness: str
    failed: tuple[str, ...] = ()
    cases: int | None = None


class Measured(Record, frozen=True, kw_only=True, tag="measured"):
    """A physical or counted quantity. `sd` is the standard deviation of the measurement, None where unknown."""

    value: float
    unit: str
    sd: float | None = None


class Preferred(Record, frozen=True, kw_only=True, tag="preferred"):
    """Of the drafts of this evidence, `which` (a draft id, None for "can't say") was taken; `shown_first` stood on
    the left or at the top."""

    which: str | None
    shown_first: str


class Observed(Record, frozen=True, kw_only=True, tag="observed"):
    """What a draft did on a block of inputs, neither good nor bad: the blobs of the inputs and of the outcomes."""

    inputs: str
    outcomes: str


class Said(Record, frozen=True, kw_only=True, tag="said"):
    """What the owner said. `words` are for a person; `told` is all of it as JSON, for the conversation to learn again
    when it is taken up another time; `decision` is what it bears on."""

    words: str
    told: str
    decision: str


class NoAnswer(Record, frozen=True, kw_only=True, tag="no answer"):
    """Missing, never bad: the check could not tell, by whose fault and why."""

    fault: Fault
    why: str


Answer = Held | Broke | Measured | Preferred | Observed | Said | NoAnswer


class Evidence(Record, frozen=True, kw_only=True):
    """One recorded result about one, two or many drafts. `how` says how it was gathered, for instance which layers
    of the sandbox were in force."""

    id: str
    drafts: tuple[str, ...]
    check: Spec
    answer: Answer
    span: str | None = None
    question: str | None = None
    supersedes: str | None = None
    how: Mapping[str, str] = {}


class Question(Record, frozen=True, kw_only=True):
    """A witness with the behaviours to pick from, put to the owner. `sides` holds the drafts behind each option.
    `asked_at` is in seconds since 1970, None for a decision found and not asked about yet; `set_aside` says that the
    witness lies outside the brief, so that nobody is asked. `decision` is the same for all questions on one point."""

    id: str
    brief: str
    form: Literal["pick", "pair", "measurement", "storyboard"]
    witness: str
    options: tuple[str, ...]
    sides: tuple[tuple[str, ...], ...] = ()
    set_aside: bool = False
    decision: str | None = None
    asked_of: str | None = None
    asked_at: float | None = None


class Odds(Record, frozen=True, kw_only=True):
    """A probability with its interval and what it rests on. Without a basis in experience `p` is None, never a
    guess. `level` is the coverage of the interval."""

    p: float | None
    low: float | None = None
    high: float | None = None
    level: float = 0.9
    basis: str = "uncalibrated"


class Standing(Record, frozen=True, kw_only=True):
    """A draft's place among the drafts (from 1; None where it is out), and the evidence that moved it most."""

    draft: str
    place: int | None
    odds: Odds
    because: str


class Choice(Record, frozen=True, kw_only=True):
    """The draft chosen, or None, with the odds, the position of the ledger that it saw, and the drafts it was chosen
    among. `alike` behave exactly like the chosen one on every input tried; `because` is a sentence. `camps`, heaviest
    first, and `decisions` (ids of questions) are what the drafts' behaviour showed when it was made. `odds_before` were
    the odds before the storyboard; `strength` counts mutants and wrong drafts, and those caught by the given tests
    alone and with the owner's answers."""

    id: str
    brief: str
    draft: str | None
    odds: Odds
    saw: int
    among: tuple[str, ...]
    alike: tuple[str, ...] = ()
    because: str = ""
    camps: tuple[tuple[str, ...], ...] = ()
    decisions: tuple[str, ...] = ()
    odds_before: Odds | None = None
    strength: Mapping[str, int] = {}


class Release(Record, frozen=True, kw_only=True):
    """A chosen draft handed over. `permitted_by` is a person's name; `at` is in seconds since 1970."""

    id: str
    choice: str
    to: str
    permitted_by: str
    at: float


class Span(Record, frozen=True, kw_only=True):
    """A stretch of time. `started` and `ended` are seconds since 1970, `waited` the seconds within it spent waiting
    and `waited_on` for what; `cpu_seconds` counts all processes that worked for it.

    `after` holds the spans that it had to wait for: () where it could have begun with its parent, None where nobody
    said, so that only the times tell. `resource` is what it held one place of while it worked ("core", "owner",
    "bench"). `first_token_at` is when the first token of a stream came, in seconds since 1970. `run` is shared by the
    spans of one run, so that they find together when a run was killed before its outer spans closed."""

    id: str
    parent: str | None
    stage: Stage
    name: str
    started: float
    ended: float
    waited: float = 0.0
    waited_on: str | None = None
    cpu_seconds: float | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    after: tuple[str, ...] | None = None
    resource: str | None = None
    first_token_at: float | None = None
    run: str = ""

    @property
    def seconds(self) -> float:
        return self.ended - self.started


class Usage(Record, frozen=True, kw_only=True):
    """The tokens of one request, for all its drafts together. `tokens_out` includes `reasoning` and, where the server
    counts them so, `rejected`; `cached` are those of `tokens_in` that had been read before. `accepted` and `rejected`
    were proposed by speculation. None is what nobody told. `counted_by` is "usage" for the server's own figures, else
    the tokenizer that estimated them."""

    tokens_in: int
    tokens_out: int
    cached: int | None = None
    reasoning: int | None = None
    accepted: int | None = None
    rejected: int | None = None
    counted_by: str = "usage"


class Request(Record, frozen=True, kw_only=True):
    """One request to a writer that is paid for, recorded before it goes out: from then on it counts as paid in full
    until its Reply says otherwise. `asked` names the prompt, `drafts` are the numbers of the drafts it is to bring,
    `most_in` and `most_out` the most tokens that it can cost, `most_money` what they would. `sitting` is shared by
    the requests of one process; `at` is in seconds since 1970."""

    id: str
    brief: str
    writer: Spec
    asked: str
    drafts: tuple[int, ...]
    most_in: int
    most_out: int
    most_money: float | None
    sitting: str
    at: float


class Answered(Record, frozen=True, kw_only=True):
    """One answer as it came: the number of its draft, its text as a blob, how it ended, in the server's word too."""

    draft: int
    blob: str
    finish: Finish
    said: str


class Reply(Record, frozen=True, kw_only=True):
    """How a request ended. "answered" has answers; "free" was turned away unpaid; "perhaps" broke off, so that nobody
    knows what it cost: it counts in full. `why` is a sentence where there was no answer. `money` is None where no
    price is known."""

    id: str
    request: str
    brief: str
    ended: Literal["answered", "free", "perhaps"]
    why: str | None = None
    answers: tuple[Answered, ...] = ()
    usage: Usage | None = None
    money: float | None = None
    at: float


class Beat(Record, frozen=True, kw_only=True):
    """A sign, every second, that a sitting still wrote: so that a budget of seconds holds after a kill as well. The
    `last` one says that it ended there; a sitting without it was killed before its next beat."""

    id: str
    brief: str
    sitting: str
    at: float
    last: bool = False


AnyRecord = Brief | Draft | Evidence | Question | Choice | Release | Span | Request | Reply | Beat
