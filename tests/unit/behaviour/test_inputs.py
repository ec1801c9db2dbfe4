"""Inputs: what a real signature asks for can be made, and drafts that part on it are parted."""

import random

import pytest

from tamis.behaviour.changes import changed
from tamis.behaviour.hints import Hints, hints_of
from tamis.behaviour.inputs import Maker
from tamis.behaviour.programs import key_of
from tamis.behaviour.surface import surface_of
from tamis.sandbox import Program

from ._briefs import Case
from ._exploring import Explored

TYPES = """
class Colour(Enum):
    RED = 1
    BLUE = 2

class Film(TypedDict):
    title: str
    year: int
    stars: NotRequired[float]

class Draft(TypedDict, total=False):
    title: Required[str]
    year: int

class Point(NamedTuple):
    x: int
    y: int
"""


def made(signature: str, *, times: int = 60) -> list[Program]:
    surface = surface_of(f"```python\n{TYPES}\ndef f({signature}) -> int: ...\n```", [])
    maker, rng = Maker(surface, Hints()), random.Random(0)
    (function,) = surface.functions
    programs = [maker.extended(rng, (), signature=function) for _ in range(times)]
    assert all(programs)
    assert all(map(maker.inside, programs))
    return programs


@pytest.mark.parametrize(
    "signature",
    [
        "film: Film",
        "films: list[Film]",
        "film: Film | None",
        "pair: tuple[Point, Colour]",
        "pairs: list[tuple[Point, Colour, int]]",
        "rows: list[list[Point]]",
        "*points: Point",
        "run: tuple[Film, ...]",
        "who: UUID",
        "where: Path",
        "all_: dict[UUID, Path]",
    ],
)
def test_what_a_signature_asks_for_is_made(signature: str) -> None:
    programs = made(signature)
    assert {program[-1].name for program in programs} == {"f"}
    assert len({key_of(program) for program in programs}) > 1


def test_a_typed_dict_is_made_with_all_its_keys_but_those_it_may_lack() -> None:
    films = [call for program in made("film: Film") for call in program if call.name == "Film"]
    assert all(call.args == () and {"title", "year"} <= call.kwargs.keys() for call in films)
    assert {"stars" in call.kwargs for call in films} == {True, False}
    drafts = [call for program in made("draft: Draft") for call in program if call.name == "Draft"]
    assert all("title" in call.kwargs for call in drafts)
    assert {"year" in call.kwargs for call in drafts} == {True, False}


def test_a_typed_dict_has_no_attributes_to_read() -> None:
    film = surface_of(f"```python\n{TYPES}\n```", []).class_named("Film")
    assert film is not None
    assert film.members == ()


NEWEST = Case(
    module="films",
    brief="""```python
class Film(TypedDict):
    title: str
    year: int

def newest(films: list[Film]) -> str: ...
```""",
    drafts={
        "first_of_the_newest": """from typing import TypedDict
class Film(TypedDict):
    title: str
    year: int
def newest(films):
    return max(films, key=lambda film: film["year"])["title"] if films else ""
""",
        "last_of_the_newest": """from typing import TypedDict
class Film(TypedDict):
    title: str
    year: int
def newest(films):
    return sorted(films, key=lambda film: film["year"])[-1]["title"] if films else ""
""",
    },
)


def test_drafts_part_on_what_stands_in_a_typed_dict() -> None:
    explored = Explored(NEWEST, calls=1_500)
    (decision,) = explored.parting("last_of_the_newest") or explored.parting("first_of_the_newest")
    assert decision.state == "open"
    assert "Film(title=" in explored.shown(decision)


def test_ids_in_the_tests_are_what_inputs_use() -> None:
    surface = surface_of("```python\ndef f(who: UUID) -> int: ...\n```", [])
    who = "00000000-0000-4000-8000-00000000002a"
    test = f"from uuid import UUID\nfrom m import f\n\ndef test_f():\n    assert f(UUID('{who}')) == 1\n"
    hints = hints_of([test], [], "", surface=surface)
    maker, rng = Maker(surface, hints), random.Random(0)
    made = [maker.extended(rng, (), signature=surface.functions[0])[-1].args[0] for _ in range(60)]
    assert ["UUID", who] in made


def test_a_dict_that_the_tests_write_out_is_a_typed_dict_too() -> None:
    surface = surface_of(f"```python\n{TYPES}\ndef f(films: list[Film]) -> int: ...\n```", [])
    test = "from m import f\n\ndef test_f():\n    assert f([{'title': 'Alien', 'year': 1979}]) == 1\n"
    maker = Maker(surface, hints_of([test], [], "", surface=surface))
    (seed,) = maker.seeds()
    assert maker.inside(seed)
    grown, rng = seed, random.Random(0)
    for _ in range(50):
        grown, _returned = changed(rng, maker, grown, [None] * len(grown), lambda: seed)
    assert grown
