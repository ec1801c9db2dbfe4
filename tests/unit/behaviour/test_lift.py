import datetime

from tamis.behaviour.lift import Hole, Lifted, lift_examples, lift_tests
from tamis.behaviour.surface import surface_of

SURFACE = surface_of(
    """```python
class Desk:
    def __init__(self): ...
    def add(self, tool: str) -> None: ...
    def lend(self, tool: str, on: date) -> date: ...
    def pay(self, cents: int) -> int: ...
def fee(days: int) -> int: ...
```""",
    [],
)


def calls(lifted: Lifted) -> list[tuple[str, tuple[object, ...]]]:
    return [(c.signature.name, c.args) for c in lifted]


def one(source: str) -> list[tuple[str, tuple[object, ...]]]:
    (lifted,) = lift_tests(source, SURFACE)
    return calls(lifted)


def test_a_test_is_lifted_with_its_fixture_loops_and_constants() -> None:
    source = """
DAY = date(2026, 3, 1)

@pytest.fixture
def desk():
    desk = Desk()
    for tool in ("drill", "saw"):
        desk.add(tool)
    return desk

def test_it(desk):
    with pytest.raises(ValueError):
        desk.lend("drill", DAY + timedelta(days=7))
    assert desk.pay(5 * 100) == 0
"""
    assert one(source) == [
        ("Desk", ()),
        ("add", ("drill",)),
        ("add", ("saw",)),
        ("lend", ("drill", datetime.date(2026, 3, 8))),
        ("pay", (500,)),
    ]


def test_every_parametrised_case_is_a_sequence() -> None:
    source = """
@pytest.mark.parametrize(("days", "cents"), [(0, 0), pytest.param(8, 50, id="late")])
def test_fee(days, cents):
    assert fee(days) == cents
"""
    assert [calls(s) for s in lift_tests(source, SURFACE)] == [[("fee", (0,))], [("fee", (8,))]]


def test_helpers_and_set_up_of_a_unittest_case_are_followed() -> None:
    source = """
def lent(desk, tool):
    desk.lend(tool, date(2026, 1, 1))

class TestDesk(unittest.TestCase):
    def setUp(self):
        self.desk = Desk()

    def test_it(self):
        lent(self.desk, "saw")
        self.assertEqual(self.desk.pay(1), 0)
"""
    assert [name for name, _ in one(source)] == ["Desk", "lend", "pay"]


def test_what_a_call_returned_stays_open() -> None:
    (lifted,) = lift_tests(
        "def test_it():\n    d = Desk()\n    due = d.lend('a', date(2026, 1, 1))\n    d.lend('b', due)\n", SURFACE
    )
    assert isinstance(lifted[2].args[1], Hole)


def test_an_endless_test_ends() -> None:
    source = "def test_it():\n    for a in range(1_000_000):\n        for b in range(1_000_000):\n            fee(a)\n"
    assert 100 < len(lift_tests(source, SURFACE)[0]) <= 4_000


def test_a_test_file_that_does_not_parse_gives_nothing() -> None:
    assert lift_tests("def test_(:", SURFACE) == []


def test_nothing_is_imported_or_run() -> None:
    source = "import os\nos.remove('/gone')\nraise SystemExit\ndef test_it():\n    open('/gone').read()\n    fee(3)\n"
    assert one(source) == [("fee", (3,))]


def test_examples_of_a_brief_are_lifted() -> None:
    (lifted,) = lift_examples(["fee(9)", "no python here!", "len('x')"], SURFACE)
    assert calls(lifted) == [("fee", (9,))]
