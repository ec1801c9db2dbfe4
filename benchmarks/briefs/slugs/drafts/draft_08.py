def slug(headline: str, limit: int = 40) -> str:
    letters = []
    for c in headline.lower():
        if c.isalnum():
            letters.append(c)
        elif c != "'":
            letters.append(" ")
    words = "".join(letters).split()
    if not words:
        raise ValueError("nothing left")
    if len(words[0]) > limit:
        raise ValueError("the first word is longer than the limit")
    result = words[0]
    for word in words[1:]:
        if len(result) + 1 + len(word) > limit:
            break
        result += "-" + word
    return result
