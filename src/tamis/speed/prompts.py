"""Prompts of a wanted length that no server has seen before, so that no cache answers for the model."""

from collections.abc import Iterator

from tamis.simulate.text import as_text, generated

WRITE_ON = "Write a long story in plain words. Do not stop and do not ask; go on until you are cut off. Begin now."


def fresh(tokens: int, seed: int) -> str:
    """About `tokens` tokens of text; the beginning differs for every seed."""
    words: list[bytes] = [f"{seed:x} ".encode()]
    for paragraph in _paragraphs(seed):
        words += paragraph
        if len(words) >= tokens - 24:
            break
    return as_text(words[: max(1, tokens - 24)]) + "\n" + WRITE_ON


def _paragraphs(seed: int) -> Iterator[list[bytes]]:
    return generated(seed)
