import re


def slug(headline: str, limit: int = 40) -> str:
    text = headline.lower().replace("&", " and ").replace("'", "")
    words = re.findall("[a-z0-9]+", text)
    if not words:
        raise ValueError("nothing left")
    result = words[0][:limit]
    for word in words[1:]:
        if len(result) + 1 + len(word) > limit:
            break
        result += "-" + word
    return result
