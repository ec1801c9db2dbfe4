import string


def slug(headline: str, limit: int = 40) -> str:
    clean = "".join(c for c in headline.lower() if c not in string.punctuation)
    words = clean.split()
    if not words:
        raise ValueError("nothing left of the headline")
    slug = ""
    for word in words:
        candidate = word if not slug else slug + "-" + word
        if len(candidate) > limit:
            break
        slug = candidate
    return slug
