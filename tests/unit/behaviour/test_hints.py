from tamis.behaviour.hints import hints_of
from tamis.behaviour.surface import surface_of
from tamis.sandbox import decode

BRIEF = """A loan lasts seven days; "late" costs 50 cents a day.

```python
class Desk:
    def __init__(self): ...
    def add_tool(self, tool: str) -> None: ...
    def lend(self, tool: str, on: date) -> date: ...
    def owes(self, tool: str) -> int: ...
def price(text: str) -> int: ...
```

`price("3 eur")` → 300
"""
DRAFT = '''
"""A docstring with 99 in it."""
from datetime import timedelta
LOAN = timedelta(days=7)
KEPT = 3
class Desk:
    def __init__(self):
        self.tools = {}
    def add_tool(self, tool):
        self.tools[tool] = None
    def lend(self, tool, on):
        if tool not in self.tools:
            raise KeyError("never heard of it")
        self.tools[tool] = on + timedelta(days=KEPT) + LOAN
        return self.tools[tool]
    def owes(self, tool):
        seen = []
        seen.append(tool)
        return 24 * 60
def price(text):
    return int(text.removesuffix(" eur")) * 100
'''
TESTS = """
def test_it():
    desk = Desk()
    desk.add_tool("drill")
    desk.lend("drill", date(2026, 3, 1))

def test_other():
    desk = Desk()
    desk.add_tool("saw")
    desk.owes("saw")
"""


def hints():
    return hints_of([TESTS], [DRAFT], BRIEF, surface=surface_of(BRIEF, [DRAFT]))


def test_values_of_the_tests_are_known_by_their_parameter() -> None:
    used = hints().used
    assert set(used["tool"]) == {"drill", "saw"}
    assert decode(used["lend.on"][0]).isoformat() == "2026-03-01"


def test_constants_of_drafts_are_found_and_folded() -> None:
    found = hints()
    assert {3, 100, 24 * 60, 50} <= set(found.ints)
    assert " eur" in found.texts


def test_numbers_of_days_are_spans_also_by_a_constants_name() -> None:
    assert set(hints().spans) == {7, 3}


def test_what_only_people_read_is_no_constant() -> None:
    found = hints()
    assert 99 not in found.ints
    assert "never heard of it" not in found.texts


def test_an_example_of_the_brief_is_a_seed() -> None:
    assert any(p[0].name == "price" and p[0].args == ("3 eur",) for p in hints().seeds)


def test_what_sequences_begin_with_sets_up() -> None:
    assert hints().setting_up == ("add_tool",)


def test_a_method_that_changes_nothing_is_a_reader() -> None:
    assert hints().readers == ("owes",)
