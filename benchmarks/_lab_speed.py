"""How long the next batch takes: 10,000 ideas with 100 and 1,000 measurements, and 1,000,000 ideas."""

import os
import time

import numpy as np

from tamis.lab.campaign import Campaign, Event, Proposed, Row, happened
from tamis.lab.features import Columns, features_of
from tamis.lab.ideas import Cells, Idea, Ideas, Key
from tamis.lab.plan import choose, study
from tamis.lab.settings import LabSection, goals_of

ELEMENTS = ("Ni", "Fe", "Co", "Mn", "Ce", "La")
LAB = LabSection(goal="minimize overpotential_V", unit="V", composition=ELEMENTS)


def speed(*, small: bool) -> None:
    """Prints seconds from the ideas' columns to the batch, features and fits included."""
    print(f"\nseconds to the next batch ({os.cpu_count()} cores, load {os.getloadavg()[0]:.1f})")
    cases = (
        [(10_000, 100, 5.0)]
        if small
        else [(10_000, 100, 5.0), (10_000, 1_000, 20.0), (1_000_000, 100, 60.0), (1_000_000, 1_000, 60.0)]
    )
    for count, measured, most in cases:
        ideas, campaign = _campaign(count, measured)
        wall, cpu = time.perf_counter(), time.process_time()
        features = features_of(ideas.columns)
        learned = study(campaign, ideas, features, goals_of(LAB), seed=0)
        choose(campaign, learned, 8, seed=0)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        print(
            f"{count:>9,} ideas, {measured:>5,} measured   {wall:6.1f} s wall, {cpu:6.1f} s CPU   (at most {most:.0f})",
            flush=True,
        )


def _campaign(count: int, measured: int) -> tuple[Ideas, Campaign]:
    rng = np.random.default_rng(count)
    shares = rng.dirichlet(np.full(6, 0.7), size=count)
    ideas = [Idea(str(k), str(k)) for k in range(count)]
    columns = Columns(count=count, elements=ELEMENTS, fractions=shares)
    values = 0.35 + 0.2 * (shares[:, 4] - 0.1) ** 2 + 0.1 * (shares[:, 1] - 0.3) ** 2 + 0.005 * rng.normal(size=count)
    rows = [Row(Proposed(row=str(k), draft=str(k), name=str(k), hash="", why="spread"), 1) for k in range(measured)]
    campaign = Campaign(id="speed", batches=[rows])
    happened(
        campaign,
        [Event(row=str(k), kind="measured", values={"overpotential_V": float(values[k])}) for k in range(measured)],
    )
    return Ideas(ideas, columns, None, {}, {}, _says_nothing), campaign


def _says_nothing(draft: str) -> tuple[Key, Cells]:
    raise LookupError(f"{draft} was made up as columns, and says nothing")
