import re


def slug(headline: str, limit: int = 40) -> str:
    words = re.sub(r"[^a-z0-9\s-]", "", headline.lower()).replace("-", " ").split()
    if not words:
        raise ValueError("empty")
    kept = []
    for word in words:
        if len("-".join([*kept, word])) <= limit:
            kept.append(word)
    if not kept:
        raise ValueError("no word fits")
    return "-".join(kept)
