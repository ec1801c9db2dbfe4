"""Texts that nobody should be asked about: empty, cut off, refused, or in another language than the rest. They are
set aside and counted, with the reason; they stay drafts.

A language is told from its script and, in Latin script, from its commonest little words. Short or mixed texts are
"unknown", and unknown is never set aside.
"""

import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence

from tamis.records import Finish

MOST = 0.8
"""There is a language of the rest only where so many of the texts with a known language share it."""
LEAST_LITTLE_WORDS = 6
SAMPLE_CHARS = 4_000

_LITTLE_WORDS = {
    "English": "the and of to was in that it he she had his her with for not you but at they",
    "German": "der die und das ich nicht es ist sie ein er mit den war eine zu auf dem sich wie",
    "French": "le les et des je est pas une que dans elle il sur qui pour avec mais était nous vous",
    "Spanish": "el los que las una por con del se no es para como más pero sus ella había y lo",
    "Italian": "il che di non è un per una sono con gli si della del anche ma più era come nel",
    "Portuguese": "o que não uma os com para ele ela mas seu sua mais do da em foi era você ao",
    "Dutch": "het een en van ik dat niet zijn op te hij voor met ze was maar aan ook naar haar",
    "Swedish": "och att det som en är på inte jag hon han med för av ett var den till så hade",
    "Polish": "nie to się na że jest co jak był była za tak do po ale już jego jej ich czy",
}


def why_aside(
    texts: Sequence[str], finishes: Sequence[Finish], *, known: Mapping[int, str | None] | None = None
) -> dict[int, str]:
    """Place of the text → why it is set aside. `known` are languages that were told already, by place."""
    known = known or {}
    reasons = {place: reason for place, text in enumerate(texts) if (reason := _flaw(text, finishes[place]))}
    languages = {
        place: known[place] if place in known else language_of(text)
        for place, text in enumerate(texts)
        if place not in reasons
    }
    counts = Counter(language for language in languages.values() if language is not None)
    if counts:
        language, most = counts.most_common(1)[0]
        if most >= MOST * counts.total():
            for place, own in languages.items():
                if own not in {None, language}:
                    reasons[place] = f"is in another language than the rest ({own}, not {language})"
    return reasons


def _flaw(text: str, finish: Finish) -> str | None:
    if finish == "refused":
        return "was refused by its writer"
    if finish == "length":
        return "was cut off at the writer's limit"
    return None if any(char.isalnum() for char in text) else "is empty"


def language_of(text: str) -> str | None:
    """The language, or for other scripts than Latin the script, of most of the text's beginning; None where unsure."""
    sample = text[:SAMPLE_CHARS]
    scripts = _scripts(sample)
    if not scripts or scripts.most_common(1)[0][1] < 0.7 * scripts.total():
        return None
    script = scripts.most_common(1)[0][0]
    if script != "LATIN":
        return {"CJK": "Chinese or Japanese", "HIRAGANA": "Chinese or Japanese", "KATAKANA": "Chinese or Japanese"}.get(
            script, script.capitalize()
        )
    words = Counter(sample.lower().split())
    votes, table = Counter(dict.fromkeys(_LITTLE_WORDS, 0)), _little_words()
    plain = words.keys() & table.keys()
    dressed = [word for word in words if not word.isalpha() and word not in plain]
    for word, bare in [*zip(plain, plain, strict=True), *((word, word.strip(_AROUND)) for word in dressed)]:
        for language in table.get(bare, ()):
            votes[language] += words[word]
    (best, n), (_, second) = votes.most_common(2)
    return best if n >= LEAST_LITTLE_WORDS and n >= 1.5 * second and n >= 0.08 * words.total() else None


_AROUND = ".,;:!?\"'“”‘’«»()-…"
_NO_LETTERS = bytes(byte for byte in range(128) if not chr(byte).isalpha())
_BEYOND_ASCII = re.compile("[^\x00-\x7f]")


def _scripts(sample: str) -> Counter[str]:
    """How many letters are of each script."""
    latin = len(sample.encode("ascii", "ignore").translate(None, _NO_LETTERS))
    scripts = Counter({"LATIN": latin} if latin else {})
    if not sample.isascii():
        for char, count in Counter(_BEYOND_ASCII.findall(sample)).items():
            if char.isalpha():
                scripts[_script(char)] += count
    return scripts


@functools.cache
def _little_words() -> dict[str, tuple[str, ...]]:
    """Each little word → the languages that it is one of."""
    table: dict[str, tuple[str, ...]] = {}
    for language, words in _LITTLE_WORDS.items():
        for word in dict.fromkeys(words.split()):
            table[word] = (*table.get(word, ()), language)
    return table


@functools.cache
def _script(char: str) -> str:
    """The first word of the character's name: LATIN, CYRILLIC, ARABIC, CJK, ..."""
    return unicodedata.name(char, "UNKNOWN").split()[0]
