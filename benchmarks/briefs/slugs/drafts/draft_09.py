import re


def slug(headline: str, limit: int = 40) -> str:
    words = re.split(r"[^a-z0-9]+", headline.lower().replace("'", ""))
    words = [w for w in words if w]
    if not words:
        raise ValueError("nothing left")
    text = "-".join(words)
    if len(text) <= limit:
        return text
    if text[limit] != "-":
        text = text[:limit].rpartition("-")[0] or text[:limit]
    return text[:limit]
