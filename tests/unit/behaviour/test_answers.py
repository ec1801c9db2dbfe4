import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from tamis.behaviour.answers import FILE_NAME, checked, keep, with_tests
from tamis.behaviour.owner import Told
from tamis.sandbox import Call, Program

MODULE = """from datetime import date, timedelta


class DeskError(Exception): ...


class Desk:
    def __init__(self):
        self.out = {}

    def lend(self, tool, on):
        if tool in self.out:
            raise DeskError(tool)
        self.out[tool] = on
        return on + timedelta(days=7)

    def rate(self):
        return 0.1 + 0.2
"""
DESK = Call(name="Desk")


def lend(tool: str, day: int) -> Call:
    return Call(name="lend", on=0, args=(tool, ["date", f"2026-03-{day:02}"]))


DUE = b'["=",["date","2026-03-08"]]'
REFUSED = b'["!","DeskError",["Exception"],"drill"]'
ONE: Program = (DESK, lend("drill", 1))
TWO: Program = (*ONE, lend("drill", 2))
RATE: Program = (DESK, lend("drill", 1), lend("drill", 2), Call(name="rate", on=0))


def outcomes(program: Program) -> Sequence[bytes]:
    return [b'["=",["object","Desk",[]]]', DUE, REFUSED, b'["=",["float","0.30000000000000004"]]'][: len(program)]


def told(number: int, program: Program, outcome: bytes, *, page: str | None = None) -> Told:
    shown = outcome if page else None
    return Told(id=str(number), decision="d", program=program, kind="value", outcome=outcome, page=page, shown=shown)


ANSWERS = [told(1, TWO, REFUSED), told(2, RATE, b'["=",["float","0.3"]]'), told(3, ONE, DUE)]


def kept(folder: Path, answers: Sequence[Told] = ANSWERS) -> str:
    path = keep(folder, answers, module="desk", outcomes=outcomes, exceptions=["DeskError"])
    assert path is not None
    return path.read_text()


def pytest_of(folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "desk.py").write_text(MODULE)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        str(folder / FILE_NAME),
    ]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_file_is_plain_pytest_that_the_owners_draft_passes(tmp_path: Path) -> None:
    text = kept(tmp_path)
    assert "from desk import Desk, DeskError" in text
    assert 'assert desk.lend("drill", date(2026, 3, 1)) == date(2026, 3, 8)' in text
    assert "with pytest.raises(DeskError):" in text
    ran = pytest_of(tmp_path)
    assert ran.returncode == 0, ran.stdout
    assert "3 passed" in ran.stdout


def test_a_draft_that_goes_against_an_answer_fails(tmp_path: Path) -> None:
    kept(tmp_path, [told(1, ONE, b'["=",["date","2026-03-11"]]')])
    assert pytest_of(tmp_path).returncode == 1


def test_the_same_answers_change_nothing(tmp_path: Path) -> None:
    assert kept(tmp_path) == kept(tmp_path)


def test_new_answers_are_added_and_what_the_owner_edited_stays(tmp_path: Path) -> None:
    kept(tmp_path, ANSWERS[:1])
    path = tmp_path / FILE_NAME
    path.write_text(path.read_text().replace("def test_lend", "def test_mine_now"))
    text = kept(tmp_path, ANSWERS)
    assert text.count("def test_mine_now") == 1
    assert text.count("def test_") == 3
    assert pytest_of(tmp_path).returncode == 0


def test_a_test_that_the_owner_deleted_is_not_written_again(tmp_path: Path) -> None:
    before = kept(tmp_path, ANSWERS[:2])
    start = before.index("def test_rate")
    end = before.index("# written so far")
    (tmp_path / FILE_NAME).write_text(before[:start] + before[end:])
    assert "def test_rate" not in kept(tmp_path, ANSWERS)


def test_lines_of_one_scene_become_one_test() -> None:
    scene = [told(1, ONE, DUE, page="p"), told(2, TWO, REFUSED, page="p"), told(3, ONE, DUE, page="q")]
    assert [len(c.wanted) for c in checked(scene)] == [2, 1]


def test_what_is_no_value_is_not_asserted() -> None:
    vague = Told(id="1", decision="d", program=ONE, kind="either")
    assert checked([vague]) == []


def test_answers_survive_the_ledger() -> None:
    assert msgspec.json.decode(msgspec.json.encode(ANSWERS[0]), type=Told) == ANSWERS[0]


def test_nothing_answered_makes_no_file(tmp_path: Path) -> None:
    assert keep(tmp_path, [], module="desk", outcomes=outcomes, exceptions=["DeskError"]) is None
    assert not (tmp_path / FILE_NAME).exists()


def test_an_exception_from_elsewhere_is_told_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("class Odd(Exception): ...")
    refused = b'["!","Odd",["Exception"],""]'
    path = keep(tmp_path, [told(1, ONE, refused)], module="desk", outcomes=outcomes, exceptions=["DeskError"])
    assert path is not None
    text = path.read_text()
    assert "import Odd" not in text
    odd = MODULE.replace("raise DeskError(tool)", "raise Odd").replace("if tool in self.out", "if True")
    (tmp_path / "desk.py").write_text("from other import Odd\n" + odd)
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", str(path)],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout


def test_no_number_is_answered_by_no_number() -> None:
    runs = [told(1, (Call(name="rate"),), b'["=",["float","nan"]]')]
    text = with_tests("", checked(runs), module="desk", outcomes=lambda _: [b'["=",["float","nan"]]'], exceptions=())
    assert "nan_ok=True" in text
    namespace: dict[str, object] = {}
    exec(text.replace("from desk import rate", "def rate():\n    return float('nan')"), namespace)
    test = next(value for name, value in namespace.items() if name.startswith("test_"))
    assert callable(test)
    test()


@pytest.mark.parametrize("name", ["YogaClass", "WordList", "DueDate", "Set"])
def test_no_variable_takes_a_name_that_python_or_the_file_needs(name: str) -> None:
    program = (Call(name=name), Call(name="size", on=0))
    text = with_tests(
        "",
        checked([told(1, program, b'["=",3]')]),
        module="m",
        outcomes=lambda _: [b'["=",1]', b'["=",3]'],
        exceptions=(),
    )
    compile(text, "test_answers.py", "exec")
    assert re.search(r"the_\w+ = ", text)


def test_where_no_draft_does_all_of_it_the_file_says_which_answers_clash_and_how_to_change_one(tmp_path: Path) -> None:
    keep(tmp_path, ANSWERS, module="desk", outcomes=outcomes, exceptions=["DeskError"], clash=(0, 1))
    *_, told_of, first, second, written = (tmp_path / FILE_NAME).read_text().splitlines()
    assert told_of == "# clash: no draft does all of these answers"
    assert first == '# clash: 1. desk.lend("drill", 2 March 2026) → raises DeskError'
    assert second == "# clash: 2. desk.rate() → 0.3"
    assert written.startswith("# written so far: ")
    assert "# clash" not in kept(tmp_path), "and no longer when they don't"


def test_a_test_goes_when_she_answers_otherwise_and_comes_with_what_she_says_instead(tmp_path: Path) -> None:
    before = kept(tmp_path)
    after = kept(tmp_path, [*ANSWERS, told(4, TWO, DUE)])
    assert before.count("pytest.raises(DeskError)") == 1
    assert "pytest.raises(DeskError)" not in after
    assert after.count("\ndef test_") == before.count("\ndef test_")


def test_of_an_answer_given_in_two_ways_only_the_last_is_kept(tmp_path: Path) -> None:
    first = kept(tmp_path, [told(1, TWO, DUE)])
    assert "raises" not in first
    second = kept(tmp_path, [told(1, TWO, DUE), told(2, TWO, REFUSED)])
    assert second.count("\ndef test_") == 1
    assert "pytest.raises(DeskError)" in second


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("with pytest.raises(DeskError):", "with pytest.raises(DeskError, match='drill'):"),
        ("\n\n\ndef test_", "\n\n\n@pytest.mark.slow\ndef test_"),
    ],
)
def test_a_test_that_she_edited_stays_also_when_she_answers_otherwise(tmp_path: Path, old: str, new: str) -> None:
    path = tmp_path / FILE_NAME
    edited = kept(tmp_path).replace(old, new)
    path.write_text(edited)
    after = kept(tmp_path, [*ANSWERS, told(4, TWO, DUE)])
    assert edited.partition("# written so far")[0].rstrip() in after
    compile(after, FILE_NAME, "exec")


def test_lines_that_she_added_below_a_test_are_not_cut_off_from_it(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    lines = kept(tmp_path).splitlines()
    at = next(i for i, line in enumerate(lines) if "pytest.raises(DeskError)" in line) + 2
    path.write_text("\n".join([*lines[:at], "    assert desk is not None", *lines[at:]]) + "\n")
    after = kept(tmp_path, [*ANSWERS, told(4, TWO, DUE)])
    assert "pytest.raises(DeskError)" in after
    compile(after, FILE_NAME, "exec")
