"""Exceptions of the draft as exceptions of the tests: of a class that derives from what the draft's class derives from,
with the same text, and with a note when a test looks at that text."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tamis.sandbox.judging.proxy import World


def exception_kind(name: str, bases: tuple[type, ...], world: World) -> type[BaseException]:
    def attribute(self: Any, attr: str) -> Any:
        __tracebackhide__ = True
        held = self.__dict__.get("_tamis")
        if held is None or attr.startswith("__"):
            raise AttributeError(attr)
        return held[0].ask(attr, held[1], get=True)

    def said(self: Any) -> str:
        world.message_read()
        return BaseException.__str__(self)

    def shown(self: Any) -> str:
        world.message_read()
        return BaseException.__repr__(self)

    def arguments(self: Any) -> Any:
        world.message_read()
        return _ARGS.__get__(self)

    told = {"__str__": said, "__repr__": shown, "args": property(arguments, _ARGS.__set__), "_tamis_told": True}
    made: Any = type(name, bases, {"__getattr__": attribute, "__module__": world.module, "__init__": _accept, **told})
    return made  # type: ignore[no-any-return]


_ARGS: Any = BaseException.__dict__["args"]


def is_told(kind: type) -> bool:
    """Whether this class tells us when a test looks at its message."""
    return "_tamis_told" in vars(kind)


def _accept(self: BaseException, *args: object, **kwargs: object) -> None:
    """A draft's exception made on this side takes what it is given."""


def worded(kind: type[BaseException], message: str) -> BaseException:
    """For builtin exceptions whose text is made from their fields: the same text, whatever the fields."""
    made_kind: Any = type(kind.__name__, (kind,), {"__str__": lambda _: message, "__module__": kind.__module__})
    made: BaseException = made_kind.__new__(made_kind)
    return made


def unquoted(message: str) -> object:
    try:
        return ast.literal_eval(message)
    except (ValueError, SyntaxError):
        return message
