"""The reference page of tamis.toml, made from the settings themselves, so that it can't say anything else than they do.
`docs/reference/tamis-toml.md` is this text; a test holds the two together.
"""

import types
from collections.abc import Iterator
from typing import Annotated, Literal, Union, get_args, get_origin

import msgspec
from msgspec import Meta

from tamis.config import sections
from tamis.strict import keys

_HEAD = """# tamis.toml

What a brief's folder may say about how it is sieved. The file is optional, and so is every key: what is left out holds
at its default. Reading is strict: an unknown section or key, or a value out of bounds, is refused with its line and
the nearest known name.

```toml
[brief]
desk = "software"
[drafts]
from = "drafts/*.py"
[tests]
folder = "tests"
cpu_seconds = 5
[choose]
odds = 0.95
```
"""
_PLAIN = {str: "text", int: "whole number", float: "number", bool: "true or false", object: "anything"}


def tamis_toml_page() -> str:
    """The page as Markdown."""
    return "\n".join([_HEAD, *(line for name, kind in sections().items() for line in _section(name, kind))])


def _section(name: str, kind: type[msgspec.Struct]) -> Iterator[str]:
    yield f"## [{name}]\n\n{kind.__doc__}\n"
    yield "| key | value | default | meaning |\n|---|---|---|---|"
    defaults = {field.name.rstrip("_"): field.default for field in msgspec.structs.fields(kind)}
    for key, annotated in keys(kind).items():
        value, bounds, meaning = _read(annotated)
        yield f"| `{key}` | {value}{bounds} | {_shown(defaults[key])} | {meaning} |"
    yield ""


def _read(annotated: object) -> tuple[str, str, str]:
    """The kind of value, its bounds and its meaning, in words."""
    inner, *metas = get_args(annotated)
    bounds, meaning = "", ""
    for meta in metas:
        if isinstance(meta, Meta):
            meaning = meta.description or meaning
            signs = (("≥", meta.ge), (">", meta.gt), ("≤", meta.le), ("<", meta.lt))
            bounds += "".join(f", {sign} {limit:,}" for sign, limit in signs if limit is not None)
    return _kind(inner), bounds, meaning


def _kind(wanted: object) -> str:  # noqa: PLR0911 - one for each kind of type
    origin = get_origin(wanted)
    if origin is Annotated:
        return _kind(get_args(wanted)[0])
    if origin is Literal:
        return " or ".join(f"`{msgspec.json.encode(option).decode()}`" for option in get_args(wanted))
    if origin in (Union, types.UnionType):
        return " or ".join(_kind(option) for option in get_args(wanted) if option is not type(None))
    if origin is tuple:
        return f"list of {_kind(get_args(wanted)[0])}"
    if origin is dict:
        return f"table of {_kind(get_args(wanted)[1])} by name"
    if isinstance(wanted, type) and issubclass(wanted, msgspec.Struct):
        return f"table {{{', '.join(keys(wanted))}}}"
    return next((word for plain, word in _PLAIN.items() if plain is wanted), str(wanted))


def _shown(default: object) -> str:
    match default:
        case None:
            return "–"
        case ():
            return "`[]`"
        case str():
            return f'`"{default}"`'
        case _:
            return f"`{default:_}`" if isinstance(default, int) and default >= 10_000 else f"`{default}`"
