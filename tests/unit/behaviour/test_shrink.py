import pytest

from tamis.behaviour.hints import Hints
from tamis.behaviour.inputs import Maker
from tamis.behaviour.matrix import Keys, outcomes_of
from tamis.behaviour.shrink import Shrinking, cost, shrunk, tag_of
from tamis.behaviour.surface import surface_of
from tamis.sandbox import Call, Program, encode

from ._running import InProcess

BRIEF = """```python
class Shop:
    def __init__(self): ...
    def add(self, member: str) -> None: ...
    def buy(self, member: str, cents: int) -> int: ...
    def owes(self, member: str) -> int: ...
def longest(words: list[str]) -> str: ...
```"""
SHOP = """
class Shop:
    def __init__(self):
        self.d = {}
    def add(self, member):
        self.d[member] = 0
    def buy(self, member, cents):
        if self.d[member] + cents > LIMIT:
            raise ValueError("too much")
        self.d[member] += cents
        return self.d[member]
    def owes(self, member):
        return self.d[member]
def longest(words):
    return PICK(words, key=len) if words else ""
"""
DRAFTS = {
    "a": SHOP + "LIMIT = 500\nPICK = max\n",
    "b": SHOP + "LIMIT = 499\nPICK = lambda ws, key: max(reversed(ws), key=key)\n",
    "c": SHOP + "LIMIT = 500\nPICK = max\n",
}
RUN = InProcess("m", DRAFTS)
HINTS = Hints(used={"member": ("ann", "bob")}, setting_up=("add",), readers=("owes",))
MAKER = Maker(surface_of(BRIEF, []), HINTS)
LONG: Program = (
    Call(name="Shop"),
    Call(name="add", on=0, args=("zoe",)),
    Call(name="add", on=0, args=("bob",)),
    Call(name="owes", on=0, args=("bob",)),
    Call(name="buy", on=0, args=("zoe", 333)),
    Call(name="owes", on=0, args=("zoe",)),
    Call(name="buy", on=0, args=("bob", 7)),
    Call(name="buy", on=0, args=("zoe", 167)),
)


def shrink(program: Program) -> Program:
    ran = RUN(tuple(DRAFTS), [program])
    last = {d: outcomes_of(r[0])[-1] for d, r in ran.items()}
    target = Shrinking(
        program=program,
        pair=("a", "b"),
        sides={"a": 0, "b": 1, "c": 0},
        tags={d: tag_of(o) for d, o in last.items()},
    )
    (small,) = shrunk([target], tuple(DRAFTS), RUN, MAKER, Keys())
    return small


def test_a_witness_gets_short_and_its_names_are_known_ones() -> None:
    small = shrink(LONG)
    assert [c.name for c in small] == ["Shop", "add", "buy"]
    assert small[-1].args == ("ann", 500)


def test_what_parted_still_parts_at_the_last_call() -> None:
    small = shrink(LONG)
    ran = RUN(("a", "b", "c"), [small])
    a, b, c = (outcomes_of(ran[d][0]) for d in "abc")
    assert a == c
    assert a[:-1] == b[:-1]
    assert (tag_of(a[-1]), tag_of(b[-1])) == ("=", "! ValueError")


def test_a_list_shrinks_to_the_tie_that_matters() -> None:
    words = encode(["x", "yyyy", "zzzz", "ab", "yyyy"])
    (items,) = shrink((Call(name="longest", args=(words,)),))[0].args
    assert isinstance(items, list)
    assert len(items[1]) == 2  # type: ignore[arg-type]


def test_shrinking_asks_rarely_since_each_run_has_a_price() -> None:
    before = RUN.batches
    shrink(LONG)
    assert RUN.batches - before <= 10


@pytest.mark.parametrize(
    ("plain", "odd"), [(500, 499), (1, 7), (1, -1), (100, 137), (2.0, 2.375), ("ann", "zoe"), ([1], [1, 1]), (10, 0)]
)
def test_what_is_easier_to_read_costs_less(plain: object, odd: object) -> None:
    method, args = ("buy", (encode("ann"),)) if not isinstance(plain, str) else ("buy", ())
    one, other = ((Call(name="Shop"), Call(name=method, on=0, args=(*args, encode(v)))) for v in (plain, odd))
    assert cost(one, MAKER)[0] < cost(other, MAKER)[0]


def test_days_that_go_back_cost_more() -> None:
    maker = Maker(
        surface_of("```python\nclass D:\n    def f(self, on: date): ...\n```", []), Hints(dates=("2026-03-01",))
    )
    first, second = encode_days("2026-03-01", "2026-03-02")
    forward = (Call(name="D"), Call(name="f", on=0, args=(first,)), Call(name="f", on=0, args=(second,)))
    back = (forward[0], forward[2], forward[1])
    assert cost(forward, maker)[0] < cost(back, maker)[0]


def encode_days(*days: str) -> list[list[str]]:
    return [["date", day] for day in days]
