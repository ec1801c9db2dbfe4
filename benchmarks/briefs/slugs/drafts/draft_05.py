import re


def slug(headline: str, limit: int = 40) -> str:
    words = re.findall(r"[a-z0-9]+", headline.lower().replace("'", ""))
    if not words:
        raise ValueError("nothing left")
    while len(words) > 1 and len("-".join(words)) >= limit:
        words.pop()
    return "-".join(words)[:limit]
