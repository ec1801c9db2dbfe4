"""A stand-in for the reader whose story this is, so that the example can be run without one.

She prefers something definite. She wants the ending to come back to what was on the pier: the letter, the lamp, the dog,
the light in the window, the sea. She likes 25 to 80 words, and a last sentence that is short. She can't bear an ending
that talks about itself ("the story", "the end of"), one that quotes somebody more than once, or one that says the same
thing again.

`prefer` returns the place of the text that she likes best, None where she likes two equally well.
"""

import re

PIER = ("letter", "lamp", "dog", "light", "window", "house", "sea", "island", "brother", "ferry", "pier", "lighthouse")
ABOUT_ITSELF = ("story", "ending", "the end", "reader", "tale", "sentence", "chapter", "paragraph")


def liking(text: str) -> float:
    """How much she likes an ending; more is better."""
    low = text.lower()
    words = re.findall(r"[a-z']+", low)
    if not words:
        return -10.0
    sentences = [one for one in re.split(r"(?<=[.!?])[\"”]?\s+", text.strip()) if one]
    concrete = sum(word in words for word in PIER)
    far = max(0, 25 - len(words)) + max(0, len(words) - 80)
    again = 1 - len(set(words)) / len(words)
    return (
        min(concrete, 5)
        - far / 8
        + (1.5 if len(sentences[-1].split()) <= 9 and len(sentences) > 1 else 0)
        - 2 * any(phrase in low for phrase in ABOUT_ITSELF)
        - 0.5 * max(0, len(re.findall(r"[\"“]", text)) - 1)
        - 5 * max(0.0, again - 0.25)
    )


def prefer(texts: list[str]) -> int | None:
    likings = [liking(text) for text in texts]
    best = max(likings)
    return likings.index(best) if likings.count(best) == 1 else None
