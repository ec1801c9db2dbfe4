import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.config import Section, Settings, load_settings, sections
from tamis.errors import BriefError
from tamis.sandbox.records import ALLOWABLE
from tamis.strict import keys, line_of

EXAMPLE = """\
[brief]
desk = "software"        # or prose, lab
[drafts]
from = "drafts/*.py"     # each is imported as the module that the brief names
[tests]
folder = "tests"
cpu_seconds = 5
memory_mb = 512
[choose]
top = 1
odds = 0.95
"""


def mistakes(text: str) -> list[str]:
    with pytest.raises(BriefError) as raised:
        load_settings(text, where="tamis.toml")
    return raised.value.what.splitlines()


def test_an_empty_file_is_all_defaults() -> None:
    assert load_settings("") == Settings()


def test_the_documented_example_is_read() -> None:
    settings = load_settings(EXAMPLE)
    assert (settings.brief.desk, settings.drafts.from_, settings.tests.folder) == ("software", "drafts/*.py", "tests")
    assert (settings.tests.cpu_seconds, settings.choose.odds) == (5, 0.95)


def test_sources_can_be_a_list() -> None:
    assert load_settings('[drafts]\nfrom = ["a", "b"]').drafts.from_ == ("a", "b")


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("[tests]\ncpu_secs = 4", 2, "[tests] has no key 'cpu_secs'; did you mean 'cpu_seconds'?"),
        ("\n[breif]\ndesk = 'lab'", 2, "there is no section [breif]; did you mean 'brief'?"),
        ("odds = 0.5", 1, "'odds' stands outside any section; it belongs under [choose]"),
        ("x = 1", 1, "there is no key 'x'; the sections are brief, drafts"),
        ("brief = 'lab'", 1, "'brief' is a section: write [brief] on a line of its own"),
        ("[[brief]]\ndesk = 'lab'", 1, "'brief' is a section: write [brief] on a line of its own"),
        ("[brief]\ndesk = 'sotware'", 2, "expected software, prose or lab; did you mean 'software'?"),
        ("[tests]\n\nmemory_mb = 'much'", 3, "expected a whole number, not a text in quotes"),
        ("[tests]\nmemory_mb = true", 2, "expected a whole number, not true or false"),
        ("[tests]\ncpu_seconds = 0", 2, "expected a number > 0.0"),
        ("[choose]\nodds = nan", 2, "expected a number"),
        ("[choose]\nodds = 1", 2, "expected a number < 1.0"),
        ("[drafts]\nfrom = 3", 2, "expected a text in quotes or a list, not a whole number"),
        ("[drafts]\nfrom = [3]", 2, "expected a text in quotes in the list, not a whole number"),
        ("[brief]\nmodule = 'my module'", 2, "expected a name that Python can import"),
        ("[sandbox]\nallow = ['netwrok']", 2, "did you mean 'network'?"),
        ("choose.odds = 2", 1, "[choose] odds = 2: expected a number < 1.0"),
        ("tests = { memory_mb = 1 }", 1, "[tests] memory_mb = 1: expected a whole number >= 16"),
    ],
)
def test_a_mistake_is_told_with_its_line_and_what_was_expected(text: str, line: int, said: str) -> None:
    (told,) = mistakes(text)
    assert told.startswith(f"tamis.toml line {line}: ")
    assert said in told


def test_all_mistakes_are_told_at_once() -> None:
    assert len(mistakes("[tests]\nfoldr = 'x'\njudged = 'in'\n[coose]\ntop = 2\n")) == 3


def test_what_is_not_toml_says_where() -> None:
    (told,) = mistakes("[brief]\ndesk = prose\n")
    assert "line 2" in told


def test_a_key_of_the_same_name_in_an_earlier_section_is_not_taken_for_it() -> None:
    assert line_of("[behaviour]\nseed = 1\n[choose]\ntop = 1\nseed = 3\n", "choose", "seed") == 5


@given(st.text())
def test_any_text_is_settings_or_a_brief_error(text: str) -> None:
    try:
        assert isinstance(load_settings(text), Settings)
    except BriefError as error:
        assert error.what


def every_key() -> list[tuple[str, str, type[Section]]]:
    return [(name, key, kind) for name, kind in sections().items() for key in keys(kind)]


@pytest.mark.parametrize(("section", "key", "kind"), every_key())
def test_every_default_is_within_its_own_bounds(section: str, key: str, kind: type[Section]) -> None:
    field = next(field for field in msgspec.structs.fields(kind) if field.name.rstrip("_") == key)
    assert msgspec.convert(msgspec.to_builtins(field.default), keys(kind)[key]) == field.default


def test_what_can_be_allowed_is_what_the_sandbox_can_allow() -> None:
    for word in ALLOWABLE:
        assert load_settings(f'[sandbox]\nallow = ["{word}"]').sandbox.allow == (word,)
    assert mistakes('[sandbox]\nallow = ["everything"]') == [
        f'tamis.toml line 2: [sandbox] allow = ["everything"]: expected {", ".join(ALLOWABLE[:-1])} or {ALLOWABLE[-1]}'
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[draft]\ncompile = ["cc", "main.c"]\n', "not what runs it"),
        ('[draft]\nfile = "main.c"\n', "not what runs it"),
        ('[draft]\ncommand = ["./main"]\n[sandbox]\ncommand = ["docker", "run"]\n', "can't be run in the box"),
        ('[draft]\ncommand = ["./main"]\n[behaviour]\ncrosshair = true\n', "crosshair reads drafts that are Python"),
        ('[sandbox]\ncommand = ["docker"]\n[behaviour]\ncrosshair = true\n', "in the box of this machine"),
    ],
)
def test_what_of_a_draft_s_command_would_be_passed_over_is_refused(text: str, told: str) -> None:
    with pytest.raises(BriefError, match=told):
        load_settings(text)
