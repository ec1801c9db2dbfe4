import re


def slug(headline: str, limit: int = 40) -> str:
    text = re.sub(r"['\"]", "", headline).lower()
    parts = [p for p in re.split(r"[\W_]+", text) if p]
    if not parts:
        raise ValueError("nothing left")
    while len(parts) > 1 and sum(map(len, parts)) + len(parts) - 1 > limit:
        parts = parts[:-1]
    return "-".join(parts)[:limit]
