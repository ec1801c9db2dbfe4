"""What a check is: anything that looks at drafts and says what it found.

A check says for every draft that it was given what it found, once, in any order, and never drops one: where it could
not tell, it says so, and whose fault that is. It writes nothing itself; what it found is recorded by who asked.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from tamis.records import Answer, Draft, Record, Spec


class Found(Record, frozen=True, kw_only=True):
    """What a check found on one draft, and `how` it was gathered: which parser, which layers of the sandbox. The
    seconds on the wall and of CPU that this draft took, where the check knows them."""

    draft: str
    answer: Answer
    how: Mapping[str, str] = {}
    wall_seconds: float | None = None
    cpu_seconds: float | None = None


class Check(Protocol):
    """`spec` names the check with everything that would make its answers others: evidence under the same spec is
    never gathered twice. A plug-in is a callable that takes the LoadedBrief and returns one of these."""

    @property
    def spec(self) -> Spec: ...

    def look(self, drafts: Iterable[tuple[Draft, bytes]]) -> Iterator[Found]: ...
