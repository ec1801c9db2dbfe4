import re


def slug(headline: str, limit: int = 40) -> str:
    words = re.findall(r"[a-z0-9]+", headline.lower())
    if not words:
        raise ValueError(headline)
    out = words[0][:limit]
    for w in words[1:]:
        if len(out) + len(w) + 1 > limit:
            break
        out = f"{out}-{w}"
    return out
