import importlib.util
import os
import signal
from collections.abc import Callable

import pytest

from tamis.checks.parser_pool import Job, ParserPool
from tamis.checks.parses import Parses, language_of
from tamis.records import Answer, Broke, Draft, Held, NoAnswer

Made = Callable[..., tuple[Draft, bytes]]
needs_grammars = pytest.mark.skipif(
    importlib.util.find_spec("tree_sitter_c") is None, reason="the extra tamis[languages] is not installed"
)


def answer(pool: ParserPool, given: tuple[Draft, bytes]) -> Answer:
    (found,) = Parses("software", pool=pool).look([given])
    assert found.draft == given[0].id
    return found.answer


@pytest.mark.parametrize(
    "source",
    [
        b"x = 1\n",
        b"\xef\xbb\xbfx = 1\n",
        b"# -*- coding: latin-1 -*-\nx = '\xe9'\n",
        b"x = '\\d' is 3\n",
        b"x = 0x" + b"9" * 100_000,
        b"[" * 150 + b"]" * 150,
    ],
)
def test_what_python_imports_holds(pool: ParserPool, draft: Made, source: bytes) -> None:
    assert isinstance(answer(pool, draft("a.py", source)), Held)


@pytest.mark.parametrize(
    ("source", "witness"),
    [
        (b"def f(:\n    pass\n", "line 1, column 7: invalid syntax\n    def f(:\n          ^"),
        (b"x = 1\nreturn x\n", "line 2, column 1: 'return' outside function\n    return x\n    ^"),
        (b"if x:\n\ty\n        z\n", "line 3, column 1: inconsistent use of tabs"),
        (b"x = 1\0", "null bytes"),
        (b"# coding: rot13\nk = 1", "rot13"),
        (b"-" * 100_000 + b"1", "deep"),
        (b"a" + b".b" * 100_000, "deep"),
        (b"(" * 100_000, "too many nested parentheses"),
        (b"9" * 100_000, "4300 digits"),
    ],
)
def test_what_python_does_not_take_breaks_with_the_place(
    pool: ParserPool, draft: Made, source: bytes, witness: str
) -> None:
    found = answer(pool, draft("a.py", source))
    assert isinstance(found, Broke)
    assert witness in found.witness


def test_a_long_line_is_shown_around_the_place(pool: ParserPool, draft: Made) -> None:
    found = answer(pool, draft("a.py", "x = " + "1 + " * 200 + "$"))
    assert isinstance(found, Broke)
    told, line, mark = found.witness.splitlines()
    assert told.startswith("line 1, column 805")
    assert line[mark.index("^")] == "$"


@needs_grammars
@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("a.c", "int f(void) { return 1; }", "int f(void) { return 1 }"),
        ("a.go", "package a\nfunc f() int { return 1 }\n", "package a\nfunc f( int { return 1 }\n"),
        ("a.java", "class A { int f() { return 1; } }", "class A { int f() { return 1 } }"),
        ("a.js", "const f = (a) => a + 1;", "const f = (a) => { a +"),
        ("a.rs", "fn f() -> i32 { 1 }", "fn f() -> i32 { 1"),
        ("a.ts", "const x: number = 1;", "const x: = 1;"),
        ("a.tsx", "const a = <b>hi</b>;", "const a = <b>hi</c;"),
    ],
)
def test_other_languages_are_parsed_by_their_grammar(
    pool: ParserPool, draft: Made, name: str, good: str, bad: str
) -> None:
    assert isinstance(answer(pool, draft(name, good)), Held)
    found = answer(pool, draft(name, bad))
    assert isinstance(found, Broke)
    assert found.witness.startswith("line ")


@needs_grammars
def test_what_is_missing_is_named_with_its_place(pool: ParserPool, draft: Made) -> None:
    found = answer(pool, draft("a.c", "int f(void) {\n  int é = 1; return é\n}\n"))
    assert isinstance(found, Broke)
    assert found.witness.splitlines()[0] == "line 2, column 22: ';' is missing"


def test_a_language_without_a_grammar_has_no_answer(pool: ParserPool, draft: Made) -> None:
    found = answer(pool, draft("a.cob", "IDENTIFICATION DIVISION."))
    assert isinstance(found, NoAnswer)
    assert found.fault == "check"
    assert ".cob" in found.why


def test_a_grammar_that_is_not_installed_has_no_answer_and_says_what_to_install(
    draft: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tamis.checks import parser_child, parses
    from tamis.checks.parser_pool import Parsed

    monkeypatch.setitem(parser_child.GRAMMARS, "c", ("tree_sitter_that_nobody_has", "language"))
    monkeypatch.setattr(parser_child, "_parsers", {})
    reply, _ = parser_child.answer("c", b"int x;")
    found = parses._judged(Parsed(**reply), b"")
    assert isinstance(found, NoAnswer)
    assert "pip install 'tamis[languages]'" in found.why


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("a.py", "python"),
        ("x/B.PY", "python"),
        ("samples.jsonl:12", "python"),
        ("first try#2", "python"),
        ("gpt-4.1", "python"),
        ("a.TSX", "tsx"),
        ("a.rb", None),
    ],
)
def test_the_name_says_the_language(name: str, language: str | None) -> None:
    assert language_of(name) == language


@pytest.mark.parametrize("desk", ["software", "prose", "lab"])
def test_a_draft_that_was_cut_or_refused_never_passes(draft: Made, desk: str) -> None:
    given = [draft("a", "x = 1", "length"), draft("b", "x = 2", "refused"), draft("c", "x = 3")]
    answers = {found.draft: found.answer for found in Parses(desk).look(given)}  # type: ignore[arg-type]
    assert [type(answers[name]) for name in "abc"] == [Broke, Broke, Held]


def test_prose_is_whole_when_it_is_text(draft: Made) -> None:
    given = [draft("a.md", "It was dawn ("), draft("b.md", " \n"), draft("c.md", b"\xff")]
    assert [type(found.answer) for found in Parses("prose").look(given)] == [Held, Broke, Broke]


def test_a_record_of_the_lab_is_a_json_object_or_plain_text(draft: Made) -> None:
    given = [draft("a", '{"Ni": 1}'), draft("b", '{"Ni": '), draft("c.json", "[1]"), draft("d", "Ni80Fe20, as ever")]
    assert [type(found.answer) for found in Parses("lab").look(given)] == [Held, Broke, Broke, Held]


def test_answers_keep_the_order_and_every_draft_has_one(draft: Made) -> None:
    names = [f"{number}.{'py' if number % 3 else 'cob'}" for number in range(40)]
    found = Parses("software").look(draft(name, "x = 1") for name in names)
    assert [each.draft for each in found] == names


def test_a_text_that_uses_up_its_cpu_seconds_breaks_and_the_next_is_read(draft: Made) -> None:
    slow = "a = 1\n" * 800_000  # some seconds for any compiler
    with ParserPool(processes=1, cpu_seconds=0) as pool:
        found = list(Parses("software", pool=pool).look([draft("slow.py", slow), draft("fine.py", "x = 1")]))
    assert found[0].answer == Broke(witness="takes more than 0 CPU seconds to parse")
    assert found[1].answer == Held()


def test_a_process_that_dies_takes_no_draft_with_it(pool: ParserPool) -> None:
    with ParserPool(processes=1) as own:
        jobs = [(number, Job(language="python", content=b"x = 1")) for number in range(3)]
        answers = own.parse(jobs)
        next(answers)
        os.kill(own._all[0]._child.pid, signal.SIGKILL)
        assert [parsed.problem for _, parsed in answers if parsed] == [None, None]


def test_what_kills_the_parser_twice_is_the_text_s_doing_unless_someone_killed_it() -> None:
    from tamis.checks.parser_pool import _died_of

    assert _died_of(-signal.SIGSEGV, 1).problem == "crashes the parser (SIGSEGV)"
    assert _died_of(-signal.SIGXCPU, 1).problem == "takes more than 1 CPU seconds to parse"
    assert _died_of(-signal.SIGKILL, 1).problem is None
    assert "SIGKILL" in (_died_of(-signal.SIGKILL, 1).lost or "")
    assert _died_of(1, 1).lost


def test_nothing_of_a_draft_is_run(pool: ParserPool, draft: Made, tmp_path: object) -> None:
    marker = f"{tmp_path}/ran"
    assert isinstance(answer(pool, draft("a.py", f"open({marker!r}, 'w')")), Held)
    assert not os.path.exists(marker)  # noqa: PTH110


def test_no_process_is_left_behind() -> None:
    with ParserPool(processes=2) as pool:
        list(pool.parse([(None, Job(language="python", content=b"x = 1"))] * 8))
        children = [process._child for process in pool._all]
        assert children
    assert all(child.poll() is not None for child in children)


def test_a_language_that_no_parser_is_known_for_is_the_matter_of_the_command_that_makes_it(draft: Made) -> None:
    given = [draft("program.hs", "main = print 1"), draft("broken.py", "def (")]
    assert [type(found.answer) for found in Parses("software").look(given)] == [NoAnswer, Broke]
    assert [type(found.answer) for found in Parses("software", by_command=True).look(given)] == [Held, Broke]
