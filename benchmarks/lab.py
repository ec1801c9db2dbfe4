"""The lab desk on results that are known: how much of the best it finds, how honest its intervals are, how fast it is.

    python benchmarks/lab.py [--small] [--seeds N] [--baybe N] [--only sets|baybe|trouble|landscapes|speed]
                             [--keep FILE] [--data DIR]

Sets are read from ../shared/data/lab, which is not part of the project; where it is absent this says so and plays
made-up landscapes only.
"""

import argparse
import importlib.util
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from _lab_kept import Kept, player
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


def line(
    name: str,
    replay: Replay,
    games: Sequence[Played],
    *,
    intervals: bool = True,
    at: Sequence[int] = AT,
    day: int | None = None,
) -> None:
    """Regret / share of the best 1 % found, each with its standard error, after so many measurements, and after those
    that were back on a `day`, counted in batches."""
    scale = 1000.0 if replay.unit == "mV" else 1.0
    parts = []
    for after in at:
        regret = np.array([game.regret(replay, after) for game in games]) * scale
        found = np.array([game.found(replay, after) for game in games])
        error = max(1.0, np.sqrt(len(games)))
        parts.append(
            f"{regret.mean():5.1f} ±{regret.std() / error:4.1f} / {found.mean():.2f} ±{found.std() / error:.2f}"
        )
    told = f"   50 %: {covered(games, 0.5):.0%}  90 %: {covered(games, 0.9):.0%}" if intervals else ""
    if day is not None:
        found = np.array([game.found(replay, game.back[day - 1]) for game in games])
        told += f"   on day {day}: {found.mean():.2f}"
    repeats = np.mean([game.repeats for game in games])
    seconds = np.mean([game.seconds for game in games])
    print(
        f"{replay.name:18s} {name:24s} {'  ·  '.join(parts)}{told}   repeats {repeats:.0f}   {seconds:.0f} s each",
        flush=True,
    )


def games(
    name: str,
    replay: Replay,
    batch: int,
    seeds: int,
    *,
    kept: Kept,
    trouble: Trouble | None = None,
    policy: Policy | None = None,
    first: int | None = None,
) -> list[Played]:
    """One campaign a seed, from 0 on. `name` is who plays."""

    measurements = max(AT) + (trouble.late * batch if trouble else 0)

    def one(seed: int) -> Played:
        return play(
            replay, batch=batch, measurements=measurements, seed=seed, trouble=trouble, policy=policy, first=first
        )

    key = f"{player(name)} | {replay.name} | {trouble or ''} | {measurements}"
    return [kept.game(f"{key} | {seed}", lambda seed=seed: one(seed)) for seed in range(seeds)]


def run_sets(found: Sequence[tuple[Replay, int]], seeds: int, baybe: int, kept: Kept) -> None:
    """Chance, tamis, tamis without repeating, and BayBE's default where it is installed."""
    print("\nregret / share of the best 1 % found, after 50 · 100 measurements (± one standard error)")
    if baybe and not baybe_is_here():
        baybe = 0
    for replay, batch in found:
        line("random", replay, games("random", replay, batch, seeds, kept=kept, policy=random_policy), intervals=False)
        line("tamis", replay, games("tamis", replay, batch, seeds, kept=kept))
        bare = replace(replay, lab=structs.replace(replay.lab, repeat_every=0))
        line("tamis, nothing repeated", replay, games("tamis bare", bare, batch, seeds, kept=kept))
        if baybe:
            theirs = games("BayBE", replay, batch, baybe, kept=kept, policy=baybe_policy)
            line(f"BayBE, {baybe} seeds", replay, theirs, intervals=False)


def baybe_is_here() -> bool:
    """Whether BayBE can play; where it can't, that is said."""
    if importlib.util.find_spec("baybe") is not None:
        return True
    print("skipped: BayBE is not installed here (pip install 'tamis[baybe]'), so it is not run beside")
    return False


def run_trouble(found: Sequence[tuple[Replay, int]], seeds: int, kept: Kept) -> None:
    """What each trouble costs alone and together. Late campaigns are read in three ways: at the same numbers of
    results; when as many results were known to the choice of their last batch as without lateness (by then three
    batches more have come back); and on the day on which a campaign without trouble has them all. What choosing blind
    costs by itself is shown by campaigns in which nothing is late but as many places are chosen at once, always or at
    the start only."""
    print("\nthe same in trouble; a failed run is not a measurement, one that is late counts when it comes")
    for replay, batch in found:
        line("no trouble", replay, games("tamis", replay, batch, seeds, kept=kept))
        for name, trouble in TROUBLES.items():
            at = (*AT, max(AT) + trouble.late * batch) if trouble.late else AT
            played = games("tamis", replay, batch, seeds, kept=kept, trouble=trouble)
            line(name, replay, played, at=at, day=-(-max(AT) // batch))
        blind = (1 + TROUBLES["all three"].late) * batch
        line("not late, four at once", replay, games(f"tamis by {blind}", replay, blind, seeds, kept=kept))
        first = games(f"tamis first {blind}", replay, batch, seeds, kept=kept, first=blind)
        line("not late, first four so", replay, first)


def run_baybe(found: Sequence[tuple[Replay, int]], seeds: int, kept: Kept) -> None:
    """BayBE's games alone, set by set for each seed, so that what is there when time runs out is fair."""
    if not baybe_is_here():
        return
    for count in range(1, seeds + 1):
        for replay, batch in found:
            theirs = games("BayBE", replay, batch, count, kept=kept, policy=baybe_policy)
            line(f"BayBE, {count} seeds", replay, theirs, intervals=False)


def baybe_policy(replay: Replay, campaign: Campaign, want: int, seed: int) -> Sequence[int]:
    from tamis.lab.adapters import baybe_batch  # noqa: PLC0415  (an extra)

    goal = goals_of(replay.lab)[0]
    return baybe_batch(replay.cells, replay.lab, goal, campaign, want, seed=1_000 * seed + len(campaign.batches))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="one seed of each, and the smaller speeds")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument(
        "--baybe", type=int, default=5, help="seeds for BayBE, which takes minutes for each; 0 for none"
    )
    parser.add_argument("--only", choices=("sets", "baybe", "trouble", "landscapes", "speed"))
    parser.add_argument(
        "--keep", type=Path, metavar="FILE", help="keep games there, and don't play again what is there"
    )
    parser.add_argument("--data", type=Path, default=DATA)
    said = parser.parse_args()
    seeds, baybe = (1, 0) if said.small else (said.seeds, said.baybe)
    kept = Kept(said.keep)
    found = sets(said.data)
    if said.only in {None, "sets"}:
        run_sets(found, seeds, baybe, kept)
    if said.only == "baybe":
        run_baybe(found, baybe, kept)
    if said.only in {None, "landscapes"}:
        names = LANDSCAPES[: 1 if said.small else None]
        run_sets([(landscape(name), 8) for name in names], max(1, seeds // 2), 0, kept)
    if said.only in {None, "trouble"}:
        run_trouble(found, seeds, kept)
    if said.only in {None, "speed"}:
        speed(small=said.small)


if __name__ == "__main__":
    main()
