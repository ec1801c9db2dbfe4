import re


def slug(headline: str, limit: int = 40) -> str:
    words = re.findall("[a-z0-9]+", headline.lower().replace("'", ""))
    if not words:
        raise ValueError("nothing left")
    total, kept = 0, []
    for word in words:
        if kept and total + len(word) + len(kept) - 1 > limit:
            break
        total += len(word)
        kept.append(word)
    return "-".join(kept)[:limit].strip("-")
