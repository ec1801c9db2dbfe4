import re


def slug(headline: str, limit: int = 40) -> str:
    text = re.sub(r"[^a-z0-9]+", "-", headline.lower()).strip("-")
    if not text:
        raise ValueError("nothing left")
    if len(text) <= limit:
        return text
    cut = text[:limit]
    return cut.rpartition("-")[0] or cut
