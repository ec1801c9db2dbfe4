"""What the editor means: apostrophes vanish within a word, anything else that is no letter or digit parts words; the
longest run of whole words that fits; a first word that is too long for the limit is cut after all."""

import re


class DontCare(Exception):
    """No opinion."""


def slug(headline, limit=40):
    if type(limit) is not int or limit < 1 or not headline.isascii():
        raise DontCare
    words = re.findall(r"[a-z0-9]+", headline.lower().replace("'", ""))
    if not words:
        raise ValueError("nothing left")
    found = words[0][:limit]
    for word in words[1:]:
        if len(found) + 1 + len(word) > limit or len(words[0]) > limit:
            break
        found += "-" + word
    return found
