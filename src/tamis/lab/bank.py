"""The bank of models that a brief asks for: ours, and those of BoTorch and BayBE where they are installed."""

import importlib.util
from collections.abc import Sequence

from tamis.errors import BriefError
from tamis.lab.settings import Member
from tamis.lab.surrogate import BASE, Bank, Surrogate
from tamis.lab.track import PRIOR

GUEST = 0.05
"""What the word of a model that isn't ours weighs at first, beside ours."""


def bank_of(names: Sequence[Member]) -> Bank:
    """The models of these names. Raises BriefError where one can't be had here."""
    if "average" in names and not {"gp", "trees"} <= set(names):
        raise BriefError(
            '[lab] models names "average", which is that of "gp" and "trees"', hint="name these two as well"
        )
    raw = {name: PRIOR.get(name, GUEST) for name in names}
    total = sum(raw.values())
    ours = {one.name: one for one in BASE.surrogates}
    surrogates = tuple(ours[name] if name in ours else _guest(name) for name in raw if name != "average")
    return Bank(surrogates, {name: value / total for name, value in raw.items()})


def _guest(name: str) -> Surrogate:
    if importlib.util.find_spec(name) is None:
        raise BriefError(
            f'[lab] models names "{name}", and {name} is not installed here', hint="pip install 'tamis[baybe]'"
        )
    from tamis.lab.adapters import BaybeSurrogate, BotorchSurrogate  # noqa: PLC0415  (an extra)

    return BotorchSurrogate() if name == "botorch" else BaybeSurrogate()
