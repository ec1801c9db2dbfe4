import re


def slug(headline: str, limit: int = 40) -> str:
    words = re.findall(r"\w+", headline.lower())
    if not words:
        raise ValueError("nothing left")
    while len(words) > 1 and len("-".join(words)) > limit:
        words.pop()
    return "-".join(words)[:limit]
