"""Running drafts on programs: outcomes told apart, nothing lost by a death, nothing of one program in the next."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tamis.errors import SandboxFault, UsageError
from tamis.sandbox import Call, Limits, Program, Ran, Sandbox, crew, encode, protections
from tamis.sandbox.protections import LAYERS, is_strong
from tamis.sandbox.supervisor import Box, Setup

LIMITS = Limits(cpu_seconds=0.3, total_cpu_seconds=3, idle_seconds=0.3, memory_mb=128, deaths=3)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(LIMITS, module="draft", workers=1) as made:
        yield made


def run(sandbox: Sandbox, source: str, *programs: Program, hash_seed: int = 0) -> list[Any]:
    ran = ran_of(sandbox, source, *programs, hash_seed=hash_seed)
    return [msgspec.json.decode(outcome) for outcome in ran.outcomes]


def ran_of(sandbox: Sandbox, source: str, *programs: Program, hash_seed: int = 0) -> Ran:
    ((_, ran),) = sandbox.run({"draft": source.encode()}, programs, hash_seed=hash_seed)
    assert ran.fault is None
    return ran


def call(name: str, *args: Any, on: int | None = None, get: bool = False) -> Call:
    return Call(name=name, on=on, args=tuple(encode(arg) for arg in args), get=get)


def test_calls_go_on_after_one_that_raised(sandbox: Sandbox) -> None:
    source = "class Refused(ValueError): pass\ndef f(n):\n    if n < 0: raise Refused('no')\n    return n"
    ((refused, two, missing),) = run(sandbox, source, (call("f", -1), call("f", 2), call("g")))
    assert (refused, two) == (["!", "Refused", ["ValueError"], "no"], ["=", 2])
    assert missing == ["!", "AttributeError", [], "module 'draft' has no attribute 'g'"]


def test_objects_are_called_on_by_the_call_that_made_them(sandbox: Sandbox) -> None:
    source = "class Box:\n def __init__(self): self.held = []\n def put(self, x):\n  self.held.append(x)\n  return self"
    itself = Call(name="put", on=0, args=(["ref", 1],))
    program = (call("Box"), call("put", 3, on=0), itself, call("held", on=0, get=True))
    (outcomes,) = run(sandbox, source, program)
    assert outcomes[0] == ["=", ["object", "Box", []]]
    assert outcomes[3][1][1][0] == 3


def test_a_changed_argument_is_part_of_the_outcome(sandbox: Sandbox) -> None:
    source = "def f(xs, d):\n    xs.append(1)\n    return len(d)"
    assert run(sandbox, source, (call("f", [], {"a": 1}),)) == [[["=", 1, {"0": ["list", [1]]}]]]


def test_a_generator_gives_what_it_yields(sandbox: Sandbox) -> None:
    source = "def f(n):\n    yield from range(n)\ndef endless():\n    while True: yield 1\nasync def g(): return 5"
    (first, endless, awaited) = run(sandbox, source, (call("f", 2),), (call("endless"),), (call("g"),))
    assert first == [["=", ["iterator", "generator", [0, 1], False]]]
    assert endless[0][1][3] is True and len(endless[0][1][2]) == 1000
    assert awaited == [["=", 5]]


def test_each_program_starts_from_a_fresh_import(sandbox: Sandbox) -> None:
    for source in (
        "n = 0\ndef f():\n    global n\n    n += 1\n    return n",
        "seen = []\ndef f():\n    seen.append(1)\n    return len(seen)",
        "class C:\n    n = 0\ndef f():\n    C.n += 1\n    return C.n",
        "def f(xs=[]):\n    xs.append(1)\n    return len(xs)",
        "def f():\n    f.n = getattr(f, 'n', 0) + 1\n    return f.n",
        "import itertools\nc = itertools.count(1)\ndef f(): return next(c)",
        "def made():\n  n = 0\n  def f():\n    nonlocal n\n    n += 1\n    return n\n  return f\nf = made()",
        "class A:\n    def __init__(self): self._n = 0\na = A()\ndef f():\n    a._n += 1\n    return a._n",
    ):
        assert run(sandbox, source, *[(call("f"), call("f"))] * 3) == [[["=", 1], ["=", 2]]] * 3, source


def test_random_numbers_are_the_same_in_every_run(sandbox: Sandbox) -> None:
    source = "import random\ndef f(): return random.random()"
    first = run(sandbox, source, (call("f"), call("f")), (call("f"),))
    assert first[0][0] == first[1][0] != first[0][1]
    assert run(sandbox, source, (call("f"),))[0] == first[1]


def test_the_hash_seed_is_fixed_and_another_one_shows_what_depends_on_it(sandbox: Sandbox) -> None:
    source = "def f(): return ''.join({'a', 'b', 'c', 'd', 'e', 'f', 'g'})"
    outcomes = {seed: run(sandbox, source, (call("f"),), hash_seed=seed)[0][0][1] for seed in (0, 1, 2, 0)}
    assert len(set(outcomes.values())) > 1
    assert run(sandbox, source, (call("f"),))[0][0][1] == outcomes[0]


def test_the_surroundings_are_fixed(sandbox: Sandbox) -> None:
    source = "import os, sys, time\ndef f(): return time.tzname[0], sorted(os.environ), sys.argv, sys.stdin.read()"
    (((_, value),),) = run(sandbox, source, (call("f"),))
    zone, environment, argv, stdin = value[1]
    assert (zone, argv, stdin) == ("UTC", ["list", [""]], "")
    assert not any("TAMIS" in name or "PYTEST" in name for name in environment[1])


def test_a_death_costs_its_own_program_only(sandbox: Sandbox) -> None:
    source = "import os\ndef f(n):\n    if n == 2: os._exit(3)\n    return n"
    ran = ran_of(sandbox, source, (call("f", 1),), (call("f", 0), call("f", 2), call("f", 1)), (call("f", 4),))
    assert [msgspec.json.decode(o) for o in ran.outcomes] == [
        [["=", 1]],
        [["=", 0], ["#", "exited", "exit code 3"], ["#", "not reached", ""]],
        [["=", 4]],
    ]
    assert ran.deaths == 1


def test_after_some_deaths_the_rest_is_not_reached(sandbox: Sandbox) -> None:
    outcomes = run(sandbox, "def f():\n    raise SystemExit", *[(call("f"),)] * 5)
    assert [o[0][1] for o in outcomes] == ["exited"] * 3 + ["not reached"] * 2


ENDINGS = {
    "while True: pass": "timed out",
    "import time; time.sleep(9999)": "timed out",
    "x = []\n    while True: x.append(bytearray(1 << 20))": "out of memory",
    "import ctypes; ctypes.string_at(0)": "crashed",
    "import os; os.abort()": "crashed",
    "import socket; socket.socket()": "forbidden",
    "import os; os.fork()": "forbidden",
    "exit(0)": "exited",
}


@pytest.mark.parametrize(("body", "ending"), ENDINGS.items())
def test_endings_are_told_apart(sandbox: Sandbox, body: str, ending: str) -> None:
    if ending == "forbidden" and not is_strong(protections().layers):
        pytest.skip("this machine gives no seccomp")
    assert run(sandbox, f"def f():\n    {body}", (call("f"),))[0][0][1] == ending


def test_what_was_forbidden_is_named(sandbox: Sandbox) -> None:
    if not is_strong(protections().layers):
        pytest.skip("this machine gives no seccomp")
    outcome = run(sandbox, "import os\ndef f(): os.system('true')", (call("f"),))[0][0]
    assert outcome[2].startswith("start a process")


@pytest.mark.parametrize(
    ("source", "outcome"),
    [("1 / 0", ["!", "ZeroDivisionError", [], "at import: division by zero"]),
     ("def f(:", ["!", "SyntaxError", [], "at import: invalid syntax (draft.py, line 1)"]),
     ("raise SystemExit(3)", ["#", "exited", "at import: SystemExit(3)"]),
     ("import os; os._exit(4)", ["#", "exited", "at import: exit code 4"])],
)  # fmt: skip
def test_a_draft_that_fails_at_import_fails_in_every_call(sandbox: Sandbox, source: str, outcome: Any) -> None:
    assert run(sandbox, source, (call("f"), call("f")), (call("f"),)) == [[outcome] * 2, [outcome]]


def test_every_program_has_an_outcome_for_every_call(sandbox: Sandbox) -> None:
    programs = [tuple(call("f", n) for n in range(size)) for size in (0, 3, 1)]
    for source in ("def f(n): return n", "", "import os\ndef f(n): os._exit(0)", "while True: pass"):
        ran = ran_of(sandbox, source, *programs)
        assert [len(msgspec.json.decode(o)) for o in ran.outcomes] == [0, 3, 1]


def test_output_is_kept_at_both_ends(sandbox: Sandbox) -> None:
    ran = ran_of(sandbox, "def f():\n    print('first')\n    print('x' * 10**6)\n    print('last')", (call("f"),))
    assert ran.output.startswith("first\n") and ran.output.endswith("last\n")
    assert "bytes cut" in ran.output and len(ran.output) < 20_000


def test_more_outcomes_than_shared_memory_holds_come_whole(sandbox: Sandbox) -> None:
    outcomes = run(sandbox, "def f(n): return 'x' * 200_000 + str(n)", *[(call("f", n),) for n in range(60)])
    assert [o[0][1][-2:] for o in outcomes[10:]] == [str(n) for n in range(10, 60)]


def test_a_value_too_large_to_keep_is_known_by_its_digest(sandbox: Sandbox) -> None:
    source = "def f(c): return c * (1 << 21)"
    a, b, a2 = (o[0][1] for o in run(sandbox, source, (call("f", "a"),), (call("f", "b"),), (call("f", "a"),)))
    assert a[0] == "digest" and a == a2 != b


def test_drafts_at_work_side_by_side_do_not_mix() -> None:
    sources = {str(n): f"def f(): return {n}".encode() for n in range(40)}
    with Sandbox(LIMITS, module="draft", workers=3) as sandbox:
        found = {key: msgspec.json.decode(ran.outcomes[0]) for key, ran in sandbox.run(sources, [(call("f"),)])}
    assert found == {str(n): [["=", n]] for n in range(40)}


def test_closing_in_the_midst_ends_everything_at_once() -> None:
    limits = Limits(cpu_seconds=60, total_cpu_seconds=600)
    sandbox = Sandbox(limits, module="draft", workers=2)
    running = sandbox.run({"quick": b"def f(): return 1", "slow": b"def f():\n    while True: pass"}, [(call("f"),)])
    assert next(running)[0] == "quick"
    pids = sandbox.pids()
    threading.Timer(0.2, sandbox.close).start()
    ((key, ran),) = running
    assert key == "slow" and ran.fault is not None
    sandbox.close()
    for _ in range(3_000):  # killed at once; how soon a busy machine takes them off its list is its affair
        if not any(Path(f"/proc/{pid}").exists() for pid in pids):
            break
        time.sleep(0.01)
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_closing_while_a_box_starts_ends_that_one_too(monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox = Sandbox(LIMITS, module="draft", workers=1)
    started: list[Box] = []

    def start(setup: Setup) -> Box:
        started.append(Box(setup))
        sandbox.close()
        return started[-1]

    monkeypatch.setattr(crew, "Box", start)
    ((_, ran),) = sandbox.run({"draft": b"def f():\n    while True: pass"}, [(call("f"),)])
    assert ran.fault == "the sandbox is closed"
    assert all(box.dead for box in started)


def test_leaving_the_iteration_kills_what_runs() -> None:
    limits = Limits(cpu_seconds=60, total_cpu_seconds=600)
    with Sandbox(limits, module="draft", workers=2) as sandbox:
        drafts = {"quick": b"def f(): return 1", "slow": b"def f():\n    while True: pass"}
        running = sandbox.run(drafts, [(call("f"),)])
        next(running)
        started = time.process_time()
        running.close()  # type: ignore[attr-defined]
        assert time.process_time() - started < 30
        assert dict(sandbox.run({"next": b"def f(): return 2"}, [(call("f"),)]))["next"].fault is None


def test_a_box_that_is_lost_is_our_fault_and_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from tamis.sandbox import running

    tries: list[int] = []
    real = running._run_child

    def fails_once(*args: Any, **kwargs: Any) -> Any:
        tries.append(1)
        if len(tries) == 1:
            raise SandboxFault("lost")
        return real(*args, **kwargs)

    monkeypatch.setattr(running, "_run_child", fails_once)
    with Sandbox(LIMITS, module="draft", workers=1) as sandbox:
        assert ran_of(sandbox, "def f(): return 1", (call("f"),)).outcomes == (b'[["=",1]]',)


def test_a_box_that_can_not_be_started_is_a_fault_and_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    with Sandbox(LIMITS, module="draft", workers=1) as sandbox:
        ((_, ran),) = sandbox.run({"draft": b""}, [(call("f"),)])
    assert ran.fault is not None and "did not start" in ran.fault
    assert ran.outcomes == ()


def test_every_layer_is_on_record(sandbox: Sandbox) -> None:
    how = ran_of(sandbox, "def f(): pass", (call("f"),)).how
    assert set(LAYERS) <= set(how)
    assert all(how[layer].startswith(("on", "off", "memory", "CPU", "wall")) for layer in how)


def test_a_layer_left_off_is_on_record_and_the_draft_still_runs() -> None:
    with Sandbox(LIMITS, module="draft", workers=1, without=("landlock", "seccomp", "mount", "pid")) as sandbox:
        ran = ran_of(sandbox, "def f(): return 1", (call("f"),))
    assert ran.outcomes == (b'[["=",1]]',)
    assert {ran.how[layer][:3] for layer in ("landlock", "seccomp", "mount", "pid")} == {"off"}


def test_a_draft_sees_neither_tamis_nor_the_host(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("9")
    looks = f"def f(): return os.path.exists({str(tmp_path)!r}), sorted(os.listdir('/tmp'))"
    source = f"import os\n{looks}\ndef g():\n    import tamis.records"
    seen, imported = run(sandbox, source, (call("f"),), (call("g"),))
    if is_strong(protections().layers) and protections().layers["root"].startswith("on"):
        ((_, (_, (there, (_, listed)))),) = seen
        assert there is False
        runtime = [Path(path).relative_to("/tmp").parts[0] for path in sys.path if path.startswith("/tmp/")]
        assert set(listed) <= set(runtime)  # nothing but the way to the interpreter, where it lies there
    assert imported[0][1] == "ModuleNotFoundError"


def test_limits_refuse_what_makes_no_sense() -> None:
    with pytest.raises(UsageError, match="cpu_seconds"):
        Limits(cpu_seconds=0)
    with pytest.raises(UsageError, match="netwrok") as error:
        Limits(allow=("netwrok",))
    assert error.value.hint is not None and "network" in error.value.hint


def test_allowed_subprocesses_run_and_none_is_left() -> None:
    limits = Limits(cpu_seconds=2, allow=("subprocess",), memory_mb=256)
    leaves = "subprocess.Popen(['sleep', '1000'])"
    source = f"import subprocess\ndef f():\n    {leaves}\n    return subprocess.check_output(['echo', 'hi'])"
    with Sandbox(limits, module="draft", workers=1) as sandbox:
        assert run(sandbox, source, (call("f"),)) == [[["=", ["bytes", b"hi\n".hex()]]]]
        left = [p for p in Path("/proc").iterdir() if p.name.isdigit() and _command(p) == b"sleep\x001000\x00"]
    assert left == []


def _command(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


def test_a_busy_machine_costs_a_draft_nothing() -> None:
    """Several loops compete for every core; a draft that needs most of its CPU seconds is still in time."""
    source = "import time\ndef f():\n    while time.process_time() < 0.2: pass\n    return 1"
    stop = os.fork()
    if stop == 0:
        for _ in range(3):
            os.fork()
        end = time.monotonic() + 30
        while time.monotonic() < end and os.getppid() != 1:
            pass
        os._exit(0)
    try:
        os.setpriority(os.PRIO_PROCESS, stop, 0)
        with Sandbox(LIMITS, module="draft", workers=1) as sandbox:
            assert run(sandbox, source, (call("f"),)) == [[["=", 1]]]
    finally:
        os.kill(stop, 9)
        os.waitpid(stop, 0)


def test_folders_of_supervisors_that_were_killed_are_cleared_up(tmp_path: Path, monkeypatch: Any) -> None:
    import tempfile

    from tamis.sandbox.leftovers import OwnFolder

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    making = f"import tempfile; tempfile.tempdir = {str(tmp_path)!r}\nfrom tamis.sandbox.leftovers import OwnFolder\n"
    killed = "own = OwnFolder('tamis-box.'); (own.path / 'x').write_text('x'); import os; os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", making + killed], check=False)
    (left,) = tmp_path.iterdir()
    with OwnFolder("tamis-box.") as held, OwnFolder("tamis-tests.") as other:
        assert not left.exists()
        with Sandbox(LIMITS, module="draft", workers=1) as made:
            run(made, "def f(): return 1", (call("f"),))
        assert {path.name for path in tmp_path.iterdir()} == {held.path.name, other.path.name}
    assert list(tmp_path.iterdir()) == []
