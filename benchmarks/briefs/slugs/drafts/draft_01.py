import re


def slug(headline: str, limit: int = 40) -> str:
    text = headline.lower().replace("'", "")
    words = re.findall("[a-z0-9]+", text)
    if not words:
        raise ValueError("no words")
    if len(words[0]) >= limit:
        return words[0][:limit]
    result = words[0]
    for word in words[1:]:
        longer = result + "-" + word
        if len(longer) > limit:
            break
        result = longer
    return result
