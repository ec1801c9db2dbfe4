"""Units, by pint: is it one, and what is a value of it in another. The only file that imports pint."""

from functools import cache
from typing import TYPE_CHECKING

from tamis.errors import BriefError

if TYPE_CHECKING:
    from pint import UnitRegistry

# what people write on instruments and in spreadsheets, and pint does not read
SPELLED = {"%": "percent", "°C": "degC", "°F": "degF", "C°": "degC", "µ": "u", "μ": "u", "·": "*"}


@cache
def _registry() -> "UnitRegistry[float]":
    from pint import UnitRegistry  # noqa: PLC0415  (a third of a second, and only the lab needs it)

    return UnitRegistry(autoconvert_offset_to_baseunit=True)


def is_unit(text: str) -> bool:
    try:
        _registry().Unit(_spelled(text))
    except Exception:  # pint raises its own, tokenize's and Python's errors for what it can't read
        return False
    return True


def require_unit(text: str, *, where: str) -> None:
    """Raises BriefError where pint knows no such unit."""
    if not is_unit(text):
        raise BriefError(
            f"{where}: there is no unit {text!r}", hint='units are written as "V", "mV", "degC", "mol/L", "%"'
        )


def converted(value: float, unit: str, wanted: str) -> float | None:
    """The value in the wanted unit, None where the two don't measure the same thing or one is unknown."""
    if unit.strip() == wanted.strip():
        return value
    try:
        quantity = _registry().Quantity(value, _spelled(unit))
        return float(quantity.to(_spelled(wanted)).magnitude)
    except Exception:  # as above: many kinds, one meaning
        return None


def _spelled(unit: str) -> str:
    text = unit.strip()
    for written, meant in SPELLED.items():
        text = text.replace(written, meant)
    return text
