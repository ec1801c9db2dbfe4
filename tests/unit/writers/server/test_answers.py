from pathlib import Path

import pytest

from tamis.brief import LoadedBrief
from tamis.writers.server.answers import content_of

from .conftest import MakeBrief

SHOP = """# The shop

Write `shop.py`.

```python
class Shop: ...
def price(x: int) -> int: ...
```
"""
BOTH = "class Shop:\n    pass\n\n\ndef price(x):\n    return x\n"
CLASS, PRICE = "class Shop:\n    pass\n", "def price(x):\n    return x\n"


@pytest.fixture
def shop(brief: MakeBrief) -> LoadedBrief:
    return brief(desk="software", text=SHOP)


def fence(code: str, info: str = "python") -> str:
    return f"```{info}\n{code}```\n"


def test_the_code_is_taken_out_of_the_words(shop: LoadedBrief) -> None:
    content = content_of(f"Sure! Here it is:\n\n{fence(BOTH)}\nIt keeps the books.", shop)
    assert (content.text, content.suffix) == (BOTH, ".py")


def test_an_answer_without_a_fence_is_the_code(shop: LoadedBrief) -> None:
    assert content_of(BOTH, shop).text == BOTH


def test_an_example_of_use_does_not_become_the_draft(shop: LoadedBrief) -> None:
    use = "shop = Shop()\n" * 50
    assert content_of(f"{fence(BOTH)}\nUse it so:\n{fence(use)}", shop).text == BOTH


def test_of_two_whole_versions_the_last_one_counts(shop: LoadedBrief) -> None:
    better = BOTH.replace("return x", "return int(x)")
    assert content_of(f"{fence(BOTH)}\nOn second thought:\n{fence(better)}", shop).text == better


def test_a_file_in_parts_is_put_together_in_their_order(shop: LoadedBrief) -> None:
    assert content_of(f"First\n{fence(CLASS)}\nand\n{fence(PRICE)}", shop).text == f"{CLASS}\n{PRICE}"


def test_of_several_files_the_one_named_like_the_module_is_the_draft(shop: LoadedBrief) -> None:
    answer = (
        f"### helpers.py\n{fence(PRICE)}\n### shop.py\n{fence(CLASS)}\n### README.md\n{fence('# Shop', 'markdown')}"
    )
    assert content_of(answer, shop).text == CLASS


def test_tests_and_documents_beside_the_code_are_no_part_of_the_draft(shop: LoadedBrief) -> None:
    answer = (
        f"**store.py**\n{fence(BOTH)}\n**test_store.py**\n{fence('def test(): ...')}\n**README.md**\n{fence('x', 'md')}"
    )
    assert content_of(answer, shop).text == BOTH


def test_files_of_which_none_is_the_module_become_one_bundle_in_their_order(shop: LoadedBrief) -> None:
    content = content_of(f"```python a.py\n{CLASS}```\n```python b.py\n{PRICE}```", shop)
    assert content.text == f"# file: a.py\n{CLASS}\n# file: b.py\n{PRICE}"


def test_a_file_given_twice_counts_as_it_was_last(shop: LoadedBrief) -> None:
    assert content_of(f"```python shop.py\n{CLASS}```\n```python shop.py\n{BOTH}```", shop).text == BOTH


def test_what_was_cut_off_stays_cut_off(shop: LoadedBrief) -> None:
    assert content_of("Here:\n```python\nclass Shop:\n    def pay(self", shop).text == "class Shop:\n    def pay(self\n"


def test_thinking_aloud_is_no_part_of_the_draft(shop: LoadedBrief) -> None:
    answer = f"<think>\nMaybe\n{fence('class Wrong: ...')}\n</think>\n{fence(BOTH)}"
    assert content_of(answer, shop).text == BOTH
    assert content_of("<think>\nI never got", shop).text == ""


def test_another_language_gives_its_suffix(shop: LoadedBrief) -> None:
    assert content_of("```go\npackage shop\n```", shop).suffix == ".go"


def test_a_record_is_found_in_its_fence_or_among_words(brief: MakeBrief) -> None:
    lab = brief(desk="lab")
    for answer in ('```json\n{"a": 1}\n```', 'My idea is {"a": 1}, since it is cheap.', '{"a": 1}'):
        assert content_of(answer, lab).text == '{"a": 1}\n'
    assert content_of('{"a": 1', lab).text == '{"a": 1\n'
    assert content_of("", lab).text == ""


def test_prose_is_left_as_it_is(brief: MakeBrief) -> None:
    prose = brief(desk="prose")
    text = "She closed the book.\n\n```\na sign\n```\n\nThe end."
    assert content_of(text, prose).text == text + "\n"
    assert content_of("```\nShe closed the book.\n```", prose).text == "She closed the book.\n"


def test_the_brief_of_the_lending_desk_knows_its_module(tmp_path: Path) -> None:
    from tamis.brief import load_brief

    lending = load_brief(Path(__file__).parents[4] / "examples" / "lending")
    source = (Path(__file__).parents[4] / "examples" / "lending" / "drafts" / "draft_01.py").read_text()
    assert (
        content_of(f"I wrote `lending.py`:\n\n{fence(source)}\nRun it with:\n{fence('pytest', 'bash')}", lending).text
        == source
    )
