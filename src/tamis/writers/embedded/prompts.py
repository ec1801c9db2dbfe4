"""What the embedded model is asked.

It is asked what any other writer is asked, with one exception. The model that comes along can go on with a text much
better than it can follow instructions about one. So where a prose brief quotes a text, it is made to go on from the
end of that quotation, and what it adds is the draft.
"""

import msgspec

from tamis.brief import LoadedBrief
from tamis.config import WriterSection
from tamis.errors import BriefError
from tamis.tokens import count_tokens
from tamis.writers.server.asking import Asked

Body = dict[str, object]

NOVELIST = "You are a novelist who writes short, concrete, quiet prose."
"""All that so small a model can make use of beside the text itself."""

ALONG_SAMPLING: Body = {
    "temperature": 0.75,
    "top_p": 0.95,
    "min_p": 0.1,
    "repeat_penalty": 1.1,
    "repeat_last_n": 256,
}
"""Less free than its makers advise, and against repeating itself, which a model of this size does soon."""


class Prompt(msgspec.Struct, frozen=True):
    """What each request shares. `goes_on_from` is the text that a draft continues, empty where it stands for itself;
    `most_tokens` is how many tokens the prompt may be at most."""

    body: Body
    goes_on_from: str
    most_tokens: int


def prompt_for(brief: LoadedBrief, asked: Asked, settings: WriterSection, *, along: bool) -> Prompt:
    """The prompt, for the model that comes along or another. Raises BriefError for an API that isn't OpenAI's."""
    if settings.api == "messages":
        raise BriefError(
            f"{brief.folder}: [writer] api = \"messages\" is Anthropic's, and the embedded writer speaks OpenAI's",
            hint='leave the key out, or set "completions" for a model that was never trained to chat',
        )
    body: Body = dict(ALONG_SAMPLING) if along else {}
    opening = ""
    if settings.api == "completions":
        body |= {"prompt": asked.whole} | ({"stop": [asked.stop]} if asked.stop else {})
    else:
        opening = quoted(asked.user) if along and brief.brief.desk == "prose" and settings.prompt is None else ""
        opening += " " if opening else ""  # without it, one draft in ten ended before it began
        body["messages"] = _going_on(asked.user, opening, settings) if opening else _asking(asked)
    if settings.temperature is not None:
        body["temperature"] = settings.temperature
    return Prompt(body | (settings.extra or {}), opening, _most_tokens(asked))


def quoted(text: str) -> str:
    """The last block quote of a Markdown text as one paragraph a blank quoted line, empty where there is none."""
    blocks: list[list[str]] = []
    inside = False
    for line in text.splitlines():
        stripped = line.lstrip(" ")
        if stripped.startswith(">") and len(line) - len(stripped) < 4:
            if not inside:
                blocks.append([])
            blocks[-1].append(stripped[1:].strip())
        inside = stripped.startswith(">")
    if not blocks:
        return ""
    paragraphs = "\n".join(blocks[-1]).strip().split("\n\n")
    return "\n\n".join(" ".join(paragraph.split("\n")) for paragraph in paragraphs).strip()


def _going_on(user: str, opening: str, settings: WriterSection) -> list[dict[str, str]]:
    """The brief without its quotation, and the quotation as what the model has already written."""
    lines = [line for line in user.splitlines() if not line.lstrip(" ").startswith(">")]
    wanted = "\n".join(lines).strip()
    return [
        {"role": "system", "content": NOVELIST if settings.system is None else settings.system},
        {"role": "user", "content": wanted},
        {"role": "assistant", "content": opening},
    ]


def _asking(asked: Asked) -> list[dict[str, str]]:
    system = [{"role": "system", "content": asked.system}] if asked.system else []
    return [*system, {"role": "user", "content": asked.user}]


def _most_tokens(asked: Asked) -> int:
    """Twice what our tokenizer counts leaves room for smaller vocabularies; more than one a byte it never is."""
    return min(asked.most_tokens, 2 * count_tokens(asked.whole) + 256)
