from collections.abc import Callable, Iterator

import pytest

from tamis.checks.parser_pool import ParserPool
from tamis.records import Draft, Finish, Spec, digest

WRITER = Spec(kind="writer", name="test", version="1")


@pytest.fixture
def draft() -> Callable[..., tuple[Draft, bytes]]:
    def make(name: str, content: str | bytes, finish: Finish = "stop") -> tuple[Draft, bytes]:
        raw = content.encode() if isinstance(content, str) else content
        return Draft(id=name, brief="b", name=name, blob=digest(raw), writer=WRITER, finish=finish), raw

    return make


@pytest.fixture(scope="session")
def pool() -> Iterator[ParserPool]:
    """One pool for all tests that don't try to break it: a process costs more than what most of them ask."""
    with ParserPool(processes=1) as shared:
        yield shared
