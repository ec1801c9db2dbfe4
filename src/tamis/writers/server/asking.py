"""What a writer is asked: who it is to be, and the brief. Where an earlier round left NEXT.md, it is asked for that:
the brief with what is settled since.

The words differ by desk only, so that any model gives back what the desk can use: a module, a text, a record.
"""

import msgspec

from tamis.brief import LoadedBrief
from tamis.config import WriterSection
from tamis.errors import BriefError
from tamis.records import digest

NEXT_FILE = "NEXT.md"
BRIEF_MARK = "{brief}"


class Asked(msgspec.Struct, frozen=True):
    """The prompt. `opening` is what a completion goes on from, so that a model that only completes writes what is
    wanted; `stop` is where it then ends."""

    system: str
    user: str
    opening: str = ""
    stop: str | None = None

    @property
    def key(self) -> str:
        """What says whether two requests asked for the same."""
        return digest(self.system, self.user, self.opening)

    @property
    def whole(self) -> str:
        """All of it as one text, for a model that completes."""
        return "\n\n".join(part for part in (self.system, self.user.rstrip()) if part) + self.opening

    @property
    def most_tokens(self) -> int:
        """No tokenizer makes more tokens of it: at most one a byte, and some for what a chat template adds."""
        return len(self.whole.encode("utf-8", "replace")) + 256


def asked(brief: LoadedBrief, settings: WriterSection) -> Asked:
    """The prompt for a brief. Raises BriefError where the settings' prompt has no place for the brief, or NEXT.md
    can't be read."""
    user = text_of(brief)
    if settings.prompt is not None:
        if BRIEF_MARK not in settings.prompt:
            raise BriefError(
                f"{brief.folder}: [writer] prompt has no {BRIEF_MARK}, so the writer would not see the brief",
                hint="put {brief} where it should stand",
            )
        user = settings.prompt.replace(BRIEF_MARK, user)
    system = _system(brief) if settings.system is None else settings.system
    opening, stop = _opening(brief) if settings.prompt is None else ("", None)
    return Asked(system, user, opening, stop)


def text_of(brief: LoadedBrief) -> str:
    """The brief as a writer gets it: NEXT.md holds the brief and more; one that was rewritten by hand follows it."""
    text = brief.brief.text
    path = brief.folder / NEXT_FILE
    if not path.is_file():
        return text
    try:
        more = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BriefError(f"{path} can't be read: {error}", hint="move it away to write by BRIEF.md alone") from error
    return more if more.startswith(text.rstrip()) else f"{text.rstrip()}\n\n{more}"


def _system(brief: LoadedBrief) -> str:
    match brief.brief.desk:
        case "software":
            return (
                f"You write one Python file, {brief.module}.py, that does exactly what the brief says. It is imported "
                f"as `{brief.module}` and tested. Where the brief leaves something open, decide what its author most "
                "likely means. Answer with the whole file in one fenced block, ready to run, with nothing left out and "
                "no explanation around it."
            )
        case "prose":
            return (
                "You write the text that the brief asks for. Answer with the text alone: no heading of your own, no "
                "remarks before or after it."
            )
        case "lab":
            return (
                "You propose one idea for an experiment, as the brief describes it. Answer with one JSON object that "
                "holds the fields that the brief names, and nothing else."
            )


def _opening(brief: LoadedBrief) -> tuple[str, str | None]:
    """Where a completion starts, and where it ends."""
    match brief.brief.desk:
        case "software":
            return f"\n\n`{brief.module}.py`:\n\n```python\n", "\n```"
        case "lab":
            return "\n\n```json\n", "\n```"
        case "prose":
            return "\n\n---\n\n", None
