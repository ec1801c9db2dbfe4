"""Context capacity and output cap: two limits, each refused in the words that real APIs use."""

from tamis.simulate import anthropic, openai
from tamis.simulate.asked import Asked, Refused
from tamis.simulate.settings import Simulated

UNASKED_TOKENS = 512
"""How long a text is where neither the request nor the settings say."""


def allowed_tokens(settings: Simulated, asked: Asked, prompt_tokens: int) -> int:
    """How many tokens may be written at most. Raises Refused where prompt and answer do not fit, or where more is
    asked for than the output cap."""
    wanted = asked.max_tokens
    if wanted is not None and wanted > settings.output_cap:
        raise _too_much(settings, asked, wanted)
    if prompt_tokens >= settings.context:
        raise _too_long(settings, asked, prompt_tokens, None)
    if wanted is not None and prompt_tokens + wanted > settings.context:
        raise _too_long(settings, asked, prompt_tokens, wanted)
    return wanted or min(settings.output_cap, settings.context - prompt_tokens)


def natural_tokens(settings: Simulated, asked: Asked, text_tokens: int | None) -> int | None:
    """After how many tokens the text ends by itself; None for never. `text_tokens` is a replayed text's length."""
    if asked.ignores_end and asked.max_tokens is not None:
        return None
    if text_tokens is not None:
        return text_tokens
    if settings.length is not None:
        return settings.length
    return UNASKED_TOKENS if asked.max_tokens is None else None


def _too_much(settings: Simulated, asked: Asked, wanted: int) -> Refused:
    if asked.protocol == "messages":
        return anthropic.too_much(settings.output_cap, wanted, settings.model)
    return openai.too_much(settings.output_cap, wanted)


def _too_long(settings: Simulated, asked: Asked, prompt: int, output: int | None) -> Refused:
    if asked.protocol == "messages":
        return anthropic.too_long(settings.context, prompt, output)
    return openai.too_long(settings.context, prompt, output, whose="messages" if asked.protocol == "chat" else "prompt")
