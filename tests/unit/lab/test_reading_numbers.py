import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.errors import BriefError
from tamis.lab.formulas import NotAFormula, shares
from tamis.lab.numbers import NotANumber, number_in, plain_number
from tamis.lab.units import converted, is_unit, require_unit


@pytest.mark.parametrize(
    ("text", "value", "rest"),
    [
        ("0.35", 0.35, ""),
        ("0,35", 0.35, ""),
        (" 350 mV ", 350.0, "mV"),
        ("−1.5e-3", -0.0015, ""),
        (".5", 0.5, ""),
        ("7 %", 7.0, "%"),
    ],
)
def test_numbers_are_read_as_people_write_them(text, value, rest):
    assert number_in(text) == (value, rest)


@pytest.mark.parametrize("text", ["1,234.5", "1.234,5", "1,234,567", "", "about 3", "inf", "-Infinity", "nan", "1e999"])
def test_what_is_no_number_or_could_be_two_is_refused(text):
    with pytest.raises(NotANumber):
        number_in(text)


@pytest.mark.parametrize("text", ["2-Jan", "01. Feb", "Jan-02", "2026-02-01 00:00:00", "1/2/2026", "3. März"])
def test_a_fraction_that_a_spreadsheet_turned_into_a_date_is_told_as_that(text):
    with pytest.raises(NotANumber, match="spreadsheet"):
        number_in(text)


@settings(deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_every_finite_number_that_is_written_is_read_back(value):
    assert plain_number(repr(value)) == value
    assert plain_number(repr(value).replace(".", ",")) == value


@pytest.mark.parametrize("given_", [None, True, float("inf"), float("nan"), "3 V"])
def test_a_plain_number_has_nothing_after_it_and_is_finite(given_):
    with pytest.raises(NotANumber):
        plain_number(given_)


@pytest.mark.parametrize(
    ("formula", "found"),
    [
        ("Ni0.6Fe0.4", {"Ni": 0.6, "Fe": 0.4}),
        ("Ni60 Fe40", {"Ni": 0.6, "Fe": 0.4}),
        ("NiFe2O4", {"Ni": 1 / 7, "Fe": 2 / 7, "O": 4 / 7}),
        ("Ni(OH)2", {"Ni": 0.2, "O": 0.4, "H": 0.4}),
        ("Co", {"Co": 1.0}),
    ],
)
def test_a_formula_gives_the_shares_of_its_atoms(formula, found):
    assert shares(formula) == pytest.approx(found)


@pytest.mark.parametrize("formula", ["Xx2", "Ni(OH2", "NiOH)2", "2Ni", "nickel", "", "Ni0"])
def test_what_is_no_formula_is_refused_with_a_reason(formula):
    with pytest.raises(NotAFormula):
        shares(formula)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(["Ni", "Fe", "Co", "La"]), st.integers(1, 99), min_size=1))
def test_shares_of_a_formula_sum_to_one(counts):
    found = shares("".join(f"{element}{count}" for element, count in counts.items()))
    assert sum(found.values()) == pytest.approx(1.0)
    assert found.keys() == counts.keys()


@pytest.mark.parametrize(
    ("value", "unit", "wanted", "found"),
    [
        (350.0, "mV", "V", 0.35),
        (35.0, "°C", "degC", 35.0),
        (212.0, "degF", "degC", 100.0),
        (0.5, "", "", 0.5),
        (50.0, "%", "%", 50.0),
    ],
)
def test_a_value_is_converted_to_the_unit_that_is_wanted(value, unit, wanted, found):
    assert converted(value, unit, wanted) == pytest.approx(found)


@pytest.mark.parametrize(
    ("unit", "wanted"), [("kg", "V"), ("volts per furlongish", "V"), ("", "V"), ("os.system('x')", "V")]
)
def test_what_cannot_be_converted_is_none(unit, wanted):
    assert converted(1.0, unit, wanted) is None


def test_an_unknown_unit_is_refused_in_a_sentence():
    assert not is_unit("vlots")
    with pytest.raises(BriefError, match="no unit 'vlots'"):
        require_unit("vlots", where="[lab] unit of y")


def test_a_whole_number_beyond_every_float_is_no_finite_number() -> None:
    with pytest.raises(NotANumber, match="finite"):
        plain_number(10**400)
