"""What `[lab]` in tamis.toml may say: the goals, the bench, and what each column of an idea is."""

import re
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta

from tamis.errors import BriefError

Positive = Annotated[float, Meta(gt=0)]
Count = Annotated[int, Meta(ge=1)]
Name = Annotated[str, Meta(min_length=1)]
T = TypeVar("T")
Member = Literal["gp", "trees", "average", "gp plain", "botorch", "baybe"]
MEMBERS: tuple[Member, ...] = ("gp", "trees", "average", "gp plain")
Day = Literal["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]


class NumberField(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A number that describes an idea, in the table form: `{name = "Temp_C", unit = "degC", low = 20, high = 150}`."""

    name: Name
    unit: Annotated[str | None, Meta(description="The unit it is meant in; an idea may say another, as `80 degF`.")] = (
        None
    )
    low: Annotated[float | None, Meta(description="Ideas below it are refused.")] = None
    high: Annotated[float | None, Meta(description="Ideas above it are refused.")] = None
    step: Annotated[Positive | None, Meta(description="Ideas off this grid (from `low`, else from 0) are refused.")] = (
        None
    )


class LabSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The lab desk: what is sought, with which bench, among what kind of ideas."""

    goal: Annotated[
        Name | tuple[Name, ...] | None,
        Meta(description='What is sought: "minimize eta_V", "maximize yield", "eta_V below 0.35"; or several.'),
    ] = None
    unit: Annotated[
        str | dict[str, str] | None,
        Meta(description='The unit of the result, or of each by name; "" for a pure number. Others are converted.'),
    ] = None
    range: Annotated[
        tuple[float, float] | dict[str, tuple[float, float]] | None,
        Meta(description="The results that are physically possible, in that unit. Others are refused."),
    ] = None
    batch: Annotated[int, Meta(ge=1, le=1_000, description="Places in a batch.")] = 8
    composition: Annotated[
        str | tuple[str, ...] | None,
        Meta(description="The columns of element fractions, or the one column that holds a formula."),
    ] = None
    smiles: Annotated[
        tuple[Name, ...], Meta(description="Columns that hold a molecule as SMILES (needs tamis[chem]).")
    ] = ()
    category: Annotated[tuple[Name, ...], Meta(description="Columns that hold a name out of a few.")] = ()
    number: Annotated[
        tuple[Name | NumberField, ...],
        Meta(description="Columns that hold a number, by name or as {name, unit, low, high, step}."),
    ] = ()
    text: Annotated[
        tuple[Name, ...], Meta(description="Columns that hold free text (needs the extra with wordllama).")
    ] = ()
    pattern: Annotated[
        str | None,
        Meta(description="For ideas written as text: a regular expression whose named groups are the columns."),
    ] = None
    constraints: Annotated[
        tuple[str, ...], Meta(description='What every idea must fulfil, over its columns: "Ni + Fe >= 0.2".')
    ] = ()
    cost: Annotated[
        str | None,
        Meta(description='What measuring an idea costs, over its columns: "1 + 5 * La". Dear ideas must promise more.'),
    ] = None
    known: Annotated[
        tuple[str, ...],
        Meta(description="CSV files of what is known already, with the ideas' columns; distances to them are told."),
    ] = ()
    worth: Annotated[
        Positive | None,
        Meta(
            description="The improvement that pays for a batch, in the goal's unit; by default 1 % of the range seen.",
        ),
    ] = None
    sheet: Annotated[
        Literal["csv", "xlsx"], Meta(description="The kind of file that goes to the lab; both may come back.")
    ] = "csv"
    models: Annotated[
        Annotated[tuple[Member, ...], Meta(min_length=1)],
        Meta(
            description="The models that guess together; each is weighted by how well it has guessed. `average` is "
            "that of `gp` and `trees`; `botorch` and `baybe` are theirs, with their defaults (needs tamis[baybe])."
        ),
    ] = MEMBERS
    repeat_every: Annotated[
        int, Meta(ge=0, description="One place in so many may go to repeating a leader; 0 for none.")
    ] = 8
    benches: Annotated[int, Meta(ge=1, description="How many benches measure a batch each, every working day.")] = 1
    days_off: Annotated[tuple[Day, ...], Meta(description="Days on which nothing is measured.")] = ("Sat", "Sun")
    batches: Annotated[
        Annotated[int, Meta(ge=1)] | None,
        Meta(description="How many batches are planned: the calendar says when they end."),
    ] = None
    seed: Annotated[
        int, Meta(ge=0, description="Seeds all that is drawn: the same seed and results, the same batches.")
    ] = 0


class Goal(msgspec.Struct, frozen=True, kw_only=True):
    """One thing sought. `sign` is 1 where more is better and -1 where less is; `threshold` is the value from which it
    is good enough. `low` and `high` bound what is physically possible."""

    name: str
    sign: Literal[1, -1]
    unit: str | None
    threshold: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def words(self) -> str:
        if self.threshold is None:
            return f"{'maximize' if self.sign > 0 else 'minimize'} {self.name}"
        return f"{self.name} {'above' if self.sign > 0 else 'below'} {self.threshold:g} {self.unit or ''}".rstrip()


_DIRECTION = re.compile(r"\s*(maximi[sz]e|minimi[sz]e)\s+(\S.*?)\s*", re.IGNORECASE)
_THRESHOLD = re.compile(
    r"\s*(\S.*?)\s+(above|over|below|under|>=?|<=?)\s+([-+]?[\d.]+(?:e[-+]?\d+)?)\s*", re.IGNORECASE
)


def goals_of(lab: LabSection) -> tuple[Goal, ...]:
    """The goals as read. Raises BriefError where there is none or it can't be understood, and on an unknown unit."""
    texts = (lab.goal,) if isinstance(lab.goal, str) else lab.goal or ()
    if not texts:
        raise BriefError(
            "the lab has no goal: nothing says what is sought",
            hint='in tamis.toml, under [lab]: goal = "minimize overpotential_V" and unit = "V"',
        )
    goals = tuple(_goal(text, lab) for text in texts)
    if twice := [goal.name for goal in goals if [one.name for one in goals].count(goal.name) > 1]:
        raise BriefError(f"[lab] goal names {twice[0]} twice", hint="a result can be sought in one way only")
    return goals


def _goal(text: str, lab: LabSection) -> Goal:
    threshold: float | None = None
    if found := _DIRECTION.fullmatch(text):
        name, up = found[2], found[1].lower().startswith("max")
    elif found := _THRESHOLD.fullmatch(text):
        name, up, threshold = found[1], found[2].lower() in {"above", "over", ">", ">="}, float(found[3])
    else:
        raise BriefError(
            f"[lab] goal = {text!r} can't be understood",
            hint='write "minimize NAME", "maximize NAME", "NAME below 0.35" or "NAME above 90"',
        )
    low, high = _of(lab.range, name) or (None, None)
    return Goal(name=name, sign=1 if up else -1, unit=_unit(lab, name), threshold=threshold, low=low, high=high)


def _unit(lab: LabSection, name: str) -> str | None:
    from tamis.lab.units import require_unit  # noqa: PLC0415  (pint takes a third of a second to import)

    unit = _of(lab.unit, name)
    if unit:
        require_unit(unit, where=f"[lab] unit of {name}")
    return unit


def _of(given: T | dict[str, T] | None, name: str) -> T | None:
    return given.get(name) if isinstance(given, dict) else given
