import ast

import pytest

from tamis.behaviour.kinds import Kind, kind_of


def read(annotation: str) -> Kind:
    return kind_of(ast.parse(annotation, mode="eval").body, {})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Optional[int]", "int | None"),
        ("Union[int, str]", "int | str"),
        ("typing.List[str]", "list[str]"),
        ("datetime.date", "date"),
        ("'list[int]'", "list[int]"),
        ("Sequence[int]", "list[int]"),
        ("uuid.UUID", "UUID"),
        ("pathlib.PurePosixPath", "Path"),
        ("Annotated[int, 'cents']", "int"),
        ("int | (str | int)", "int | str"),
    ],
)
def test_two_ways_of_writing_an_annotation_are_one_kind(one: str, other: str) -> None:
    assert read(one) == read(other)


def test_a_tuple_of_any_length_is_not_a_pair() -> None:
    assert read("tuple[int, ...]").name == "run"
    assert read("tuple[int, int]").name == "tuple"


def test_a_literal_keeps_its_values() -> None:
    assert read("Literal['a', 2]").literals == ("'a'", "2")


def test_a_quoted_annotation_that_does_not_parse_is_any_kind() -> None:
    assert read("'list['").name == "any"
