"""One draft's time before the judge: every call that the tests make of it, answered from the box.

What a test will call is mostly known: it calls what it called of an earlier draft. So the box has run those calls
already when the test begins, in one go, and answers come from there as long as the test asks the same; where it asks
something else, the call crosses into the box. A draft sees the same traffic either way, and the same as when its
behaviour is gathered.
"""

import json
import socket
from collections.abc import Mapping
from typing import Any

BLOCK = 1_000_000
"""Call k of the n-th test has number n × BLOCK + k."""

Json = Any

OPERATORS = (
    "__len__", "__iter__", "__next__", "__contains__", "__getitem__", "__setitem__", "__delitem__", "__call__",
    "__enter__", "__exit__", "__lt__", "__le__", "__gt__", "__ge__", "__add__", "__radd__", "__sub__",
    "__rsub__", "__mul__", "__rmul__", "__truediv__", "__rtruediv__", "__floordiv__", "__rfloordiv__",
    "__mod__", "__rmod__", "__pow__", "__matmul__", "__and__", "__or__", "__xor__", "__neg__", "__pos__",
    "__abs__", "__invert__", "__bool__", "__str__", "__repr__", "__format__", "__int__", "__float__",
    "__index__", "__reversed__", "__round__", "__iadd__", "__isub__", "__imul__", "__divmod__", "__lshift__",
    "__rshift__", "__bytes__", "__complex__", "__trunc__", "__floor__", "__ceil__", "__missing__",
)  # fmt: skip
"""What can be done with a handle by syntax or builtin, and is passed on where the draft's class has it."""


class DraftDied(BaseException):
    """The draft ended in a call, or had before. No `except Exception` of a test takes this for an answer."""

    __module__ = "builtins"  # pytest shows it to the owner without the path of this file


class Unproxyable(BaseException):
    """The tests do with the draft what can't be done from outside: they must be judged inside the box."""


class CannotCross(BaseException):
    """The draft returned what can't be copied out of the box. The test fails by it, and says so."""

    __module__ = "builtins"


class Conversation:
    """JSON lines to and from the supervisor."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._reader = sock.makefile("rb")

    def send(self, message: Json) -> None:
        self._sock.sendall(json.dumps(message).encode() + b"\n")

    def receive(self) -> Json:
        line = self._reader.readline()
        if not line:
            raise EOFError("the supervisor is gone")
        return json.loads(line)


class Session:
    """Answers calls: foreseen ones from what the box did already, others by asking."""

    def __init__(self, conversation: Conversation, start: Mapping[str, Json]) -> None:
        self._conversation = conversation
        self._calls: Mapping[str, Json] = start["calls"]
        self._outcomes: Mapping[str, Json] = start["outcomes"]
        self._stateless = bool(start["stateless"])
        self._all: list[Json] = []
        self._own: list[Json] = []
        self._test, self._ordinal = "", 0
        self._foreseen_valid = True
        self._live: tuple[str, int] | None = None
        self._live_count = 0
        self.died = ""
        self.unproxyable = ""
        self.read_messages = False
        """Whether any test has looked at what an exception says."""
        self.asked = False
        """Whether any call was not foreseen."""

    def begin(self, test: str, ordinal: int) -> None:
        self._test, self._ordinal, self._own = test, ordinal, []
        self.died = ""
        self._off = False

    def end(self) -> Json:
        """The calls that this test made, None where they were the foreseen ones."""
        self._all += self._own
        foreseen = self._calls.get(self._test)
        same = not self._off and foreseen is not None and len(foreseen) == len(self._own)
        if not same and not (self._stateless and not self._crosses(foreseen or [])):
            self._foreseen_valid = False
        return None if same else self._own

    def call(self, name: str, on: int | None, args: Json, kwargs: Json, get: bool) -> tuple[int, Json]:
        """One call: its number and its outcome. Raises DraftDied where the draft ended in it."""
        __tracebackhide__ = True
        if not self._ordinal:
            raise Unproxyable("the tests call the draft while they are collected")
        if self.died:
            raise DraftDied(self.died)
        index = self._ordinal * BLOCK + len(self._own)
        call = [name, on, args, kwargs, get]
        outcome = self._foreseen(index, call) or self._ask(index, call)
        self._own.append([index, call])
        if outcome[0] == "#":
            self.died = f"{outcome[1]}: {outcome[2]}" if outcome[2] else outcome[1]
            self._live = None
            raise DraftDied(self.died)
        return index, outcome

    def _foreseen(self, index: int, call: Json) -> Json:
        at, calls = len(self._own), self._calls.get(self._test, ())
        if self._off or not self._foreseen_valid or at >= len(calls) or calls[at] != [index, call]:
            self._off = True
            return None
        return json.loads(self._outcomes[self._test][at])

    def _ask(self, index: int, call: Json) -> Json:
        """Asks the box, which must have made the calls before this one and no other."""
        self.asked = True
        alone = self._stateless and not self._crosses([*self._own, [index, call]])
        history = self._own if alone else [*self._all, *self._own]
        scope = ("test", self._ordinal) if alone else ("session", 0)
        known = self._live == scope and self._live_count == len(history)
        self._conversation.send({"call": [index, call], "history": None if known else history})
        self._live, self._live_count = scope, len(history) + 1
        return json.loads(self._conversation.receive()["line"])

    def _crosses(self, calls: Json) -> bool:
        """Whether any of these calls uses an object that another test's calls made."""
        low = self._ordinal * BLOCK
        return any(ref < low for _, call in calls for ref in _references(call))

    def cannot(self, why: str) -> Unproxyable:
        self.unproxyable = self.unproxyable or why
        return Unproxyable(why)


def _references(call: Json) -> list[int]:
    found = [call[1]] if call[1] is not None else []
    stack = [*call[2], *call[3].values()]
    while stack:
        part = stack.pop()
        if isinstance(part, list):
            if part and part[0] == "ref":
                found.append(part[1])
            else:
                stack += part
    return found
