"""Strict reading of a TOML file that a person wrote: every mistake at once, each with its line, in the words of who
wrote it.

What may stand in the file is given as structs, one a section. Python's TOML parser does not say where a key stands and
msgspec stops at the first mistake, so lines are looked up again and keys are read one by one.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Literal, get_args, get_origin, get_type_hints

import msgspec

from tamis.errors import BriefError, nearest

Table = dict[str, object]
Kinds = Mapping[str, type[msgspec.Struct]]

_TYPE_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text in quotes",
    "array": "a list",
    "object": "a section",
    "bool": "true or false",
}


def keys(section: type[msgspec.Struct]) -> dict[str, object]:
    """The keys of a section with the type, bounds and description of each, as annotated. A field's trailing
    underscore keeps it off Python's keywords and is not part of the key."""
    hints = get_type_hints(section, include_extras=True)
    return {name.rstrip("_"): hints[name] for name in section.__struct_fields__}


def read_sections(text: str, kinds: Kinds, *, where: str) -> dict[str, msgspec.Struct]:
    """The sections that the file has, each as its struct. `where` names the file in errors. Raises BriefError with
    everything that is wrong in it."""
    try:
        document: Table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BriefError(
            f"{where} is not TOML: {error}", hint='a text stands in quotes, a list in brackets: from = ["a", "b"]'
        ) from error
    reader = _Reader(text, kinds, where)
    sections = {name: reader.section(name, table) for name, table in document.items()}
    if reader.mistakes:
        raise BriefError("\n".join(reader.mistakes), hint="docs/reference/tamis-toml.md explains every key")
    return {name: section for name, section in sections.items() if section is not None}


class _Reader:
    """Reads section by section, and keeps what it finds wrong."""

    def __init__(self, text: str, kinds: Kinds, where: str) -> None:
        self._text = text
        self._kinds = kinds
        self._where = where
        self.mistakes: list[str] = []

    def section(self, name: str, table: object) -> msgspec.Struct | None:
        if name not in self._kinds:
            self._wrong(name, None, _unknown_section(name, table, self._kinds))
            return None
        if not isinstance(table, dict):
            self._wrong(name, None, f"'{name}' is a section: write [{name}] on a line of its own, its keys below")
            return None
        kind = self._kinds[name]
        fields = {field.rstrip("_"): field for field in kind.__struct_fields__}
        wanted = keys(kind)
        values: dict[str, object] = {}
        for key, value in table.items():
            if key not in wanted:
                self._wrong(name, key, f"[{name}] has no key '{key}'{_did_you_mean(key, wanted)}")
                continue
            try:
                values[fields[key]] = msgspec.convert(value, wanted[key])
            except msgspec.ValidationError as error:
                self._wrong(name, key, f"[{name}] {key} = {_shown(value)}: {_in_words(str(error), value, wanted[key])}")
        return kind(**values)

    def _wrong(self, section: str, key: str | None, what: str) -> None:
        self.mistakes.append(f"{self._where} line {line_of(self._text, section, key)}: {what}")


def _unknown_section(name: str, table: object, kinds: Kinds) -> str:
    if isinstance(table, dict):
        return f"there is no section [{name}]{_did_you_mean(name, kinds)}"
    homes = [section for section, kind in kinds.items() if name in keys(kind)]
    if homes:
        return f"'{name}' stands outside any section; it belongs under [{homes[0]}]"
    return f"there is no key '{name}'; the sections are {', '.join(kinds)}"


def _did_you_mean(word: str, known: Iterable[str]) -> str:
    known = list(known)
    near = nearest(word, known)
    return f"; did you mean '{near}'?" if near else f"; there are {', '.join(known)}"


def _shown(value: object) -> str:
    """The value about as TOML writes it, not too long."""
    text = value if isinstance(value, float) else msgspec.json.encode(value, enc_hook=str).decode()
    return str(text) if len(str(text)) <= 60 else f"{str(text)[:57]}..."


def _in_words(error: str, value: object, wanted: object) -> str:
    """What msgspec found wrong with a value, in the words of who wrote the file."""
    allowed = _literals(wanted)
    if allowed:
        words = [word for word in (value if isinstance(value, list) else [value]) if word not in allowed]
        near = next((meant for word in words if isinstance(word, str) and (meant := nearest(word, allowed))), None)
        return f"expected {', '.join(allowed[:-1])} or {allowed[-1]}" + (f"; did you mean '{near}'?" if near else "")
    if "matching regex" in error:
        return "expected a name that Python can import, such as lending or shop.lending"
    found = re.match(r"Expected `([a-z |]+)`( [<>]=? [\d.]+)?(?:, got `(\w+)`)?", error)
    if not found:
        return error
    kinds = [_TYPE_WORDS.get(kind, kind) for kind in found[1].split(" | ") if kind != "null"]
    got = f", not {_TYPE_WORDS.get(found[3], found[3])}" if found[3] else ""
    inside = " in the list" if isinstance(value, list) and "array" not in found[1] else ""
    return f"expected {' or '.join(kinds)}{inside}{found[2] or ''}{got}"


def _literals(wanted: object) -> list[str]:
    """The texts that a type allows, where it allows only some."""
    if get_origin(wanted) is Literal:
        return [str(option) for option in get_args(wanted)]
    return [option for part in get_args(wanted) for option in _literals(part)]


def line_of(text: str, section: str, key: str | None = None) -> int:
    """The line (from 1) on which a section or one of its keys stands, as near as a glance at each line can tell."""
    name, home = re.escape(key or section), re.escape(section)
    heading = re.compile(rf"""\s*\[+\s*["']?{home}["']?\s*[\].]""")
    below_heading = re.compile(rf"""\s*(?:\[+\s*{home}\s*\.\s*)?["']?{name}["']?\s*[.=\]]""")
    in_full = re.compile(rf"""\s*["']?{home}["']?\s*[.=].*\b{name}\b""")
    inside, at_section = False, 1
    for number, line in enumerate(text.splitlines(), start=1):
        if heading.match(line):
            inside, at_section = True, number
            if key is None or below_heading.match(line):
                return number
        elif line.lstrip().startswith("["):
            inside = False
        elif in_full.match(line) or ((inside or key is None) and below_heading.match(line)):
            return number
    return at_section
