"""Searching in the box: what parts two drafts is found, what a draft forges is a proposal at most, and no draft gets
more than any other in there."""

import threading
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from tamis.errors import UsageError
from tamis.sandbox import Call, HoleKind, Limits, Pair, Sandbox, Skeleton, Sought
from tamis.sandbox.symbolic import LONGEST_LINE, MOST_PROPOSED, is_installed, limits_for, proposals

needs_crosshair = pytest.mark.skipif(
    not is_installed(), reason="CrossHair is not installed: pip install 'tamis[crosshair]'"
)
LIMITS = Limits(cpu_seconds=0.3, total_cpu_seconds=3, idle_seconds=0.3, memory_mb=128, deaths=1)
INT, TEXT, DAY = HoleKind(name="int"), HoleKind(name="str"), HoleKind(name="date")
PLAIN = "def f(n): return n"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(LIMITS, module="draft", workers=1) as made:
        yield made


def calling(name: str, *holes: HoleKind) -> Skeleton:
    return Skeleton(program=(Call(name=name, args=tuple(["hole", i] for i in range(len(holes)))),), holes=holes)


def sought(
    sandbox: Sandbox, first: str, second: str, *skeletons: Skeleton, cpu_seconds: float = 10.0, paths: int = 200
) -> Sought:
    pair = Pair(first=first.encode(), second=second.encode(), skeletons=skeletons or (calling("f", INT),))
    ((_, found),) = sandbox.search({"pair": pair}, cpu_seconds=cpu_seconds, paths=paths)
    assert found.fault is None
    return found


FOUND = [
    (
        "the product of two factors",
        "def f(n): return n",
        "def f(n): return 0 if n * 3 - 7 == 2962955 else n",
        (INT,),
        (987654,),
    ),
    (
        "a day",
        "def f(d): return d.year",
        "from datetime import date\ndef f(d): return 0 if d == date(2031, 7, 9) else d.year",
        (DAY,),
        (["date", "2031-07-09"],),
    ),
    (
        "a minute of any day",
        "def f(t): return t.hour",
        "def f(t): return 0 if (t.day, t.hour, t.minute) == (29, 13, 37) else t.hour",
        (HoleKind(name="datetime"),),
        (["datetime", "2000-01-29T13:37:00"],),
    ),
    (
        "one of a few words, with a number",
        "def f(w, n): return n",
        "def f(w, n): return n + 1 if w == 'late' and n == 7_771 else n",
        (HoleKind(name="literal", values=("early", "late")), INT),
        ("late", 7771),
    ),
    (
        "a list's only order",
        "def f(xs): return sorted(xs)",
        "def f(xs): return xs if xs == [7, 3, 901] else sorted(xs)",
        (HoleKind(name="list", of=(INT,)),),
        (["list", [7, 3, 901]],),
    ),
    (
        "a dict's value",
        "def f(d): return len(d)",
        "def f(d): return 0 if 771 in d.values() else len(d)",
        (HoleKind(name="dict", of=(TEXT, INT)),),
        (["dict", [["", 771]]],),
    ),
    (
        "a text's beginning",
        "def f(t): return len(t)",
        "def f(t): return 0 if t.startswith('Q7:') else len(t)",
        (TEXT,),
        ("Q7:",),
    ),
    (
        "nothing at all",
        "def f(n): return 1",
        "def f(n): return 1 if n is not None else 2",
        (HoleKind(name="union", of=(INT, HoleKind(name="none"))),),
        (None,),
    ),
]


@needs_crosshair
@pytest.mark.parametrize(("first", "second", "holes", "values"), [f[1:] for f in FOUND], ids=[f[0] for f in FOUND])
def test_what_hardly_any_value_shows_is_found(
    sandbox: Sandbox, first: str, second: str, holes: tuple[HoleKind, ...], values: tuple[object, ...]
) -> None:
    assert sought(sandbox, first, second, calling("f", *holes)).proposed == ((0, values),)


@needs_crosshair
def test_it_is_found_whichever_draft_comes_first(sandbox: Sandbox) -> None:
    odd = "def f(n): return 0 if n * 3 - 7 == 2962955 else n"
    assert sought(sandbox, odd, PLAIN).proposed == sought(sandbox, PLAIN, odd).proposed == ((0, (987654,)),)


@needs_crosshair
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("def f(n): return n * 2", "def f(n): return n + n"),
        ("def f(n): raise ValueError('no')", "def f(n): raise ValueError('never')"),
        ("class A:\n  def __init__(self, n): self.n = n\ndef f(n): return A(n)",) * 2,
        ("def f(n): return object()", "def f(n): return object()"),
        ("def f(n): return float('nan')", "def f(n): return float('nan')"),
    ],
)
def test_nothing_is_proposed_for_drafts_that_do_the_same(sandbox: Sandbox, first: str, second: str) -> None:
    found = sought(sandbox, first, second)
    assert (found.proposed, found.ending) == ((), "")


@needs_crosshair
@pytest.mark.parametrize(
    "second",
    [
        "def f(n): raise KeyError",
        "def f(n): return float(n)",
        "class A:\n  def __init__(self): self.n = 2\ndef f(n): return A()",
        "def f(n): return [n]",
    ],
)
def test_drafts_part_by_type_and_by_what_an_object_shows(sandbox: Sandbox, second: str) -> None:
    first = "class A:\n  def __init__(self): self.n = 1\ndef f(n): return A()" if "class A" in second else PLAIN
    assert sought(sandbox, first, second).proposed


@needs_crosshair
def test_what_a_call_does_to_its_argument_counts(sandbox: Sandbox) -> None:
    second = "def f(xs): xs.append(2 if xs[:1] == [771] else 1)"
    found = sought(sandbox, "def f(xs): xs.append(1)", second, calling("f", HoleKind(name="list", of=(INT,))))
    ((_, (values,)),) = found.proposed
    assert isinstance(values, list)
    assert values[0] == "list"
    assert values[1][0] == 771


DESK = """
from datetime import date, timedelta

class Desk:
    def __init__(self): self.out = {}
    def lend(self, tool, on): self.out[tool] = on; return on + timedelta(days=7)
    def give_back(self, tool, on):
        late = (on - self.out.pop(tool)).days - 7
        if late < 0: return 0
        return late * 50
"""


@needs_crosshair
def test_a_sequence_of_calls_on_an_object_is_searched_in_its_days(sandbox: Sandbox) -> None:
    odd = DESK.replace("return late * 50", "return late * 50 if late != 91 else 7")
    program = (
        Call(name="Desk"),
        Call(name="lend", on=0, args=("drill", ["hole", 0])),
        Call(name="give_back", on=0, args=("drill", ["hole", 1])),
    )
    ((_, (lent, back)),) = sought(sandbox, DESK, odd, Skeleton(program=program, holes=(DAY, DAY))).proposed
    lend, back_again = replace(program[1], args=("drill", lent)), replace(program[2], args=("drill", back))
    ((_, ran),) = sandbox.run({"odd": odd.encode()}, [(program[0], lend, back_again)])
    assert ran.outcomes[0].endswith(b'["=",7]]')


# drafts that mean harm

FORGES = """
import sys
def f(n):
    frame = sys._getframe()
    while frame:
        for value in frame.f_locals.values():
            if type(value).__name__ == "Lines":
                for i in range(50):
                    value.write('["=",["found",0,[5]]]')
        frame = frame.f_back
    return n
"""


@needs_crosshair
def test_forged_findings_are_a_few_proposals_and_no_more(sandbox: Sandbox) -> None:
    assert sought(sandbox, PLAIN, FORGES).proposed == ((0, (5,)),) * MOST_PROPOSED


HARMFUL = {
    "at import": ("import time\ntime.sleep(60)\ndef f(n): return n", "timed out: asleep for 0.3 seconds"),
    "in a call": ("import time\ndef f(n): time.sleep(60)", ""),
    "forks": ("import os\ndef f(n): return os.fork()", "forbidden: start a process"),
    "the network": ("import socket\ndef f(n): return socket.socket()", "forbidden: use the network"),
    "exits": ("import os\ndef f(n): os._exit(3)", "exited: exit code 3"),
    "loops": ("def f(n):\n    while True: pass", "timed out: 1 CPU seconds"),
    "raises at import": ("raise KeyError('no')", ""),
}


@needs_crosshair
@pytest.mark.parametrize(("source", "ending"), HARMFUL.values(), ids=HARMFUL)
def test_a_draft_is_held_in_there_as_anywhere_else(sandbox: Sandbox, source: str, ending: str) -> None:
    found = sought(sandbox, PLAIN, source, cpu_seconds=1.0)
    assert found.proposed == ()
    assert found.ending.startswith(ending)
    assert sought(sandbox, PLAIN, "def f(n): return n + 1").proposed  # the box is as it was


@needs_crosshair
def test_one_that_breaks_the_searcher_has_only_ended_its_own_search(sandbox: Sandbox) -> None:
    breaks = (
        "import sys\nfor name, module in list(sys.modules.items()):\n    if 'crosshair' in name: vars(module).clear()"
    )
    found = sought(sandbox, PLAIN, breaks + "\ndef f(n): return n + 1")
    assert found.proposed == ()
    assert sought(sandbox, PLAIN, "def f(n): return n + 1").proposed


@needs_crosshair
def test_it_has_the_layers_that_drafts_run_in(sandbox: Sandbox) -> None:
    ((_, ran),) = sandbox.run({"draft": PLAIN.encode()}, [(Call(name="f", args=(1,)),)])
    assert sought(sandbox, PLAIN, PLAIN).how == ran.how


@needs_crosshair
def test_a_box_that_is_ended_under_it_is_a_fault_of_ours_and_no_finding() -> None:
    sandbox = Sandbox(LIMITS, module="draft", workers=1)
    pair = Pair(first=PLAIN.encode(), second=b"def f(n):\n    while True: pass", skeletons=(calling("f", INT),))
    running = sandbox.search({"pair": pair}, cpu_seconds=600, paths=10)
    threading.Timer(1.0, sandbox.close).start()
    ((_, found),) = running
    assert found.fault is not None
    assert found.proposed == ()


def test_it_never_searches_outside_the_owners_own_box() -> None:
    with Sandbox(LIMITS, module="draft", command=("true",)) as sandbox, pytest.raises(UsageError):
        sandbox.search({}, cpu_seconds=1, paths=1)


# lines, without CrossHair

TWO = (calling("f", INT), calling("g", INT, TEXT))


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"nonsense",
        b'["=",["found",0]]',
        b'["=",["found",0,[1,2]]]',
        b'["=",["found",2,[1]]]',
        b'["=",["found",-1,[1]]]',
        b'["=",["found",true,[1,"x"]]]',
        b'["=",["found",0.0,[1]]]',
        b'["=",["found",0,{"0":1}]]',
        b'["!",["found",0,[1]]]',
        b'["=",["found",0,[%s]]]' % (b"[" * 5_000 + b"]" * 5_000),
        b'["=",["found",0,["%s"]]]' % (b"x" * LONGEST_LINE),
        b"\xff\xfe",
    ],
)
def test_a_line_that_makes_no_sense_proposes_nothing(line: bytes) -> None:
    assert proposals([line, b'["=",["found",1,[3,"x"]]]'], TWO) == ((1, (3, "x")),)


def test_a_draft_that_writes_often_is_heard_a_few_times() -> None:
    lines = [b'["=",["found",0,[%d]]]' % n for n in range(100)]
    assert proposals(lines, TWO) == tuple((0, (n,)) for n in range(MOST_PROPOSED))


def test_the_limits_are_the_drafts_own_but_for_time_and_memory() -> None:
    limits = limits_for(Limits(memory_mb=64, allow=("network",), scratch_mb=3), 7.0)
    assert (limits.cpu_seconds, limits.total_cpu_seconds) == (7.0, 7.0)
    assert limits.memory_mb >= 1024
    assert limits.allow == ()
    assert limits.scratch_mb == 3
