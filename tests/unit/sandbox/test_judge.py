"""Given tests judged outside the box: what pytest suites usually do with a module works through the border, and no
draft can decide its own verdict."""

import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tamis.errors import CheckError
from tamis.sandbox import Case, Command, Judged, Limits, Sandbox, Suite

LIMITS = Limits(cpu_seconds=0.5, total_cpu_seconds=5, idle_seconds=0.5, memory_mb=192, deaths=2)
ROOT = Path(__file__).resolve().parents[3]

SHOP = '''
"""A shop with all that a module can offer."""
import enum
from collections import namedtuple
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date

LIMIT = 3
NAMES = ["drill", "saw"]

class ShopError(Exception):
    def __init__(self, message, code=7):
        super().__init__(message)
        self.code = code

class Missing(ShopError, LookupError):
    pass

class Colour(enum.Enum):
    RED = 1
    BLUE = 2

class Size(enum.IntEnum):
    SMALL = 1

Point = namedtuple("Point", "x y")

@dataclass
class Item:
    name: str
    cents: int = 0
    tags: list = field(default_factory=list)
    def double(self):
        return Item(self.name, self.cents * 2)

@dataclass(order=True)
class Version:
    major: int

class Shop:
    kind = "tools"
    def __init__(self, *items):
        self.items = list(items)
        self.open = False
    @property
    def total(self):
        return sum(item.cents for item in self.items)
    @classmethod
    def of(cls, *names):
        return cls(*(Item(name, 100) for name in names))
    @staticmethod
    def hello(name="you"):
        return f"hello {name}"
    def add(self, item):
        self.items.append(item)
        return self
    def find(self, name):
        for item in self.items:
            if item.name == name:
                return item
        raise Missing(f"no {name}", code=9)
    def __len__(self):
        return len(self.items)
    def __iter__(self):
        return iter(self.items)
    def __contains__(self, name):
        return any(item.name == name for item in self.items)
    def __getitem__(self, index):
        return self.items[index]
    def __enter__(self):
        self.open = True
        return self
    def __exit__(self, *error):
        self.open = False
    def __str__(self):
        return "a shop"
    def __call__(self, n):
        return n + 1
    def __add__(self, other):
        return Shop(*self.items, *other.items)

def evens(n):
    for i in range(n):
        yield i * 2

def sort_in_place(xs):
    xs.sort()

def paint(colour):
    return Colour.BLUE if colour is Colour.RED else Colour.RED

def adder(n):
    return lambda m: n + m

def due(day):
    return {"day": day, "nested": (1, {2}, [None])}

def refuse(what):
    raise KeyError(what)
'''

SUITE = """
import datetime
import pytest
import shop
import shop as s
from helpers import three
from shop import *
from shop import Colour, Item, Missing, Point, Shop, ShopError, Size, Version

@pytest.fixture(scope="module")
def shared():
    return Shop.of("drill", "saw")

@pytest.fixture
def mine(tmp_path):
    shop = Shop()
    yield shop
    assert len(shop) == 0

@pytest.mark.parametrize(("n", "doubled"), [(0, []), (3, [0, 2, 4])])
def test_generators(n, doubled):
    assert list(shop.evens(n)) == doubled
    assert [x for x in s.evens(n)] == doubled

class TestShop:
    def test_constants(self):
        assert LIMIT == 3 == shop.LIMIT and NAMES == ["drill", "saw"] and Shop.kind == "tools" and three == 3

    def test_methods_and_properties(self, shared):
        assert shared.total == 200 and shared.hello() == "hello you" and Shop.hello(name="ann") == "hello ann"
        assert len(shared) == 2 and "saw" in shared and "axe" not in shared and shared

    def test_objects_in_results(self, shared):
        assert [item.name for item in shared] == ["drill", "saw"]
        assert shared[1].double().cents == 200
        assert shared.items[0].name == "drill" and isinstance(shared.items[0], Item)

    def test_identity_of_structure(self, shared, mine):
        assert shared.find("saw") == Item("saw", 100) != Item("saw", 99)
        assert Item("a") in [Item("a")] and {Item("a"), Item("a")} if False else True
        assert shared != mine and Version(2) > Version(1)

    def test_exceptions(self, shared):
        with pytest.raises(Missing, match="no axe") as caught:
            shared.find("axe")
        assert caught.value.code == 9 and isinstance(caught.value, LookupError)
        with pytest.raises(ShopError):
            shared.find("axe")
        with pytest.raises(KeyError) as caught:
            shop.refuse("this")
        assert caught.value.args == ("this",)
        try:
            shared.find("axe")
        except LookupError as error:
            assert str(error) == "no axe"

    def test_context_managers_calls_and_operators(self):
        with Shop() as shop_open:
            assert shop_open.open
        assert not shop_open.open
        assert shop_open(4) == 5 and str(shop_open) == "a shop" and shop.adder(2)(3) == 5
        assert len(Shop.of("a") + Shop.of("b", "c")) == 3

    def test_enums_and_tuples(self):
        assert shop.paint(Colour.RED) is Colour.BLUE and shop.paint(Colour.BLUE) == Colour.RED
        assert Size.SMALL == 1 and [c.name for c in Colour] == ["RED", "BLUE"] and Colour.RED.value == 1
        assert Point(1, 2) == (1, 2) and Point(x=1, y=2).y == 2

    def test_arguments_are_changed_in_place(self):
        xs = [3, 1, 2]
        shop.sort_in_place(xs)
        assert xs == [1, 2, 3]

    def test_attributes_can_be_set(self):
        item = Item("saw", tags=["old"])
        item.cents = 5
        assert item.cents == 5 and item.tags == ["old"] and Shop(item).total == 5

    def test_values_by_copy(self, mine):
        day = datetime.date(2026, 3, 1)
        assert shop.due(day) == {"day": day, "nested": (1, {2}, [None])}

def test_skipped():
    pytest.skip("not today")

@pytest.mark.xfail(strict=True)
def test_that_must_fail():
    assert shop.LIMIT == 4
"""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(LIMITS, module="shop", workers=1) as made:
        yield made


def suite(folder: Path, tests: str, **more: Any) -> Suite:
    (folder / "test_it.py").write_text(textwrap.dedent(tests))
    return Suite(folder=str(folder), module="shop", cpu_seconds=0.5, **more)


def judge(sandbox: Sandbox, drafts: Mapping[str, str], given: Suite) -> dict[str, Judged]:
    found = dict(sandbox.judge({key: source.encode() for key, source in drafts.items()}, given))
    assert all(judged.fault is None for judged in found.values())
    return found


def outcomes(judged: Judged) -> list[str]:
    return [result.outcome for result in judged.results]


def test_what_suites_do_with_a_module_works_from_outside(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "helpers.py").write_text("import shop\nthree = shop.LIMIT\n")
    (tmp_path / "conftest.py").write_text("import pytest\n\n@pytest.fixture(autouse=True)\ndef around():\n    yield\n")
    judged = judge(sandbox, {"shop": SHOP, "again": SHOP}, suite(tmp_path, SUITE))
    for verdict in judged.values():
        bad = [(r.id, r.witness) for r in verdict.results if r.outcome not in ("passed", "skipped")]
        assert bad == [] and verdict.judged == "outside" and len(verdict.results) == 14


def test_the_same_suite_gives_the_same_inside(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "helpers.py").write_text("import shop\nthree = shop.LIMIT\n")
    (judged,) = judge(sandbox, {"shop": SHOP}, suite(tmp_path, SUITE, judged="inside")).values()
    assert judged.judged == "inside"
    assert {r.id: r.witness for r in judged.results if r.outcome not in ("passed", "skipped")} == {}


def test_a_witness_shows_the_line_and_what_was_seen(sandbox: Sandbox, tmp_path: Path) -> None:
    given = suite(tmp_path, "import shop\ndef test_total():\n    assert shop.total(2) == 4\n")
    (judged,) = judge(sandbox, {"d": "def total(n): return n + 3"}, given).values()
    witness = judged.results[0].witness
    assert "test_it.py:3: assert shop.total(2) == 4" in witness and "5 == 4" in witness


def test_what_was_foreseen_and_what_was_not_give_the_same_verdicts(sandbox: Sandbox, tmp_path: Path) -> None:
    """Drafts that make the tests go other ways than the first one did."""
    given = suite(
        tmp_path,
        """
        import shop
        def test_path():
            n = shop.start()
            while n < 5:
                n = shop.step(n)
            assert n == 5
        def test_state():
            shop.push(1)
            assert shop.size() == 1
        def test_state_again():
            shop.push(2)
            assert shop.size() == 2
        """,
    )
    shared = "held = []\ndef push(x): held.append(x)\ndef size(): return len(held)\n"
    drafts = {
        f"by {step} from {start}": f"def start(): return {start}\ndef step(n): return n + {step}\n{shared}"
        for step, start in ((1, 0), (1, 1), (2, 1), (2, 0), (5, 5), (1, 9))
    }
    together = judge(sandbox, drafts, given)
    for key, verdict in together.items():
        start, step = int(key.split()[3]), int(key.split()[1])
        right = start == 5 or (start < 5 and (5 - start) % step == 0)
        assert outcomes(verdict) == ["passed" if right else "failed", "passed", "passed"], key


def test_tests_are_run_once_on_the_same_outcomes_and_it_is_said(sandbox: Sandbox, tmp_path: Path) -> None:
    given = suite(tmp_path, "import shop\ndef test_f():\n    assert shop.f(1) == 2\n")
    drafts = {str(n): f"# {n}\ndef f(n): return n + 1\n" for n in range(4)}
    judged = judge(sandbox, drafts, given)
    assert [v.how["tests"] for v in judged.values()].count("run") == 2  # the first showed what is called
    assert all(outcomes(v) == ["passed"] for v in judged.values())


def test_a_message_counts_where_a_test_looks_at_it(sandbox: Sandbox, tmp_path: Path) -> None:
    given = suite(
        tmp_path,
        """
        import pytest, shop
        def test_refused():
            with pytest.raises(shop.No, match="not enough"):
                shop.f()
        """,
    )
    words = {"a": "not enough", "b": "not enough", "c": "too much"}
    drafts = {key: f"class No(Exception): pass\ndef f(): raise No({said!r})\n" for key, said in words.items()}
    judged = judge(sandbox, drafts, given)
    assert {key: outcomes(v)[0] for key, v in judged.items()} == {"a": "passed", "b": "passed", "c": "failed"}


@pytest.mark.parametrize(
    ("body", "words"),
    [("while True: pass", "timed out"), ("exit(0)", "exited"), ("import os; os._exit(0)", "exited"),
     ("raise KeyboardInterrupt", "KeyboardInterrupt"), ("return {object()}", "CannotCross"),
     ("import ctypes; ctypes.string_at(0)", "crashed")],
)  # fmt: skip
def test_a_draft_that_ends_itself_fails_its_test_and_the_others_go_on(
    sandbox: Sandbox, tmp_path: Path, body: str, words: str
) -> None:
    given = suite(
        tmp_path,
        """
        import pytest, shop
        def test_before(): assert shop.g() == 1
        def test_in():
            with pytest.raises(Exception):
                shop.f()
        def test_after(): assert shop.g() == 1
        """,
    )
    good = "def f(): raise ValueError\ndef g(): return 1\n"
    judged = judge(sandbox, {"first": good, "bad": f"def f():\n    {body}\ndef g(): return 1\n"}, given)
    assert outcomes(judged["first"]) == ["passed"] * 3
    assert outcomes(judged["bad"]) == ["passed", "failed", "passed"]
    assert words in judged["bad"].results[1].witness


def test_a_draft_can_not_choose_its_judge(sandbox: Sandbox, tmp_path: Path) -> None:
    """What only works inside happens to one draft of several: it has failed, and the others are judged outside."""
    given = suite(tmp_path, "import shop\ndef test_f():\n    assert shop.g(shop.f()) == 1\n")
    drafts = {str(n): "def f(): return 1\ndef g(n): return n\n" for n in range(3)}
    tricky = "class Yes:\n    def __eq__(self, o): return True\ndef f(): return ValueError()\ndef g(n): return Yes()\n"
    judged = judge(sandbox, {**drafts, "tricky": tricky}, given)
    assert [outcomes(judged[key]) for key in drafts] == [["passed"]] * 3
    assert set(outcomes(judged["tricky"])) == {"error"} and judged["tricky"].judged == "outside"


INSIDE = {
    "passes a function": "def test_f(): assert shop.apply(lambda n: n + 1, 2) == 3",
    "passes an object": "class Mine: n = 2\ndef test_f(): assert shop.n_of(Mine()) == 2",
    "replaces a part": "def test_f(monkeypatch):\n  monkeypatch.setattr(shop, 'rate', 9)\n  assert shop.taxed(1) == 10",
    "makes an object while collected": "thing = shop.Thing()\ndef test_f(): assert thing.n == 4",
    "looks into a function": "def test_f(): assert shop.apply.__code__.co_argcount == 2",
}


@pytest.mark.parametrize(("why", "tests"), INSIDE.items())
def test_what_can_not_be_done_from_outside_is_judged_inside(
    sandbox: Sandbox, tmp_path: Path, why: str, tests: str
) -> None:
    source = (
        "rate = 1\nclass Thing:\n    n = 4\ndef apply(f, n): return f(n)\ndef n_of(o): return o.n\n"
        "def taxed(n): return n + rate\n"
    )
    given = suite(tmp_path, f"import shop\n{tests}\n")
    (judged,) = judge(sandbox, {"d": source}, given).values()
    assert (outcomes(judged), judged.judged) == (["passed"], "inside")
    assert judged.because
    with pytest.raises(CheckError, match="outside") as error:
        judge(sandbox, {"d": source}, Suite(folder=given.folder, module="shop", judged="outside"))
    assert error.value.hint is not None


def test_inside_a_suite_that_passes_a_wrong_module_is_refused(sandbox: Sandbox, tmp_path: Path) -> None:
    given = suite(tmp_path, "def test_nothing():\n    assert True\n", judged="inside")
    with pytest.raises(CheckError, match="pass a module that does nothing right"):
        judge(sandbox, {"d": "x = 1"}, given)


@pytest.mark.parametrize("attack", ["patched_assertions", "hard_exit_at_import", "forged_through_stdout"])
def test_inside_a_draft_that_reaches_its_judge_does_not_pass(sandbox: Sandbox, tmp_path: Path, attack: str) -> None:
    source = (ROOT / "tests" / "attacks" / "drafts" / f"{attack}.py").read_text()
    given = suite(tmp_path, "import shop\ndef test_f():\n    assert shop.answer(3) == 9\n", judged="inside")
    (judged,) = judge(sandbox, {"d": source}, given).values()
    assert outcomes(judged) != ["passed"] and len(judged.results) == 1


def test_tests_that_do_not_collect_are_the_owners_fault_told_once(sandbox: Sandbox, tmp_path: Path) -> None:
    with pytest.raises(CheckError, match="invalid syntax") as error:
        judge(sandbox, {"a": "x = 1", "b": "x = 2"}, suite(tmp_path, "def test_(:\n"))
    assert "can't be collected" in error.value.what


def test_a_folder_without_tests_is_told(sandbox: Sandbox, tmp_path: Path) -> None:
    with pytest.raises(CheckError, match="no tests"):
        judge(sandbox, {"a": "x = 1"}, Suite(folder=str(tmp_path), module="shop"))


@pytest.mark.parametrize(
    ("source", "words"),
    [("def f(:", "SyntaxError"), ("1 / 0", "ZeroDivisionError"), ("", "lacks what the tests import: f"),
     ("import os; os._exit(0)", "exited")],
)  # fmt: skip
def test_a_draft_that_can_not_be_imported_fails_every_test(
    sandbox: Sandbox, tmp_path: Path, source: str, words: str
) -> None:
    given = suite(tmp_path, "from shop import f\ndef test_f(): assert f() == 1\ndef test_g(): assert f() < 2\n")
    judged = judge(sandbox, {"good": "def f(): return 1", "bad": source}, given)
    assert outcomes(judged["good"]) == ["passed"] * 2
    assert outcomes(judged["bad"]) == ["error"] * 2
    assert words in judged["bad"].results[0].witness


def test_a_loop_of_the_tests_that_waits_for_a_draft_ends(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tamis.sandbox.judging_draft._JUDGE_CPU_SECONDS", 0.3)
    given = suite(tmp_path, "import shop\ndef test_f():\n    while not shop.ready: pass\n")
    judged = judge(sandbox, {"d": "ready = False"}, given)
    assert outcomes(judged["d"]) == ["error"] and "timed out" in judged["d"].results[0].witness


def test_nothing_is_left_beside_the_owners_tests(sandbox: Sandbox, tmp_path: Path) -> None:
    given = suite(tmp_path, "import shop\ndef test_f(): assert shop.x == 1\n")
    judge(sandbox, {"d": "x = 1"}, given)
    assert [p.name for p in tmp_path.iterdir()] == ["test_it.py"]


def test_the_owners_configuration_in_the_folder_is_kept_and_one_above_is_not(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --collect-only\n")
    inner = tmp_path / "tests"
    inner.mkdir()
    (inner / "pytest.ini").write_text("[pytest]\npython_functions = check_*\n")
    given = suite(inner, "import shop\ndef check_x(): assert shop.x == 1\ndef test_x(): assert False\n")
    judged = judge(sandbox, {"d": "x = 1"}, given)
    assert outcomes(judged["d"]) == ["passed"]


def test_thirty_eight_of_the_forty_lending_drafts_pass_what_came_with_the_brief() -> None:
    lending = ROOT / "examples" / "lending"
    drafts = {path.name: path.read_bytes() for path in sorted((lending / "drafts").glob("*.py"))}
    with Sandbox(module="lending") as sandbox:
        judged = dict(sandbox.judge(drafts, Suite(folder=str(lending / "tests"), module="lending")))
    failed = {key: [r.id.split("::")[1] for r in v.results if r.outcome != "passed"] for key, v in judged.items()}
    assert {key: tests for key, tests in failed.items() if tests} == {
        "draft_32.py": ["test_very_late_costs_the_most"],
        "draft_39.py": ["test_who_owes_too_much_cannot_borrow"],
    }
    assert all(v.judged == "outside" and len(v.results) == 11 for v in judged.values())


C = b"""
#include <stdio.h>
int main(void) {
    int a, b;
    scanf("%d %d", &a, &b);
    while (a == 7);
    printf("%d\\n", a + b);
    return 0;
}
"""
JAVASCRIPT = b"const [a, b] = require('fs').readFileSync(0, 'utf8').split(' ').map(Number);\nconsole.log(a + b);\n"
CASES = [Case(name="small", stdin="1 2", stdout="3"), Case(name="large", stdin="50 60", stdout="110\n")]


def tool(name: str) -> str:
    import shutil

    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed here")
    return found


def test_a_draft_in_c_is_compiled_run_and_judged_by_its_output() -> None:
    tool("cc")
    command = Command(file="main.c", compile=("cc", "-o", "main", "main.c"), run=("./main",))
    drafts = {"right": C, "wrong": C.replace(b"a + b", b"a - b"), "broken": b"int main(void) {"}
    with Sandbox(Limits(cpu_seconds=1), module="main", workers=1) as sandbox:
        judged = dict(sandbox.judge_command(drafts, command, [*CASES, Case(name="loops", stdin="7 1", stdout="8")]))
    assert {key: outcomes(v) for key, v in judged.items()} == {
        "right": ["passed", "passed", "failed"], "wrong": ["failed"] * 3, "broken": ["failed"] * 3,
    }  # fmt: skip
    assert "timed out" in judged["right"].results[2].witness
    assert "'-1\\n'" in judged["wrong"].results[0].witness
    assert "error" in judged["broken"].results[0].witness


def test_a_draft_in_javascript_is_run_and_judged_by_its_output() -> None:
    tool("node")
    drafts = {"right": JAVASCRIPT, "wrong": b"console.log(3)"}
    with Sandbox(Limits(cpu_seconds=5), module="main", workers=1) as sandbox:
        judged = dict(sandbox.judge_command(drafts, Command(file="main.js", run=("node", "main.js")), CASES))
    assert {key: outcomes(v) for key, v in judged.items()} == {"right": ["passed"] * 2, "wrong": ["passed", "failed"]}


def test_an_owners_command_is_the_box() -> None:
    import sys

    lending = ROOT / "examples" / "lending"
    drafts = {name: (lending / "drafts" / name).read_bytes() for name in ("draft_01.py", "draft_32.py")}
    command = (sys.executable, "-m", "tamis.sandbox.remote")
    with Sandbox(LIMITS, module="lending", command=command) as sandbox:
        judged = dict(sandbox.judge(drafts, Suite(folder=str(lending / "tests"), module="lending")))
    assert outcomes(judged["draft_01.py"]) == ["passed"] * 11
    assert outcomes(judged["draft_32.py"]).count("failed") == 1


def test_an_owners_command_that_does_not_work_is_told() -> None:
    from tamis.errors import SandboxFault

    told = {("no-such-command",): "does not start", ("true",): "ended before", ("echo", "hi"): "no answer"}
    for command, words in told.items():
        with Sandbox(LIMITS, module="m", command=command) as sandbox, pytest.raises(SandboxFault, match=words):
            dict(sandbox.run({"d": b""}, []))
