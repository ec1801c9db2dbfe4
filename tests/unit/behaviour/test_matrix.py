import msgspec
import numpy as np

from tamis.behaviour.camps import camps_of
from tamis.behaviour.matrix import Column, Keys, Matrix
from tamis.sandbox import Call


def ran(*outcomes: object) -> bytes:
    return msgspec.json.encode([["=", o] if not isinstance(o, list) else o for o in outcomes])


def error(message: str) -> list[object]:
    return ["!", "Refused", ["Exception"], message]


TWO = (Call(name="f"), Call(name="g"))


def matrix_of(*rows: dict[str, bytes]) -> Matrix:
    matrix = Matrix(tuple(rows[0]))
    for row in rows:
        matrix.add(TWO, row, inside=True)
    return matrix


def test_equal_behaviour_has_equal_numbers_and_other_behaviour_has_others() -> None:
    matrix = matrix_of({"a": ran(1, 2), "b": ran(1, 3), "c": ran(1, 2)})
    a, b, c = matrix.cells[:, 0]
    assert a == c != b
    assert (matrix.steps(0)[:, 0] == matrix.steps(0)[0, 0]).all()
    assert matrix.outcome("b", 0) == (b'["=",1]', b'["=",3]')


def test_the_words_of_an_exception_are_no_behaviour() -> None:
    matrix = matrix_of({"a": ran(error("it is out"), 1), "b": ran(error("no!"), 1), "c": ran(0, 1)})
    assert [len(c.drafts) for c in camps_of(matrix)] == [2, 1]


def test_a_difference_belongs_to_the_first_call_that_shows_it() -> None:
    column = Column([ran(1, 5), ran(2, 6), ran(1, 5), ran(1, 7)], Keys())
    assert [(p.step, p.sides) for p in column.partings()] == [(0, ((0, 2, 3), (1,))), (1, ((0, 2), (3,)))]


def test_what_follows_from_a_difference_is_not_another_one() -> None:
    column = Column([ran(1, 5), ran(2, 6)], Keys())
    assert [p.step for p in column.partings()] == [0]


def test_a_cell_that_changes_from_run_to_run_is_unstable_and_parts_nobody() -> None:
    keys = Keys()
    column = Column([ran(1, 5), ran(1, 6), ran(1, 5)], keys)
    column.run_again({0: ran(1, 5), 1: ran(1, 7), 2: ran(1, 5)}, keys)
    assert column.unstable == {1}
    assert list(column.partings()) == []


def test_an_unstable_draft_stays_with_those_it_is_like_elsewhere() -> None:
    matrix = matrix_of(
        {"a": ran(1, 5), "b": ran(1, 6), "c": ran(1, 9)}, {"a": ran(1, 5), "b": ran(1, 5), "c": ran(1, 8)}
    )
    matrix.columns[0].run_again({1: ran(1, 7)}, matrix.keys)
    assert [c.drafts for c in camps_of(matrix)] == [("a", "b"), ("c",)]
    assert matrix.unstable_drafts() == {"b": (0,)}
    assert np.argwhere(matrix.unstable).tolist() == [[1, 0]]


def test_camps_are_the_heaviest_first_and_their_shares_are_of_all_drafts() -> None:
    matrix = matrix_of({"a": ran(1, 1), "b": ran(2, 1), "c": ran(2, 1), "d": ran(3, 1)})
    camps = camps_of(matrix)
    assert [c.drafts for c in camps] == [("b", "c"), ("a",), ("d",)]
    assert [c.share for c in camps] == [0.5, 0.25, 0.25]


def test_no_programs_means_one_camp() -> None:
    assert [c.drafts for c in camps_of(Matrix(("a", "b")))] == [("a", "b")]


def test_a_matrix_is_as_large_as_the_behaviours_seen() -> None:
    matrix = Matrix(tuple(f"d{i}" for i in range(1_000)))
    for n in range(50):
        matrix.add(TWO, {d: ran(n, "x" * 1_000) for d in matrix.drafts}, inside=True)
    assert sum(len(raw) for c in matrix.columns for raw in c.raw) < 100_000
    assert matrix.cells.shape == (1_000, 50)
