import pytest

from tamis.behaviour.kinds import ANY, Kind
from tamis.behaviour.surface import Surface, interface_blocks, surface_of

LENDING = """# Desk

```python
class LendingError(Exception): ...

class Desk:
    def __init__(self, limit: int = 3) -> None: ...
    def lend(self, tool: str, on: date) -> date: ...   # the due date
    @property
    def open(self) -> bool: ...
    @staticmethod
    def parse(text: str) -> "Desk": ...
```

It is used like this:

```python
desk = Desk()
desk.lend("drill", date(2026, 3, 1))
```
"""


def names(surface: Surface) -> list[str]:
    return [s.qualname for s in surface.signatures()]


def test_the_signatures_of_the_brief_are_what_can_be_called() -> None:
    surface = surface_of(LENDING, [])
    assert surface.basis == "brief"
    assert names(surface) == ["Desk", "Desk.lend", "Desk.open", "Desk.parse"]
    assert surface.exceptions == ("LendingError",)
    lend = list(surface.signatures())[1]
    assert [(p.name, p.kind.name) for p in lend.params] == [("tool", "str"), ("on", "date")]
    assert lend.comment == "the due date"
    assert [s.form for s in surface.signatures()] == ["constructor", "method", "property", "static"]


def test_a_constructor_keeps_its_optional_arguments() -> None:
    (limit,) = surface_of(LENDING, []).classes[0].constructor.params
    assert (limit.optional, limit.default, limit.kind.name) == (True, "3", "int")


def test_an_example_of_use_is_no_interface() -> None:
    brief = "```python\ndef f(x: int) -> int: ...\n```\n\n```python\ndef demo():\n    return f(1)\n```\n"
    assert names(surface_of(brief, [])) == ["f"]


@pytest.mark.parametrize(
    "block",
    [
        "def add(a: int, b: int) -> int",
        "def add(a: int, b: int) -> int:",
        "def add(a: int, b: int) -> int: ...",
        'def add(a: int, b: int) -> int:\n    """Adds."""',
        "def add(a: int, b: int) -> int: pass",
        "def add(a: int, b: int) -> int  # the sum",
    ],
)
def test_a_signature_needs_no_body(block: str) -> None:
    (add,) = surface_of(f"```python\n{block}\n```", []).functions
    assert [p.kind.name for p in add.params] == ["int", "int"]


def test_a_signature_in_the_running_text_is_found() -> None:
    surface = surface_of("Write `to_roman(n: int) -> str` and `from_roman(text: str) -> int`.", [])
    assert names(surface) == ["to_roman", "from_roman"]


def test_without_signatures_what_most_drafts_share_is_the_surface() -> None:
    drafts = [
        "class Stack:\n    def push(self, x): ...\n    def pop(self): ...\n    def _grow(self): ...\n",
        "class Stack:\n    def push(self, x): ...\n    def pop(self): ...\n    def dump(self): ...\n",
        "class Stack:\n    def push(self, item: int): ...\n    def pop(self): ...\ndef helper(): ...\n",
    ]
    surface = surface_of("Write a stack.", drafts)
    assert surface.basis == "drafts"
    assert names(surface) == ["Stack", "Stack.push", "Stack.pop"]


def test_what_the_brief_leaves_out_is_filled_in_from_the_drafts() -> None:
    drafts = ["class P:\n    def __init__(self, x: int): ...\n    def move(self, by: int) -> int: ...\n"] * 2
    surface = surface_of("```python\nclass P:\n    def move(self, by): ...\n```", drafts)
    assert [p.name for p in surface.classes[0].constructor.params] == ["x"]
    assert surface.classes[0].members[0].params[0].kind == Kind(name="int")


def test_a_dataclass_is_made_from_its_fields_and_shows_them() -> None:
    card = "@dataclass\nclass Card:\n    suit: Suit\n    rank: int = 2\n"
    brief = f"```python\n{card}\nclass Suit(Enum):\n    H = 1\n    S = 2\n```"
    surface = surface_of(brief, [])
    assert [(p.name, p.optional) for p in surface.classes[0].constructor.params] == [("suit", False), ("rank", True)]
    assert [m.form for m in surface.classes[0].members] == ["property", "property"]
    assert surface.enums == {"Suit": ("H", "S")}
    assert surface.classes[0].constructor.params[0].kind == Kind(name="class", of_class="Suit")


def test_a_broken_draft_and_a_text_without_python_are_no_surface() -> None:
    assert surface_of("Tell a story.", ["def f(:", "x = = 1", ""]).empty


def test_an_alias_stands_for_its_kind() -> None:
    surface = surface_of("```python\nSlot = tuple[int, int]\ndef merge(slots: list[Slot]) -> list[Slot]: ...\n```", [])
    slots = surface.functions[0].params[0].kind
    assert slots == Kind(name="list", of=(Kind(name="tuple", of=(Kind(name="int"), Kind(name="int"))),))


def test_an_unknown_annotation_is_any_kind() -> None:
    assert surface_of("```python\ndef f(x: Widget): ...\n```", []).functions[0].params[0].kind == ANY


def test_several_blocks_of_signatures_make_one_surface() -> None:
    brief = "```python\ndef f(): ...\n```\ntext\n```python\ndef g(): ...\n```"
    assert len(interface_blocks(brief)) == 2
    assert names(surface_of(brief, [])) == ["f", "g"]
