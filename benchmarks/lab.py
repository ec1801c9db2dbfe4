"""The lab desk on results that are known: how much of the best it finds, how honest its intervals are, how fast it is.

    python benchmarks/lab.py [--small] [--seeds N] [--baybe N] [--only sets|trouble|speed|baybe] [--data DIR]

Sets are read from ../shared/data/lab, which is not part of the project; where it is absent this says so and plays
made-up landscapes only.
"""

import argparse
import importlib.util
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from _lab_landscapes import LANDSCAPES, landscape
from _lab_replay import Played, Policy, Replay, Trouble, covered, load, play
from _lab_speed import speed
from msgspec import structs

from tamis.lab.campaign import Campaign
from tamis.lab.settings import LabSection, goals_of

DATA = Path(__file__).parents[2] / "shared" / "data" / "lab"
AT = (50, 100)
TROUBLES = {
    "noise 2 % of range": Trouble(noise=0.02),
    "10 % failing": Trouble(failing=0.1),
    "three batches late": Trouble(late=3),
    "all three": Trouble(noise=0.02, failing=0.1, late=3),
}


def sets(folder: Path) -> list[tuple[Replay, int]]:
    """The sets with their batch sizes; none where the folder is absent."""
    if not folder.is_dir():
        print(f"skipped: {folder} is absent, so nothing is replayed on measured data")
        return []
    found = []
    for plate in ("3496", "3851"):
        path = folder / f"oer_plate_{plate}.csv"
        elements = tuple(path.read_text(encoding="utf-8").partition("\n")[0].split(",")[:-1])
        lab = LabSection(goal="minimize overpotential_V", unit="V", batch=8, composition=elements)
        found.append((load(path, lab, result="overpotential_V", scale=-1.0, unit="mV"), 8))
    lab = LabSection(goal="maximize yield_pct", unit="%", batch=5, number=("Concentration", "Temp_C"))
    columns = ("Base_SMILES", "Ligand_SMILES", "Solvent_SMILES")
    chem = importlib.util.find_spec("rdkit") is not None
    if not chem:
        print("RDKit is not installed: molecules are seen as names only")
    kind = {"smiles": columns} if chem else {"category": columns}
    lab = LabSection(goal="maximize yield_pct", unit="%", batch=5, number=("Concentration", "Temp_C"), **kind)
    found.append((load(folder / "direct_arylation.csv", lab, result="yield_pct", scale=1.0, unit="% yield"), 5))
    return found


def random_policy(replay: Replay, campaign: Campaign, want: int, seed: int) -> Sequence[int]:
    rng = np.random.default_rng([seed, len(campaign.batches)])
    taken = {int(row.proposed.draft) for row in campaign.rows()}
    free = [place for place, idea in enumerate(replay.ideas.ideas) if int(idea.draft) not in taken]
    return rng.choice(free, want, replace=False).tolist()


def line(name: str, replay: Replay, games: Sequence[Played], *, intervals: bool = True) -> None:
    """Regret / share of the best 1 % found, each with its standard error, after 50 and 100 measurements."""
    scale = 1000.0 if replay.unit == "mV" else 1.0
    parts = []
    for after in AT:
        regret = np.array([game.regret(replay, after) for game in games]) * scale
        found = np.array([game.found(replay, after) for game in games])
        error = max(1.0, np.sqrt(len(games)))
        parts.append(
            f"{regret.mean():5.1f} ±{regret.std() / error:4.1f} / {found.mean():.2f} ±{found.std() / error:.2f}"
        )
    told = f"   50 %: {covered(games, 0.5):.0%}  90 %: {covered(games, 0.9):.0%}" if intervals else ""
    repeats = np.mean([game.repeats for game in games])
    seconds = np.mean([game.seconds for game in games])
    print(
        f"{replay.name:18s} {name:24s} {'  ·  '.join(parts)}{told}   repeats {repeats:.0f}   {seconds:.0f} s each",
        flush=True,
    )


def games(replay: Replay, batch: int, seeds: int, *, trouble: Trouble | None = None, policy: Policy | None = None):
    return [
        play(replay, batch=batch, measurements=max(AT), seed=s, trouble=trouble, policy=policy) for s in range(seeds)
    ]


def run_sets(found: Sequence[tuple[Replay, int]], seeds: int) -> None:
    print("\nregret / share of the best 1 % found, after 50 · 100 measurements (± one standard error)")
    for replay, batch in found:
        line("random", replay, games(replay, batch, seeds, policy=random_policy), intervals=False)
        line("tamis", replay, games(replay, batch, seeds))
        bare = replace(replay, lab=structs.replace(replay.lab, repeat_every=0))
        line("tamis, nothing repeated", replay, games(bare, batch, seeds))


def run_trouble(found: Sequence[tuple[Replay, int]], seeds: int) -> None:
    print("\nthe same in trouble; a failed run is not a measurement, one that is late counts when it comes")
    for replay, batch in found:
        for name, trouble in TROUBLES.items():
            line(name, replay, games(replay, batch, seeds, trouble=trouble))


def baybe_policy(replay: Replay, campaign: Campaign, want: int, seed: int) -> Sequence[int]:
    from tamis.lab.adapters import baybe_batch  # noqa: PLC0415  (an extra)

    goal = goals_of(replay.lab)[0]
    return baybe_batch(replay.cells, replay.lab, goal, campaign, want, seed=1_000 * seed + len(campaign.batches))


def run_baybe(found: Sequence[tuple[Replay, int]], seeds: int) -> None:
    if importlib.util.find_spec("baybe") is None:
        print("\nskipped: BayBE is not installed here (pip install 'tamis[baybe]'), so it is not run beside")
        return
    print(f"\nBayBE's default beside it ({seeds} seeds: it takes seconds a batch)")
    for replay, batch in found:
        line("BayBE", replay, games(replay, batch, seeds, policy=baybe_policy), intervals=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="one seed of each, and the smaller speeds")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--baybe", type=int, default=2, help="seeds for BayBE")
    parser.add_argument("--only", choices=("sets", "trouble", "landscapes", "speed", "baybe"))
    parser.add_argument("--data", type=Path, default=DATA)
    said = parser.parse_args()
    seeds = 1 if said.small else said.seeds
    found = sets(said.data)
    if said.only in {None, "sets"}:
        run_sets(found, seeds)
    if said.only in {None, "landscapes"}:
        run_sets([(landscape(name), 8) for name in LANDSCAPES[: 1 if said.small else None]], max(1, seeds // 2))
    if said.only in {None, "trouble"}:
        run_trouble(found, max(1, seeds // 2))
    if said.only == "baybe" or (said.only is None and not said.small):
        run_baybe(found, said.baybe)
    if said.only in {None, "speed"}:
        speed(small=said.small)


if __name__ == "__main__":
    main()
