from hypothesis import given
from hypothesis import strategies as st

from tamis.writers.embedded.prompts import quoted


def test_a_quotation_is_one_paragraph_a_blank_quoted_line() -> None:
    assert quoted("# A\n\n> It was\n> dawn.\n>\n>  She left.\n\nEnd it.\n") == "It was dawn.\n\nShe left."


def test_the_last_of_several_quotations_counts() -> None:
    assert quoted("> Style matters.\n\nGo on from:\n\n> The ferry\n  > had gone.") == "The ferry had gone."


def test_code_that_is_set_in_is_no_quotation() -> None:
    assert quoted("    > not\n\ntext > not either\n") == ""


@given(st.text())
def test_any_text_can_be_looked_at(text: str) -> None:
    assert quoted(text) == quoted(text).strip()
