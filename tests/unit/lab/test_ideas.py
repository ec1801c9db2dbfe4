import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.errors import BriefError
from tamis.lab.expressions import evaluated
from tamis.lab.ideas import Coming, Each, Listed, listed, read_ideas
from tamis.lab.settings import LabSection, NumberField, goals_of

ELEMENTS = LabSection(goal="minimize y", composition=("Ni", "Fe", "Co"))


def read(rows: list[object], lab: LabSection = ELEMENTS):
    contents = [row if isinstance(row, bytes) else msgspec.json.encode(row) for row in rows]
    return read_ideas([(str(k), f"idea {k}", content) for k, content in enumerate(contents)], lab)


def test_each_refused_idea_has_its_reason_and_the_others_go_on():
    found = read([{"Ni": 0.5, "Fe": 0.5}, {"Ni": 0.5}, {"Ni": "2-Jan", "Fe": 1}, {"Ni": -0.5, "Fe": 1.5}, b"not json"])
    assert [idea.draft for idea in found.ideas] == ["0"]
    assert "sum to 0.5" in found.refused["1"]
    assert "date" in found.refused["2"]
    assert "negative" in found.refused["3"]
    assert "pattern" in found.refused["4"]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (["iron", "nickel"], "kind is a list, and a text is wanted"),
        ({"of": "iron"}, "kind is a JSON object, and a text is wanted"),
        ([[["iron"]]], "kind is a list"),
        ("iron\0", "kind holds the control character U+0000"),
        ("iron\x1b[2J", "kind holds the control character U+001B"),
        ("i" * 1_000_000, "kind is 1,000,000 characters long, and at most 200 are read"),
        (" ", "has no kind"),
        (None, "has no kind"),
    ],
)
def test_what_is_no_name_is_refused_with_its_reason(given, why):
    found = read([{"kind": given}, {"kind": "iron"}, {"kind": 3}], LabSection(goal="minimize y", category=("kind",)))
    assert [idea.draft for idea in found.ideas] == ["1", "2"]
    assert found.refused["0"].startswith(why)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=4))
def test_a_reason_is_never_longer_than_a_person_reads(cell):
    lab = LabSection(goal="minimize y", category=("kind",), composition="f", number=("T",))
    found = read([{"kind": "x", "f": "NiFe", "T": 1}, {"kind": cell, "f": cell, "T": "9" * 5_000}], lab)
    assert len(found.refused["1"]) <= 300


def test_the_same_composition_in_other_words_is_one_idea():
    found = read(
        [
            {"Ni": 0.5, "Fe": 0.5},
            {"Ni": "0,5", "Fe": "0,5", "Co": ""},
            {"Ni": 50, "Fe": 50},
            {"Fe": 0.5, "Ni": 0.5, "why": "x"},
        ]
    )
    assert len(found.ideas) == 1
    assert found.folded == {"1": "0", "2": "0", "3": "0"}
    assert found.ideas[0].also == ("1", "2", "3")


def test_formulas_and_fractions_say_the_same_thing():
    found = read([{"f": "NiFe"}, {"f": "Ni2Fe2"}, {"f": "Ni0.5Fe0.5"}], LabSection(goal="minimize y", composition="f"))
    assert len(found.ideas) == 1
    assert found.columns.elements == ("Fe", "Ni")


def test_molecules_are_the_same_however_they_are_written():
    pytest.importorskip("rdkit")
    found = read([{"m": "OCC"}, {"m": "CCO"}, {"m": "C1CC"}], LabSection(goal="minimize y", smiles=("m",)))
    assert len(found.ideas) == 1
    assert "RDKit can't read" in found.refused["2"]


def test_text_is_taken_apart_by_a_pattern():
    lab = LabSection(goal="minimize y", composition="f", number=("T",), pattern=r"(?P<f>[A-Z]\S+) at (?P<T>\d+)")
    found = read([b"I propose Ni3Fe at 300 degrees", b"no idea"], lab)
    assert found.columns.numbers["T"].tolist() == [300.0]
    assert found.refused["1"] == "does not match [lab] pattern"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (200, "above 150"),
        (10, "below 20"),
        (25, "not on its grid"),
        ("50 kg", "degC is wanted"),
        (None, "has no T"),
        ("inf", "finite"),
    ],
)
def test_a_number_out_of_its_bounds_is_refused(value, reason):
    lab = LabSection(goal="minimize y", number=(NumberField(name="T", unit="degC", low=20, high=150, step=10),))
    found = read([{"T": 30}, {"T": value}], lab)
    assert reason in found.refused["1"]


def test_a_number_in_another_unit_is_converted():
    lab = LabSection(goal="minimize y", number=(NumberField(name="T", unit="degC"),))
    assert read([{"T": "212 degF"}], lab).columns.numbers["T"].tolist() == pytest.approx([100.0])


def test_constraints_refuse_and_costs_are_worked_out():
    lab = LabSection(goal="minimize y", composition=("Ni", "Fe"), constraints=("Ni >= 0.3",), cost="1 + 4 * Fe")
    found = read([{"Ni": 0.5, "Fe": 0.5}, {"Ni": 0.1, "Fe": 0.9}, {"Ni": 0.3, "Fe": 0.7}], lab)
    assert found.refused == {"1": "breaks the constraint Ni >= 0.3"}
    assert found.costs is not None
    assert found.costs.tolist() == pytest.approx([3.0, 3.8])


def test_all_ideas_invalid_is_an_error_that_says_why_most_are():
    with pytest.raises(BriefError, match=r"none of 2 ideas is valid; most often \(2 times\).*sum to 0.5"):
        read([{"Ni": 0.5}, {"Fe": 0.5}])


@pytest.mark.parametrize(
    "lab", [LabSection(goal="minimize y"), LabSection(goal="minimize y", composition=("Ni", "Zz"))]
)
def test_columns_that_make_no_sense_are_refused(lab):
    with pytest.raises(BriefError):
        read([{"Ni": 1}], lab)


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 20), min_size=3, max_size=3), min_size=1, max_size=20))
def test_every_draft_is_an_idea_or_folded_or_refused_and_never_two_of_them(parts):
    rows = [dict(zip(("Ni", "Fe", "Co"), (p / 10 for p in part), strict=True)) for part in [*parts, [10, 0, 0]]]
    found = read(rows)
    standing = [idea.draft for idea in found.ideas]
    assert sorted([*standing, *found.folded, *found.refused], key=int) == [str(k) for k in range(len(rows))]
    assert np.allclose(found.columns.fractions.sum(axis=1), 1.0)


@pytest.mark.parametrize(
    "text", ["__import__('os')", "Ni.real", "(lambda: 1)()", "[Ni]", "Ni if Fe else 1", "Zn + 1", "Ni +"]
)
def test_an_expression_can_only_compute(text):
    with pytest.raises(BriefError):
        evaluated(text, {"Ni": np.ones(2), "Fe": np.ones(2)}, where="[lab] cost")


def test_expressions_compute_for_all_ideas_at_once():
    columns = {"a": np.array([0.1, 0.5]), "b": np.array([0.2, 0.5])}
    assert evaluated("a + b <= 0.3", columns, where="x").tolist() == [1.0, 0.0]
    assert evaluated("-max(a, b) * 2 ** 2", columns, where="x").tolist() == pytest.approx([-0.8, -2.0])
    assert evaluated("0.1 < a < 1 or not b > 0", columns, where="x").tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("goal", "sign", "name", "threshold"),
    [
        ("minimize a b", -1, "a b", None),
        ("Maximise y", 1, "y", None),
        ("y below 0.35", -1, "y", 0.35),
        ("y >= 90", 1, "y", 90.0),
    ],
)
def test_goals_are_read(goal, sign, name, threshold):
    (found,) = goals_of(LabSection(goal=goal))
    assert (found.sign, found.name, found.threshold) == (sign, name, threshold)


@pytest.mark.parametrize("lab", [LabSection(), LabSection(goal="find it"), LabSection(goal="minimize y", unit="vlots")])
def test_no_goal_or_an_unknown_unit_is_refused_in_a_sentence(lab):
    with pytest.raises(BriefError):
        goals_of(lab)


MIXED = LabSection(goal="minimize y", composition="f", category=("by",), number=("T",), constraints=("T > 5",))
ROWS = st.one_of(
    st.fixed_dictionaries(
        {
            "f": st.sampled_from(["NiFe", "Ni2Fe2", "CeO2", "Ni", "nothing"]),
            "by": st.sampled_from(["Sol gel", "sol  gel", "printed"]),
            "T": st.integers(0, 20),
        }
    ),
    st.just("no object"),
)


@settings(deadline=None, max_examples=60)
@given(st.lists(ROWS, min_size=1, max_size=12), st.randoms())
def test_ideas_read_as_they_come_are_those_read_at_once(rows: list[object], rng) -> None:
    drafts = [(str(k), f"idea {k}", msgspec.json.encode(row)) for k, row in enumerate(rows)]
    contents = {draft: content for draft, _, content in drafts}
    coming = Coming(MIXED)
    for draft in rng.sample(sorted(contents), rng.randrange(len(contents) + 1)):
        coming.add(draft, contents[draft])  # in any order, and perhaps not all of them
    try:
        at_once = read_ideas(drafts, MIXED)
    except BriefError as error:
        with pytest.raises(BriefError, match="none of"):
            coming.ideas(listed(drafts))
        assert "none of" in error.what
        return
    here = Listed([(draft, name) for draft, name, _ in drafts], contents.__getitem__)
    found, again = coming.ideas(here), coming.ideas(here)  # the second time it is empty, and reads them anew
    for one in (found, again):
        assert (one.ideas, one.refused, one.folded) == (at_once.ideas, at_once.refused, at_once.folded)
    assert found.columns.elements == at_once.columns.elements
    assert np.array_equal(found.columns.fractions, at_once.columns.fractions)
    assert found.columns.numbers["T"].tolist() == at_once.columns.numbers["T"].tolist()
    by, other = found.columns.named["by"], at_once.columns.named["by"]
    assert by.levels == other.levels
    assert by.codes.tolist() == other.codes.tolist()
    for place, idea in enumerate(found.ideas):
        key = found.key(idea.draft)
        assert by.levels[by.codes[place]] == key.names[0]
        shares = dict(key.shares)
        row = dict(zip(found.columns.elements, found.columns.fractions[place], strict=True))
        assert {element: share for element, share in row.items() if share} == pytest.approx(shares, abs=1e-4)


def test_what_an_idea_says_is_read_again_when_it_is_asked_for():
    asked = []
    rows = {"a": b'{"Ni": 0.5, "Fe": 0.5, "why": "x"}', "b": b'{"Ni": 1}'}

    def content(draft: str) -> bytes:
        asked.append(draft)
        return rows[draft]

    found = Coming(ELEMENTS).ideas(Listed([("a", "one"), ("b", "two")], content))
    assert asked == ["a", "b"]
    cells = Each(found, found.cells)
    assert list(cells) == ["a", "b"]
    assert len(cells) == 2
    assert asked == ["a", "b"]
    assert cells["a"]["why"] == "x"
    assert asked == ["a", "b", "a"]
