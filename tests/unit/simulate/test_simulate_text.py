from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.errors import DraftsError
from tamis.ledger import Ledger
from tamis.records import Draft, Spec
from tamis.simulate.replay import read_texts, tokens_of
from tamis.simulate.text import Tokens, as_text, generated
from tamis.tokens import count_tokens


def _first(seed: int, paragraphs: int) -> Tokens:
    return [token for paragraph in islice(generated(seed), paragraphs) for token in paragraph]


@settings(max_examples=40)
@given(st.integers(0, 2**64), st.integers(1, 40))
def test_a_tokenizer_counts_as_many_tokens_as_were_written(seed: int, paragraphs: int) -> None:
    tokens = _first(seed, paragraphs)
    assert count_tokens(as_text(tokens)) == len(tokens)


@settings(max_examples=40)
@given(st.integers(0, 2**64), st.integers(1, 300))
def test_so_it_does_wherever_the_text_is_cut(seed: int, count: int) -> None:
    tokens = _first(seed, 20)[:count]
    assert count_tokens(as_text(tokens)) == len(tokens)


def test_a_seed_always_writes_the_same_and_another_seed_something_else() -> None:
    assert _first(7, 5) == _first(7, 5)
    assert _first(7, 5) != _first(8, 5)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
def test_a_text_written_again_is_the_same_text(text: str) -> None:
    assert as_text(tokens_of(text)) == text


def test_a_folder_is_written_again_in_the_order_of_its_names(tmp_path) -> None:
    (tmp_path / "b.py").write_text("second")
    (tmp_path / "a.py").write_text("first")
    (tmp_path / ".hidden").write_text("no")
    assert read_texts(str(tmp_path)) == ["first", "second"]


def test_jsonl_is_written_again_whatever_its_field_is_called(tmp_path) -> None:
    file = tmp_path / "samples.jsonl"
    file.write_text('{"task_id": "a", "completion": "one"}\n\n{"text": "two"}\n')
    assert read_texts(str(file)) == ["one", "two"]


def test_a_row_without_a_text_is_named_by_its_line(tmp_path) -> None:
    file = tmp_path / "samples.jsonl"
    file.write_text('{"text": "two"}\n{"n": 1}\n')
    with pytest.raises(DraftsError, match="line 2"):
        read_texts(str(file))


def test_a_recorded_run_is_written_again_in_the_order_recorded(tmp_path) -> None:
    with Ledger(tmp_path) as ledger:
        for name in ("z", "a"):
            blob = ledger.add_blob(f"text of {name}".encode())
            writer = Spec(kind="writer", name="files", version="1")
            ledger.add(Draft(id=name, brief="b", name=name, blob=blob, writer=writer))
    assert read_texts(str(tmp_path)) == ["text of z", "text of a"]


@pytest.mark.parametrize("what", ["missing", "empty"])
def test_nothing_to_write_again_is_an_error_and_not_silence(tmp_path, what: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(DraftsError, match="nothing to write again"):
        read_texts(str(tmp_path / what))
