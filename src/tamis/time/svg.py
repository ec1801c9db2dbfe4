"""Just enough of SVG: elements as text, with everything that comes from outside escaped."""

import re
from xml.sax.saxutils import escape, quoteattr

FONT = "font-family:system-ui,sans-serif;font-size:13px"

_NO_CHARACTERS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""What XML has no way to write, not even escaped."""


def tag(name: str, *inside: str, **attributes: str | float) -> str:
    """An element. Underscores in attributes' names become dashes; `inside` is markup already."""
    given = "".join(f" {key.strip('_').replace('_', '-')}={quoteattr(_said(v))}" for key, v in attributes.items())
    return f"<{name}{given}>{''.join(inside)}</{name}>" if inside else f"<{name}{given}/>"


def words(x: float, y: float, text: str, *, anchor: str = "start", size: float = 13, dim: bool = False) -> str:
    """A line of text in the colour of the page's own."""
    return tag(
        "text",
        _escaped(text),
        x=x,
        y=y,
        text_anchor=anchor,
        fill="currentColor",
        font_size=size,
        opacity=0.7 if dim else 1,
    )


def title(text: str) -> str:
    """What a screen reader says and a pointer shows."""
    return tag("title", _escaped(text))


def picture(width: float, height: float, name: str, *inside: str) -> str:
    """The whole, which scales with its place on the page. `name` is what those hear who can't see it."""
    return tag(
        "svg",
        title(name),
        *inside,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width:g} {height:g}",
        role="img",
        aria_label=name,
        style=f"{FONT};width:100%;max-width:{width:g}px;height:auto",
    )


def _escaped(text: str) -> str:
    return escape(_NO_CHARACTERS.sub("", text))


def _said(value: str | float) -> str:
    return _NO_CHARACTERS.sub("", value) if isinstance(value, str) else f"{value:.6g}"
