"""BoTorch and BayBE in the places of our own parts (the extra `tamis[baybe]`): a model of either as a surrogate, as a
brief may ask for, and BayBE's recommender as a whole policy to be compared with. The only file that imports them."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tamis.errors import boundary
from tamis.lab.campaign import Campaign
from tamis.lab.features import Features, View
from tamis.lab.gp import FitError, Floats, Ints
from tamis.lab.settings import Goal, LabSection
from tamis.lab.surrogate import Guess, Seen

if TYPE_CHECKING:
    import pandas as pd
    from baybe.surrogates import GaussianProcessSurrogate
    from botorch.models import SingleTaskGP

AT_ONCE = 2_000
"""So many ideas are asked about together: their posterior holds the covariance of each pair."""


@dataclass(frozen=True)
class _BotorchFitted:
    view: View
    model: "SingleTaskGP"

    def guess(self, rows: Ints) -> Guess:
        import torch  # noqa: PLC0415  (an extra)

        parts = []
        with torch.no_grad():
            for at in range(0, len(rows), AT_ONCE):
                said = self.model.posterior(torch.as_tensor(self.view.x[rows[at : at + AT_ONCE]]))
                parts.append((said.mean.numpy()[:, 0], said.variance.sqrt().numpy()[:, 0]))
        return Guess(*(np.concatenate([np.zeros(0), *(part[k] for part in parts)]) for k in (0, 1)))


@dataclass(frozen=True)
class BotorchSurrogate:
    """BoTorch's SingleTaskGP with its defaults on the main view; it can stand in a bank beside or instead of ours."""

    name: str = "botorch"

    def fit(self, features: Features, seen: Seen, rng: np.random.Generator) -> _BotorchFitted:
        import torch  # noqa: PLC0415  (an extra)
        from botorch.fit import fit_gpytorch_mll  # noqa: PLC0415
        from botorch.models import SingleTaskGP  # noqa: PLC0415
        from gpytorch.mlls import ExactMarginalLogLikelihood  # noqa: PLC0415

        torch.manual_seed(int(rng.integers(2**31)))
        with boundary(FitError, "fitting BoTorch's process"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = SingleTaskGP(torch.as_tensor(features.main.x[seen.rows]), torch.as_tensor(seen.values)[:, None])
            fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        return _BotorchFitted(features.main, model)


@dataclass(frozen=True)
class _BaybeFitted:
    view: View
    columns: Ints
    model: "GaussianProcessSurrogate"

    def guess(self, rows: Ints) -> Guess:
        if not len(rows):
            return Guess(np.zeros(0), np.zeros(0))
        parts = [
            self.model.posterior_stats(_table(self.view.x[rows[at : at + AT_ONCE]][:, self.columns]))
            for at in range(0, len(rows), AT_ONCE)
        ]
        mean, sd = (np.concatenate([part.iloc[:, k].to_numpy(dtype=float) for part in parts]) for k in (0, 1))
        return Guess(mean, sd)


@dataclass(frozen=True)
class BaybeSurrogate:
    """BayBE's Gaussian process with its defaults on the main view, in a bank beside or instead of ours. (What BayBE
    would choose by itself is `baybe_batch`.)"""

    name: str = "baybe"

    def fit(self, features: Features, seen: Seen, rng: np.random.Generator) -> _BaybeFitted:
        from baybe.objectives import SingleTargetObjective  # noqa: PLC0415  (an extra)
        from baybe.parameters import NumericalContinuousParameter  # noqa: PLC0415
        from baybe.searchspace import SearchSpace  # noqa: PLC0415
        from baybe.surrogates import GaussianProcessSurrogate  # noqa: PLC0415
        from baybe.targets import NumericalTarget  # noqa: PLC0415
        from baybe.utils.random import set_random_seed  # noqa: PLC0415

        x = features.main.x
        columns = np.flatnonzero(np.ptp(x, axis=0) > 0)
        table = _table(x[seen.rows][:, columns])
        bounds = zip(table.columns, x[:, columns].min(axis=0).tolist(), x[:, columns].max(axis=0).tolist(), strict=True)
        with boundary(FitError, "fitting BayBE's process"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            set_random_seed(int(rng.integers(2**31)))
            space = SearchSpace.from_product([NumericalContinuousParameter(one, (low, up)) for one, low, up in bounds])
            model = GaussianProcessSurrogate()
            objective = SingleTargetObjective(NumericalTarget("result"))
            model.fit(space, objective, table.assign(result=seen.values))
        return _BaybeFitted(features.main, columns, model)


def _table(x: Floats) -> "pd.DataFrame":
    import pandas as pd  # noqa: PLC0415  (an extra)

    return pd.DataFrame(x, columns=[f"x{k}" for k in range(x.shape[1])])


def baybe_batch(
    cells: Sequence[Mapping[str, str]], lab: LabSection, goal: Goal, campaign: Campaign, want: int, *, seed: int
) -> list[int]:
    """The places of the next ideas by BayBE with its defaults, given the same ideas and results, but never of one that
    was measured or is on the bench: where it may, it repeats a fifth. Draft ids must be places in `cells`. Raises
    FitError where it fails."""
    from baybe import Campaign as Theirs  # noqa: PLC0415
    from baybe.objectives import SingleTargetObjective  # noqa: PLC0415
    from baybe.searchspace import SearchSpace  # noqa: PLC0415
    from baybe.targets import NumericalTarget  # noqa: PLC0415
    from baybe.utils.random import set_random_seed  # noqa: PLC0415

    frame = _frame(cells, lab)
    target = NumericalTarget(goal.name, minimize=goal.sign < 0)
    with boundary(FitError, "BayBE"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        set_random_seed(seed)
        space = SearchSpace.from_dataframe(frame, _parameters(frame, lab))
        theirs = Theirs(
            space,
            SingleTargetObjective(target),
            allow_recommending_already_measured=False,
            allow_recommending_pending_experiments=False,
        )
        seen = [(int(row.proposed.draft), row.results[0].values[goal.name]) for row in campaign.rows() if row.results]
        if seen:
            known = frame.iloc[[place for place, _ in seen]].copy()
            known[goal.name] = [value for _, value in seen]
            theirs.add_measurements(known)
        waiting = [int(row.proposed.draft) for row in campaign.rows() if row.waits]
        chosen = theirs.recommend(want, pending_experiments=frame.iloc[waiting] if waiting and seen else None)
    places = {tuple(row): place for place, row in enumerate(frame.itertuples(index=False))}
    return [places[tuple(row)] for row in chosen[list(frame.columns)].itertuples(index=False)]


def _frame(cells: Sequence[Mapping[str, str]], lab: LabSection) -> "pd.DataFrame":
    import pandas as pd  # noqa: PLC0415  (an extra)

    numbers = [*(lab.composition or ()), *(one if isinstance(one, str) else one.name for one in lab.number)]
    names = [*lab.smiles, *lab.category]
    columns = {name: [float(row[name]) for row in cells] for name in numbers}
    return pd.DataFrame({**columns, **{name: [row[name] for row in cells] for name in names}})


def _parameters(frame: "pd.DataFrame", lab: LabSection) -> list[object]:
    """Molecules as BayBE's substances, with its default encoding, other names one-hot, numbers as they are."""
    from baybe.parameters import CategoricalParameter, NumericalDiscreteParameter, SubstanceParameter  # noqa: PLC0415

    found: list[object] = []
    for name in frame.columns:
        levels = sorted(set(frame[name]))
        if name in lab.smiles:
            found.append(SubstanceParameter(name, {level: level for level in levels}))
        elif name in lab.category:
            found.append(CategoricalParameter(name, levels))
        else:
            found.append(NumericalDiscreteParameter(name, levels))
    return found
